"""What a refusal advises: a cast is never to the dtype that everything has already."""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator

import pytest

import castwise as cw
from castwise.vocab.ops import OPS

ALL = os.environ.get("CASTWISE_HINTS") == "all"
NAMES = "add div where concat stack ldexp clamp cross_entropy linalg.solve fft.rfft"
OPS_ASKED = [name for name in OPS if ALL or name in NAMES.split()]
NAMED = "bool int8 uint8 int32 uint64 float16 bfloat16 float32 float64 complex64"
DTYPES = NAMED.split()
NUMBERS = ("True", "1", "1.5", "1j", "300")
ADVICE = re.compile(r"(?:Cast [\w ]+: x\.astype\('(\w+)'\)|Cast it to (\w+))")


def operands(name: str, dialect: str) -> Iterator[tuple[str, ...]]:
    had = {d.name for d in cw.dialect(dialect).dtypes}
    arrays = [f"{dtype}[3]" for dtype in DTYPES if dtype in had]
    row = OPS[name]
    if row.arity[1] == 1:
        yield from ((array,) for array in arrays)
        return
    first = ("bool[3]",) if row.is_condition_first else ()
    for pair in itertools.product(arrays, (*arrays, *NUMBERS)):
        missing = row.arity[0] - len(first) - 2
        yield (*first, *pair, *pair[1:] * missing)


def advice(name: str, given: tuple[str, ...], dialect: str) -> tuple[str, bool] | None:
    """What is advised, and whether it is a cast to what all arrays are; None without a cast."""
    try:
        cw.resolve(name, *given, dialect=dialect)
    except cw.PromotionError as error:
        if found := ADVICE.search(str(error)):
            taking = given[1:] if OPS[name].is_condition_first else given
            held = {text.partition("[")[0] for text in taking if text.endswith("]")}
            return str(error), held == {found[1] or found[2]}
    return None


def test_no_hint_advises_a_cast_to_what_all_arrays_are() -> None:
    asked = (
        advice(name, given, dialect)
        for dialect in cw.dialects()
        for name in OPS_ASKED
        for given in operands(name, dialect)
    )
    advised = [found for found in asked if found]
    assert [text for text, is_useless in advised if is_useless] == []
    assert len(advised) > 5_000


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_advice_about_a_complex_number_helps(dtype: str) -> None:
    with pytest.raises(cw.PromotionError, match="no matching complex dtype") as error:
        cw.resolve("add", f"{dtype}[3]", 1j, dialect="tensorflow:none")
    target = str(error.value).split()[-2]
    assert str(cw.resolve("add", f"{target}[3]", 1j, dialect="tensorflow:none").result) == target


@pytest.mark.parametrize(
    ("question", "advice"),
    [
        (("jax:strict", "add", "int8[3]", "True"), "Make the number an array of int8."),
        (("jax:strict", "add", "int8[3]", "int16[3]"), "Cast one: x.astype('int16')."),
        (("numpy", "ldexp", "int32[3]", "1.5"), "Write an integer."),
        (("torch", "cross_entropy", "uint8[3]", "1"), "Make it an array of uint8 or int64."),
    ],
)
def test_a_number_is_not_cast(question: tuple[str, ...], advice: str) -> None:
    dialect, name, *given = question
    with pytest.raises(cw.PromotionError) as error:
        cw.resolve(name, *given, dialect=dialect)
    assert str(error.value).endswith(advice)
