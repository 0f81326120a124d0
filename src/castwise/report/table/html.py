"""A table as one self-contained page."""

from __future__ import annotations

from html import escape
from itertools import accumulate

from castwise.compare.outcome import Outcome
from castwise.compare.table import TableData
from castwise.engine.decision import Decision
from castwise.report.table.shading import cell_shade
from castwise.report.table.text import cell_text, headers, label, marks_used

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
{gaps} {{ border-left: 12px solid #fff; background-clip: padding-box; }}
.none {{ color: #a1a1aa; }}
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
    heads = "".join(f"<th>{escape(head)}</th>" for head in headers(table))
    rows = [
        f"<tr><th>{escape(label(operand))}</th>{''.join(map(_cell, row))}</tr>"
        for operand, row in zip(table.rows, table.cells, strict=True)
    ]
    return _PAGE.format(
        title=escape(table.title),
        about=escape(f"{table.dialect.about} Evidence: {table.dialect.evidence.source}."),
        marks=escape(", ".join(marks_used(table))),
        gaps=", ".join(f"tr > :nth-child({place})" for place in _group_starts(table)) or ".gap",
        heads=heads,
        rows="\n".join(rows),
    )


def _group_starts(table: TableData) -> list[int]:
    """The positions, counted from 1, of the cells that start a group, except the first group."""
    ends = accumulate(map(len, table.columns), initial=2)  # the row's header has position 1
    return list(ends)[1:-1]


def _cell(outcome: Outcome) -> str:
    title = _title(outcome)
    faint = "" if isinstance(outcome, Decision) else ' class="none"'
    return (
        f'<td{faint} style="background:{cell_shade(outcome)}" title="{escape(title)}">'
        f"{escape(cell_text(outcome))}</td>"
    )


def _title(outcome: Outcome) -> str:
    """The question and its answer on one line."""
    if not isinstance(outcome, Decision):
        return str(outcome)
    casts = [f"{cast} ({', '.join(cast.hazards) or 'exact'})" for cast in outcome.casts if cast]
    return "; ".join([str(outcome), *casts, *outcome.notes])
