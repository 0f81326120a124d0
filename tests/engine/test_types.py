"""result_type, promote_types and can_cast against the frameworks' own functions."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import array_api_strict as xp
import ml_dtypes
import numpy as np
import pytest

import castwise as cw
from castwise.engine import ask
from castwise.vocab.dtypes import dtype

NUMPY = "numpy" if int(np.__version__.partition(".")[0]) >= 2 else "numpy@1"
NUMPY_NAMES = cw.dialect(NUMPY).order.split()
NATIVE_NAMES = [name for name in NUMPY_NAMES if name != "bfloat16"]
TORCH_NAMES = cw.dialect("torch").order.split()
STANDARD_NAMES = cw.dialect("array-api").order.split()


def numpy_dtype(name: str) -> Any:
    return np.dtype(getattr(ml_dtypes, name, None) or name)


def answer(function: Any, *args: Any, **kwargs: Any) -> str | None:
    """The name of the dtype, or None if the function refuses."""
    try:
        found = function(*args, **kwargs)
    except (TypeError, RuntimeError):
        return None
    return str(found).rpartition(".")[2]


@pytest.mark.parametrize("a", NUMPY_NAMES)
def test_numpy_promote_types(a: str) -> None:
    for b in NUMPY_NAMES:
        real = answer(np.promote_types, numpy_dtype(a), numpy_dtype(b))
        assert answer(cw.promote_types, a, b, dialect=NUMPY) == real, (a, b)


@pytest.mark.parametrize("a", NATIVE_NAMES)
def test_numpy_result_type_of_three_arrays(a: str) -> None:
    for b, c in itertools.product(NATIVE_NAMES, repeat=2):
        real = answer(np.result_type, *map(numpy_dtype, (a, b, c)))
        mine = answer(cw.result_type, f"{a}[3]", f"{b}[3]", f"{c}[3]", dialect=NUMPY)
        assert mine == real, (a, b, c)


@pytest.mark.parametrize("a", TORCH_NAMES)
def test_torch_promote_types_and_can_cast(a: str) -> None:
    torch = pytest.importorskip("torch")
    for b in TORCH_NAMES:
        live = getattr(torch, a), getattr(torch, b)
        real = answer(torch.promote_types, *live)
        assert answer(cw.promote_types, a, b, dialect="torch") == real, (a, b)
        assert cw.can_cast(*live, dialect="torch") == torch.can_cast(*live), (a, b)


@pytest.mark.parametrize("a", STANDARD_NAMES)
def test_array_api_result_type_and_can_cast(a: str) -> None:
    for b in STANDARD_NAMES:
        live = getattr(xp, a), getattr(xp, b)
        real = answer(xp.result_type, *live)
        assert answer(cw.promote_types, a, b, dialect="array-api") == real, (a, b)
        mine = answer(cw.result_type, f"{a}[3]", f"{b}[]", dialect="array-api")
        assert mine == real, (a, b)
        assert cw.can_cast(a, b, dialect="array-api") == xp.can_cast(*live), (a, b)


@pytest.mark.parametrize("a", NUMPY_NAMES)
def test_numpy_can_cast(a: str) -> None:
    for b in NUMPY_NAMES:
        real = np.can_cast(numpy_dtype(a), numpy_dtype(b))
        assert cw.can_cast(a, b, dialect="numpy") == real, (a, b)


def numpy_live(name: str) -> list[Any]:
    kind = numpy_dtype(name)
    return [np.zeros(3, kind), np.zeros((), kind), np.zeros((), kind)[()]]


SCALARS: list[Any] = [True, 5, 1.5, 2j]


@pytest.mark.parametrize("a", NATIVE_NAMES)
def test_result_type_of_live_numpy_objects(a: str) -> None:
    others = [x for n in ("bool", "int8", "uint64", "float16", "complex64") for x in numpy_live(n)]
    for x in numpy_live(a):
        for y in (*others, *SCALARS):
            for pair in ((x, y), (y, x)):
                expected = str(np.result_type(*pair))
                for _ in range(2):  # uncached, then cached
                    assert cw.result_type(*pair, dialect=NUMPY).name == expected, pair


@pytest.mark.parametrize("a", ["bool", "uint8", "int64", "float16", "float32", "complex64"])
def test_result_type_of_live_tensors(a: str) -> None:
    torch = pytest.importorskip("torch")
    names = ("bool", "int8", "int64", "bfloat16", "float64", "complex64")
    kinds = [getattr(torch, n) for n in names]
    others = [torch.zeros(s, dtype=k) for k in kinds for s in ((3,), (), (2, 2))]
    for shape in ((3,), ()):
        x = torch.zeros(shape, dtype=getattr(torch, a))
        for y in (*others, *SCALARS):
            expected = str(torch.result_type(x, y))
            for _ in range(2):
                assert f"torch.{cw.result_type(x, y, dialect='torch')}" == expected, (x, y)


def test_a_cached_answer_is_not_that_of_another_rank() -> None:
    """torch: a 0-d float64 does not widen a float32 array, a float64 array does."""
    torch = pytest.importorskip("torch")
    array, zero_d = torch.zeros(3, dtype=torch.float64), torch.zeros((), dtype=torch.float64)
    x = torch.zeros(3)
    for _ in range(2):
        assert cw.result_type(x, array, dialect="torch").name == "float64"
        assert cw.result_type(x, zero_d, dialect="torch").name == "float32"


def test_a_cached_answer_is_not_that_of_another_value() -> None:
    """NumPy 1 looks at what a 0-d array holds."""
    x = np.zeros(3, "int8")
    for _ in range(2):
        assert cw.result_type(x, np.array(5), dialect="numpy@1").name == "int8"
        assert cw.result_type(x, np.array(300), dialect="numpy@1").name == "int16"
        assert cw.result_type(x, np.array([300]), dialect="numpy@1").name == "int64"
        assert cw.result_type(x, np.array([5]), dialect="numpy@1").name == "int64"


def test_a_cached_answer_is_not_that_of_another_dialect() -> None:
    a, b = np.zeros(3, "int64"), np.zeros(3, "float32")
    for _ in range(2):
        assert cw.result_type(a, b, dialect="numpy").name == "float64"
        assert cw.result_type(a, b).name == "float64"
        with cw.use("numpy@1"):
            assert cw.result_type(a, np.array(5.0)).name == "float64"
        with pytest.raises(cw.PromotionError):
            cw.result_type(a, b, dialect="array-api")
        varied = cw.dialect("numpy").vary(
            reaches="int64 => float32",
            joining=replace(cw.dialect("numpy").joining, alone="bool int float complex"),
        )
        assert cw.result_type(a, b, dialect=varied).name == "float32"


def test_a_cached_answer_is_not_that_of_another_framework() -> None:
    """A NumPy array inside torch's own result_type is refused; a tensor is not."""
    torch = pytest.importorskip("torch")
    tensor, array = torch.zeros(3, dtype=torch.int64), np.zeros(3, "int64")
    assert cw.result_type(tensor, tensor, dialect="torch").name == "int64"
    for _ in range(2):
        with pytest.raises(cw.PromotionError):
            cw.result_type(tensor, array, dialect="torch")


