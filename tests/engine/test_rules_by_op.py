"""What an op may override: edges, pairs with another result, a policy, steps, no casts."""

from __future__ import annotations

import pytest

import castwise as cw
from castwise.engine.ask import answer, question_in
from castwise.rules.dialect import Becomes, Dialect, Evidence, Joining
from castwise.rules.rule import Accepts, Arrays, Composed, Joins, Numbers, Rule

MIXED = Dialect(
    framework="mixed",
    about="A small table, and ops that go their own ways.",
    evidence=Evidence("made up"),
    order="bool int8 int32 float16 float32 float64 complex64",
    reaches="bool -> int8; int8 -> int32; int32 -> float16; float16 -> float32;"
    "float32 -> float64 complex64",
    joining=Joining(folds=True),
    python={"bool": "bool", "int": "int32", "float": "float32"},
    becomes=Becomes(lifts="bool int -> default_float"),
    casts="any",
    ops={
        "*": Rule(scalars="weak"),
        "mul div": Rule(scalars="kinds first"),
        "div/function": Rule(numbers=Numbers(count_as="0-d arrays")),
        "maximum": Rule(joins=Joins(reaches="int8 -> int32"), arrays=Arrays(floats_lift=True)),
        "result_type": Rule(joins=Joins(pairs="int8 + float16 -> float64")),
        "lt": Rule(arrays=Arrays(promotes=False)),
        "copysign": Rule(
            arrays=Arrays(promotes=False),
            converts="int -> float32",
            accepts=Accepts(refuses_compute="complex"),
        ),
        "lerp": Rule(arrays=Arrays(promotes=False), accepts=Accepts(same_dtype=True, compared=2)),
        "fmod": Rule(composes=(Composed("-(x, *(div(x, y), y))"),)),
        "sub/operator": Rule(accepts=Accepts(refuses_compute="float16")),
    },
)


def in_mixed(expression: str) -> str:
    try:
        return answer(question_in(expression, MIXED)).result.name
    except cw.PromotionError:
        return "!"


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int8[3] * int32[]", "int8"),
        ("int8[] * int32[3]", "int32"),
        ("int8[] * int32[]", "int32"),
        ("int8[3] * float16[]", "float16"),
        ("float64[3] * complex64[]", "complex64"),
        ("int8[3] * 1", "int8"),
        ("int8[] * 1", "int8"),
        ("int8[3] * 1.5", "float32"),
        ("float16[] * 1.5", "float16"),
        ("div(float16[], 1.5)", "float32"),
        ("div(float16[3], 1.5)", "float16"),
        ("div(1, 1.5)", "float32"),
        ("mul(1, 2)", "int32"),
    ],
)
def test_kinds_first_then_ranks(expression: str, expected: str) -> None:
    assert in_mixed(expression) == expected


def test_an_op_may_have_edges_of_its_own() -> None:
    assert in_mixed("int32[3] + float16[3]") == "float16"
    assert in_mixed("maximum(int32[3], float16[3])") == "!"
    assert in_mixed("maximum(int8[3], int32[3])") == "int32"


def test_edges_of_an_op_are_checked() -> None:
    backwards = MIXED.vary(ops={"add": Rule(joins=Joins(reaches="int32 -> int8"))})
    with pytest.raises(cw.UsageError, match="int32 reaches int8, which comes before it"):
        cw.resolve("add", "int8[3]", "int8[3]", dialect=backwards)


def test_pairs_may_meet_elsewhere_than_by_edges() -> None:
    assert in_mixed("result_type(int8[3], float16[3])") == "float64"
    assert in_mixed("result_type(float16[3], int8[3])") == "float64"
    assert in_mixed("result_type(int32[3], float16[3])") == "float16"


def test_joining_pair_by_pair_the_order_counts_where_pairs_are_exceptions() -> None:
    assert in_mixed("result_type(int8[3], float16[3], float32[3])") == "float64"
    assert in_mixed("result_type(int8[3], float32[3], float16[3])") == "float32"


