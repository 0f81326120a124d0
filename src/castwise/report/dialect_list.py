"""The list of dialects, `castwise dialects`, and one of them."""

from __future__ import annotations

import re
import textwrap
from html import escape
from typing import Any

from castwise.report.look.card import card, dtype_html, faint, paragraph
from castwise.report.terminal.colour import Paint, plain
from castwise.rules.catalog import dialect_named, dialects
from castwise.rules.dialect import Dialect
from castwise.rules.releases.layers import layers


def dialects_json() -> list[dict[str, Any]]:
    """Every dialect with its facts, and then those that are recorded as differences from others."""
    return [
        {
            "name": dialect.name,
            "version": dialect.version,
            "about": dialect.about,
            "evidence": dialect.evidence.source,
            "dtypes": [dtype.name for dtype in dialect.dtypes],
        }
        for dialect in map(dialect_named, (*dialects(), *layers()))
    ]


def dialects_text(paint: Paint = plain, width: int = 80) -> str:
    """One row per dialect: its name, its version, what it is and the evidence for it; then the
    releases and modes that are recorded as differences from them."""
    rows = _rows([dialect_named(name) for name in dialects()], paint, width)
    return "\n".join([rows, "", *_layer_lines(paint, width)])


def _layer_lines(paint: Paint, width: int) -> list[str]:
    """The names of the layers, a paragraph for each framework."""
    names: dict[str, list[str]] = {}
    for layer in layers().values():
        names.setdefault(layer.framework, []).append(layer.name)
    lines = [paint("Recorded as differences from these", "title")]
    for framework in sorted(names):
        listed = ", ".join(sorted(names[framework], key=_order))
        lines += textwrap.wrap(listed, width, initial_indent="  ", subsequent_indent="  ")
    return lines


def _order(name: str) -> tuple[bool, list[int], str]:
    """Releases by their numbers, then modes."""
    return ":" in name, list(map(int, re.findall(r"\d+", name.partition(":")[0]))), name


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
