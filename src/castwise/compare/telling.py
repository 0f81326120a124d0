"""Dialects that the usual ops do not tell apart, and the ops that do: of modes such as autocast."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from castwise.compare.distances import DistancesData
from castwise.compare.pairs import Answers, Pair
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import array_operand
from castwise.vocab.ops import op, ops


def alike(found: DistancesData) -> list[list[str]]:
    """The groups of dialects that answered all questions alike, each of two or more."""
    groups: list[list[str]] = []
    for name in found.dialects:
        for group in groups:
            if all(_are_alike(found, name, other) for other in group):
                group.append(name)
                break
        else:
            groups.append([name])
    return [group for group in groups if len(group) > 1]


def _are_alike(found: DistancesData, first: str, second: str) -> bool:
    asked, differ = found.between(first, second)
    return bool(asked) and not differ


def telling_ops(dialects: Iterable[Dialect]) -> tuple[str, ...]:
    """The ops that dialects answer differently although all operands have one dtype.

    Such operands need no promotion. So an op where the answers differ is one that a mode changes.

    >>> from castwise.rules.catalog import dialect_named
    >>> telling_ops([dialect_named("oneflow"), dialect_named("oneflow:article")])
    ('sum',)
    """
    found = {name for pair in combinations(dialects, 2) for name in _differing(*pair)}
    return tuple(name for name in ops() if name in found)


def _differing(first: Dialect, second: Dialect) -> Iterator[str]:
    shared = [dtype for dtype in first.dtypes if dtype in second.dtypes]
    unrecorded = {*first.unrecorded, *second.unrecorded}
    both = [Answers(dialect, tells_weak=False) for dialect in (first, second)]
    for name in ops():
        if name not in unrecorded and _differs(name, shared, both):
            yield name


def _differs(name: str, dtypes: Sequence[DType], both: Sequence[Answers]) -> bool:
    row = op(name)
    arrays = [array_operand(dtype, (3,)) for dtype in dtypes]
    pairs = [Pair(row, array, array) for array in arrays]
    return any(len({answers[pair].text for answers in both}) > 1 for pair in pairs)
