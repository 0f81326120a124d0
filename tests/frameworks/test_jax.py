"""JAX, statement by statement: the lattice, its weak nodes, and its five modes."""

from __future__ import annotations

import itertools

import pytest

import castwise as cw
from asking import result
from castwise.conformance.questions import GridQuestion
from castwise.conformance.recorder import ask
from castwise.conformance.recorders import find_recorder
from castwise.engine.ask import answer, question_in

MODES = ("jax", "jax:x64", "jax:strict", "jax:strict-x32", "jax:explicit-x64")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + uint8[3]", "int16"),
        ("uint32[3] + int32[3]", "int64"),
        ("uint64[3] + int8[3]", "float64"),
        ("int64[3] + float16[3]", "float16"),
        ("float16[3] + bfloat16[3]", "float32"),
        ("bfloat16[3] + complex64[3]", "complex64"),
        ("float64[3] + complex64[3]", "complex128"),
        ("int8[3] + int64[]", "int64"),  # a 0-d array counts as any other
        ("bool[3] + bool[3]", "bool"),
        ("int8[3] < uint64[3]", "bool"),
    ],
)
def test_arrays_join_in_a_lattice(expression: str, expected: str) -> None:
    assert result(expression, "jax:x64") == expected


@pytest.mark.parametrize(
    ("expression", "x32", "x64"),
    [
        ("int8[3] + 1", "int8", "int8"),
        ("int8[3] + 1.5", "float32*", "float64*"),
        ("float16[3] + 1.5", "float16", "float16"),
        ("float16[3] + 1j", "complex64", "complex64"),
        ("int8[3] + 1j", "complex64*", "complex128*"),
        ("bool[3] + 1", "int32*", "int64*"),
        ("bool[3] + True", "bool", "bool"),
        ("int32*[3] + int8[3]", "int8", "int8"),
        ("float32*[3] + float16[3]", "float16", "float16"),
        ("int32*[3] + 1.5", "float32*", "float64*"),
        ("int32*[3] < 1", "bool", "bool"),
        ("int32*[3] / int32*[3]", "float32*", "float32*"),
        ("exp(int32*[3])", "float32*", "float32*"),
        ("sum(int32*[3])", "int32", "int64"),
        ("max(float32*[3])", "float32", "float32"),
        ("hypot(float32*[3], 1.5)", "float32", "float64"),
        ("int32*[3] ** int32[3]", "int32", "int32"),
        ("float64*[3] ** int8[3]", "float32", "float64"),
    ],
)
def test_python_numbers_and_weak_arrays_stand_below_their_kind(
    expression: str, x32: str, x64: str
) -> None:
    for dialect, expected in (("jax", x32), ("jax:x64", x64)):
        decision = answer(question_in(expression, dialect))
        assert f"{decision.result}{'*' if decision.is_weak else ''}" == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int64[3] + int64[3]", "int32"),
        ("float64[3] + float32[3]", "float32"),
        ("complex128[3] * 1", "complex64"),
        ("uint32[3] + int32[3]", "int32"),
        ("uint64[3] + int8[3]", "int32"),
        ("int64[3] + np.float64[3]", "float32"),
        ("promote_types(uint64[3], int8[3])", "int32"),
    ],
)
def test_without_x64_wide_arrays_are_truncated(expression: str, expected: str) -> None:
    assert result(expression, "jax") == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int64[3] + int64[3]", "int64"),
        ("uint32[3] + int32[3]", "int32"),
        ("uint32[3] + int64[3]", "int64"),
        ("uint64[3] + int8[3]", "float32"),
        ("promote_types(uint64[3], int8[3])", "float64"),
        ("int64[3] + 1.5", "float32"),
        ("float64[3] + 1j", "complex128"),
        ("int64[3] / int8[3]", "float64"),
        ("uint64[3] / int8[3]", "float32"),
        ("sum(int8[3])", "int32"),
        ("sum(int64[3])", "int64"),
        ("int8[3] + np.int64[3]", "int32"),  # NumPy's are truncated still
        ("int64[3] + np.int64[3]", "int64"),
    ],
)
def test_explicit_x64_keeps_what_was_asked_for(expression: str, expected: str) -> None:
    assert result(expression, "jax:explicit-x64") == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] + int8[3]", "int8"),
        ("int8[3] + int16[3]", "!"),
        ("int8[3] + 1", "int8"),
        ("int4[3] + 1", "int4"),
        ("float32[3] + 1", "float32"),
        ("complex64[3] + 1.5", "complex64"),
        ("int8[3] + 1.5", "!"),
        ("float32[3] + 1j", "!"),
        ("bool[3] + 1", "!"),
        ("int8[3] + True", "!"),
        ("add_(int8[3], True)", "int8"),  # `x.at[...].add(True)` takes it as an int8
        ("float32[3] + np.float64(1)", "!"),
        ("int32[3] / int32[3]", "float32"),
        ("float32[3] ** int8[]", "float32"),
        ("float32[3] ** int8[3]", "!"),
    ],
)
def test_strict_promotion_lets_weak_types_alone_promote(expression: str, expected: str) -> None:
    assert result(expression, "jax:strict") == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int4[3] + 1", "int4"),
        ("bool[3] + uint4[3]", "uint4"),
        ("int4[3] + int8[3]", "!"),
        ("int4[3] + 1.5", "!"),
        ("int4[3] / int4[3]", "float32"),
        ("sum(int4[3])", "!"),
        ("cumsum(int4[3])", "int4"),
        ("abs(int4[3])", "!"),
        ("abs(uint4[3])", "uint4"),
        ("int32[3] + float8_e4m3fn[3]", "float8_e4m3fn"),
        ("float8_e4m3fn[3] + 1.5", "float8_e4m3fn"),
        ("float8_e4m3fn[3] + float16[3]", "!"),
        ("float8_e4m3fn[3] + float8_e5m2[3]", "!"),
        ("float8_e4m3fn[3] + 1j", "!"),
        ("mean(float8_e5m2[3])", "float8_e5m2"),
        ("int2[3] + 1", "int2"),
        ("bool[3] + uint1[3]", "uint1"),
        ("int1[3] + int2[3]", "!"),
        ("uint2[3] + int8[3]", "!"),
        ("int2[3] / int2[3]", "int2"),  # below four bits no integer becomes a float
        ("mean(uint2[3])", "uint2"),
        ("exp(int2[3])", "!"),
        ("exp(int4[3])", "float32"),
        ("int64[3] + float4_e2m1fn[3]", "float4_e2m1fn"),
        ("float6_e2m3fn[3] + 1.5", "float6_e2m3fn"),
        ("float6_e2m3fn[3] + float6_e3m2fn[3]", "!"),
        ("float8_e3m4[3] + float16[3]", "!"),
        ("bool[3] * float8_e8m0fnu[3]", "float8_e8m0fnu"),
        ("promote_types(uint8, float6_e3m2fn)", "float6_e3m2fn"),
        ("promote_types(int1, uint1)", "!"),
    ],
)
def test_narrow_dtypes_join_only_what_lies_below_them(expression: str, expected: str) -> None:
    for dialect in ("jax", "jax:x64"):
        assert result(expression, dialect) == expected