def test_a_float_may_lift_integers_before_they_join() -> None:
    assert in_mixed("maximum(int32[3], 1.5)") == "float32"
    assert in_mixed("maximum(int32[3], 1)") == "int32"
    text = cw.explain("maximum", "int32[3]", "1.5", dialect=MIXED)
    assert "With a Python float, int32[3] counts as float32[3]." in text


def test_an_op_may_cast_nothing() -> None:
    decision = cw.resolve("lt", "int8[3]", "complex64[3]", dialect=MIXED)
    assert (decision.result.name, decision.casts) == ("bool", (None, None))
    text = cw.explain("lt", "int8[3]", "complex64[3]", dialect=MIXED)
    assert "lt casts nothing: its first operand is int8, its result bool." in text


def test_what_is_not_promoted_may_still_be_converted_or_refused() -> None:
    decision = cw.resolve("copysign", "int8[3]", "float64[3]", dialect=MIXED)
    assert [str(cast) for cast in decision.casts] == ["int8 -> float32", "None"]
    assert in_mixed("copysign(complex64[3], float64[3])") == "!"


def test_one_dtype_may_be_asked_of_the_first_operands_alone() -> None:
    assert in_mixed("lerp(float16[3], float16[3], float64[3])") == "float16"
    assert in_mixed("lerp(float16[3], float64[3], float64[3])") == "!"


def test_a_symbol_in_a_program_is_the_operator() -> None:
    assert in_mixed("sub(float16[3], float16[3])") == "float16"
    assert in_mixed("fmod(float16[3], float16[3])") == "!"
    assert in_mixed("fmod(int8[3], int8[3])") == "float32"


@pytest.mark.parametrize(
    ("dialect", "expression", "result"),
    [
        ("numpy", "ldexp(float16[3], int64[3])", "float16"),
        ("numpy", "ldexp(bfloat16[3], int64[3])", "float32"),
        ("numpy", "ldexp(int16[3], int8[3])", "float32"),
        ("torch", "ldexp(float16[3], int64[3])", "float16"),
        ("torch", "ldexp(int64[3], float16[3])", "float16"),
        ("jax", "ldexp(bfloat16[3], int32[3])", "bfloat16"),
    ],
)
def test_an_exponent_of_two_stands_apart(dialect: str, expression: str, result: str) -> None:
    assert answer(question_in(expression, cw.dialect(dialect))).result.name == result


def test_an_exponent_of_two_is_not_cast() -> None:
    decision = cw.resolve("ldexp", "int8[3]", "int64[3]", dialect="numpy")
    assert [cast and cast.target.name for cast in decision.casts] == ["float16", None]


@pytest.mark.parametrize("exponent", ["uint64[3]", "float32[3]", "1.5"])
def test_an_exponent_of_two_is_an_integer(exponent: str) -> None:
    with pytest.raises(cw.PromotionError):
        cw.resolve("ldexp", "float32[3]", exponent, dialect="numpy")


def test_an_exponent_of_two_fits_int32() -> None:
    with pytest.raises(cw.ScalarRangeError, match="out of range for int32"):
        cw.resolve("ldexp", "float32[3]", 2**31, dialect="numpy")


def test_integers_are_not_divided_by_integers_in_addcdiv() -> None:
    assert (
        cw.resolve("addcdiv", "float32[3]", "int8[3]", 2.0, dialect="torch").result.name
        == "float32"
    )
    with pytest.raises(cw.PromotionError, match="does not divide integers by integers"):
        cw.resolve("addcdiv", "float32[3]", "int8[3]", "int8[3]", dialect="torch")


def test_a_dialect_s_own_name_of_an_op_comes_before_another_framework_s() -> None:
    names = {d: cw.resolve("floor_div", "float32[3]", "float32[3]", dialect=d).question.op.name
             for d in ("tensorflow", "mindspore", "megengine")}  # fmt: skip
    assert names == {
        "tensorflow": "floor_div", "mindspore": "floor_divide", "megengine": "floor_divide"
    }  # fmt: skip
