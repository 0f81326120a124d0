"""What an op takes at all: Python scalars by kind and place, arrays by their dimensions."""

from __future__ import annotations

import pytest

import castwise as cw
from castwise.engine.ask import answer, question_in
from castwise.rules.dialect import Dialect, Evidence, check
from castwise.rules.rule import Accepts, Composed, Numbers, Rule, Writes

CHOOSY = Dialect(
    framework="choosy",
    about="A dialect that takes little.",
    evidence=Evidence("made up"),
    order="bool int8 int32 float32 float64",
    reaches="bool -> int8; int8 -> int32; int32 -> float32; float32 -> float64",
    python={"bool": "bool", "int": "int32", "float": "float32"},
    casts="any",
    ops={
        "*": Rule(scalars="arrays alone", writes=Writes(into="same dtype")),
        "mul": Rule(numbers=Numbers(refuses="bool float")),
        "sub": Rule(numbers=Numbers(places="last")),
        "maximum": Rule(numbers=Numbers(places="none")),
        "minimum": Rule(numbers=Numbers(places="first")),
        "matmul": Rule(accepts=Accepts(needs_rank=2)),
        "mean": Rule(composes=(Composed("cast(x, float64)"),)),
        "prod": Rule(composes=(Composed("x"),)),
    },
)


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("int8[3] * True", "mul takes no Python bool"),
        ("int8[3] * 1.5", "mul takes no Python float"),
        ("1 - int8[3]", "sub takes no Python scalar in this place"),
        ("maximum(int8[3], 1)", "maximum takes no Python scalar"),
        ("minimum(int8[3], 1)", "minimum takes no Python scalar in this place"),
        ("int8[3] @ int8[3]", "matmul needs an array of two dimensions"),
        ("add(1, 2)", "at least one operand must be an array"),
    ],
)
def test_what_is_not_taken_is_refused_by_its_name(expression: str, why: str) -> None:
    with pytest.raises(cw.PromotionError, match=rf"{why}\."):
        answer(question_in(expression, CHOOSY))


@pytest.mark.parametrize(
    "expression",
    [
        "int8[3] * 1",
        "int8[3] - 1",
        "minimum(1, int8[3])",
        "maximum(int8[3], int8[])",
        "int8[3] @ int8[3,2]",
        "int8[n,m] @ int8[m]",
        "int8 @ int8",
    ],
)
def test_all_else_is_taken(expression: str) -> None:
    assert answer(question_in(expression, CHOOSY)).result.name == "int8"


def test_a_program_may_be_a_cast_or_the_operand_itself() -> None:
    cast, kept = (answer(question_in(f"{op}(int8[3])", CHOOSY)) for op in ("mean", "prod"))
    assert (cast.result.name, kept.result.name, kept.compute.name) == ("float64", "int8", "int8")
    assert "mean casts int8[3] to float64." in cast.steps
    assert "prod returns int8[3] unchanged." in kept.steps


def test_only_ops_that_count_dimensions_may_ask_for_matrices() -> None:
    with pytest.raises(cw.UsageError, match="dot does not distinguish vectors from matrices"):
        check(CHOOSY.vary(ops={"dot": Rule(accepts=Accepts(needs_rank=2))}))


@pytest.mark.parametrize(
    ("expression", "dialect", "dtype"),
    [
        ("np.complex64(1) == int8[3]", "megengine:mep3", "complex64"),
        ("int8[3] == np.uint16(1)", "megengine:mep3", "uint16"),
        ("where(bool[3], np.complex128(1), np.complex128(1))", "mlx", "complex128"),
    ],
)
def test_a_numpy_scalar_of_a_dtype_the_dialect_lacks_is_refused_by_its_name(
    expression: str, dialect: str, dtype: str
) -> None:
    with pytest.raises(cw.PromotionError, match=f"this dialect has no dtype {dtype}"):
        answer(question_in(expression, cw.dialect(dialect)))


def test_a_numpy_array_of_a_dtype_that_numpy_lacks_has_no_category() -> None:
    question = question_in("int8[3] + np.float8_e5m2[3]", cw.dialect("megengine"))
    assert answer(question).result.name == "int8"
