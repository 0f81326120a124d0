"""A graph, and what its passes report, in a notebook."""

from __future__ import annotations

from html import escape

from castwise.arrays.fast_path import CastCounts
from castwise.graph.graph import Graph
from castwise.graph.passes import Redialect, Simplification
from castwise.report.blocks import Grid
from castwise.report.page import (
    card,
    dtype_html,
    folded_html,
    hazards_html,
    items,
    picture,
)
from castwise.report.terminal import size_text
from castwise.showing import quantity
from castwise.vocab.dtypes import find_dtype

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
