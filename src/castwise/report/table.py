"""A table, which prints as a report: `castwise table`."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Iterator
from html import escape
from itertools import accumulate
from typing import NamedTuple

from castwise.comparing.table import Outcome, Table, folded_alike, lacks_kernels
from castwise.drawing import (
    FAINT,
    INK,
    LETTER,
    REFUSED,
    shade,
    svg_box,
    svg_document,
    svg_hover,
    svg_text,
    svg_to_png,
    text_width,
)
from castwise.engine.decision import Decision, answer_text
from castwise.report.answers import outcome_json
from castwise.report.blocks import Grid, card, faint, page
from castwise.report.terminal import Paint, plain
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand

# A table as text: for the terminal, as Markdown, as comma-separated values.

REFUSED_MARK = "-"
WEAK = "*"
NO_KERNEL = "'"
_GAP = 2  # spaces before a column
_MEANINGS = {
    REFUSED_MARK: "refused", WEAK: "weakly typed", NO_KERNEL: "promoted, but no kernel runs it",
}  # fmt: skip
_SHORT_STEMS = {
    "bool": "bool", "int": "i", "uint": "u", "float": "f", "bfloat": "bf", "complex": "c",
    "bcomplex": "bc",
}  # fmt: skip


def short_name(dtype: DType) -> str:
    """The short form of a dtype's name, for tables: the names around it show that i8 counts bits.

    >>> from castwise.vocab.dtypes import dtype
    >>> short_name(dtype("bfloat16")), short_name(dtype("float8_e4m3fn"))
    ('bf16', 'e4m3fn')
    """
    stem, _, tail = dtype.name.partition("_")
    name, bits = re.fullmatch(r"([a-z]+)(\d*)", stem).groups()  # type: ignore[union-attr]
    is_tiny = name in ("int", "uint") and int(bits) < 8  # i4 would read as int32
    return dtype.name if is_tiny else tail or _SHORT_STEMS[name] + bits


def label(operand: Operand) -> str:
    """The header of a column or a row."""
    if operand.dtype is None:
        return str(operand)
    return short_name(operand.dtype) + ("[]" if operand.is_zero_d else "")


def cell_text(outcome: Outcome) -> str:
    """The text of a cell: a short dtype with its marks, or the mark of a refusal."""
    if not isinstance(outcome, Decision):
        return REFUSED_MARK
    marks = (WEAK if outcome.is_weak else "") + ("" if outcome.has_kernel else NO_KERNEL)
    return short_name(outcome.result) + marks


def hover_text(outcome: Outcome) -> str:
    """The question and its answer on one line: what a pointer over the cell shows."""
    if not isinstance(outcome, Decision):
        return str(outcome)
    told = [cast for cast in outcome.casts if cast and not cast.is_read]
    casts = [f"{cast} ({', '.join(cast.hazards) or 'exact'})" for cast in told]
    return "; ".join([answer_text(outcome), *casts, *outcome.notes])


def headers(table: Table) -> list[str]:
    """The headers of the columns."""
    return [label(operand) for group in table.columns for operand in group] or ["result"]


def column_widths(table: Table) -> list[int]:
    """The length of the longest text in each column, including its header."""
    lines = [headers(table), *([cell_text(cell) for cell in row] for row in table.cells)]
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def marks_used(table: Table) -> list[str]:
    """The marks used in the cells, each with its meaning."""
    used = "".join(cell_text(cell) for row in table.cells for cell in row)
    return [f"{mark} {meaning}" for mark, meaning in _MEANINGS.items() if mark in used]


def alike_text(table: Table) -> list[str]:
    """Which dtypes share a row with another in the table, one sentence per row."""
    marked = {
        row.dtype: NO_KERNEL if row.dtype and lacks_kernels(table, row.dtype) else ""
        for row in table.rows
    }
    apart = "; no two of them join" if table.op.arity[1] > 1 else ""
    _, groups = folded_alike(table)
    return [
        f"{short_name(shown)} stands for {', '.join(short_name(d) + marked[d] for d in others)}"
        f" as well{apart}."
        for shown, others in groups
    ]


def table_text(table: Table, paint: Paint = plain, width: int = 80) -> str:
    """The table for a terminal, in as many blocks of columns as the width needs."""
    whole = table
    table, _ = folded_alike(whole)
    names = [label(row) for row in table.rows]
    margin = max(map(len, names))
    tops = headers(table)
    widths = column_widths(table)
    lines = [paint(table.title, "title")]
    for block in _blocks(table, widths, width - margin):
        lines += ["", " " * margin + "".join(f"  {tops[c]:>{widths[c]}}" for c in block)]
        for name, row in zip(names, table.cells, strict=True):
            cells = [_padded(row[c], widths[c], paint) for c in block]
            lines.append(f"{name:{margin}}" + "".join(f"  {cell}" for cell in cells))
    notes = [", ".join(marks_used(whole)), *alike_text(whole)]
    below = [line for note in notes for line in textwrap.wrap(note, width)]
    return "\n".join([*lines, "", *(paint(line, "faint") for line in below)] if below else lines)


def _padded(outcome: Outcome, width: int, paint: Paint) -> str:
    style = outcome.result.kind if isinstance(outcome, Decision) else "refused"
    return paint(f"{cell_text(outcome):>{width}}", style)


def _blocks(table: Table, widths: list[int], room: int) -> list[list[int]]:
    """The columns in blocks that fit the width; a group starts a new block if it would be split."""
    blocks: list[list[int]] = [[]]
    columns = iter(widths)
    used = place = 0
    for group in table.columns or [(None,)]:
        needed = [_GAP + next(columns) for _ in group]
        if used + sum(needed) > room:
            blocks, used = [*blocks, []], 0
        for width in needed:
            if blocks[-1] and used + width > room:
                blocks, used = [*blocks, []], 0
            blocks[-1].append(place)
            used, place = used + width, place + 1
    return [block for block in blocks if block]


def table_markdown(table: Table) -> str:
    """The table in Markdown, with the short forms."""
    table, _ = folded_alike(table)
    tops = headers(table)
    pairs = zip(table.rows, table.cells, strict=True)
    rows = [[label(operand), *map(cell_text, row)] for operand, row in pairs]
    return Grid([table.title, *tops], rows, tops).markdown()


def table_csv(table: Table) -> str:
    """The table as comma-separated values, with the full names in the notation."""
    tops = [str(operand) for group in table.columns for operand in group] or ["result"]
    pairs = zip(table.rows, table.cells, strict=True)
    rows = [[str(operand), *map(_full_text, row)] for operand, row in pairs]
    return Grid([table.title, *tops], rows).csv()


def _full_text(outcome: Outcome) -> str:
    if not isinstance(outcome, Decision):
        return REFUSED_MARK
    return f"{outcome.result}{WEAK if outcome.is_weak else ''}"


# A table as one self-contained page, and in a notebook.


def table_html(table: Table) -> str:
    """The table as a page, with the full answers as tooltips."""
    return page(
        table.title,
        faint(f"{table.dialect.about} Evidence: {table.dialect.evidence.source}."),
        faint(", ".join(marks_used(table))),
        _grid(table),
    )


def table_card(table: Table) -> str:
    """The table in a notebook, with the full answers as tooltips."""
    shown, _ = folded_alike(table)
    notes = [", ".join(marks_used(table)), *alike_text(table)]
    return card(escape(table.title), _grid(shown), *map(faint, notes))


def _grid(table: Table) -> str:
    starts = list(accumulate(map(len, table.columns)))[:-1]  # of all groups but the first
    heads = "".join(
        f"<th{' class=gap' * (place in starts)}>{escape(head)}</th>"
        for place, head in enumerate(headers(table))
    )
    rows = [
        f"<tr><th>{escape(label(operand))}</th>"
        f"{''.join(_cell(cell, place in starts) for place, cell in enumerate(row))}</tr>"
        for operand, row in zip(table.rows, table.cells, strict=True)
    ]
    body = "\n".join(rows)
    return (
        f'<div class="wide grid"><table><thead><tr><th></th>{heads}</tr></thead>\n'
        f"<tbody>{body}</tbody></table></div>"
    )


def _cell(outcome: Outcome, starts_group: bool) -> str:
    classes = " ".join(["gap"] * starts_group + ["none"] * (not isinstance(outcome, Decision)))
    look = f' class="{classes}"' if classes else ""
    if isinstance(outcome, Decision):
        look += f' style="--shade:{shade(outcome.result)}"'
    return f'<td{look} title="{escape(hover_text(outcome))}">{escape(cell_text(outcome))}</td>'


# A table as a picture.

_ROW = 24  # height of a row
_TOP = 78  # where the first row starts
_MARGIN = 20
_GROUP_GAP = 12  # between groups of columns
_LINE = 18  # from one line of the legend to the next
_LEGEND = {"bool": "bool", "int": "int32", "float": "float32", "complex": "complex64"}
_KINDS = "    ".join([*_LEGEND, ""])  # as wide as the legend's first line


class _Column(NamedTuple):
    """The position of a column of cells in the picture."""

    left: float
    width: float

    @property
    def middle(self) -> float:
        return self.left + self.width / 2


def table_svg(table: Table) -> str:
    """The table as an SVG picture: cells coloured by kind with the full answers as hover text, and
    a legend below."""
    columns = list(_columns(table))
    legend = _TOP + _ROW * len(table.rows) + 28
    right = max(text_width(table.title) * 1.4, *map(text_width, [_KINDS, *marks_used(table)]))
    width = max(columns[-1].left + columns[-1].width, _MARGIN + right) + _MARGIN
    height = legend + _LINE * len(marks_used(table)) + _MARGIN
    parts = [
        svg_text(_MARGIN, 32, table.title, f'font-size="16" font-weight="600" fill="{INK}"'),
        *_column_heads(table, columns),
        *_rows(table, columns),
        *_legend(table, legend),
    ]
    return svg_document(width, height, parts)


def table_png(table: Table) -> bytes:
    """The SVG picture as PNG."""
    return svg_to_png(table_svg(table))


def _columns(table: Table) -> Iterator[_Column]:
    """The columns from left to right, with a gap between groups."""
    left = _MARGIN + 10 + max(text_width(label(row)) for row in table.rows)
    widths = iter(column_widths(table))
    for group in table.columns or [(None,)]:
        for _ in group:
            width = 14 + LETTER * next(widths)
            yield _Column(left, width)
            left += width + 2
        left += _GROUP_GAP


def _column_heads(table: Table, columns: list[_Column]) -> Iterator[str]:
    yield f'<g text-anchor="middle" fill="{FAINT}">'
    for column, head in zip(columns, headers(table), strict=True):
        yield svg_text(column.middle, _TOP - 10, head)
    yield "</g>"


def _rows(table: Table, columns: list[_Column]) -> Iterator[str]:
    faint = f'fill="{FAINT}"'
    yield f'<g text-anchor="middle" fill="{INK}">'
    for number, (operand, row) in enumerate(zip(table.rows, table.cells, strict=True)):
        top = _TOP + _ROW * number
        name = f'text-anchor="end" {faint}'
        yield svg_text(columns[0].left - 10, top + 15, label(operand), name)
        for column, cell in zip(columns, row, strict=True):
            word = cell_text(cell)
            fill = shade(cell.result) if isinstance(cell, Decision) else REFUSED
            yield svg_hover(
                hover_text(cell),
                svg_box(column.left, top, column.width, _ROW - 2, fill),
                svg_text(column.middle, top + 15, word, faint if word == REFUSED_MARK else ""),
            )
    yield "</g>"


def _legend(table: Table, top: int) -> Iterator[str]:
    left = float(_MARGIN)
    for kind, name in _LEGEND.items():
        yield svg_box(left, top - 11, 14, 14, shade(dtype(name)))
        yield svg_text(left + 20, top, kind, f'fill="{FAINT}"')
        left += 40 + text_width(kind)
    for number, mark in enumerate(marks_used(table), 1):
        yield svg_text(_MARGIN, top + _LINE * number, mark, f'fill="{FAINT}"')


# The formats a table is written in.


def table_json(table: Table) -> str:
    """The table as JSON, each cell as `castwise resolve` answers it."""
    return json.dumps(
        {
            "dialect": table.dialect.name,
            "op": table.op.name,
            "form": table.form,
            "rows": [str(operand) for operand in table.rows],
            "columns": [str(operand) for group in table.columns for operand in group],
            "cells": [list(map(outcome_json, row)) for row in table.cells],
        }
    )


FORMATS: dict[str, Callable[[Table], str | bytes]] = {
    "text": table_text, "md": table_markdown, "csv": table_csv, "json": table_json,
    "html": table_html, "svg": table_svg, "png": table_png,
}  # fmt: skip
