"""The differences of two dialects, for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from castwise.compare.diff import DiffData, Group
from castwise.compare.difference import PairDifference
from castwise.compare.history import recorded_releases, version_numbers, version_of
from castwise.compare.pairs import PairAnswer
from castwise.report.terminal.colour import Paint, plain

_MARGIN = 9  # for the count
_OPS_SHOWN = 4
REASONS_SHOWN = 6  # per section


def diff_text(
    diff: DiffData, paint: Paint = plain, width: int = 80, *, shows_all: bool = False
) -> str:
    """Sections of reasons, each with its count, one example and the ops it affects.

    With `shows_all`, lists every reason of a section and every question of a reason.
    """
    lines = _folded(summary(diff), 0, width)
    for title, owned in of_one(diff):
        lines += ["", paint(title, "title")]
        lines += [line for text in owned for line in _folded(text, _MARGIN, width)]
    for name, groups in diff.sections.items():
        lines += ["", paint(name, "title")]
        for group in groups if shows_all else groups[:REASONS_SHOWN]:
            lines += _group_lines(diff, group, paint, width, shows_all)
        left = [] if shows_all else groups[REASONS_SHOWN:]
        if left:
            lines += _folded(_rest(left), _MARGIN, width, _count(left))
    return "\n".join(lines)


def of_one(diff: DiffData) -> Iterator[tuple[str, list[str]]]:
    """What only one of the dialects has, and what layers were recorded from: a title, and a text
    for each dialect that has some."""
    told: list[tuple[str, Sequence[Sequence[object]]]]
    told = [("Dtypes only one of them has", diff.missing)]
    if len(diff.ops) > 1:
        told.append(("Ops recorded for only one of them, so not compared", diff.recorded_of_one))
    for title, owned in told:
        both = zip((diff.first, diff.second), owned, strict=True)
        texts = [
            f"{dialect.name}: {', '.join(map(str, names))}" for dialect, names in both if names
        ]
        if texts:
            yield title, texts
    layered = [dialect for dialect in (diff.first, diff.second) if dialect.evidence.layers]
    if layered:
        texts = [f"{dialect.name}: {dialect.evidence.source}" for dialect in layered]
        texts += _told_by_history(diff)
        yield "Recorded answers over rules, which answer what was not asked", texts


def _told_by_history(diff: DiffData) -> list[str]:
    """Which command tells what else was recorded, where both are releases of one framework."""
    both = diff.first, diff.second
    known = recorded_releases(diff.first.framework)
    if not all(dialect in known for dialect in both):
        return []
    older = version_of(min(both, key=version_numbers))
    of_op = f" --op {diff.ops[0]}" if len(diff.ops) == 1 else ""
    return [
        f"`castwise history {diff.first.framework} --since {older}{of_op}` also tells of kernels,"
        " numbers out of range and three operands."
    ]


def _folded(text: str, margin: int, width: int, head: str = "") -> list[str]:
    start = " " * margin
    return textwrap.wrap(text, width, initial_indent=head.ljust(margin), subsequent_indent=start)


def _count(groups: list[Group]) -> str:
    return f"{sum(len(group.differences) for group in groups):{_MARGIN - 2},}"


def _rest(groups: list[Group]) -> str:
    reasons = "one more reason" if len(groups) == 1 else f"{len(groups)} more reasons"
    return f"for {reasons}; --cells lists them"


def summary(diff: DiffData) -> str:
    """How much differs, in a sentence."""
    both = (diff.first.name, diff.second.name)
    ops = diff.ops[0] if len(diff.ops) == 1 else f"{len(diff.ops)} ops"
    asked = f"{' and '.join(both)} were asked {diff.asked:,} questions about {ops}"
    if not diff.count:
        return f"{asked} and give the same answer to all of them."
    share = f"{diff.count:,} differently, {_percent(diff.count / diff.asked)} of them"
    return f"{asked} and answer {share}, shown as {' | '.join(both)}."


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.01 else "under 1 %"


def _group_lines(
    diff: DiffData, group: Group, paint: Paint, width: int, shows_all: bool
) -> Iterator[str]:
    yield from _folded(group.reason, _MARGIN, width, _count([group]))
    shown = group.differences if shows_all else [example_of(group)]
    for difference in shown:
        answers = [_painted(answer, paint) for answer in (difference.first, difference.second)]
        yield f"{' ' * _MARGIN}{question_text(diff, difference)}   {' | '.join(answers)}"
    if len(diff.ops) > 1 and not shows_all:
        yield from (paint(line, "faint") for line in _folded(ops_text(group), _MARGIN, width))


def question_text(diff: DiffData, difference: PairDifference) -> str:
    """The question in notation, which is the same in both dialects."""
    return str(difference.pair.question(diff.first))


def example_of(group: Group) -> PairDifference:
    """The question of a group whose dtypes are best known."""
    return min(group.differences, key=_strangeness)


def _strangeness(difference: PairDifference) -> int:
    """How far the operands are from int32 and float32, which everybody knows."""
    dtypes = [o.dtype for o in difference.pair.operands if o.dtype]
    return sum(abs(d.bits - 32) + (not d.is_signed) for d in dtypes)


def _painted(answer: PairAnswer, paint: Paint) -> str:
    return paint(answer.text, answer.result.kind if answer.result else "refused")


def ops_text(group: Group) -> str:
    """The ops of a group, not all of them if they are many."""
    names = group.ops
    if len(names) <= _OPS_SHOWN + 1:
        return ", ".join(names)
    return f"{', '.join(names[:_OPS_SHOWN])} and {len(names) - _OPS_SHOWN} more ops"
