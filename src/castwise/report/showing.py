"""How a result is shown: by its report, or here, where it has none.

Reports are looked up by name, so that only what is shown is loaded.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

from castwise.report.blocks import Grid, card, dtype_html, folded_html, hazards_html, items, picture
from castwise.report.terminal import size_text
from castwise.showing import quantity
from castwise.vocab.dtypes import find_dtype

if TYPE_CHECKING:
    from castwise.arrays.fast_path import CastCounts
    from castwise.graph.graph import Graph
    from castwise.graph.passes import Redialect, Simplification

# The class of a result -> the function in castwise.report that writes it.
_TEXTS = {
    "Audit": "audit_page.audit_words", "AuditLog": "audit_page.log_words",
    "Decision": "answers.decision_text", "Dialect": "lists.dialect_text", "Diff": "diff.diff_text",
    "Distances": "diff.distances_text", "DtypeOrigin": "audit_page.origin_words",
    "Lattice": "lattice.lattice_text", "Port": "port.port_text", "Table": "table.table_text",
}  # fmt: skip
_CARDS = {
    "Audit": "audit_page.audit_card", "AuditLog": "audit_page.log_card",
    "CastCounts": "showing.counts_card", "Decision": "answers.decision_card",
    "Dialect": "lists.dialect_card", "Diff": "diff.diff_card", "Distances": "diff.distances_card",
    "DtypeOrigin": "audit_page.origin_card", "Explained": "answers.explained_card",
    "Finding": "audit_page.finding_card", "Graph": "showing.graph_card",
    "Lattice": "lattice.lattice_card", "Port": "port.port_card",
    "Redialect": "showing.redialect_card", "Simplification": "showing.simplification_card",
    "Table": "table.table_card",
}  # fmt: skip


def report_text(result: object) -> str:
    """A result as the command line prints it."""
    return _written(_TEXTS, result)


def report_html(result: object) -> str:
    """A result as a notebook shows it."""
    return _written(_CARDS, result)


def _written(writers: Mapping[str, str], result: object) -> str:
    classes = [cls.__name__ for cls in type(result).__mro__]
    module, _, name = next(writers[cls] for cls in classes if cls in writers).rpartition(".")
    written: str = getattr(importlib.import_module(f"castwise.report.{module}"), name)(result)
    return written


# A graph, and what its passes report, in a notebook.

_MOST_DRAWN = 60  # nodes: a picture of more is too wide to read


def graph_card(graph: Graph) -> str:
    """The picture of a graph, and its text; of a large one the text alone."""
    counts = f"{quantity(len(graph.nodes), 'node')}, {quantity(len(graph.casts), 'cast')}"
    text = folded_html(f"As text: {counts}", f"<pre>{escape(graph.text())}</pre>")
    if len(graph.nodes) > _MOST_DRAWN:
        return card(f"<code>{escape(repr(graph))}</code>", text)
    return card("", picture(graph.to_svg()), text)


def simplification_card(found: Simplification[Graph]) -> str:
    """What was saved, and by which rules."""
    rules = [f"{rule.replace('_', ' ')}: {count}" for rule, count in found.applied.items()]
    return card(escape(found.summary), items(rules) if rules else "")


def redialect_card(found: Redialect[Graph]) -> str:
    """What changes under the other dialect, op by op."""
    return card(escape(found.summary), items(found.lines) if found.changes else "")


# The implicit casts of a block, in a notebook.

_NUMBERS = ("casts", "elements", "bytes")
_HEADS = ("op", "from", "to", "hazard", *_NUMBERS)


def counts_card(counts: CastCounts) -> str:
    """How much was cast, and a row for each kind of cast."""
    total = counts.total
    if not total.casts:
        return card("No implicit casts")
    size = f"{quantity(total.elements, 'element')}, {size_text(total.bytes)}"
    rows = [
        [op, _named(source), _named(target), hazards_html([hazard] if hazard else []),
         *(f"{amount:,}" for amount in (kind.casts, kind.elements, kind.bytes))]
        for (op, source, target, hazard), kind in sorted(counts.by.items())
    ]  # fmt: skip
    title = f"{quantity(total.casts, 'implicit cast')}, {size}"
    return card(title, Grid(_HEADS, rows, _NUMBERS).html())


def _named(source: str) -> str:
    dtype = find_dtype(source)
    return dtype_html(dtype) if dtype else source
