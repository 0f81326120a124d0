"""Where two dialects differ, grouped by reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from castwise.compare.difference import PairDifference, Reason, mix_of, reason_of
from castwise.compare.pairs import Answers, Pair, pairs_of, weak_dtypes
from castwise.engine.op_names import find_op
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.showing import counted, line_of
from castwise.vocab.dtypes import DType
from castwise.vocab.ops import Op, ops


@dataclass(frozen=True, slots=True, repr=False)
class Group:
    """The differences with the same reason, described with the names of both dialects."""

    section: str  # what the reason is about, in few words
    reason: str
    differences: tuple[PairDifference, ...]

    @property
    def ops(self) -> tuple[str, ...]:
        """The ops that differ for this reason."""
        return tuple(dict.fromkeys(d.pair.op.name for d in self.differences))

    def __repr__(self) -> str:
        return line_of("Group", f"{counted(len(self.differences), 'question')}: {self.reason}")


@dataclass(frozen=True, slots=True)
class DiffData:
    """All that two dialects answer differently."""

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
    def sections(self) -> dict[str, list[Group]]:
        """The groups by what they are about, the largest section first."""
        found: dict[str, list[Group]] = {}
        for group in self.groups:
            found.setdefault(group.section, []).append(group)
        sizes = {name: sum(len(g.differences) for g in groups) for name, groups in found.items()}
        return {name: found[name] for name in sorted(found, key=lambda name: -sizes[name])}

    @property
    def missing(self) -> tuple[tuple[DType, ...], tuple[DType, ...]]:
        """The dtypes only the first dialect has, and those only the second has."""
        a, b = self.first.dtypes, self.second.dtypes
        return tuple(d for d in a if d not in b), tuple(d for d in b if d not in a)

    @property
    def recorded_of_one(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The ops recorded only of the first dialect's framework, and only of the second's."""
        a, b = self.first.unrecorded, self.second.unrecorded
        return tuple(op for op in b if op not in a), tuple(op for op in a if op not in b)


def diff_data(
    first: str | Dialect,
    second: str | Dialect,
    op: Any,
    on_question: Callable[[object], object] | None,
) -> DiffData:
    """Every question that two dialects answer differently, of one op or of all that are recorded
    of both.

    Raises UsageError for an unknown name.
    """
    a, b = to_dialect(first), to_dialect(second)
    rows = _rows(a, b, op)
    tells_weak = a.has_weak_arrays and b.has_weak_arrays
    answers = Answers(a, tells_weak), Answers(b, tells_weak)
    asked, grouped = 0, dict[Reason, list[PairDifference]]()
    phrases = _ReasonTexts(a, b)
    for pair in _pairs(rows, a, b):
        asked += 1
        if on_question:
            on_question(pair)
        found = PairDifference(pair, answers[0][pair], answers[1][pair])
        phrases.note(found)
        if found.first.text != found.second.text:
            grouped.setdefault(reason_of(found, *answers), []).append(found)
    groups = [
        Group(w.section, phrases.text(w, found), tuple(found)) for w, found in grouped.items()
    ]
    groups.sort(key=lambda group: -len(group.differences))
    return DiffData(a, b, tuple(row.name for row in rows), asked, tuple(groups))


def count(first: Dialect, second: Dialect, op: Any = None) -> int:
    """How many questions a diff asks."""
    return sum(1 for _ in _pairs(_rows(first, second, op), first, second))


def _rows(first: Dialect, second: Dialect, op: Any) -> list[Op]:
    """The ops that are compared: the one named, or all but those a framework may not have."""
    unrecorded = {*first.unrecorded, *second.unrecorded}
    names = [op] if op else [name for name in ops() if name not in unrecorded]
    return [find_op(name, first) for name in names]


def _pairs(rows: list[Op], first: Dialect, second: Dialect) -> Iterator[Pair]:
    shared = [d for d in first.dtypes if d in second.dtypes]
    return pairs_of(rows, shared, weak_dtypes(first, second))


class _ReasonTexts:
    """Puts reasons into words, with what both dialects answered."""

    def __init__(self, first: Dialect, second: Dialect) -> None:
        self._names = (first.name, second.name)
        self._answered: set[tuple[str, Op, str]] = set()  # dialect, op, mix

    def note(self, asked: PairDifference) -> None:
        """Records a question, whether the answers agree or not."""
        if asked.pair.left.dtype is asked.pair.right.dtype:
            return  # no mix
        mix = mix_of(asked.pair)
        for name, answer in zip(self._names, (asked.first, asked.second), strict=True):
            if answer.result:
                self._answered.add((name, asked.pair.op, mix))

    def text(self, reason: Reason, found: list[PairDifference]) -> str:
        """A reason as a sentence about both dialects."""
        if reason.refused_by:
            ops = {d.pair.op for d in found}
            keys = {(reason.refused_by, op, reason.mix) for op in ops}
            mixes = "" if " with " in reason.mix else "mixes of "
            some = "some mixes of " if keys & self._answered else mixes
            return f"{reason.refused_by} refuses {some}{reason.mix}"
        if not reason.first:
            return reason.mix
        results = {d.first.text for d in found}, {d.second.text for d in found}
        treatments = [f"{self._names[0]} {reason.first}", f"{self._names[1]} {reason.second}"]
        texts = [
            _treatment_text(treatment, made)
            for treatment, made in zip(treatments, results, strict=True)
        ]
        return f"{reason.mix}: {', '.join(texts)}"


def _treatment_text(treatment: str, results: set[str]) -> str:
    if not treatment.endswith((" to", " makes")):
        return treatment
    *names, last = sorted(results)
    if len(names) >= 3:
        return f"{treatment} several dtypes"
    return f"{treatment} {', '.join(names)}{' or ' if names else ''}{last}"
