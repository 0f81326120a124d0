"""The formats a table is written in."""

from __future__ import annotations

import json
from collections.abc import Callable

from castwise.compare.outcome import Outcome
from castwise.compare.table import TableData
from castwise.engine.decision import Decision
from castwise.report.answers.as_json import decision_json, error_json
from castwise.report.table.html import table_html
from castwise.report.table.svg import table_png, table_svg
from castwise.report.table.text import table_csv, table_markdown, table_text


def table_json(table: TableData) -> str:
    """The table as JSON, each cell as `castwise resolve` answers it."""
    return json.dumps(
        {
            "dialect": table.dialect.name,
            "op": table.op.name,
            "form": table.form,
            "rows": [str(operand) for operand in table.rows],
            "columns": [str(operand) for group in table.columns for operand in group],
            "cells": [[_cell_json(cell) for cell in row] for row in table.cells],
        }
    )


def _cell_json(outcome: Outcome) -> dict[str, object]:
    return decision_json(outcome) if isinstance(outcome, Decision) else error_json(outcome)


FORMATS: dict[str, Callable[[TableData], str | bytes]] = {
    "text": table_text,
    "md": table_markdown,
    "csv": table_csv,
    "json": table_json,
    "html": table_html,
    "svg": table_svg,
    "png": table_png,
}
