"""The formats a table is written in."""

from __future__ import annotations

import json
from collections.abc import Callable

from castwise.engine.decision import Decision
from castwise.report.as_json import decision_json, error_json
from castwise.report.outcome import Outcome
from castwise.report.table import Table
from castwise.report.table_html import table_html
from castwise.report.table_svg import table_png, table_svg
from castwise.report.table_text import table_csv, table_markdown, table_text


def table_json(table: Table) -> str:
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


FORMATS: dict[str, Callable[[Table], str | bytes]] = {
    "text": table_text,
    "md": table_markdown,
    "csv": table_csv,
    "json": table_json,
    "html": table_html,
    "svg": table_svg,
    "png": table_png,
}