@pytest.mark.parametrize(
    ("expression", "x32", "x64"),
    [
        ("int8[3] + 300", "int8", "int8"),
        ("uint8[3] + -1", "uint8", "uint8"),
        ("float32[3] + 2147483648", "!range", "float32"),
        ("uint32[3] + 2147483648", "!range", "uint32"),
        ("add_(uint32[3], 2147483648)", "uint32", "uint32"),
        ("uint64[3] + 9223372036854775808", "!range", "!range"),
        ("add_(uint64[3], 9223372036854775808)", "!range", "uint64"),
        ("result_type(int8[3], 18446744073709551616)", "int8", "int8"),
        ("float16[3] + 70000.0", "float16", "float16"),
    ],
)
def test_only_the_default_int_bounds_a_python_int(expression: str, x32: str, x64: str) -> None:
    assert [result(expression, dialect) for dialect in ("jax", "jax:x64")] == [x32, x64]


def test_an_int_that_the_array_does_not_hold_wraps() -> None:
    assert cw.resolve("add", "int8[3]", 300, dialect="jax").hazards == ("wraps",)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] ** int16[]", "int8"),
        ("int8[3] ** np.int16(1)", "int8"),
        ("int8[3] ** int16[3]", "int16"),
        ("bool[3] ** uint8[]", "int32"),
        ("bool[3] ** True", "int32"),
        ("int4[3] ** int32[]", "int4"),
        ("int4[3] ** int4[]", "!"),
        ("int8[3] ** 18446744073709551616", "int8"),
        ("9223372036854775808 ** int8[]", "int64"),
        ("18446744073709551616 ** int8[]", "!range"),
        ("9223372036854775808 ** float32[3]", "!range"),
        ("int8[3] ** -1", "!range"),
        ("float32[3] ** -1", "float32"),
        ("int8[3] ** float16[]", "float16"),
    ],
)
def test_beside_one_integer_as_exponent_the_base_decides(expression: str, expected: str) -> None:
    assert result(expression, "jax:x64") == expected


