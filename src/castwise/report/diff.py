"""Where two dialects differ, grouped by reason: `castwise diff`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from castwise.engine.ask import find_op
from castwise.frameworks.catalog import to_dialect
from castwise.frameworks.dialect import Dialect
from castwise.report.difference import Difference, Pair, Reason, difference_of, reason_of, told
from castwise.vocab.dtypes import DType
from castwise.vocab.notation import parse_operand
from castwise.vocab.operands import array_operand
from castwise.vocab.ops import Op, ops

# Python scalars of each kind, within the range of every dtype and beyond that of some.
_SCALARS = tuple(map(parse_operand, ("True", "1", "-1", "300", "1.5", "1e39", "1j")))


@dataclass(frozen=True, slots=True)
class Group:
    """The differences that have one reason, told with the names of both dialects."""

    reason: str
    differences: tuple[Difference, ...]

    @property
    def ops(self) -> tuple[str, ...]:
        """The ops that differ for this reason."""
        return tuple(dict.fromkeys(d.pair.op.name for d in self.differences))


@dataclass(frozen=True, slots=True)
class Diff:
    """All that two dialects answer differently; its text is the report.

    >>> diff("numpy", "numpy@1", op="dot").count
    0
    """

    first: Dialect
    second: Dialect
    ops: tuple[str, ...]
    asked: int
    groups: tuple[Group, ...]  # the largest first

    @property
    def count(self) -> int:
        """How many questions are answered differently."""
        return sum(len(group.differences) for group in self.groups)

    @property
    def missing(self) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
        """The dtypes only the first dialect has, and those only the second has."""
        a, b = self.first.dtypes, self.second.dtypes
        return tuple(d for d in a if d not in b), tuple(d for d in b if d not in a)

    def __str__(self) -> str:
        from castwise.report.diff_text import diff_text  # it knows Diff

        return diff_text(self)


def diff(
    first: str | Dialect,
    second: str | Dialect,
    *,
    op: str | None = None,
    on_question: Callable[[object], object] | None = None,
) -> Diff:
    """Every question that two dialects answer differently, of all ops or of one.

    Asked are arrays and 0-d arrays of the dtypes both have, and Python scalars; `on_question` is
    called with each question.

    >>> diff("torch", "torch@2.1", op="add").count
    0

    Raises UsageError for an unknown name.
    """
    a, b = to_dialect(first), to_dialect(second)
    rows = [find_op(name, a) for name in ([op] if op else ops())]
    pairs = list(_pairs(rows, [d for d in a.dtypes if d in b.dtypes]))
    grouped: dict[Reason, list[Difference]] = {}
    for pair in pairs:
        if on_question:
            on_question(pair)
        found = difference_of(pair, a, b)
        if found:
            grouped.setdefault(reason_of(found, a, b), []).append(found)
    groups = [Group(_words(why, found, a, b), tuple(found)) for why, found in grouped.items()]
    groups.sort(key=lambda group: -len(group.differences))
    return Diff(a, b, tuple(row.name for row in rows), len(pairs), tuple(groups))


def count(first: Dialect, second: Dialect, op: str | None = None) -> int:
    """How many questions a diff asks."""
    rows = [find_op(name, first) for name in ([op] if op else ops())]
    return sum(1 for _ in _pairs(rows, [d for d in first.dtypes if d in second.dtypes]))


def _pairs(rows: list[Op], dtypes: list[DType]) -> Iterator[Pair]:
    arrays = [array_operand(d, shape) for shape in ((3,), ()) for d in dtypes]
    for row in rows:
        for array in arrays:
            if row.arity[1] == 1:
                yield Pair(row, array, array)
                continue
            yield from (Pair(row, array, other) for other in (*arrays, *_SCALARS))
            yield from (Pair(row, scalar, array) for scalar in _SCALARS)


def _words(reason: Reason, found: list[Difference], first: Dialect, second: Dialect) -> str:
    if not reason.first:
        return reason.situation
    deeds = [
        _deed_text(f"{first.name} {reason.first}", {told(d.first) for d in found}),
        _deed_text(f"{second.name} {reason.second}", {told(d.second) for d in found}),
    ]
    return f"{reason.situation}: {', '.join(deeds)}"


def _deed_text(deed: str, results: set[str]) -> str:
    if not deed.endswith((" to", " makes")):
        return deed
    *names, last = sorted(results)
    if len(names) >= 3:
        return f"{deed} several dtypes"
    return f"{deed} {', '.join(names)}{' or ' if names else ''}{last}"
