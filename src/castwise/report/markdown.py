"""Rows of a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable


def markdown_row(cells: Iterable[str]) -> str:
    """A row of a Markdown table; text between backticks is left unchanged."""
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(cell: str) -> str:
    parts = cell.replace("|", r"\|").split("`")  # the odd parts are between backticks
    return "`".join(p if place % 2 else p.replace("*", r"\*") for place, p in enumerate(parts))