@pytest.mark.parametrize(
    ("expression", "x32", "x64"),
    [
        ("int32[3] / int8[3]", "float32", "float32"),
        ("int64[3] / int8[3]", "float32", "float64"),
        ("bool[3] / 1", "float32", "float64"),
        ("float_power(int8[3], int8[3])", "float32", "float32"),
        ("bool[3] // bool[3]", "int32", "int32"),
        ("square(bool[3])", "int32", "int32"),
        ("bool[3] - bool[3]", "!", "!"),
        ("-bool[3]", "!", "!"),
        ("float32[3] & 1", "!", "!"),
        ("complex64[3] // complex64[3]", "!", "!"),
        ("complex64[3] < complex64[3]", "bool", "bool"),
        ("hypot(complex64[3], 1)", "!", "!"),
        ("argmax(complex64[3])", "!", "!"),
        ("sum(int8[3])", "int32", "int64"),
        ("sum(uint8[3])", "uint32", "uint64"),
        ("cumsum(int8[3])", "int8", "int8"),
        ("cumsum(bool[3])", "int32", "int64"),
        ("mean(int8[3])", "float32", "float32"),
        ("mean(int64[3])", "float32", "float64"),
        ("std(complex64[3])", "float32", "float32"),
        ("argmax(int8[3])", "int32", "int64"),
        ("floor(int8[3])", "int8", "int8"),
        ("angle(int8[3])", "float32", "float64"),
        ("angle(float16[3])", "float16", "float16"),
        ("angle(float16[])", "float32", "float64"),
        ("dot(int8[3], 1)", "!", "!"),
        ("dot(float16[3], 1+1j)", "complex64", "!"),
        ("dot(float32[3], 1.5)", "float32", "float32"),
        ("rsqrt(int32[3])", "!", "!"),
        ("relu(bool[3])", "int32", "int64"),
        ("softmax(int8[3])", "float32", "float32"),
        ("softmax(bool[3])", "!", "!"),
        ("log_softmax(int4[3])", "!", "!"),
    ],
)
def test_ops_with_rules_of_their_own(expression: str, x32: str, x64: str) -> None:
    assert [result(expression, dialect) for dialect in ("jax", "jax:x64")] == [x32, x64]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("add_(int8[3], 1.5)", "int8"),
        ("mul_(float16[3], float64[3])", "float16"),
        ("add_(bool[3], bool[3])", "!"),
        ("add_(bool[3], int8[3])", "bool"),
        ("add_(int4[3], float32[3])", "!"),
        ("div_(int8[3], 2)", "float32"),
        ("div_(float16[3], float32[3])", "float16"),
    ],
)
def test_in_place_is_an_update_of_x_at(expression: str, expected: str) -> None:
    assert result(expression, "jax") == expected


def test_what_is_written_into_stays_weak() -> None:
    decision = answer(question_in("add_(int32*[3], float32[3])", "jax"))
    assert (decision.result.name, decision.is_weak) == ("int32", True)


def test_the_exponent_beside_which_the_base_decides_is_not_cast() -> None:
    assert cw.resolve("pow", "int8[3]", "int16[]", dialect="jax").casts == (None, None)


