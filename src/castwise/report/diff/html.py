"""The differences of two dialects, in a notebook and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from castwise.compare.diff import DiffData, Group
from castwise.compare.pairs import PairAnswer
from castwise.report.amounts import counted
from castwise.report.diff.text import (
    REASONS_SHOWN,
    example_of,
    of_one,
    ops_text,
    question_text,
    summary,
)
from castwise.report.look.card import card, dtype_html, faint, folded_html, paragraph, table_html
from castwise.report.look.page import page


def diff_card(diff: DiffData) -> str:
    """Sections of reasons, each with its count, one example and the ops it affects."""
    return card(escape(summary(diff)), *_parts(diff))


def diff_html(diff: DiffData) -> str:
    """The same sections as a page."""
    return page(
        f"{diff.first.name} and {diff.second.name}", paragraph(summary(diff)), *_parts(diff)
    )


def _parts(diff: DiffData) -> Iterator[str]:
    for title, owned in of_one(diff):
        yield faint(f"{title}: {'; '.join(owned)}.")
    for name, groups in diff.sections.items():
        yield f"<h2>{escape(name)}</h2>"
        yield _table(diff, groups[:REASONS_SHOWN])
        left = groups[REASONS_SHOWN:]
        if left:
            count = sum(len(group.differences) for group in left)
            yield folded_html(
                f"{counted(len(left), 'more reason')}, {counted(count, 'question')}",
                _table(diff, left),
            )


def _table(diff: DiffData, groups: Sequence[Group]) -> str:
    heads = ["questions", "reason", "example", diff.first.name, diff.second.name]
    return table_html(heads, [_row(diff, group) for group in groups], "questions")


def _row(diff: DiffData, group: Group) -> list[str]:
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
