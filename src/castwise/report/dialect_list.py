"""The list of dialects: `castwise dialects`."""

from __future__ import annotations

import textwrap
from typing import Any

from castwise.report.terminal.colour import Paint, plain
from castwise.rules.catalog import dialect_named, dialects


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
    found = dialects_json()
    names = max(len(d["name"]) for d in found) + 2
    versions = max(len(d["version"]) for d in found) + 2
    margin = names + versions
    room = width - margin
    lines = []
    for dialect in found:
        head = paint(dialect["name"].ljust(names), "title") + dialect["version"].ljust(versions)
        about, *more = textwrap.wrap(dialect["about"], room)
        lines += [head + about, *(" " * margin + line for line in more)]
        for line in textwrap.wrap(f"Evidence: {dialect['evidence']}.", room):
            lines.append(" " * margin + paint(line, "faint"))
    return "\n".join(lines)
