"""How far apart the dialects are, for each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

from castwise.compare.clustering import Cluster, clustered, members
from castwise.compare.pairs import Answers, Pair, pairs_of, weak_dtypes
from castwise.rules.dialect import Dialect
from castwise.vocab.ops import Op, op

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
    """The distance of each pair of dialects in some ops."""

    ops: tuple[str, ...]
    dialects: tuple[str, ...]  # near ones side by side
    pairs: dict[frozenset[str], Distance]
    closer: tuple[DistancesData, ...] = ()  # dialects that these ops do not tell apart, in others

    def between(self, first: str, second: str) -> Distance:
        return self.pairs[frozenset((first, second))]

    @property
    def nearest_first(self) -> list[tuple[str, str]]:
        """All pairs, the closest first."""
        every = combinations(self.dialects, 2)
        return sorted(every, key=lambda pair: self.between(*pair).share)

    @property
    def tree(self) -> Cluster:
        """The dialects, the nearest joined first."""
        return clustered(self.dialects, lambda a, b: self.between(a, b).share)


def distances_data(
    dialects: Iterable[Dialect],
    ops: Iterable[str],
    on_question: Callable[[object], object] | None,
) -> DistancesData:
    """How far apart dialects are in some ops."""
    rows = [op(name) for name in ops]
    numbers: dict[object, int] = {}
    asked = {d.name: _answered(d, rows, numbers, on_question) for d in dialects}
    pairs = {frozenset((a, b)): _distance(asked[a], asked[b]) for a, b in combinations(asked, 2)}
    made = DistancesData(tuple(row.name for row in rows), tuple(asked), pairs)
    return replace(made, dialects=members(made.tree))


def count(dialects: Iterable[Dialect], ops: Iterable[str]) -> int:
    """How many questions all the dialects are asked."""
    rows = [op(name) for name in ops]
    return sum(1 for dialect in dialects for _ in _pairs(rows, dialect))


def _pairs(rows: Iterable[Op], dialect: Dialect) -> Iterator[Pair]:
    return pairs_of(rows, dialect.dtypes, weak_dtypes(dialect))


class _Answered(NamedTuple):
    """What a dialect answered, by the number of the question."""

    strong: dict[int, str]  # questions without weak arrays, results without their weakness
    weak: dict[int, str] | None  # all questions; None for a dialect without weak arrays


def _answered(
    dialect: Dialect,
    rows: Iterable[Op],
    numbers: dict[object, int],
    on_question: Callable[[object], object] | None,
) -> _Answered:
    """What a dialect answers; `numbers` gives the same question the same number everywhere."""
    answers = Answers(dialect, tells_weak=dialect.has_weak_arrays)
    answered = _Answered({}, {} if dialect.has_weak_arrays else None)
    for pair in _pairs(rows, dialect):
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
