"""Arguments by name: explained step by step, and refused with advice."""

from __future__ import annotations

from typing import Any

import pytest

import castwise as cw


def result(dialect: str, op: str, *operands: Any, **named: Any) -> str:
    return cw.resolve(op, *operands, dialect=dialect, **named).result.name


def test_dtype_says_what_a_reduction_computes_in() -> None:
    assert result("torch", "sum", "int8[3]") == "int64"
    assert result("torch", "sum", "int8[3]", dtype="int8") == "int8"
    assert result("torch", "mean", "int8[3]", dtype="float16") == "float16"
    assert result("numpy", "mean", "float32[3]", dtype="int32") == "int32"
    assert result("jax", "sum", "int8[3]", dtype="int64") == "int32"
    assert result("mlx", "cumsum", "float32[3]", dtype="bool") == "int32"


def test_dtype_chooses_a_loop_of_a_ufunc() -> None:
    assert result("numpy", "div", "int32[3]", "int32[3]", dtype="float32") == "float32"
    assert result("numpy", "lt", "int32[3]", "float32[3]", dtype="bool") == "bool"
    with pytest.raises(cw.PromotionError, match="has no loop that gives int32"):
        cw.resolve("div", "int32[3]", "int32[3]", dtype="int32")


def test_casting_says_which_casts_may_be_made() -> None:
    with pytest.raises(cw.PromotionError, match="cannot be cast to int32"):
        cw.resolve("add", "float64[3]", "float64[3]", dtype="int32")
    unsafe = {"dtype": "int32", "casting": "unsafe"}
    assert result("numpy", "add", "float64[3]", "float64[3]", **unsafe) == "int32"
    with pytest.raises(cw.PromotionError, match="cannot be cast to int64"):
        cw.resolve("add", "int32[3]", "int64[3]", casting="no")
    assert result("numpy", "add", "float64[3]", 1, casting="unsafe", out="int8") == "int8"
    with pytest.raises(cw.UsageError, match="Did you mean 'unsafe'"):
        cw.resolve("add", "int32[3]", 1, casting="unsave")


def test_initial_becomes_a_number_of_the_dtype() -> None:
    assert result("numpy", "sum", "int8[3]", initial=1.5) == "int64"
    with pytest.raises(cw.ScalarRangeError, match="initial=300 is out of range for int8"):
        cw.resolve("max", "int8[3]", initial=300)
    assert result("numpy@1", "max", "int8[3]", initial=300) == "int8"
    with pytest.raises(cw.PromotionError, match="Give a real number"):
        cw.resolve("sum", "float32[3]", initial=1j)


def test_a_mask_is_of_bool() -> None:
    assert result("numpy", "sum", "int8[3]", where="bool[3]") == "int64"
    with pytest.raises(cw.PromotionError, match="Compare it: mask != 0"):
        cw.resolve("sum", "int8[3]", where="int8[3]")
    with pytest.raises(cw.PromotionError):
        cw.resolve("sum", "int8[3]", where=1, dialect="jax")


def test_rounding_keeps_integers() -> None:
    assert result("torch", "div", "int8[3]", 2) == "float32"
    assert result("torch", "div", "int8[3]", 2, rounding_mode="trunc") == "int8"
    assert result("torch", "div", "int8[3]", 2, rounding_mode="floor", inplace=True) == "int8"
    with pytest.raises(cw.UsageError, match="one of trunc, floor"):
        cw.resolve("div", "int8[3]", 2, rounding_mode="ceil", dialect="torch")
    with pytest.raises(cw.UsageError, match="takes no rounding_mode="):
        cw.resolve("add", "int8[3]", 2, rounding_mode="floor", dialect="torch")


def test_numbers_with_a_name_are_checked_as_torch_does() -> None:
    assert result("torch", "addcmul", "int8[3]", "int8[3]", "int8[3]", value=1.5) == "int8"
    with pytest.raises(cw.ScalarRangeError, match="value=300 is out of range"):
        cw.resolve("addcmul", *["int8[3]"] * 3, value=300, dialect="torch")
    assert result("torch", "huber_loss", "float16[3]", "float16[3]", delta=1e6) == "float16"
    with pytest.raises(cw.PromotionError, match="delta is not positive"):
        cw.resolve("huber_loss", *["float32[3]"] * 2, delta=0, dialect="torch")


def test_what_an_op_does_not_take_is_refused() -> None:
    with pytest.raises(cw.PromotionError, match="its sum takes no dtype="):
        cw.resolve("sum", "int8[3]", dtype="int8", dialect="tensorflow")
    with pytest.raises(cw.PromotionError, match="takes no casting="):
        cw.resolve("add", "int8[3]", 1, casting="no", dialect="torch")


def test_the_steps_tell_what_dtype_does() -> None:
    told = cw.explain("sum", "float64[3]", dtype="int8", dialect="torch")
    assert "dtype=int8: the operands are cast to it before the op sees them." in told
    assert told.startswith("sum(float64[3], dtype=int8) in torch")
