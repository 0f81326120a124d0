"""Layers as the engine decides them: indices, probabilities, and parameters of a wider dtype."""

from __future__ import annotations

from typing import Any

import pytest

import castwise as cw

REFUSED = "refused"


def result_of(*asked: Any, dialect: str = "torch") -> str:
    op, *operands = asked
    try:
        return cw.resolve(op, *operands, dialect=dialect).result.name
    except cw.PromotionError:
        return REFUSED


@pytest.mark.parametrize(
    ("scores", "target", "result"),
    [
        ("float16", "int64", "float16"),  # bare dtypes: an integer is an index
        ("float16", "float32", "float32"),
        ("float16[4,5]", "int64[4]", "float16"),
        ("float16[4,5]", "int64[4,5]", REFUSED),  # probabilities are floats
        ("float16[4,5]", "float32[4,5]", "float32"),
        ("float16[4,5]", "float32[4]", REFUSED),
        ("float16[4,5,6]", "int64[4,6]", "float16"),
        ("float16[4,5,6]", "int64[4,5,6]", REFUSED),
        ("float16[4,5]", "int32[4]", REFUSED),
    ],
)
def test_a_target_is_an_index_or_probabilities(scores: str, target: str, result: str) -> None:
    assert result_of("cross_entropy", scores, target) == result


def test_an_index_is_not_cast_and_has_no_say() -> None:
    for index in ("int32[3]", "int64[3]"):
        decision = cw.resolve("embedding", index, "float16[5,4]", dialect="torch")
        assert (decision.result.name, decision.casts) == ("float16", (None, None))
    with pytest.raises(cw.PromotionError, match=r"not accept int8.* Cast it to int32 or int64"):
        cw.resolve("embedding", "int8[3]", "float16[5,4]", dialect="torch")
    assert result_of("embedding", "int8[3]", "float16[5,4]", dialect="jax") == "float16"


def test_only_all_parameters_together_may_be_wider() -> None:
    def norm(*dtypes: str) -> str:
        return result_of("layer_norm", *[f"{dtype}[3]" for dtype in dtypes])

    assert norm("float16", "float32", "float32") == "float16"
    assert norm("bfloat16", "float32") == "bfloat16"
    assert norm("float16", "float16", "float32") == REFUSED
    assert norm("float16", "float32", "float16") == REFUSED
    assert norm("float32", "float16", "float16") == REFUSED
    assert norm("float64", "float32", "float32") == REFUSED
    decision = cw.resolve("layer_norm", "float16[3]", "float32[3]", dialect="torch")
    assert decision.compute.name == "float32"


def test_autocast_casts_each_of_three_operands() -> None:
    conv = ("conv2d", "float32[1,3,8,8]", "float16[4,3,3,3]", "bfloat16[4]")
    assert result_of(*conv) == REFUSED
    assert result_of(*conv, dialect="torch:autocast=bfloat16") == "bfloat16"
    wide = ("conv2d", "float32[1,3,8,8]", "float64[4,3,3,3]", "float32[4]")
    assert result_of(*wide, dialect="torch:autocast=bfloat16") == REFUSED


def test_a_framework_that_was_not_asked_says_so() -> None:
    said = "numpy was not asked about layer_norm: this follows from its general rules."
    assert said in cw.explain("layer_norm", "float16[3]", dialect="numpy")
    assert "was not asked" not in cw.explain("layer_norm", "float16[3]", dialect="torch")
