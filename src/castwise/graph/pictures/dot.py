"""A program for Graphviz, with casts coloured by what they may cost."""

from __future__ import annotations

from castwise.drawing.shades import shade
from castwise.graph.pictures.labels import cast_colour, program_labels
from castwise.graph.program import CAST, Node, Program


def program_dot(program: Program) -> str:
    """The program in the DOT language."""
    labels = program_labels(program)
    places = {node: f"n{n}" for n, node in enumerate(program.nodes)}
    lines = [f'digraph "{program.name}" {{', "  rankdir=TB;"]
    lines.append('  node [shape=box, style="rounded,filled", fontname="monospace"];')
    for node, place in places.items():
        label = "\\n".join(line.replace('"', '\\"') for line in labels[node])
        lines.append(f'  {place} [label="{label}", {_look(node)}];')
    for node, place in places.items():
        lines += [f"  {places[source]} -> {place};" for source in node.inputs]
    for n, node in enumerate(program.outputs):
        lines.append(f'  out{n} [shape=plaintext, style="", label="out{n}"];')
        lines.append(f"  {places[node]} -> out{n};")
    return "\n".join([*lines, "}"])


def _look(node: Node) -> str:
    if node.op != CAST:
        return f'fillcolor="{shade(node.dtype)}"'
    fill, line = cast_colour(node)
    return f'shape=hexagon, fillcolor="{fill}", color="{line}", penwidth=2'
