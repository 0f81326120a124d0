"""Operators with a Python number that did not come before: decided once per class of numbers."""

from __future__ import annotations

import math
import operator
import random
from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays import apply, fast_path

# By class: every pair is decided alike, and computed differently.
NUMBERS: tuple[Any, ...] = (
    0.0, -0.0, 0.1, 0.3, -0.7, 3.25, 3.5, 1e-320, 1e300, -1e300, math.inf, math.nan, 0.5, 2.0,
    0, 1, 3, 5, -3, -5, 100, 101, 200, 300, 301, 70000, 2**40, 2**40 + 1, 2**63, -(2**70), 2**70,
    True, False, 2j, 1.5 - 2j, complex(0.0, -0.0), 0.25 + 0j,
)  # fmt: skip
OPERATORS = (operator.add, operator.mul, operator.truediv, operator.pow, operator.lt)
DIALECTS = ("torch", "numpy", "jax", "numpy@1", "tensorflow", "paddle", "array-api")
DTYPES = ("bool", "uint8", "int64", "float16", "bfloat16", "float32", "complex64")


def outcome(function: Any, first: Any, second: Any) -> Any:
    """The result with its bits, or the error with its text."""
    try:
        with np.errstate(all="ignore"):
            found = function(first, second)
    except Exception as error:
        return type(error), str(error)
    return found.dtype, found.weak_type, found.shape, found.numpy().tobytes()


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.filterwarnings("ignore")
def test_each_number_gives_what_it_gives_without_caches(dialect: str) -> None:
    rng = random.Random(dialect)
    for dtype in DTYPES:
        x = cw.asarray([0, 1, 3], dialect=dialect).astype(dtype)
        for tensor in (x, x[1]):
            for function in OPERATORS:
                numbers = rng.sample(NUMBERS, 12)
                for number in (*numbers, *numbers):
                    pair = (tensor, number) if rng.random() < 0.7 else (number, tensor)
                    with cw.count_casts():  # nothing is cached while something counts
                        expected = outcome(function, *pair)
                    assert outcome(function, *pair) == expected, (pair, function)


def test_a_new_number_asks_nothing_new(monkeypatch: pytest.MonkeyPatch) -> None:
    x = cw.asarray([1.0, 2.0], dtype="float32", dialect="torch")
    warm = [x * 0.1, 0.1 / x, x - 40, x + 3.0625j]  # 3 may be an exponent of its own
    assert len(warm) == 4
    monkeypatch.setattr(apply, "asked", None)
    for n in range(1, 7):
        part = 0.1 + n / 100
        assert (x * part).tolist() == (x.numpy() * np.float32(part)).tolist()
        assert (part / x).dtype.name == "float32"
        assert (x - (40 + n)).tolist() == [-39.0 - n, -38.0 - n]
        assert (x + (3 + n / 8) * 1j).tolist() == [1 + (3 + n / 8) * 1j, 2 + (3 + n / 8) * 1j]


def test_many_numbers_stay_within_their_own_table() -> None:
    x = cw.asarray([1.0, 2.0], dtype="float32", dialect="torch")
    pair = x + x
    assert pair.tolist() == [2.0, 4.0]
    kept = dict(fast_path.known)
    for n in range(3 * fast_path._MOST_NUMBERS):
        assert x._kind is (x * (3 + n / 2**16))._kind
    assert len(fast_path.numbers) <= fast_path._MOST_NUMBERS
    assert kept.items() <= fast_path.known.items()
    assert len(fast_path.known) <= len(kept) + 3
