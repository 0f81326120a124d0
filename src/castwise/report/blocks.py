"""What reports are made of: tables, and differences by reason, each in every format.

A report says what stands in them. How that looks as text, HTML, Markdown and CSV is decided here.
"""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from castwise.report.page import Html, dtype_html, faint, folded_html, paragraph
from castwise.report.terminal import Paint
from castwise.vocab.dtypes import DType


@dataclass(frozen=True, slots=True)
class Grid:
    """A table: what stands above its columns, and its rows. `numbers` names columns of numbers.

    >>> print(Grid(["op", "count"], [["add", "3"]], ["count"]).markdown())
    | op | count |
    | --- | ---: |
    | add | 3 |
    """

    heads: Sequence[str]
    rows: Iterable[Sequence[str]]
    numbers: Sequence[str] = ()

    def markdown(self) -> str:
        """The table in Markdown."""
        rule = ["---:" if head in self.numbers else "---" for head in self.heads]
        return "\n".join(map(markdown_row, [self.heads, rule, *self.rows]))

    def csv(self) -> str:
        """The table as comma-separated values."""
        written = io.StringIO()
        csv.writer(written, lineterminator="\n").writerows([self.heads, *self.rows])
        return written.getvalue().rstrip("\n")

    def html(self) -> Html:
        """The table in HTML."""
        marks = [' class="number"' * (name in self.numbers) for name in self.heads]
        lines = ["".join(map(_cell_html, row, marks)) for row in self.rows]
        body = "".join(f"<tr>{cells}</tr>" for cells in lines)
        head = "".join(
            f"<th{mark}>{escape(name)}</th>" for name, mark in zip(self.heads, marks, strict=True)
        )
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return Html(f'<div class="wide">{table}</div>')


def _cell_html(cell: str, mark: str) -> str:
    return f"<td{mark}>{cell if isinstance(cell, Html) else escape(cell)}</td>"


def markdown_row(cells: Iterable[str]) -> str:
    """A row of a Markdown table; text between backticks is left unchanged."""
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(cell: str) -> str:
    parts = cell.replace("|", r"\|").split("`")  # the odd parts are between backticks
    return "`".join(p if place % 2 else p.replace("*", r"\*") for place, p in enumerate(parts))


# Differences by reason: of two dialects, or of two releases.

_MARGIN = 9  # for the count
_MOST_OPS = 5  # named of those that differ for one reason


class Answer(NamedTuple):
    """What one side answers, and how it stands out: a dtype in HTML by the colour of its kind."""

    text: str
    style: str = ""
    dtype: DType | None = None

    def painted(self, paint: Paint) -> str:
        """The answer for the terminal."""
        return paint(self.text, self.style) if self.style else self.text

    def html(self) -> str:
        """The answer in HTML."""
        if self.dtype:
            return dtype_html(self.dtype, self.text)
        if self.style == "refused":
            return Html(f'<span class="refused">{escape(self.text)}</span>')
        return self.text


class Example(NamedTuple):
    """A question that two sides answer differently."""

    question: str
    first: Answer
    second: Answer


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences that have one reason: how many, some examples, and the ops, in a few words.

    Only text shows more examples than the first.
    """

    reason: str
    count: int
    examples: Sequence[Example]
    ops: str = ""


Rest = Callable[[Sequence[Differences]], str]  # says what is left out


def ops_text(names: Sequence[str]) -> str:
    """Some ops by name, and of many how many there are besides."""
    if len(names) <= _MOST_OPS:
        return ", ".join(names)
    shown = _MOST_OPS - 1
    return f"{', '.join(names[:shown])} and {len(names) - shown} more ops"


def total(groups: Iterable[Differences]) -> int:
    """How many differences there are."""
    return sum(group.count for group in groups)


def differences_text(
    groups: Sequence[Differences],
    most: int | None,
    rest: Rest,
    between: str,
    paint: Paint,
    width: int,
) -> Iterator[str]:
    """The lines about each reason, at most so many. `between` stands between two answers."""
    for group in groups[:most]:
        yield from _with_count(group.count, group.reason, width)
        for question, first, second in group.examples:
            answers = f"{first.painted(paint)}{between}{second.painted(paint)}"
            yield f"{' ' * _MARGIN}{question}   {answers}"
        yield from (paint(line, "faint") for line in folded_below(group.ops, width))
    left = groups[most:] if most else []
    if left:
        yield from _with_count(total(left), rest(left), width)


def _with_count(count: int, text: str, width: int) -> list[str]:
    return folded_below(text, width, f"{count:{_MARGIN - 2},}")


def folded_below(text: str, width: int, head: str = "") -> list[str]:
    """Text in lines beside the column of counts."""
    return textwrap.wrap(
        text, width, initial_indent=head.ljust(_MARGIN), subsequent_indent=" " * _MARGIN
    )


def differences_html(
    groups: Sequence[Differences], most: int, rest: Rest, heads: Sequence[str]
) -> Iterator[str]:
    """A table of the reasons, and one of those beyond `most`, which opens on a click."""
    yield _reasons_html(groups[:most], heads)
    left = groups[most:]
    if left:
        yield folded_html(rest(left), _reasons_html(left, heads))


def _reasons_html(groups: Sequence[Differences], heads: Sequence[str]) -> Html:
    rows = []
    for group in groups:
        question, first, second = group.examples[0]
        what = Html(f"{paragraph(group.reason)}{faint(group.ops)}")
        rows.append([f"{group.count:,}", what, question, first.html(), second.html()])
    return Grid(heads, rows, heads[:1]).html()