def test_the_cache_of_live_arrays_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask, "CACHE_SIZE", 20)
    monkeypatch.setattr(ask, "_known", {})
    arrays = [np.zeros(3, numpy_dtype(n)) for n in NATIVE_NAMES]
    for a, b in itertools.product(arrays, repeat=2):
        cw.result_type(a, b, dialect="numpy")
        assert len(ask._known) <= 20
    assert ask._known


def test_dask_arrays_are_asked_without_computing() -> None:
    da = pytest.importorskip("dask.array")
    lazy = da.ones(4, chunks=2, dtype="int8").map_blocks(lambda _: 1 / 0, dtype="float16")
    other = da.ones(4, chunks=2, dtype="int64")
    for _ in range(2):
        assert cw.result_type(lazy, other, dialect="numpy").name == "float64"


@pytest.mark.parametrize("dialect", cw.dialects())
def test_result_type_is_the_op_of_that_name(dialect: str) -> None:
    sample = ["int8[3]", "uint8[]", "float32[3]", 5, 1.5, "bool[3]", 300]
    for operands in itertools.product(sample, repeat=2):
        try:
            resolved = cw.resolve("result_type", *operands, dialect=dialect).result
        except cw.PromotionError as error:
            with pytest.raises(type(error)):
                cw.result_type(*operands, dialect=dialect)
        else:
            assert cw.result_type(*operands, dialect=dialect) is resolved


