"""What a program printed, as words and numbers that can be compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_NUMBER = r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w])|\b(?:nan|inf)\b"
_WORD = re.compile(rf"(?P<number>{_NUMBER})|(?P<open>[(\[{{])|(?P<close>[)\]}}])|\w+|\S")
# How arrays print their dtype: a fix changes it on purpose.
_DTYPE_ARGUMENT = re.compile(r",\s*dtype=[\w.'<>]+")
_DTYPE = re.compile(r"\b(?:bfloat16|(?:float|complex)\d+)(?:_\w+)?\b")
_ENOUGH_DIGITS = 3  # from which on a last digit may differ, as rounding it may


class Word(NamedTuple):
    """A number, a word or a sign."""

    text: str
    line: int  # from 1
    value: float | None  # None: not a number
    group: int  # the outermost brackets around it, 0 if there are none

    @property
    def is_whole(self) -> bool:
        """Whether it is a number without a fraction, which precision does not change."""
        return self.value is not None and self.text.lstrip("+-").isdigit()

    @property
    def last_digit(self) -> float:
        """What one unit of its last digit is worth; 0 if it has too few digits."""
        mantissa, _, exponent = self.text.lower().partition("e")
        digits = len(re.sub(r"^[-+0.]+|\D", "", mantissa))
        if "." not in mantissa or digits < _ENOUGH_DIGITS:
            return 0.0
        places = len(mantissa.partition(".")[2])
        return float(f"1e{int(exponent or 0) - places}")


def words_of(printed: str) -> list[Word]:
    """The words of an output. Spaces and line ends do not count, because arrays of a narrower dtype
    print fewer digits; nor do the names of float dtypes."""
    return list(_words(_DTYPE.sub("float", _DTYPE_ARGUMENT.sub("", printed))))


def _words(text: str) -> Iterator[Word]:
    depth, group, line, place = 0, 0, 1, 0
    for found in _WORD.finditer(text):
        line += text.count("\n", place, found.start())
        place = found.start()
        if found["open"]:
            depth += 1
            group += depth == 1
        number = found["number"]
        value = float(number) if number else None
        yield Word(found[0], line, value, group if depth else 0)
        if found["close"]:
            depth = max(0, depth - 1)
