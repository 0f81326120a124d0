"""What an op is called with: undefined operands, names, positions, alpha, conversions."""

from __future__ import annotations

import importlib.util
import operator
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise import array_api as xp

BACKENDS = [name for name in ("numpy", "torch", "jax", "dask") if importlib.util.find_spec(name)]


@pytest.fixture(params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Any:
    return request.param


def tensor(data: Any, dtype: str, backend: str = "numpy", dialect: str = "torch") -> cw.Tensor:
    return cw.asarray(np.asarray(data, dtype), dialect=dialect, backend=backend)


def test_an_undefined_operand_takes_no_part() -> None:
    assert cw.result_type("int8[3]", None).name == "int8"
    assert cw.result_type(None, "int8[3]", None, 2.5, dialect="torch").name == "float32"
    decision = cw.resolve("clamp", "int32[3]", None, 2.5, dialect="torch")
    assert [str(cast) for cast in decision.casts] == ["int32 -> float32", "None", "None"]
    told = cw.explain("clamp(int32[3], None, 2)", dialect="torch")
    assert "None is an undefined operand, which is ignored." in told
    with pytest.raises(cw.UsageError, match="add takes 2 operands, not 1"):
        cw.resolve("add", None, "int8[3]")
    with pytest.raises(cw.UsageError, match="needs its first operand"):
        cw.resolve("clamp", None, 3)


def test_none_is_no_operand_of_an_operator() -> None:
    x = tensor([1], "int8")
    with pytest.raises(TypeError):
        x + None
    assert (x == None) is False  # noqa: E711


@pytest.mark.parametrize(
    ("bounds", "named", "expected"),
    [
        ((None, 2), {}, [1, 2, 2]),
        ((), {"max": 2}, [1, 2, 2]),
        ((2,), {}, [2, 2, 3]),
        ((), {"min": 2}, [2, 2, 3]),
        ((2,), {"max": 2}, [2, 2, 2]),
        ((2, None), {}, [2, 2, 3]),
        ((None, None), {}, [1, 2, 3]),
    ],
)
def test_bounds_by_place_and_by_name(
    backend: str, bounds: Any, named: Any, expected: list[int]
) -> None:
    x = tensor([1, 2, 3], "int32", backend)
    assert cw.apply("clamp", x, *bounds, **named).tolist() == expected
    assert x.clamp_(*bounds, **named).tolist() == expected
    graph = cw.trace(lambda t: cw.apply("clamp", t, *bounds, **named), "int32[3]", dialect="torch")
    assert graph(tensor([1, 2, 3], "int32", backend)).tolist() == expected


def test_a_bound_that_is_given_twice_is_refused() -> None:
    with pytest.raises(cw.UsageError, match="given min twice"):
        cw.apply("clamp", tensor([1], "int8"), 1, min=2)
    with pytest.raises(cw.UsageError, match=r"takes no maxi=.*Did you mean 'max'"):
        cw.resolve("clamp", "int8[3]", maxi=1)


def test_clip_of_the_standard_has_one_bound_or_two() -> None:
    x = tensor([1, 2, 3], "uint8", dialect="numpy")
    assert xp.clip(x, max=2).tolist() == [1, 2, 2]
    with pytest.raises(cw.ScalarRangeError):
        xp.clip(x, None, -1)


def test_threshold_by_position(backend: str) -> None:
    x = tensor([1, 2, 3], "float32", backend)
    assert cw.apply("threshold", x, 1, 7).tolist() == [7, 2, 3]
    assert cw.apply("threshold", x, threshold=2, value=0).tolist() == [0, 0, 3]
    assert cw.resolve("threshold", "int32[3]", 0, 1.5, dialect="torch").result.name == "int32"


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("op", ["add", "sub"])
def test_alpha_on_every_backend_is_torchs(backend: str, op: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    if backend == "jax" and dtype == "float64":
        return  # it has none, unless it is switched on
    rng = np.random.default_rng(0)
    x, y = (torch.from_numpy(rng.integers(-8, 8, 64) * 0.37).to(getattr(torch, dtype))
            for _ in range(2))  # fmt: skip
    # torch's vectorised loop rounds small floats once on x86-64; its plain one, for what is left
    # of an array, after each step on every processor.
    is_small = dtype in ("float16", "bfloat16")
    count = 1 if is_small and backend != "torch" else len(x)
    for alpha in (2, 3, -1) if "int" in dtype else (2, -1, 0.3, 1.5):
        parts = zip(x.split(count), y.split(count), strict=True)
        expected = torch.cat([getattr(torch, op)(one, other, alpha=alpha) for one, other in parts])
        a, b = (cw.asarray(t, dialect="torch", backend=backend) for t in (x, y))
        found = cw.apply(op, a, b, alpha=alpha)
        assert found.dtype.name == dtype
        # torch rounds once; without a wider dtype the product is rounded before it is added.
        is_rounded_twice = dtype == "float64" or (dtype == "float32" and backend == "jax")
        limit = 2.0**-20 if dtype == "float32" else 2.0**-48
        away = np.abs(found.numpy().astype("float64") - expected.double().numpy())
        assert away.max() <= (limit if is_rounded_twice and backend != "torch" else 0)


def test_alpha_in_place_with_numbers_and_in_the_old_order(backend: str) -> None:
    assert tensor([1, 2], "int32", backend).add_(5, alpha=2).tolist() == [11, 12]
    x, y = tensor([1, 2], "int32", backend), tensor([1, 2], "int32", backend)
    assert cw.apply("add", x, 2, y).tolist() == [3, 6]
    assert cw.apply("sub", x, 2, y).tolist() == [-1, -2]
    assert cw.resolve("add", "int8[3]", 2, "int8[3]", dialect="torch").question.alpha == 2
    with pytest.raises(cw.PromotionError, match="alpha is a float and the result is int32"):
        cw.apply("add", x, y, alpha=1.5)
    assert cw.apply("add", x, y, alpha=np.int8(3)).tolist() == [4, 8]
    with pytest.raises(cw.UsageError, match="mul takes no alpha; add and sub do"):
        cw.apply("mul", x, y, alpha=2)
    with pytest.raises(cw.UsageError, match="add takes 2 operands, not 3"):
        cw.apply("add", x, y, y)


@pytest.mark.parametrize("alpha", [2, 0.3])
def test_alpha_in_a_graph_is_what_eager_computes(alpha: float) -> None:
    x = tensor([1.1, 2.3], "float32")
    graph = cw.trace(lambda t: cw.apply("add", t, t, alpha=alpha), "float32[n]", dialect="torch")
    assert graph(x).tolist() == cw.apply("add", x, x, alpha=alpha).tolist()


@pytest.mark.parametrize("name", ["cast", "paddle.cast", "tf.cast", "mx.cast"])
def test_cast_is_an_op(backend: str, name: str) -> None:
    x = tensor([1, 2], "int32", backend)
    for target in ("float32", cw.dtype("float32"), np.float32):
        found = cw.apply(name, x, target)
        assert (found.dtype.name, found.tolist()) == ("float32", [1.0, 2.0])
    assert cw.apply(name, x, dtype="int8").dtype.name == "int8"
    graph = cw.trace(lambda t: cw.apply(name, t, "float16"), "int32[2]", dialect="torch")
    assert graph(x).dtype.name == "float16"


def test_a_cast_is_explained_and_refused() -> None:
    assert cw.resolve("tf.cast", "int32[3]", "float32", dialect="tensorflow").result.name == (
        "float32"
    )
    assert cw.resolve("cast", "int64[3]", "float64", dialect="jax").result.name == "float32"
    assert cw.explain("cast(int32[3], float32)", dialect="torch").splitlines()[1:] == [
        "  The cast to float32 is explicit.", "  The result is float32.",
    ]  # fmt: skip
    with pytest.raises(cw.UsageError, match="torch has no dtype int128"):
        cw.resolve("cast", "int32[3]", "int128", dialect="torch")
    with pytest.raises(cw.UsageError, match="cast takes a dtype"):
        cw.resolve("cast", "int32[3]", 5)
    with pytest.raises(cw.UsageError, match="a cast in place would change the dtype"):
        cw.apply("cast", tensor([1], "int32"), "float32", inplace=True)


def test_fill(backend: str) -> None:
    x = tensor([1, 2], "int32", backend)
    assert cw.apply("fill", x, 2.5).tolist() == [2, 2]
    assert x.tolist() == [1, 2]
    assert x.fill_(7) is x
    assert cw.apply("fill", x, 8, inplace=True) is x
    assert x.tolist() == [8, 8]
    assert x.fill_(tensor(3, "int8", backend)).tolist() == [3, 3]
    with pytest.raises(cw.UsageError, match="a number or a 0-d tensor"):
        x.fill_(tensor([1, 2], "int32", backend))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "float16", "bfloat16", "float32"])
