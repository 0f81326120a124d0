"""cw.apply with out= and in place: what is written where, as the dialect's framework does it."""

from __future__ import annotations

import importlib.util
import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import castwise as cw

BACKENDS = [name for name in ("numpy", "torch", "jax") if importlib.util.find_spec(name)]
DTYPES = ("bool", "uint8", "int8", "int32", "float32", "complex64")


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Any:
    return request.param


def tensor(data: Any, dtype: str, dialect: str, backend: str) -> cw.Tensor:
    return cw.asarray(data, dtype=dtype, dialect=dialect, backend=backend)


@pytest.mark.parametrize("dialect", cw.dialects())
def test_what_is_executed_is_what_is_decided(dialect: str) -> None:
    for first, second, out in itertools.product(DTYPES, repeat=3):
        names = {d.name for d in cw.dialect(dialect).dtypes}
        if not {first, second, out} <= names:
            continue
        try:
            asked = (f"{first}[2]", f"{second}[2]")
            expected = cw.resolve("mul", *asked, out=out, dialect=dialect, form="function").result
        except cw.PromotionError:
            expected = None
        target = tensor([0, 0], out, dialect, "numpy")
        operands = [tensor([1, 1], dtype, dialect, "numpy") for dtype in (first, second)]
        if expected is None or expected.name != target.dtype.name:
            with pytest.raises((cw.PromotionError, cw.UsageError)):
                cw.apply("mul", *operands, out=target)
            assert not target.numpy().any()
        else:
            assert cw.apply("mul", *operands, out=target) is target
            assert target.dtype.name == expected.name
            assert target.numpy().all()


def test_a_tensor_takes_the_result_and_is_returned(backend: str) -> None:
    out = tensor([0, 0], "float32", "torch", backend)
    found = cw.apply("add", tensor([1, 2], "int8", "torch", backend), 0.5, out=out)
    assert found is out
    assert out.tolist() == [1.5, 2.5]


def test_an_array_is_written_into(backend: str) -> None:
    x = tensor([1, 2], "int8", "torch", backend)
    array = tensor([0, 0], "float32", "torch", backend).array
    if backend == "jax":
        with pytest.raises(cw.UsageError, match="cannot be written to: pass a tensor"):
            cw.apply("add", x, 0.5, out=array)
        return
    found = cw.apply("add", x, 0.5, out=array)
    assert array.tolist() == [1.5, 2.5]
    assert found.array is array
    assert found.dialect.name == "torch"


def test_torch_resizes(backend: str) -> None:
    x = tensor([1, 2, 3], "int32", "torch", backend)
    empty = tensor([], "float32", "torch", backend)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cw.apply("add", x, 1, out=empty) is empty
    assert empty.tolist() == [2.0, 3.0, 4.0]
    full = tensor([[0.0], [0.0]], "float32", "torch", backend)
    with pytest.warns(UserWarning, match=r"\(2, 1\) and is resized to \(3,\)"):
        cw.apply("add", x, 1, out=full)
    assert full.shape == (3,)
    total = tensor([0, 0], "float32", "torch", backend)
    with pytest.warns(UserWarning, match="resized"):
        assert (cw.apply("max", x, out=total) + 0).tolist() == 3


def test_an_array_of_torchs_is_resized_too() -> None:
    torch = pytest.importorskip("torch")
    x, out = torch.tensor([1, 2, 3]), torch.empty(0)
    cw.apply("add", cw.asarray(x, dialect="torch"), 1, out=out)
    assert out.tolist() == [2.0, 3.0, 4.0]


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.filterwarnings("ignore:.*is resized")
def test_what_is_resized_keeps_its_dtype_and_is_no_operand(backend: str) -> None:
    pytest.importorskip(backend)
    x = cw.asarray(np.float32([[1], [2]]), dialect="torch", backend=backend)
    out = cw.asarray(np.float16(1), dialect="torch", backend=backend)
    cw.apply("lt", x, x, out=out)
    assert (out.numpy().dtype.name, out.tolist()) == ("float16", [[0], [0]])
    small = cw.asarray(np.float16(1), dialect="torch", backend=backend)
    with pytest.raises(RuntimeError, match=r"an operand too, and cannot be resized to \(2, 1\)"):
        cw.apply("add", x, small, out=small)
    cw.apply("sum", out, axis=0, out=out)
    assert out.tolist() == [0]


def test_an_array_of_numpys_is_not_resized() -> None:
    with pytest.raises(cw.UsageError, match=r"cannot be resized to \(3,\)"):
        cw.apply("add", cw.asarray([1, 2, 3], dialect="torch"), 1, out=np.empty(0))


def test_numpy_broadcasts_into_out(backend: str) -> None:
    x = tensor([1, 2, 3], "int32", "numpy", backend)
    wide = tensor(np.zeros((2, 3)), "int32", "numpy", backend)
    assert cw.apply("add", x, 1, out=wide).tolist() == [[2, 3, 4], [2, 3, 4]]
    with pytest.raises(cw.UsageError, match=r"shape \(3,\) does not fit into out= of .*\(1,\)"):
        cw.apply("add", x, 1, out=tensor([0], "int32", "numpy", backend))


def test_an_operand_may_be_out(backend: str) -> None:
    x = tensor([1, 2], "float32", "torch", backend)
    assert cw.apply("mul", x, x, out=x).tolist() == [1.0, 4.0]


def test_out_belongs_to_the_operands() -> None:
    x = cw.asarray([1], dialect="torch")
    with pytest.raises(cw.UsageError, match="torch and numpy do not mix"):
        cw.apply("add", x, 1, out=cw.asarray([1], dialect="numpy"))
    with pytest.raises(cw.UsageError, match="either inplace or out=, not both"):
        cw.apply("add", x, 1, out=x, inplace=True)


def test_a_variable_keeps_its_dtype_as_out() -> None:
    v = cw.Variable([1.0], dialect="tensorflow:all")
    assert cw.apply("add", v, 1, out=v) is v
    assert v.tolist() == [2.0]
    with pytest.raises(cw.PromotionError):
        cw.apply("add", v, cw.asarray([1.0], dtype="float64"), out=v)


def test_in_place_by_apply_is_what_the_method_does(backend: str) -> None:
    x = tensor([1, 2], "int32", "torch", backend)
    assert cw.apply("add", x, 1, inplace=True) is x
    assert x.tolist() == [2, 3]
    with pytest.raises(cw.PromotionError, match="cannot be written into int32"):
        cw.apply("add", x, 1.5, inplace=True)
    with pytest.raises(cw.UsageError, match="in place needs a tensor"):
        cw.apply("add", np.ones(2), 1, inplace=True)