@pytest.mark.parametrize("count", [1, 3, 5])
def test_any_number_of_operands(count: int) -> None:
    assert cw.result_type(*["int8[3]"] * count).name == "int8"
    assert cw.promote_types(*["int8"] * count).name == "int8"


def test_no_operand_is_a_usage_error() -> None:
    with pytest.raises(cw.UsageError, match="result_type takes"):
        cw.result_type()
    with pytest.raises(cw.UsageError, match="promote_types takes"):
        cw.promote_types()


@pytest.mark.parametrize("spelled", ["int8", "torch.int8", np.int8, np.dtype("int8")])
def test_dtypes_come_in_any_spelling(spelled: Any) -> None:
    assert cw.promote_types(spelled, "uint8", dialect="numpy") is dtype("int16")
    assert cw.can_cast(spelled, "int16", dialect="numpy")


@pytest.mark.parametrize("function", [cw.promote_types, cw.can_cast])
def test_what_is_no_dtype_is_a_usage_error(function: Any) -> None:
    with pytest.raises(cw.UsageError, match="cannot tell the dtype"):
        function("int8", 5)
    with pytest.raises(cw.UsageError, match="Did you mean"):
        function("int8", "flaot32")


def test_a_dtype_the_dialect_lacks() -> None:
    with pytest.raises(cw.UsageError, match="array-api has no dtype float16"):
        cw.can_cast("float16", "float32", dialect="array-api")
    with pytest.raises(cw.PromotionError, match="this dialect has no dtype float16"):
        cw.promote_types("float16", "float32", dialect="array-api")


@pytest.mark.parametrize("dialect", ["nope", ""])
def test_an_unknown_dialect_is_a_usage_error(dialect: str) -> None:
    for question in (cw.result_type, cw.promote_types, cw.can_cast):
        with pytest.raises(cw.UsageError, match="unknown dialect"):
            question("int8", "int8", dialect=dialect)


def test_live_things_that_are_no_arrays_are_described_as_ever() -> None:
    assert cw.result_type(np.int8(3), 5).name == "int8"
    with pytest.raises(cw.UsageError, match="cannot describe a set"):
        cw.result_type({1}, np.zeros(3))


@pytest.mark.parametrize(
    ("operands", "dialect", "name"),
    [
        # RFC 431 on NumPy's "safe casting".
        ((np.int8, 200), "numpy@1", "int16"),
        ((np.int8, 100), "numpy@1", "int8"),
        ((np.dtype("int8"), 200), "numpy@1", "int16"),
        ((np.dtype(">i4"), np.float32), "numpy", "float64"),
        ((np.bool_, np.uint8), "torch", "uint8"),
        ((ml_dtypes.bfloat16, 1.5), "torch", "bfloat16"),
        ((cw.dtype("int8"), np.zeros(3, "uint8")), "numpy", "int16"),
        ((bool, np.int8), "numpy", "int8"),
    ],
    ids=str,
)
def test_a_dtype_or_scalar_type_counts_as_an_array(
    operands: tuple[Any, ...], dialect: str, name: str
) -> None:
    assert cw.result_type(*operands, dialect=dialect).name == name
    assert cw.resolve("result_type", *operands, dialect=dialect).result.name == name


@pytest.mark.parametrize(("kind", "reason"), [(float, "no one width"), (list, "cannot tell")])
def test_a_type_that_is_no_dtype_is_a_usage_error(kind: type, reason: str) -> None:
    with pytest.raises(cw.UsageError, match=reason):
        cw.result_type(np.int8, kind)


def test_a_dtype_is_no_operand_of_a_computation() -> None:
    with pytest.raises(TypeError):
        cw.asarray([1, 2]) + np.int8
