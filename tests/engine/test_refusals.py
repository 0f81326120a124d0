"""The dtype a refusal suggests holds every value of the operands, or the loss is mentioned."""

from __future__ import annotations

import itertools
import re

import pytest

import castwise as cw
from castwise.vocab.dtypes import dtype

MODES = [
    "tensorflow:safe", "tensorflow:none", "tensorflow:np-safe", "array-api", "jax:strict",
    "torch:safe=True", "torch:strict=True", "numpy:safe=True", "numpy:strict=True",
    "numpy:promote_64=False", "jax:x64:safe=True", "oneflow:safe=True",
]  # fmt: skip
NAMED = re.compile(r"astype\('(\w+)'\)")


def refusal(*operands: str, dialect: str) -> str:
    """The words of a refusal, or none if there is no refusal."""
    try:
        cw.resolve("add", *operands, dialect=dialect)
    except cw.PromotionError as refused:
        return str(refused)
    return ""


@pytest.mark.parametrize("mode", MODES)
def test_the_dtype_named_holds_both_operands_or_the_loss_is_told(mode: str) -> None:
    known = cw.dialect(mode).dtypes
    told = {
        (a, b): refusal(f"{a}[3]", f"{b}[3]", dialect=mode)
        for a, b in itertools.product(known, repeat=2)
    }
    assert any(told.values())
    for (a, b), words in told.items():
        named = NAMED.search(words)
        if named is None:
            continue
        target = dtype(named[1])
        is_held = target.holds(a) and target.holds(b)
        could_be = any(d.holds(a) and d.holds(b) for d in known)
        assert is_held == could_be, words
        assert is_held or "No dtype here holds both: " in words
        for losing in [d for d in {a, b} if not target.holds(d)]:
            assert f"{losing} -> {target} " in words


@pytest.mark.parametrize(
    ("mode", "operands", "words"),
    [
        ("tensorflow:safe", ("uint64[3]", "float32[3]"),
         "No dtype here holds both: uint64 -> float64 is exact up to 2**53. Cast both: "
         "x.astype('float64')."),
        ("tensorflow:safe", ("int32[3]", "float32[3]"), "Cast both: x.astype('float64')."),
        ("tensorflow:safe", ("int64[3]", "uint64[3]"),
         "int64 -> float64 is exact up to 2**53 and uint64 -> float64 is exact up to 2**53."),
        ("tensorflow:safe", ("int8[3]", "uint8[3]"), "Cast both: x.astype('int16')."),
        ("tensorflow:none", ("int8[3]", "int16[3]"), "Cast one: x.astype('int16')."),
        ("tensorflow:safe", ("int32[3]", "1.5"), "Cast the arrays: x.astype('float64')."),
        ("tensorflow:safe", ("int8[3]", "1e300"), "Cast the arrays: x.astype('float64')."),
        ("tensorflow:safe", ("int64[3]", "1.5"),
         "No float dtype here holds int64: int64 -> float64 is exact up to 2**53."),
        ("tensorflow:safe", ("float32[3]", "1j"), "Cast the arrays: x.astype('complex64')."),
        ("tensorflow:np-safe", ("int32[3]", "1.5"), "Cast the arrays: x.astype('float64')."),
        ("torch:safe=True", ("uint8[3]", "300"), "Cast the arrays: x.astype('int16')."),
        ("torch:safe=True", ("int32[3]", "1.5"), "Cast the arrays: x.astype('float64')."),
        ("numpy:strict=True", ("int8[3]", "int16[3]"), "If you mean it, cast: x.astype('int16')."),
        ("oneflow:safe=True", ("int64[3]", "float32[3]"), "Cast both: x.astype('float64')."),
    ],
)  # fmt: skip
def test_what_a_refusal_says(mode: str, operands: tuple[str, ...], words: str) -> None:
    assert words in refusal(*operands, dialect=mode)


def test_three_operands_are_brought_to_one_of_them() -> None:
    operands = ("int8[3]", "uint8[3]", "float16[3]")
    with pytest.raises(cw.PromotionError, match=r"Cast the others: x.astype\('float16'\)"):
        cw.resolve("concat", *operands, dialect="tensorflow:safe")


def test_what_is_written_in_place_is_cast_by_whoever_wants_it() -> None:
    with pytest.raises(cw.PromotionError, match="Cast the result yourself, or write it into int16"):
        cw.resolve("add", "int8[3]", "int16[3]", dialect="numpy:safe=True", inplace=True)


def test_an_op_that_computes_in_no_such_kind_says_which_it_takes() -> None:
    with pytest.raises(cw.PromotionError, match="It takes bool or int dtypes"):
        cw.resolve("bitwise_and", "int32[3]", "float32[3]", dialect="tensorflow:safe")
