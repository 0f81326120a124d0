"""A graph as text, one typed line a node, with each cast and where it came from."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from castwise.graph.program import CAST, CONSTANT, INPUT, Graph, Node, with_given
from castwise.graph.shapes.indexing import key_text
from castwise.vocab.operands import scalar_text


def graph_text(graph: Graph, *, shows_origins: bool = True) -> str:
    """The graph, line by line."""
    names = node_names(graph)
    parameters = ", ".join(f"{node.name}: {node.type}" for node in graph.inputs)
    lines = [f"{graph.name}({parameters}) under {graph.dialect.name}"]
    lines += [f"  state {state.name}: {state.before.type}" for state in graph.state]
    rows = [_row(node, names) for node in graph.nodes if not _is_inline(node)]
    widths = [max((len(row[n]) for row in rows), default=0) for n in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  " + "  ".join([*cells, row[3] if shows_origins else ""]).rstrip())
    lines += [f"  {state.name} = {names[state.after]}" for state in graph.state if state.is_written]
    returned = ", ".join(names[node] for node in graph.outputs)
    return "\n".join([*lines, f"  return {returned}".rstrip()])


def node_names(graph: Graph) -> dict[Node, str]:
    """What each node is called: inputs by their names, small constants by their values."""
    names: dict[Node, str] = {}
    count = 0
    for node in graph.nodes:
        if node.op == INPUT:
            names[node] = node.name
        elif _is_inline(node):
            names[node] = f"{node.dtype}({_value(node.value)})"
        else:
            names[node] = f"%{count}"
            count += 1
    return names


def _is_inline(node: Node) -> bool:
    """Whether a node has no line of its own: an input, or a number."""
    return node.op == INPUT or (node.op == CONSTANT and node.shape == ())


def _row(node: Node, names: dict[Node, str]) -> tuple[str, str, str, str]:
    """What is computed, its type, the hazards of a cast, and where it stands in the source."""
    given = [names[source] for source in node.inputs]
    options = {key: with_given(option, given) for key, option in node.options.items()}
    if node.op == CAST:
        word = "cast" if node.is_implicit else "astype"
        said = f"{names[node]} = {word} {given[0]} to {node.dtype}"
    elif node.op == CONSTANT:
        said = f"{names[node]} = constant"
    elif node.op == "getitem":
        said = f"{names[node]} = {given[0]}[{key_text(options['key'])}]"
    elif node.op == "setitem":
        said = f"{names[node]} = {given[0]} with [{key_text(options['key'])}] = {given[1]}"
    else:
        operands = [names[source] for source in node.positional]
        shown = [f"{key}={value}" for key, value in options.items() if _is_shown(key, value)]
        part = "" if node.part is None else f"[{node.part}]"
        said = f"{names[node]} = {node.op}({', '.join([*operands, *shown])}){part}"
    hazards = ", ".join(node.cast.hazards) if node.cast else ""
    origin = f"# {PurePath(node.origin.file).name}:{node.origin.line}" if node.origin else ""
    return said, node.type, hazards, origin


def _is_shown(option: str, value: Any) -> bool:
    """Whether an option says something: not one that is off, nor the shape of the result."""
    return option != "shape" and value is not None and value is not False


def _value(value: Any) -> str:
    plain = value.item() if hasattr(value, "item") else value
    return scalar_text(plain)