@pytest.mark.parametrize("dialect", MODES)
def test_can_cast_is_numpys(dialect: str) -> None:
    assert not cw.can_cast("int64", "float16", dialect=dialect)
    assert cw.can_cast("int32", "float64", dialect=dialect)


def test_a_truncation_is_told() -> None:
    told = cw.explain("add", "int64[3]", 1, dialect="jax")
    assert "There are no int64 arrays here: it is truncated to int32." in told


@pytest.mark.parametrize("name", ["jnp.arctan2", "jax.numpy.arctan2", "arctan2"])
def test_names_of_functions(name: str) -> None:
    assert cw.resolve(name, "int8[3]", 1.5, dialect="jax").result.name == "float32"


@pytest.mark.parametrize("mode", ["", ":x64", ":explicit-x64"])
def test_promote_types_truncates_no_dtypes(mode: str) -> None:
    assert str(cw.promote_types("int32", "int64", dialect=f"jax{mode}")) == "int64"
    assert str(cw.promote_types("uint64", "int8", dialect=f"jax{mode}")) == "float64"


def test_arrays_and_result_type_are_truncated() -> None:
    assert str(cw.result_type("int32", "int64", dialect="jax")) == "int32"
    asked = cw.resolve("promote_types", "int32[3]", "int64[3]", dialect="jax")
    assert str(asked.result) == "int32"


@pytest.mark.parametrize(
    ("dialect", "expression", "expected"),
    [
        ("jax:x64", "int32*[3] + int32*[3]", "int32"),
        ("jax:strict", "int32*[3] + int32*[3]", "int64"),
        ("jax:strict", "float32*[3] + 1.5", "float64"),
        ("jax:strict", "float32*[3] ** int64*[3]", "float32"),
        ("jax:strict", "abs(int32*[3])", "int32"),
        ("jax:strict", "sum(float32*[3])", "float32"),
        ("jax:strict", "norm(complex64*[3])", "float64"),
        ("jax:strict", "median(int32*[])", "float64"),
        ("jax:strict", "median(int32[])", "float32"),
        ("jax:strict-x32", "int32*[3] + int32*[3]", "int32"),
        ("jax:strict-x32", "int64[3] + 1", "int32"),
    ],
)
def test_weak_arrays_that_meet_under_strict_promotion(
    dialect: str, expression: str, expected: str
) -> None:
    assert str(answer(question_in(expression, dialect)).result) == expected


def test_heaviside_is_strong_where_its_first_operand_has_dimensions() -> None:
    assert not cw.resolve("heaviside", "bool[3]", 0.5, dialect="jax").is_weak
    assert cw.resolve("heaviside", 0.5, "bool[3]", dialect="jax").is_weak


NOT_HELD = ("int1", "uint1", "float6_e2m3fn", "float6_e3m2fn")


@pytest.mark.parametrize("name", NOT_HELD)
@pytest.mark.parametrize("dialect", MODES)
def test_what_jit_traces_and_no_device_runs_is_told(name: str, dialect: str) -> None:
    decision = cw.resolve("add", f"{name}[3]", f"{name}[3]", dialect=dialect)
    assert decision.result.name == name
    assert not decision.has_kernel
    assert cw.promote_types(name, name, dialect=dialect).name == name
    assert "no CPU kernel" in cw.explain("add", f"{name}[3]", 1, dialect=dialect)
    told = cw.explain("promote_types", name, name, dialect=dialect)
    assert "no CPU kernel" not in told


@pytest.mark.parametrize("dialect", MODES)
def test_every_pair_of_dtypes_promotes_as_in_jax(dialect: str) -> None:
    """The same as JAX's own promote_types, for every dtype that both have."""
    pytest.importorskip("jax")
    recorder = find_recorder("jax", cw.dialect(dialect).mode)
    names = [dtype.name for dtype in cw.dialect(dialect).dtypes]
    pairs = list(itertools.product(names, repeat=2))
    with recorder.session():
        told = [ask(recorder, GridQuestion("promote_types", "function", pair)) for pair in pairs]
    assert len(pairs) == 32**2
    assert [result(f"promote_types({a}, {b})", dialect) for a, b in pairs] == told
