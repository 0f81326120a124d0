"""The names of a program's nodes in text, pictures and exports."""

from __future__ import annotations

from typing import Any

from castwise.graph.program import CONSTANT, INPUT, Node, Program
from castwise.vocab.operands import scalar_text


def node_names(program: Program) -> dict[Node, str]:
    """The name of each node: inputs have their own names, small constants their values."""
    names: dict[Node, str] = {}
    count = 0
    for node in program.nodes:
        if node.op == INPUT:
            names[node] = node.name
        elif is_inline(node):
            names[node] = f"{node.dtype}({_value(node.value)})"
        else:
            names[node] = f"%{count}"
            count += 1
    return names


def is_inline(node: Node) -> bool:
    """Whether a node has no separate line: an input, or a number."""
    return node.op == INPUT or (node.op == CONSTANT and node.shape == ())


def _value(value: Any) -> str:
    plain = value.item() if hasattr(value, "item") else value
    return scalar_text(plain)
