"""What reports are made of: pages, cards, tables, and differences by reason, each in every format.

A report says what stands in them. How that looks as text, HTML, Markdown and CSV is decided here.
"""

from __future__ import annotations

import csv
import functools
import io
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import NamedTuple

from castwise.drawing import shade
from castwise.engine.decision import HAZARDS
from castwise.report.terminal import Paint
from castwise.vocab.dtypes import DType

# The style of pages and of cards: their rules are in the .css files, their colours are here.

_LIGHT = """
  --ground: #ffffff; --panel: #f7f7f8; --line: #e4e4e7; --ink: #18181b; --faint: #6b6b74;
  --bar: #2171b5; --heat: 33 113 181; --old: #b42318; --new: #177245; --old-ground: #fdeeec;
  --new-ground: #e9f6ee; --hazard: #8a5300; --hazard-ground: #fdf3dc; --comment: #6b6b74;
  --string: #177245; --number: #2f5fb3; --keyword: #8a2f8f; --picture: none;
  --tint: 100%;
"""
# Pictures are drawn on white; turned over, they keep the hues of their dtypes. In HTML, where the
# ink is light here, a part of a dtype's colour is mixed with the ground.
_DARK = """
  --ground: #161619; --panel: #1e1e22; --line: #34343a; --ink: #ececee; --faint: #a0a0aa;
  --bar: #6baed6; --heat: 107 174 214; --old: #ff9b8f; --new: #7fd6a3; --old-ground: #3a1f1c;
  --new-ground: #17301f; --hazard: #f2c063; --hazard-ground: #35290f; --comment: #8f8f99;
  --string: #7fd6a3; --number: #8db9ff; --keyword: #e29be6;
  --picture: invert(.91) hue-rotate(180deg); --tint: 38%;
"""


def page_style() -> str:
    """The rules for what is inside a body of the class castwise."""
    return _rules("page")


def results_style() -> str:
    """The same, and the rules for results in it."""
    return page_style() + _rules("results")


@functools.cache
def card_style() -> str:
    """The rules for what is inside an element of the classes castwise and card.

    Naming both makes them stronger than the rules that notebooks have for all their outputs.
    """
    return (results_style() + _rules("card")).replace(".castwise", ".castwise.card")


def with_palettes(rules: str) -> str:
    """Rules of a style sheet in which $light and $dark stand for the colours."""
    return Template(rules).substitute(light=_LIGHT, dark=_DARK)


_STATIC = Path(__file__).with_name("static")


@functools.cache
def _rules(name: str) -> str:
    return with_palettes((_STATIC / f"{name}.css").read_text(encoding="utf-8"))


# A result as a whole page, in one file that loads nothing.


def page(title: str, *parts: str) -> str:
    """A page below its title, which is text; the parts are HTML."""
    whole = Template((_STATIC / "page.html").read_text(encoding="utf-8"))
    style, body = results_style() + _rules("whole"), "\n".join(filter(None, parts))
    return whole.substitute(title=escape(title), style=style, body=body).rstrip("\n")


# A result in a notebook: HTML that brings its own style, and leaves that of its page alone.


def card(title: str, *parts: str) -> str:
    """A result below a title, if it has one. The parts are HTML, and so is the title."""
    style = f"<style>{card_style()}</style>"
    head = f"<h2>{title}</h2>" if title else ""
    return f'<div class="castwise card">{style}{head}{"".join(parts)}</div>'


class Html(str):
    """A text that is HTML already; any other is escaped where it stands in a table."""

    __slots__ = ()


def paragraph(text: str) -> Html:
    """A text as a paragraph."""
    return Html(f"<p>{escape(text)}</p>")


def faint(text: str) -> Html:
    """A text that is not the point, as a paragraph."""
    return Html(f'<p class="faint">{escape(text)}</p>' if text else "")


def items(texts: Iterable[str], tag: str = "ul") -> str:
    """Texts as a list."""
    return f"<{tag}>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</{tag}>"


def dtype_html(dtype: DType, text: str = "") -> Html:
    """A dtype in the colour of its kind."""
    shown = escape(text or dtype.name)
    return Html(f'<span class="dtype" style="--shade:{shade(dtype)}">{shown}</span>')


def hazards_html(hazards: Iterable[str]) -> Html:
    """Hazards, with their meanings as tooltips."""
    marks = [f'<span class="hazard" title="{escape(HAZARDS[h])}">{h}</span>' for h in hazards]
    return Html(" ".join(marks))


def folded_html(summary: str, *parts: str) -> str:
    """Parts that are shown when a person asks for them."""
    return f"<details><summary>{escape(summary)}</summary>{''.join(parts)}</details>"


def picture(svg: str) -> str:
    """An SVG picture."""
    return f'<div class="picture">{svg}</div>'


# Tables.


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
        head = "".join(map("<th{}>{}</th>".format, marks, map(escape, self.heads)))
        body = "".join(f"<tr>{''.join(map(_cell_html, row, marks))}</tr>" for row in self.rows)
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