def test_what_fill_takes_is_what_torchs_takes(dtype: str) -> None:
    torch = pytest.importorskip("torch")
    for value in (1e30, 1e300, -1, 300, 2**63, 2**64, np.inf, np.nan, 1j, -300.5, True):
        x = torch.ones(2, dtype=getattr(torch, dtype))
        t = cw.asarray(x.clone(), dialect="torch")
        try:
            expected = x.fill_(value)
        except (RuntimeError, OverflowError):
            with pytest.raises(cw.PromotionError):
                t.fill_(value)
            with pytest.raises(cw.PromotionError):
                cw.resolve("fill", f"{dtype}[2]", value, dialect="torch")
        else:
            np.testing.assert_array_equal(t.fill_(value).array.float(), expected.float())


def test_cast_inputs_gives_what_an_op_computes_with(backend: str) -> None:
    x, y = tensor([1, 2], "int32", backend), tensor([0.5, 0.25], "float16", backend)
    decision = cw.resolve("add", x, y, dialect="torch")
    cast = decision.cast_inputs(x, y)
    assert [t.dtype.name for t in cast] == ["float16", "float16"]
    assert [t.tolist() for t in cast] == [[1.0, 2.0], [0.5, 0.25]]
    arrays = decision.cast_inputs(x.array, y.array)
    assert [type(a) for a in arrays] == [type(x.array)] * 2
    assert operator.add(*arrays).tolist() if backend != "dask" else True
    one, number = cw.resolve("add", x, 2.5, dialect="torch").cast_inputs(x, 2.5)
    assert (one.dtype.name, number.dtype.name, number.shape) == ("float32", "float32", ())
    with pytest.raises(cw.UsageError, match="the decision is about"):
        decision.cast_inputs(y, x)
    with pytest.raises(cw.UsageError, match="has 2 operands, not 1"):
        decision.cast_inputs(x)


def test_a_list_beside_a_condition_takes_the_dtype_of_the_other_operand() -> None:
    mask = tensor([True, False, True], "bool", dialect="tensorflow")
    other = tensor([1, 2, 3], "float16", dialect="tensorflow")
    found = cw.apply("where", mask, [2, 1, 1], other)
    assert (found.dtype.name, found.tolist()) == ("float16", [2, 2, 1])
