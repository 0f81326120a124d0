"""A lattice for the terminal, as DOT and as JSON, and the list of its formats."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterable

from castwise.compare.lattice import LatticeData
from castwise.drawing.shades import shade
from castwise.report.lattice.html import lattice_html
from castwise.report.lattice.legend import APART, legend
from castwise.report.lattice.svg import lattice_png, lattice_svg
from castwise.report.terminal.colour import Paint, plain
from castwise.vocab.dtypes import DType

_ARROWS = {True: "->", False: "=>"}  # as in a dialect's data


def lattice_text(lattice: LatticeData, paint: Paint = plain, width: int = 80) -> str:
    """The arrows, with one line for all dtypes that have the same ones."""
    rows = _rows(lattice)
    title = "\n".join(textwrap.wrap(lattice.title, width))
    lines = [paint(title, "title"), *[""] * bool(rows)]
    margin = max((len(_listed(sources)) for sources, _, _ in rows), default=0)
    margin = min(margin, width // 2 - 4) + 1
    for sources, goes_on, targets in rows:
        head = _listed(sources)
        if len(head) >= margin:
            lines += textwrap.wrap(head, width, subsequent_indent="  ")
            head = ""
        first, *more = textwrap.wrap(_listed(targets), width - margin - 3)
        lines.append(f"{head:{margin}}{_ARROWS[goes_on]} {first}")
        lines += [f"{'':{margin + 3}}{line}" for line in more]
    if lattice.apart:
        apart = f"{APART}: {_listed(lattice.apart)}"
        lines += ["", *textwrap.wrap(apart, width, subsequent_indent="  ")]
    notes = textwrap.wrap(" ".join(legend(lattice, "The arrow =>")), width)
    return "\n".join([*lines, "", *(paint(line, "faint") for line in notes)])


def _rows(lattice: LatticeData) -> list[tuple[list[DType], bool, tuple[DType, ...]]]:
    """Sources, whether their arrows go on, and targets: sources with the same ones together."""
    grouped: dict[tuple[bool, tuple[DType, ...]], list[DType]] = {}
    for node in lattice.nodes:
        for goes_on in (True, False):
            leaving = [e for e in lattice.edges if e.source is node and e.goes_on is goes_on]
            if leaving:
                key = goes_on, tuple(e.target for e in leaving)
                grouped.setdefault(key, []).append(node)
    return [(sources, *key) for key, sources in grouped.items()]


def _listed(dtypes: Iterable[DType]) -> str:
    return ", ".join(d.name for d in dtypes)


def lattice_json(lattice: LatticeData) -> str:
    """The nodes and arrows as JSON; `goes_on` is false for an arrow that nothing may follow."""
    return json.dumps(
        {
            "dialect": lattice.dialect.name,
            "nodes": [
                {"name": node.name, "kind": node.kind, "bits": node.bits, "weak": node.is_weak}
                for node in lattice.nodes
            ],
            "edges": [
                {"from": e.source.name, "to": e.target.name, "goes_on": e.goes_on}
                for e in lattice.edges
            ],
            "apart": [node.name for node in lattice.apart],
            "truncated": {asked.name: actual.name for asked, actual in lattice.truncated.items()},
        }
    )


def lattice_dot(lattice: LatticeData) -> str:
    """The lattice for Graphviz, which makes its own layout."""
    lines = [f'digraph "{lattice.dialect.name}" {{', "  rankdir=BT;"]
    lines.append('  node [shape=box, style="rounded,filled", fontname="monospace"];')
    for node in (*lattice.nodes, *lattice.apart):
        style = ', style="rounded,filled,dashed"' if node.is_weak else ""
        lines.append(f'  "{node}" [fillcolor="{shade(node)}"{style}];')
    for edge in lattice.edges:
        style = "" if edge.goes_on else " [style=dashed]"
        lines.append(f'  "{edge.source}" -> "{edge.target}"{style};')
    return "\n".join([*lines, "}"])


LATTICE_FORMATS: dict[str, Callable[[LatticeData], str | bytes]] = {
    "text": lattice_text,
    "json": lattice_json,
    "dot": lattice_dot,
    "html": lattice_html,
    "svg": lattice_svg,
    "png": lattice_png,
}
