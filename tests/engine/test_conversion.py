"""Python numbers converted to the arrays' dtype, and operands that become arrays on their own."""

from __future__ import annotations

from dataclasses import replace

import pytest

import castwise as cw
from castwise.engine.ask import answer, question_in
from castwise.rules.dialect import Dialect, Evidence, Joining
from castwise.rules.rule import Accepts, Arrays, Composed, Conversion, Numbers, NumPyOperands, Rule

LIMITS = Conversion(bools="bool int32", wide_ints="uint64 float32")
STRICT = Dialect(
    framework="strict",
    about="No promotion; numbers are converted.",
    evidence=Evidence("made up"),
    order="bool int8 int32 int64 uint64 float16 float32 complex64",
    reaches="",
    joining=Joining(alone="bool int float complex"),
    python={
        "bool": "bool",
        "int": "int32",
        "wide int": "int64",
        "float": "float16",
        "complex": "complex64",
    },
    casts="same dtype",
    ops={
        "*": Rule(
            scalars="converted",
            numbers=Numbers(conversion=LIMITS),
            numpy=NumPyOperands(arrays="adapts"),
        ),
        "sub": Rule(numbers=Numbers(conversion=Conversion(every_int_fits="int8"))),
        "add/function": Rule(arrays=Arrays(makes_arrays="first")),
        "dot": Rule(arrays=Arrays(makes_arrays="all")),
        "cumsum": Rule(accepts=Accepts(refuses_zero_d=True)),
        "maximum": Rule(composes=(Composed("cast(mul(cast(x, int32), cast(y, int32)), bool)"),)),
        "clamp": Rule(composes=(Composed("mul(mul(x, z), y)"),)),
    },
)
LATTICE = STRICT.vary(
    order="bool int32* int8 int32 float16* float16 float32",
    reaches="bool -> int32*; int32* -> int8; int8 -> int32; float16* -> float16;float16 -> float32",
    joining=replace(STRICT.joining, alone="", weak_arrays="keep their width"),
    python={"bool": "bool", "int": "int32", "float": "float16"},
    ops={
        "*": Rule(
            scalars="converted",
            accepts=Accepts(same_dtype=True),
            numpy=NumPyOperands(arrays="adapts"),
            numbers=Numbers(conversion=Conversion(joins_too=True)),
        )
    },
)


def asked(expression: str, dialect: Dialect = STRICT) -> str:
    try:
        return answer(question_in(expression, dialect)).result.name
    except cw.ScalarRangeError:
        return "!range"
    except cw.PromotionError:
        return "!"


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("int8[3] * 1", "int8"),
        ("int8[3] * 300", "int8"),
        ("1.5 * int8[3]", "!"),
        ("1 * bool[3]", "!"),
        ("float16[3] * 1j", "!"),
        ("int32[3] * True", "int32"),
        ("int8[3] * True", "!"),
        ("int8[3] * 9223372036854775807", "int8"),
        ("int8[3] * 9223372036854775808", "!range"),
        ("uint64[3] * 9223372036854775808", "uint64"),
        ("uint64[3] * -1", "!range"),
        ("float32[3] * 18446744073709551616", "float32"),
        ("int32[3] - 127", "int32"),
        ("int32[3] - 128", "!range"),
        ("int8[3] - True", "int8"),
        ("mul(1.5, 1)", "float16"),  # no array: the first number decides
        ("mul(1, 1.5)", "!"),
        ("np.int32[3] * int8[3]", "int8"),
    ],
)
def test_numbers_are_converted_within_limits(expression: str, result: str) -> None:
    assert asked(expression) == result


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("add(1, int32[3])", "int32"),
        ("add(1, int8[3])", "!"),
        ("add(int8[3], 1)", "int8"),
        ("add(2147483648, int64[3])", "int64"),
        ("add(70000.0, float16[3])", "!range"),
        ("add(inf, float16[3])", "float16"),
        ("add(np.int8[3], int32[3])", "!"),
        ("np.int8[3] + int32[3]", "int32"),
        ("dot(int8[3], np.int32[3])", "!"),
        ("dot(int8[3], np.int8[3])", "int8"),
    ],
)
def test_operands_are_made_arrays_first(expression: str, result: str) -> None:
    assert asked(expression) == result


def test_a_step_of_a_program_may_cast() -> None:
    decision = answer(question_in("maximum(float32[3], 1.5)", STRICT))
    assert (decision.result.name, decision.compute.name) == ("bool", "int32")
    assert asked("maximum(bool[3], 9223372036854775808)") == "!range"


def test_a_program_is_for_the_operands_it_names() -> None:
    assert asked("clamp(int8[3], int8[3], int32[3])") == "!"
    assert asked("clamp(int8[3], 1)") == "int8"


def test_a_0_d_array_may_be_refused() -> None:
    assert asked("cumsum(int8[3])") == "int8"
    assert asked("cumsum(int8[])") == "!"


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("float16[3] * np.int8[3]", "float16"),
        ("float16[3] * np.int8(1)", "!"),
        ("int32[3] * np.int8(1)", "int32"),
        ("int32[3] * np.float64(1)", "int32"),  # a Python float by inheritance
        ("int32*[3] * np.float16[3]", "!"),
        ("int32*[3] * 2147483647", "int32"),
        ("int32*[3] * 2147483648", "!range"),
        ("int32[3] * 2147483648", "int32"),
    ],
)
def test_what_is_converted_may_need_a_common_dtype(expression: str, result: str) -> None:
    assert asked(expression, LATTICE) == result


def test_the_conversion_is_explained() -> None:
    assert "  1 is converted to int8.\n" in cw.explain("mul", "int8[3]", 1, dialect=STRICT)
    text = cw.explain("add", 1, "int32[3]", dialect=STRICT, form="function")
    assert "  1 first becomes an array of int32.\n" in text
