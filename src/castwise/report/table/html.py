"""A table as one self-contained page, and in a notebook."""

from __future__ import annotations

from html import escape
from itertools import accumulate

from castwise.compare.alike import folded_alike
from castwise.compare.outcome import Outcome
from castwise.compare.table import TableData
from castwise.engine.decision import Decision, answer_text
from castwise.report.look.card import card, faint
from castwise.report.table.shading import cell_shade
from castwise.report.table.text import alike_text, cell_text, headers, label, marks_used

_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #18181b; background: #fff; }}
h1 {{ font-size: 1.3rem; margin: 0; }}
p {{ color: #71717a; margin: .3rem 0 1rem; }}
div {{ overflow: auto; max-height: 80vh; width: fit-content; max-width: 100%; }}
table {{ border-spacing: 2px; font: 13px ui-monospace, Menlo, Consolas, monospace; }}
th {{ font-weight: 400; color: #71717a; background: #fff; padding: .2rem .4rem; }}
thead th {{ position: sticky; top: 0; }}
tbody th {{ position: sticky; left: 0; text-align: right; }}
td {{ padding: .2rem .4rem; text-align: center; border-radius: 3px; cursor: default; }}
td:hover {{ outline: 2px solid #18181b; }}
.gap {{ border-left: 12px solid #fff; background-clip: padding-box; }}
.none {{ color: #a1a1aa; background: #f4f4f5; }}
</style>
<h1>{title}</h1>
<p>{about}<br>{marks}</p>
<div><table>
<thead><tr><th></th>{heads}</tr></thead>
<tbody>
{rows}
</tbody></table></div>
</html>"""


def table_html(table: TableData) -> str:
    """The table as a page, with the full answers as tooltips."""
    heads, rows = _grid(table)
    return _PAGE.format(
        title=escape(table.title),
        about=escape(f"{table.dialect.about} Evidence: {table.dialect.evidence.source}."),
        marks=escape(", ".join(marks_used(table))),
        heads=heads,
        rows=rows,
    )


def table_card(table: TableData) -> str:
    """The table in a notebook, with the full answers as tooltips."""
    shown, _ = folded_alike(table)
    heads, rows = _grid(shown)
    notes = [", ".join(marks_used(table)), *alike_text(table)]
    return card(
        escape(table.title),
        f'<div class="wide grid"><table><thead><tr><th></th>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>",
        *map(faint, notes),
    )


def _grid(table: TableData) -> tuple[str, str]:
    """The heads of the columns, and the rows."""
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
    return heads, "\n".join(rows)


def _cell(outcome: Outcome, starts_group: bool) -> str:
    classes = "gap " * starts_group
    look = f'style="background-color:{cell_shade(outcome)}"'
    if not isinstance(outcome, Decision):
        classes, look = f"{classes}none", ""
    return (
        f'<td class="{classes.strip()}" {look} title="{escape(_title(outcome))}">'
        f"{escape(cell_text(outcome))}</td>"
    )


def _title(outcome: Outcome) -> str:
    """The question and its answer on one line."""
    if not isinstance(outcome, Decision):
        return str(outcome)
    casts = [f"{cast} ({', '.join(cast.hazards) or 'exact'})" for cast in outcome.casts if cast]
    return "; ".join([answer_text(outcome), *casts, *outcome.notes])
