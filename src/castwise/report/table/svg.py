"""A table as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from castwise.compare.table import TableData
from castwise.drawing.shades import FAINT, INK, shade
from castwise.drawing.svg import (
    LETTER,
    png_of,
    svg_box,
    svg_document,
    svg_hover,
    svg_text,
    text_width,
)
from castwise.report.table.shading import cell_shade
from castwise.report.table.text import (
    REFUSED,
    cell_text,
    column_widths,
    headers,
    hover_text,
    label,
    marks_used,
)
from castwise.vocab.dtypes import dtype

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


def table_svg(table: TableData) -> str:
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


def table_png(table: TableData) -> bytes:
    """The SVG picture as PNG."""
    return png_of(table_svg(table))


def _columns(table: TableData) -> Iterator[_Column]:
    """The columns from left to right, with a gap between groups."""
    left = _MARGIN + 10 + max(text_width(label(row)) for row in table.rows)
    widths = iter(column_widths(table))
    for group in table.columns or [(None,)]:
        for _ in group:
            width = 14 + LETTER * next(widths)
            yield _Column(left, width)
            left += width + 2
        left += _GROUP_GAP


def _column_heads(table: TableData, columns: list[_Column]) -> Iterator[str]:
    yield f'<g text-anchor="middle" fill="{FAINT}">'
    for column, head in zip(columns, headers(table), strict=True):
        yield svg_text(column.middle, _TOP - 10, head)
    yield "</g>"


def _rows(table: TableData, columns: list[_Column]) -> Iterator[str]:
    faint = f'fill="{FAINT}"'
    yield f'<g text-anchor="middle" fill="{INK}">'
    for number, (operand, row) in enumerate(zip(table.rows, table.cells, strict=True)):
        top = _TOP + _ROW * number
        name = f'text-anchor="end" {faint}'
        yield svg_text(columns[0].left - 10, top + 15, label(operand), name)
        for column, cell in zip(columns, row, strict=True):
            word = cell_text(cell)
            yield svg_hover(
                hover_text(cell),
                svg_box(column.left, top, column.width, _ROW - 2, cell_shade(cell)),
                svg_text(column.middle, top + 15, word, faint if word == REFUSED else ""),
            )
    yield "</g>"


def _legend(table: TableData, top: int) -> Iterator[str]:
    left = float(_MARGIN)
    for kind, name in _LEGEND.items():
        yield svg_box(left, top - 11, 14, 14, shade(dtype(name)))
        yield svg_text(left + 20, top, kind, f'fill="{FAINT}"')
        left += 40 + text_width(kind)
    for number, mark in enumerate(marks_used(table), 1):
        yield svg_text(_MARGIN, top + _LINE * number, mark, f'fill="{FAINT}"')
