"""Rows of a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable


def markdown_row(cells: Iterable[str]) -> str:
    """A row of a Markdown table; what stands between backticks stays as it is."""
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(cell: str) -> str:
    parts = cell.replace("|", r"\|").split("`")  # those between backticks are the odd ones
    return "`".join(p if place % 2 else p.replace("*", r"\*") for place, p in enumerate(parts))
