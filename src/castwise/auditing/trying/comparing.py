"""Whether two runs of a program gave the same results."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from typing import NamedTuple

from castwise.auditing.records.runs import FinalValues, Outcome, ValueChange
from castwise.auditing.trying.printed import Word, words_of

_OUTPUT = "output"
_ADVICE = ". Fix the seed of its random numbers"
_LONGEST = 60  # characters of a line that is quoted


class Differences(NamedTuple):
    """Where two runs differ beyond a precision, by what differs, and the largest change anywhere
    else."""

    found: dict[Hashable, str]  # a name, the place of a word, or the whole output -> in words
    changes: list[ValueChange]  # one for each thing that is alike

    @property
    def largest(self) -> ValueChange | None:
        """The largest change within the precision; None if nothing was compared."""
        return max(self.changes, default=None)


def differences(
    before: Outcome, after: Outcome, precision: float, left_out: Collection[Hashable] = ()
) -> Differences:
    """The differences, except in what is left out."""
    result = Differences({}, [])
    for name, values in before.arrays.items():
        if name in left_out:
            continue
        change = _change_of(values, after.arrays.get(name))
        if change > (0 if values.is_exact else precision):
            result.found[name] = _said(name, change)
        else:
            result.changes.append(ValueChange(change, name))
    if _OUTPUT not in left_out:
        _compare_words(before.printed, after.printed, precision, left_out, result)
    return result


def _compare_words(
    before: str, after: str, precision: float, left_out: Collection[Hashable], result: Differences
) -> None:
    """Adds the differences between two outputs to others."""
    one, other = words_of(before), words_of(after)
    if len(one) != len(other):
        result.found[_OUTPUT] = _first_difference(before, after)
        return
    scales = _scales(one)
    for place, (a, b) in enumerate(zip(one, other, strict=True)):
        if place in left_out:
            continue
        change = _word_change(a, b, scales)
        if change is None or (change > precision and not _is_rounding(a, b)):
            result.found[place] = _quoted(a, b, before, after)
        elif a.value is not None:
            result.changes.append(ValueChange(change, "what it prints"))


def why_not_comparable(first: Outcome, second: Outcome, noise: Differences) -> str:
    """Why the results of a program say nothing, from two runs of the same program; "" if they do.

    What both runs agree on can still be compared if only a few words differ, as a time does.
    """
    arrays = [name for name in noise.found if name in first.arrays]
    unseeded = [name for name in arrays if not first.arrays[str(name)].is_number]
    if unseeded:
        return f"{noise.found[unseeded[0]]} between two plain runs{_ADVICE}"
    if _is_random_output(first, noise) and not _has_arrays(first):
        differing = next(text for what, text in noise.found.items() if what not in arrays)
        return f"{differing} between two plain runs{_ADVICE}"
    if not noise.changes:
        return "the program prints no number and its main module holds no array"
    return ""


def _is_random_output(first: Outcome, noise: Differences) -> bool:
    """Whether two plain runs differ in half of the numbers with a fraction, or print other text."""
    if _OUTPUT in noise.found:
        return True
    words = words_of(first.printed)
    fractions = {n for n, word in enumerate(words) if word.value is not None and not word.is_whole}
    differing = fractions & set(noise.found)
    return bool(differing) and 2 * len(differing) >= len(fractions)


def _has_arrays(outcome: Outcome) -> bool:
    return any(not values.is_number for values in outcome.arrays.values())


def _change_of(before: FinalValues, after: FinalValues | None) -> float:
    """The largest change of a value, relative to the largest value."""
    if after is None or len(before.values) != len(after.values):
        return math.inf
    scale = max((abs(value) for value in before.values if math.isfinite(value)), default=0.0)
    pairs = zip(before.values, after.values, strict=True)
    moved = max((_distance(a, b) for a, b in pairs), default=0.0)
    return moved / scale if scale else moved


def _distance(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    distance = abs(one - other)
    return math.inf if math.isnan(distance) else distance


def _scales(words: Sequence[Word]) -> dict[int, float]:
    """The largest number of each group: what is printed in brackets is an array."""
    scales: dict[int, float] = {}
    for word in words:
        if word.group and word.value is not None and math.isfinite(word.value):
            scales[word.group] = max(scales.get(word.group, 0.0), abs(word.value))
    return scales


def _word_change(one: Word, other: Word, scales: dict[int, float]) -> float | None:
    """The change of a number, relative to its group; None if the words are not alike."""
    if one.value is None or other.value is None:
        return 0.0 if one.text == other.text else None
    distance = _distance(one.value, other.value)
    if distance and one.is_whole and other.is_whole:
        return None
    scale = scales.get(one.group, 0.0) or abs(one.value)
    return distance / scale if scale else distance


def _is_rounding(one: Word, other: Word) -> bool:
    """Whether two numbers differ in the last digit that is printed."""
    digit = min(one.last_digit, other.last_digit)
    assert one.value is not None  # only asked of numbers
    assert other.value is not None
    return _distance(one.value, other.value) <= 1.01 * digit


def _said(name: str, change: float) -> str:
    if math.isinf(change):
        return f"{name} has other values"
    return f"{name} changes by {change:.1e} of its size"


def _quoted(one: Word, other: Word, before: str, after: str) -> str:
    texts = [_line(text, word.line) for text, word in ((before, one), (after, other))]
    return f"line {one.line} of its output changes from {texts[0]!r} to {texts[1]!r}"


def _first_difference(before: str, after: str) -> str:
    """The first line of two outputs that differs."""
    one, other = words_of(before), words_of(after)
    for a, b in zip(one, other, strict=False):
        if a.text != b.text and (a.value is None or b.value is None):
            return _quoted(a, b, before, after)
    lengths = [f"{len(text.splitlines()):,}" for text in (before, after)]
    return f"its output changes from {lengths[0]} to {lengths[1]} lines"


def _line(text: str, number: int) -> str:
    lines = text.splitlines()
    line = lines[number - 1].strip() if number <= len(lines) else ""
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
