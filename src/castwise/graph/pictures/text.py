"""A program as text, one typed line per node, with each cast and where it came from."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from castwise.graph.node_names import is_inline, node_names
from castwise.graph.program import CAST, CONSTANT, Node, Program, with_given
from castwise.graph.shapes.indexing import key_text


def program_text(program: Program, *, shows_origins: bool = True) -> str:
    """The program, line by line."""
    names = node_names(program)
    parameters = ", ".join(f"{node.name}: {node.type}" for node in program.inputs)
    lines = [f"{program.name}({parameters}) under {program.dialect.name}"]
    lines += [f"  state {state.name}: {state.before.type}" for state in program.state]
    rows = [_row(node, names) for node in program.nodes if not is_inline(node)]
    widths = [max((len(row[n]) for row in rows), default=0) for n in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append("  " + "  ".join([*cells, row[3] if shows_origins else ""]).rstrip())
    lines += [
        f"  {state.name} = {names[state.after]}" for state in program.state if state.is_written
    ]
    returned = ", ".join(names[node] for node in program.outputs)
    return "\n".join([*lines, f"  return {returned}".rstrip()])


def _row(node: Node, names: dict[Node, str]) -> tuple[str, str, str, str]:
    """The computation, its type, the hazards of a cast, and its line in the source."""
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
    """Whether an option is worth showing: not if it is off, nor if it is the result's shape."""
    return option != "shape" and value is not None and value is not False
