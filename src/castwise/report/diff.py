"""The differences between two dialects, which print as a report: `castwise diff`."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

from castwise.comparing.diff import Diff, Group, PairAnswer, PairDifference
from castwise.comparing.history import recorded_releases, version_numbers, version_of
from castwise.report.page import card, dtype_html, faint, folded_html, page, paragraph, table_html
from castwise.report.terminal import Paint, markdown_row, plain
from castwise.showing import quantity

# The differences of two dialects, for the terminal.

_MARGIN = 9  # for the count
_OPS_SHOWN = 4
REASONS_SHOWN = 6  # per section


def diff_text(diff: Diff, paint: Paint = plain, width: int = 80, *, shows_all: bool = False) -> str:
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


def of_one(diff: Diff) -> Iterator[tuple[str, list[str]]]:
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


def _told_by_history(diff: Diff) -> list[str]:
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


def summary(diff: Diff) -> str:
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
    diff: Diff, group: Group, paint: Paint, width: int, shows_all: bool
) -> Iterator[str]:
    yield from _folded(group.reason, _MARGIN, width, _count([group]))
    shown = group.differences if shows_all else [example_of(group)]
    for difference in shown:
        answers = [_painted(answer, paint) for answer in (difference.first, difference.second)]
        yield f"{' ' * _MARGIN}{question_text(diff, difference)}   {' | '.join(answers)}"
    if len(diff.ops) > 1 and not shows_all:
        yield from (paint(line, "faint") for line in _folded(ops_text(group), _MARGIN, width))


def question_text(diff: Diff, difference: PairDifference) -> str:
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


# The differences of two dialects, in a notebook and as a page.


def diff_card(diff: Diff) -> str:
    """Sections of reasons, each with its count, one example and the ops it affects."""
    return card(escape(summary(diff)), *_parts(diff))


def diff_html(diff: Diff) -> str:
    """The same sections as a page."""
    return page(
        f"{diff.first.name} and {diff.second.name}", paragraph(summary(diff)), *_parts(diff)
    )


def _parts(diff: Diff) -> Iterator[str]:
    for title, owned in of_one(diff):
        yield faint(f"{title}: {'; '.join(owned)}.")
    for name, groups in diff.sections.items():
        yield f"<h2>{escape(name)}</h2>"
        yield _table(diff, groups[:REASONS_SHOWN])
        left = groups[REASONS_SHOWN:]
        if left:
            count = sum(len(group.differences) for group in left)
            yield folded_html(
                f"{quantity(len(left), 'more reason')}, {quantity(count, 'question')}",
                _table(diff, left),
            )


def _table(diff: Diff, groups: Sequence[Group]) -> str:
    heads = ["questions", "reason", "example", diff.first.name, diff.second.name]
    return table_html(heads, [_row(diff, group) for group in groups], "questions")


def _row(diff: Diff, group: Group) -> list[str]:
    example = example_of(group)
    ops = faint(ops_text(group)) if len(diff.ops) > 1 else ""
    return [
        f"{len(group.differences):,}",
        f"{paragraph(group.reason)}{ops}",
        escape(question_text(diff, example)),
        _answer(example.first),
        _answer(example.second),
    ]


def _answer(answer: PairAnswer) -> str:
    if answer.result is None:
        return f'<span class="refused">{escape(answer.text)}</span>'
    return dtype_html(answer.result, answer.text)


# The formats for the differences of two dialects; all except text and html list every cell.


def diff_json(diff: Diff) -> dict[str, Any]:
    """The whole diff; a refusal is null."""
    only_first, only_second = diff.missing
    of_first, of_second = diff.recorded_of_one
    return {
        "first": diff.first.name,
        "second": diff.second.name,
        "asked": diff.asked,
        "differ": diff.count,
        "only_first_has": [d.name for d in only_first],
        "only_second_has": [d.name for d in only_second],
        "recorded_of_first_only": list(of_first),
        "recorded_of_second_only": list(of_second),
        "groups": [_group_json(diff, group) for group in diff.groups],
    }


def _group_json(diff: Diff, group: Group) -> dict[str, Any]:
    return {
        "section": group.section,
        "reason": group.reason,
        "count": len(group.differences),
        "ops": list(group.ops),
        "cells": [
            {
                "question": question_text(diff, d),
                "first": d.first.text if d.first.result else None,
                "second": d.second.text if d.second.result else None,
            }
            for d in group.differences
        ],
    }


def _rows(diff: Diff) -> Iterator[list[str]]:
    """One row per cell: its section, its reason, the question and both answers."""
    yield ["section", "reason", "question", diff.first.name, diff.second.name]
    for group in diff.groups:
        for d in group.differences:
            asked = question_text(diff, d)
            yield [group.section, group.reason, asked, d.first.text, d.second.text]


def diff_csv(diff: Diff) -> str:
    """The cells as comma-separated values."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(_rows(diff))
    return written.getvalue().rstrip("\n")


def diff_markdown(diff: Diff) -> str:
    """The cells as a Markdown table."""
    head, *rows = map(markdown_row, _rows(diff))
    return "\n".join([head, markdown_row(["---"] * 5), *rows])


DIFF_FORMATS: dict[str, Callable[[Diff], str | bytes]] = {
    "text": diff_text,
    "json": lambda diff: json.dumps(diff_json(diff)),
    "csv": diff_csv,
    "md": diff_markdown,
    "html": diff_html,
}
