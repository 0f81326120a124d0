"""The list of dialects, `castwise dialects`, and one of them."""

from __future__ import annotations

import textwrap
from html import escape
from typing import Any

from castwise.report.look.card import card, dtype_html, faint, paragraph
from castwise.report.terminal.colour import Paint, plain
from castwise.rules.catalog import dialect_named, dialects
from castwise.rules.dialect import Dialect


def dialects_json() -> list[dict[str, Any]]:
    """Every dialect with its facts."""
    return [
        {
            "name": dialect.name,
            "version": dialect.version,
            "about": dialect.about,
            "evidence": dialect.evidence.source,
            "dtypes": [dtype.name for dtype in dialect.dtypes],
        }
        for dialect in map(dialect_named, dialects())
    ]


def dialects_text(paint: Paint = plain, width: int = 80) -> str:
    """One row per dialect: its name, its version, what it is and the evidence for it."""
    return _rows([dialect_named(name) for name in dialects()], paint, width)


def dialect_text(dialect: Dialect) -> str:
    """A dialect as in the list of them all."""
    return _rows([dialect], plain, 80)


def dialect_card(dialect: Dialect) -> str:
    """A dialect in a notebook, with its dtypes."""
    version = f' <span class="faint">version {escape(dialect.version)}</span>'
    return card(
        f"{escape(dialect.name)}{version * bool(dialect.version)}",
        paragraph(dialect.about),
        f"<p>{' '.join(map(dtype_html, dialect.dtypes))}</p>",
        faint(f"Evidence: {dialect.evidence.source}."),
    )


def _rows(shown: list[Dialect], paint: Paint, width: int) -> str:
    names = max(len(dialect.name) for dialect in shown) + 2
    versions = max(len(dialect.version) for dialect in shown) + 2
    margin = names + versions
    room = max(width - margin, 30)  # names of variations may be long
    lines = []
    for dialect in shown:
        head = paint(dialect.name.ljust(names), "title") + dialect.version.ljust(versions)
        about, *more = textwrap.wrap(dialect.about, room) or [""]
        lines += [head + about, *(" " * margin + line for line in more)]
        for line in textwrap.wrap(f"Evidence: {dialect.evidence.source}.", room):
            lines.append(" " * margin + paint(line, "faint"))
    return "\n".join(lines)
