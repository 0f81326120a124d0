"""How far apart the dialects are, for each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

from castwise.compare.pairs import Answers, pairs_of, weak_dtypes
from castwise.rules.catalog import dialects as names_of_all
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.vocab.ops import op

# Ops that nearly every framework has: enough to tell them apart, few enough to be quick.
OPS = (
    "add sub mul div floor_divide remainder pow eq lt logical_and bitwise_and bitwise_left_shift"
    " maximum atan2 where abs exp sum mean"
)


class Distance(NamedTuple):
    """How many questions two dialects were both asked, and how many they answer differently."""

    asked: int
    differ: int

    @property
    def share(self) -> float:
        """The share of questions answered differently, from 0 to 1."""
        return self.differ / self.asked if self.asked else 0.0


@dataclass(frozen=True, slots=True)
class DistancesData:
    """The distance of each pair of dialects."""

    dialects: tuple[str, ...]
    pairs: dict[frozenset[str], Distance]

    def between(self, first: str, second: str) -> Distance:
        return self.pairs[frozenset((first, second))]

    @property
    def nearest_first(self) -> list[tuple[str, str]]:
        """All pairs, the closest first."""
        every = combinations(self.dialects, 2)
        return sorted(every, key=lambda pair: self.between(*pair).share)


def distances_data(
    dialects: Iterable[str | Dialect] | None, on_question: Callable[[object], object] | None
) -> DistancesData:
    """How far apart dialects are: all of them, or those that are given."""
    chosen = [to_dialect(d) for d in (names_of_all() if dialects is None else dialects)]
    numbers: dict[object, int] = {}
    asked = {dialect.name: _answered(dialect, numbers, on_question) for dialect in chosen}
    names = tuple(asked)
    pairs = {frozenset((a, b)): _distance(asked[a], asked[b]) for a, b in combinations(names, 2)}
    return DistancesData(names, pairs)


def count(dialects: Iterable[str | Dialect]) -> int:
    """How many questions all the dialects are asked."""
    rows = [op(name) for name in OPS.split()]
    chosen = [to_dialect(name) for name in dialects]
    return sum(1 for d in chosen for _ in pairs_of(rows, d.dtypes, weak_dtypes(d)))


class _Answered(NamedTuple):
    """What a dialect answered, by the number of the question."""

    strong: dict[int, str]  # questions without weak arrays, results without their weakness
    weak: dict[int, str] | None  # all questions; None for a dialect without weak arrays


def _answered(
    dialect: Dialect,
    numbers: dict[object, int],
    on_question: Callable[[object], object] | None,
) -> _Answered:
    """What a dialect answers; `numbers` gives the same question the same number everywhere."""
    answers = Answers(dialect, tells_weak=dialect.has_weak_arrays)
    answered = _Answered({}, {} if dialect.has_weak_arrays else None)
    rows = [op(name) for name in OPS.split()]
    for pair in pairs_of(rows, dialect.dtypes, weak_dtypes(dialect)):
        if on_question:
            on_question(pair)
        answer = answers[pair]
        key = pair.op, pair.left.key, pair.right.key, pair.is_augmented
        number = numbers.setdefault(key, len(numbers))
        if not (pair.left.is_weak or pair.right.is_weak):
            answered.strong[number] = str(answer.result)
        if answered.weak is not None:
            answered.weak[number] = answer.text
    return answered


def _distance(first: _Answered, second: _Answered) -> Distance:
    if first.weak is not None and second.weak is not None:
        a, b = first.weak, second.weak
    else:
        a, b = first.strong, second.strong
    asked = len(a.keys() & b.keys())
    return Distance(asked, asked - len(a.items() & b.items()))
