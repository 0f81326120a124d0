"""Rules that look at a scalar's value: ranges, powers, bounds, NumPy 1's value-based casting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import castwise as cw
from castwise.engine.accepts import is_out_of_range
from castwise.vocab.dtypes import dtype
from castwise.vocab.operands import scalar_operand

INTS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
ON_NUMPY_2 = np.__version__.startswith("2.")


def result(op: str, *operands: Any, dialect: str, **parts: Any) -> str | None:
    """The name of the result dtype, or None if it is refused because of the value."""
    try:
        return cw.resolve(op, *operands, dialect=dialect, **parts).result.name
    except cw.ScalarRangeError:
        return None


@pytest.mark.parametrize("dialect", ["numpy", "array-api"])
@pytest.mark.parametrize("name", INTS)
def test_a_python_int_must_fit_the_array(dialect: str, name: str) -> None:
    low, high = dtype(name).min, dtype(name).max
    for value in (low, high, 0, 1):
        assert result("add", f"{name}[3]", value, dialect=dialect) == name
        assert result("add", value, f"{name}[3]", dialect=dialect) == name
    for value in (low - 1, high + 1, 10**30, -(10**30)):
        assert result("add", f"{name}[3]", value, dialect=dialect) is None


@pytest.mark.parametrize("name", [n for n in INTS if n not in ("uint16", "uint32", "uint64")])
def test_in_torch_a_python_int_wraps(name: str) -> None:
    low, high = dtype(name).min, dtype(name).max
    for value, hazards in ((low, ()), (high, ()), (low - 1, ("wraps",)), (high + 1, ("wraps",))):
        if not -(2**63) <= value < 2**64:
            continue
        decision = cw.resolve("add", f"{name}[3]", value, dialect="torch")
        assert (decision.result.name, decision.hazards) == (name, hazards)


@pytest.mark.parametrize("dialect", ["torch", "torch@2.1", "numpy", "numpy@1", "array-api"])
@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 10**400], ids=["2**64", "low", "huge"])
def test_an_int_beyond_64_bits_meets_no_int_array(dialect: str, value: int) -> None:
    assert result("add", "int32[3]", value, dialect=dialect) is None


@pytest.mark.parametrize("dialect", ["torch", "numpy", "numpy@1", "array-api"])
@pytest.mark.parametrize("name", ["int64[3]", "float64[3]", "bool[3]"])
def test_an_int_of_thousands_of_digits_gets_an_answer_or_a_clear_error(
    dialect: str, name: str
) -> None:
    try:
        decision = cw.resolve("add", name, 10**6000, dialect=dialect)
    except cw.PromotionError as error:
        text = str(error)
    else:
        text = str(decision)
    assert dialect in text or "->" in text


@pytest.mark.skipif(not ON_NUMPY_2, reason="the dialect is NumPy 2's")
@pytest.mark.parametrize("name", ["float16", "float32", "float64", "complex64", "complex128"])
def test_an_int_that_is_no_float_is_refused_by_numpy(name: str) -> None:
    """10**309 converts to no Python float, so NumPy raises OverflowError; 10**300 becomes inf."""
    with np.errstate(over="ignore"):
        assert np.add(np.ones(3, name), 10**300).dtype == name
    assert result("add", f"{name}[3]", 10**300, dialect="numpy") == name
    with pytest.raises(OverflowError):
        np.add(np.ones(3, name), 10**309)
    assert result("add", f"{name}[3]", 10**309, dialect="numpy") is None


@pytest.mark.parametrize("dialect", ["torch", "numpy", "numpy@1", "array-api"])
@pytest.mark.parametrize("value", [float("inf"), float("nan"), -float("inf"), 1e300])
def test_a_float_is_never_out_of_range_for_float_arrays(dialect: str, value: float) -> None:
    assert result("add", "float64[3]", value, dialect=dialect) == "float64"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (0, "int8"), (127, "int8"), (128, "int16"), (-128, "int8"), (-129, "int16"), (255, "int16"),
        (32767, "int16"), (32768, "int32"), (2**31, "int64"), (2**63, "float64"),
        (True, "int8"), (1.5, "float64"),  # the value of a higher kind does not count
    ],
)  # fmt: skip
def test_numpy_1_takes_the_smallest_dtype_that_holds_the_value(value: Any, name: str) -> None:
    assert result("add", "int8[3]", value, dialect="numpy@1") == name


@pytest.mark.parametrize(
    ("value", "name"),
    [(1.0, "float16"), (64999.0, "float16"), (65001.0, "float32"), (3.3e38, "float32"),
     (3.5e38, "float64"), (float("inf"), "float16"), (float("nan"), "float16")],
)  # fmt: skip
def test_numpy_1_looks_at_floats_by_value_too(value: float, name: str) -> None:
    assert result("add", "float16[3]", value, dialect="numpy@1") == name
    assert result("add", "float16[3]", f"float64={value}[]", dialect="numpy@1") == name


def test_numpy_1_does_not_look_at_values_where_there_is_no_array() -> None:
    assert result("add", "int8[]", "int64=1[]", dialect="numpy@1") == "int64"
    assert result("add", "np.int8(1)", "np.int64(1)", dialect="numpy@1") == "int64"


@pytest.mark.parametrize("dialect", ["torch", "numpy", "numpy@1", "array-api"])
def test_an_integer_to_a_negative_power_is_refused(dialect: str) -> None:
    for value in (-1, -5, -128):
        assert result("pow", "int32[3]", value, dialect=dialect) is None
    assert result("pow", "float32[3]", -1, dialect=dialect) == "float32"
    assert result("pow", "int32[3]", 2, dialect=dialect) == "int32"


def test_numpy_compares_an_int_out_of_range_exactly() -> None:
    for op in ("eq", "lt", "ge"):
        assert result(op, "uint8[3]", 300, dialect="numpy") == "bool"
        assert result(op, "uint8[3]", -1, dialect="numpy") == "bool"


@pytest.mark.parametrize(
    ("op", "operands", "allowed"),
    [
        ("clamp", ("uint8[3]", 0, 255), True),
        ("clamp", ("uint8[3]", -255, 255), True),  # an unsigned dtype takes negatives down to -max
        ("clamp", ("uint8[3]", -256, 255), False),
        ("clamp", ("int8[3]", -128, 127), True),
        ("clamp", ("int8[3]", -129, 127), False),
        ("clamp", ("float16[3]", 0.0, 70000.0), False),
        ("clamp", ("float16[3]", 0.0, float("inf")), True),
        ("where", ("bool[3]", "uint8[3]", 300), False),
        ("where", ("bool[3]", "uint8[3]", 255), True),
        ("where", ("bool[3]", "float32[3]", 1e39), False),
        ("where", ("bool[3]", "float16[3]", 1e39), True),  # as torch has it
        ("pow", ("int8[3]", 127), True),
        ("pow", ("int8[3]", 128), False),
        ("pow", ("float16[3]", 70000.0), False),
        ("pow", ("float32[3]", 1e39), True),
    ],
)
def test_torch_checks_some_scalars(op: str, operands: tuple[Any, ...], allowed: bool) -> None:
    assert (result(op, *operands, dialect="torch") is not None) == allowed


def test_the_range_error_names_the_range() -> None:
    with pytest.raises(cw.ScalarRangeError, match="Use a value from -128 to 127"):
        cw.resolve("add", "int8[3]", 128, dialect="numpy")


@pytest.mark.parametrize(
    ("value", "name", "wrapped"),
    [(300, "uint8", True), (255, "uint8", False), (-1, "uint8", True), (300, "float16", False),
     (300.0, "uint8", False), (True, "int1", False)],
)  # fmt: skip
def test_wraps(value: Any, name: str, wrapped: bool) -> None:
    assert is_out_of_range(scalar_operand(value), dtype(name)) is wrapped


# The frameworks themselves, asked with random values.

BITS = st.sampled_from([7, 8, 15, 16, 31, 32, 63, 64, 70])
edges = st.builds(
    lambda bits, by, sign: sign * 2**bits + by, BITS, st.integers(-2, 2), st.sampled_from([1, -1])
)
floats = st.floats(width=32) | st.floats() | st.sampled_from([65504.0, 65520.0, 3.4e38, 1e39])
values = st.one_of(edges, st.integers(-300, 300), floats, st.booleans(), st.complex_numbers())

NUMPY_FUNCTIONS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "maximum": np.maximum,
    "eq": np.equal, "lt": np.less, "pow": np.power, "floor_divide": np.floor_divide,
    "bitwise_and": np.bitwise_and, "logical_and": np.logical_and, "atan2": np.arctan2,
    "copysign": np.copysign, "result_type": np.result_type, "float_power": np.float_power,
}  # fmt: skip


@pytest.mark.skipif(not ON_NUMPY_2, reason="the dialect is NumPy 2's")
@given(
    op=st.sampled_from(sorted(NUMPY_FUNCTIONS)),
    name=st.sampled_from([*cw.dialect("array-api").order.split(), "float16"]),
    zero_d=st.booleans(),
    value=values,
    flip=st.booleans(),
)
@pytest.mark.filterwarnings("ignore")
def test_numpy_agrees_on_random_scalars(
    op: str, name: str, zero_d: bool, value: Any, flip: bool
) -> None:
    array = np.ones(() if zero_d else 3, name)
    operands = (value, array) if flip else (array, value)
    try:
        real = NUMPY_FUNCTIONS[op](*operands)
        expected = str(getattr(real, "dtype", real))
    except (TypeError, OverflowError, ValueError):
        expected = "refused"
    try:
        mine = cw.resolve(op, *operands, dialect="numpy", form="function").result.name
    except cw.PromotionError:
        mine = "refused"
    assert mine == expected


TORCH_OPS = ("add", "sub", "mul", "div", "pow", "float_power", "result_type", "where")


@given(
    op=st.sampled_from(TORCH_OPS),
    name=st.sampled_from(cw.dialect("torch@2.1").order.split()),
    zero_d=st.booleans(),
    value=values,
    flip=st.booleans(),
)
@pytest.mark.filterwarnings("ignore")
def test_torch_agrees_on_random_scalars(
    op: str, name: str, zero_d: bool, value: Any, flip: bool
) -> None:
    torch = pytest.importorskip("torch", minversion="2.13")
    tensor = torch.ones(() if zero_d else 3, dtype=getattr(torch, name))
    operands = (value, tensor) if flip else (tensor, value)
    condition = [torch.tensor([True])] if op == "where" else []
    try:
        real = getattr(torch, op)(*condition, *operands)
        expected = str(getattr(real, "dtype", real)).partition(".")[2]
    except (RuntimeError, TypeError, OverflowError, ValueError, NotImplementedError) as error:
        expected = "no kernel" if "not implemented" in str(error) else "refused"
    asked = ("bool[1]", *operands) if op == "where" else operands
    try:
        mine = cw.resolve(op, *asked, dialect="torch", form="function")
    except cw.PromotionError:
        assert expected in ("refused", "no kernel")
    else:
        assert expected in (mine.result.name, "no kernel")


@pytest.mark.parametrize(
    ("op", "array", "value", "expected"),
    [
        ("add", "int8[3]", 127, "int8"),
        ("add", "int8[3]", 128, None),
        ("div", "int8[3]", 128, None),
        ("add", "uint64[3]", -1, "uint64"),
        ("add", "bool[3]", 2**31, "int32"),
        ("add", "float32[3]", 2**63 - 1, "float32"),
        ("add", "float32[3]", 2**63, None),
    ],
)
def test_an_int_may_have_to_fit_the_array_whatever_is_computed_in(
    op: str, array: str, value: int, expected: str | None
) -> None:
    assert result(op, array, value, dialect="mlx") == expected


def test_the_refusal_names_the_dtype_that_does_not_hold_the_value() -> None:
    with pytest.raises(cw.ScalarRangeError, match="300 is out of range for int8"):
        cw.resolve("div", "int8[3]", 300, dialect="mlx")
    with pytest.raises(cw.ScalarRangeError, match="is out of range for int64"):
        cw.resolve("add", "float32[3]", 2**63, dialect="mlx")


def test_an_int_that_is_let_in_may_wrap() -> None:
    assert cw.resolve("add", "uint64[3]", -1, dialect="mlx").hazards == ("wraps",)


@pytest.mark.parametrize(
    ("base", "exponent", "numpy", "tinygrad"),
    [
        ("int8[3]", -1, None, None),
        (-1, "int8[3]", "int8", None),
        ("int8=-1[]", "int8[3]", "int8", "int8"),
        ("float32[3]", -1, "float32", "float32"),
        (-1, "float32[3]", "float32", "float32"),
        (1, "int8[3]", "int8", "int8"),
    ],
)
def test_a_negative_int_may_be_refused_on_either_side_of_a_power(
    base: Any, exponent: Any, numpy: str | None, tinygrad: str | None
) -> None:
    assert result("pow", base, exponent, dialect="numpy") == numpy
    assert result("pow", base, exponent, dialect="tinygrad") == tinygrad


@pytest.mark.parametrize("dialect", ["oneflow", "mindspore", "paddle"])
def test_an_int_that_is_let_in_beyond_the_dtype_is_told_to_wrap(dialect: str) -> None:
    assert cw.resolve("add", "int8[3]", 300, dialect=dialect).hazards == ("wraps",)
    assert cw.resolve("add", "int8[3]", 100, dialect=dialect).hazards == ()
