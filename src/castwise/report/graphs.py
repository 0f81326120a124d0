"""A graph, and what its passes report, in a notebook."""

from __future__ import annotations

from html import escape

from castwise.graph.graph import Graph
from castwise.graph.passes.redialect import Redialect
from castwise.graph.passes.simplify import Simplification
from castwise.report.amounts import counted
from castwise.report.look.card import card, folded_html, items, picture

_MOST_DRAWN = 60  # nodes: a picture of more is too wide to read


def graph_card(graph: Graph) -> str:
    """The picture of a graph, and its text; of a large one the text alone."""
    counts = f"{counted(len(graph.nodes), 'node')}, {counted(len(graph.casts), 'cast')}"
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
