"""What `where` chooses by: each framework's own idea of a condition."""

from __future__ import annotations

import pytest

import castwise as cw
from castwise.errors import PromotionError

X, Y = "int8[3]", "int8[3]"
EVERY = ("bool[3]", "bool[]", "uint8[3]", "int64[]", "float32[3]", True, 1, 1.5, "np.bool[3]")
# What each takes of EVERY.
TAKEN = {
    "torch": ("bool[3]", "bool[]", "uint8[3]"),
    "torch@2.1": ("bool[3]", "bool[]", "uint8[3]"),
    "tensorflow": ("bool[3]", "bool[]", True, "np.bool[3]"),
    "tensorflow:np-all": ("bool[3]", "bool[]", True, "np.bool[3]"),
    "tensorflow:safe": ("bool[3]", "bool[]", True, "np.bool[3]"),
    "paddle": ("bool[3]", "bool[]"),
    "paddle:documented": ("bool[3]", "bool[]"),
    "tinygrad": ("bool[3]", "bool[]"),
    "array-api": ("bool[3]", "bool[]"),
    "megengine": ("bool[3]", "bool[]"),
    "megengine:mep3": ("bool[3]", "bool[]"),
    "oneflow": ("bool[3]", "bool[]", "uint8[3]", "int64[]"),
    "numpy": EVERY,
    "numpy@1": EVERY,
    "jax": EVERY,
    "jax:strict": EVERY,
    "keras": EVERY,
    "mlx": EVERY,
}


def is_taken(condition: object, dialect: str) -> bool:
    try:
        return str(cw.resolve("where", condition, X, Y, dialect=dialect).result) == "int8"
    except PromotionError:
        return False


@pytest.mark.parametrize("dialect", TAKEN)
def test_a_framework_chooses_by_what_it_takes(dialect: str) -> None:
    assert tuple(c for c in EVERY if is_taken(c, dialect)) == TAKEN[dialect]


@pytest.mark.parametrize(
    ("dialect", "condition", "told"),
    [
        (
            "torch",
            "int8[3]",
            "where does not accept int8 as a condition. Compare it with zero: x != 0.",
        ),
        (
            "torch",
            True,
            "where does not accept a Python bool as a condition. Make it a bool array.",
        ),
        (
            "torch",
            "np.bool[3]",
            "np.bool[3] as a condition. Make it a bool array of the framework.",
        ),
        ("tensorflow", 1, "where does not accept a Python int as a condition."),
        ("numpy", "float8_e5m2[3]", "this dialect has no dtype float8_e5m2"),
    ],
)
def test_a_refusal_says_what_to_do(dialect: str, condition: object, told: str) -> None:
    with pytest.raises(PromotionError) as caught:
        cw.resolve("where", condition, X, Y, dialect=dialect)
    assert told in str(caught.value)


def test_mindspore_has_no_kernel_for_other_conditions() -> None:
    decision = cw.resolve("where", "int8[3]", X, "float32[3]", dialect="mindspore")
    assert not decision.has_kernel
    assert decision.notes == ("where has no CPU kernel for a condition of int8.",)


def test_a_condition_is_told_of_where_it_is_no_bool() -> None:
    told = cw.explain("where", "float32[3]", X, Y, dialect="numpy")
    assert "float32[3] is the condition: any value except zero is true." in told
    assert "condition" not in cw.explain("where", "bool[3]", X, Y, dialect="numpy")


def test_a_condition_takes_no_part_in_promotion() -> None:
    decision = cw.resolve("where", "float64[3]", X, "int16[]", dialect="jax:x64")
    assert str(decision.result) == "int16"
    assert decision.casts[0] is None
