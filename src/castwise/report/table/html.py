"""A table as one self-contained page, and in a notebook."""

from __future__ import annotations

from html import escape
from itertools import accumulate

from castwise.compare.alike import folded_alike
from castwise.compare.outcome import Outcome
from castwise.compare.table import TableData
from castwise.drawing.shades import shade
from castwise.engine.decision import Decision
from castwise.report.look.card import card, faint
from castwise.report.look.page import page
from castwise.report.table.text import (
    alike_text,
    cell_text,
    headers,
    hover_text,
    label,
    marks_used,
)


def table_html(table: TableData) -> str:
    """The table as a page, with the full answers as tooltips."""
    return page(
        table.title,
        faint(f"{table.dialect.about} Evidence: {table.dialect.evidence.source}."),
        faint(", ".join(marks_used(table))),
        _grid(table),
    )


def table_card(table: TableData) -> str:
    """The table in a notebook, with the full answers as tooltips."""
    shown, _ = folded_alike(table)
    notes = [", ".join(marks_used(table)), *alike_text(table)]
    return card(escape(table.title), _grid(shown), *map(faint, notes))


def _grid(table: TableData) -> str:
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
