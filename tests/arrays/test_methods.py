"""The methods of tensors: under every dialect, in traces, and how they are written down."""

from __future__ import annotations

import inspect
import pickle
import re
from typing import Any

import numpy as np
import pytest
from method_calls import IN_BOTH, IN_TORCH, OTHERS, VALUES, calls, check_the_same

import castwise as cw
from castwise import array_api as xp
from castwise.arrays.functions import standard_name
from castwise.arrays.methods import Casts, Ops
from loops import each

# What depends on values, or asks for a device, has no place in a graph. No trace checks that cumsum
# has an axis.
NOT_TRACED = re.compile(r"nonzero\(|cpu|to\(y|tolist|nbytes|is_|numel|ndim|dim\(\)|size|cumsum\(\)")


def test_a_function_says_of_its_op_what_the_method_says() -> None:
    methods = {name: thing for name, thing in vars(Ops).items() if not name.startswith("_")}
    assert len(methods) > 110
    for name, method in methods.items():
        assert pickle.loads(pickle.dumps(method)) is method
        is_other_name = method.__name__ != name
        if is_other_name or name in ("amax", "amin"):  # of max and min
            continue
        function = getattr(xp, standard_name(name))
        assert function.__name__ == standard_name(name)
        assert inspect.getdoc(function) == inspect.getdoc(method)
        assert pickle.loads(pickle.dumps(function)) is function


def names(x: Any, y: Any) -> dict[str, Any]:
    return {"x": x, "y": y, "v": x[0], "b": x != 0, "i": [0, 2], "float32": "float32"}


@pytest.mark.filterwarnings("ignore:divide by zero")
@each("call", [call for call in calls(IN_BOTH) + calls(IN_TORCH) if not NOT_TRACED.search(call)])
def test_a_traced_method_gives_the_same(call: str) -> None:
    def function(x: Any, y: Any) -> Any:
        return eval(call, names(x, y))

    x, y = (cw.asarray(v, dtype="float32", dialect="torch") for v in (VALUES, OTHERS))
    try:
        expected = function(x, y)
    except (TypeError, ValueError):
        with pytest.raises((TypeError, ValueError)):
            cw.trace(function, "float32[2,3]", "float32[2,3]", dialect="torch")
        return
    graph = cw.trace(function, "float32[2,3]", "float32[2,3]", dialect="torch")
    check_the_same(graph(x, y), expected)


@each("dialect", cw.dialects())
def test_casts_have_the_names_of_the_framework(dialect: str) -> None:
    t = cw.asarray([1, 0], dtype="float32").under(dialect)
    named = cw.dialect(dialect).naming.dtypes_of_casts
    for name in (name for name in vars(Casts) if not name.startswith("_")):
        assert hasattr(t, name) == (name in named) == (name in dir(t))
    for name, dtype in named.items():
        assert not dtype or getattr(t, name)().dtype.name == dtype


def test_a_cast_of_another_dialect_says_what_to_write() -> None:
    with pytest.raises(AttributeError, match=r"'float' in numpy: write x.astype\('float32'\)"):
        cw.asarray([1]).float()
    with pytest.raises(AttributeError, match=r"'to' in jax: write x.astype\(dtype\), or x.to_dev"):
        cw.asarray([1], dialect="jax").to("float32")


def test_the_context_says_what_a_method_gives() -> None:
    t = cw.asarray([[3, 1], [2, 4]], dtype="int8")
    assert t.max(0).tolist() == [3, 4]
    with cw.use("torch"):
        assert t.max(0).indices.tolist() == [0, 1]
        assert t.sort().values.tolist() == [[1, 3], [2, 4]]
    assert t.sort() is None
    assert t.tolist() == [[1, 3], [2, 4]]


def test_a_result_keeps_the_dialect_and_the_home_of_its_tensor() -> None:
    for t in (xp.asarray([[1, 2]]), cw.asarray([[1, 2]]), cw.asarray([[1, 2]], dialect="torch")):
        for found in (t.sum(0), t.reshape(-1), t.T, t.unbind()[0], t.take([0]), t.clone()):
            assert found.dialect is t.dialect
    with cw.use("jax"):
        assert cw.asarray([1, 2]).reshape(2, 1).sum().dtype.name == "int32"


def test_a_copy_has_its_own_memory() -> None:
    t = cw.asarray([[1, 2]], dialect="numpy")
    for copy in (t.copy(), t.clone(), t.flatten()):  # not round: NumPy before 2.3 shares
        copy.fill_(9)
    assert t.tolist() == [[1, 2]]
    for view in (t.reshape(-1), t.ravel(), t.under("torch").flatten(), t.detach(), t.contiguous()):
        view += 1
    assert t.tolist() == [[6, 7]]


def test_a_variable_has_the_methods_too() -> None:
    v = cw.Variable([3.0, 1.0], dialect="numpy")
    assert (v.sum().item(), v.reshape(2, 1).shape) == (4.0, (2, 1))
    v.sort()
    assert v.tolist() == [1.0, 3.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("t.sum(axis=0, dim=1)", "axis and dim are the same"),
        ("t.sum(0, 'float32')", "give others by name, dtype="),
        ("t.std(ddof=1, correction=1)", "correction, ddof and unbiased are the same"),
        ("t.view('int8')", r"x.astype\(dtype\)"),
        ("t.transpose(0, 1, 2)", r"x.swapaxes\(0, 1\)"),
        ("t.reshape(1, 2, 2).transpose(0, 1)", "all 3 dimensions in numpy, not"),
        ("t.split(0)", "split needs a number above 0"),
        ("t.chunk(0)", "chunk needs a number above 0"),
        ("t.split([1, 2])", "do not add up to 2"),
        ("t.split(3)", "2 does not divide into 3 equal parts"),
        ("t.swapaxes(0, 2)", "axis 2 is out of range"),
        ("t.expand(-1, 2, 2)", "no size for a new dimension"),
        ("t.under('torch').median(0)", r"cw.apply\('median', x, axis=0\)"),
        ("t.under('torch').max((0, 1))", "write amax for several"),
        ("t.mm(t[0])", "use matmul"),
        ("t.reshape(1, 2, 2).t()", "use permute"),
    ],
)
def test_a_call_that_means_nothing_says_what_to_write(call: str, message: str) -> None:
    with pytest.raises(cw.UsageError, match=message):
        eval(call, {"t": cw.asarray([[1.5, 2.0], [3.0, 4.0]], dialect="numpy")})


def test_methods_are_listed_with_their_signatures() -> None:
    import inspect

    assert str(inspect.signature(cw.Tensor.sum)).startswith("(self, axis: 'Axes' = None, keepdims")
    public = [name for name in dir(cw.asarray([1])) if not name.startswith("_")]
    assert [name for name in public if inspect.getdoc(getattr(cw.Tensor, name)) is None] == []
    assert {"sum", "reshape", "real", "T"} < set(public)
    assert {"mse_loss", "concat", "float"}.isdisjoint(public)


def test_numpy_s_own_numbers_are_sizes_and_axes() -> None:
    t = cw.asarray(np.zeros((2, 3)))
    assert t.reshape(np.int64(3), np.int64(2)).sum(np.int64(0)).shape == (2,)
    squeezed = t.unsqueeze(np.int64(0)).squeeze(np.int64(0))
    assert squeezed.under("torch").max(np.int64(1)).values.shape == (2,)
    with pytest.raises(TypeError):
        t.sum("first")
