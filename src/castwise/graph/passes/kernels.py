"""Expands declared ops into the nodes of their kernels."""

from __future__ import annotations

from dataclasses import replace

from castwise.graph.program import CAST, Node, Program, rebuilt
from castwise.graph.recording.backend import recording_under
from castwise.graph.recording.kernels import kernel_node
from castwise.vocab.ops import known_op


def with_kernels_written_out(program: Program) -> Program:
    """The program with declared ops replaced by the nodes of their kernels, if they are known."""
    backend = recording_under(program.dialect)

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        row = known_op(node.op)
        found = None
        if row is not None and row.compute is not None:
            found = kernel_node(row, inputs[0].dtype, inputs, node.options, backend)
        if found is None:
            return replace(node, inputs=inputs)
        is_right = found.dtype is node.dtype
        return found if is_right else Node(CAST, (found,), node.dtype, node.shape)

    return rebuilt(program, remade)
