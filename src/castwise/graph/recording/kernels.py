"""Kernels of declared ops as nodes: for the shape of what they return, and to write them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from castwise.engine.decision import Decision
from castwise.execute.apply import watched_by
from castwise.execute.backend import Backend, backend_named
from castwise.execute.backends import DEFAULT as DEFAULT_BACKEND
from castwise.execute.kinds import Kind, interned
from castwise.execute.tensor import Tensor
from castwise.graph.program import CAST, Graph, Node, Shape, rebuilt
from castwise.graph.recording.arrays import Traced
from castwise.rules.catalog import dialect_named
from castwise.rules.default import DEFAULT
from castwise.vocab.dtypes import DType
from castwise.vocab.ops import Op, known_op

_MOST_TRIED = 1024  # elements along an axis


def kernel_node(
    row: Op, compute: DType, given: Sequence[Node], options: Mapping[str, Any], backend: Backend
) -> Node | None:
    """The node that a declared op's kernel computes from others, by way of tensors.

    None where it takes no tensors, such as one that calls a library's own functions: it then runs
    as a node of its own, on arrays.
    """
    if row.compute is None:
        return None
    dialect = dialect_named(DEFAULT)  # all operands have one dtype, so that nothing is promoted
    kinds = [interned(Kind(backend, compute, not n.shape, False, dialect)) for n in given]
    tensors = [Tensor._of(Traced(n), kind) for n, kind in zip(given, kinds, strict=True)]
    try:
        with watched_by(_Nobody(), alone=True):
            found = row.compute(*tensors, **options)
    except Exception:  # whatever a kernel raises that was written for arrays
        return None
    array = found._array if isinstance(found, Tensor) else None
    return array.node if isinstance(array, Traced) else None


def kernel_shape(
    row: Op, compute: DType, given: Sequence[Node], options: Mapping[str, Any], backend: Backend
) -> Shape | None:
    """The shape of what a kernel returns; None where that shows only when the graph runs."""
    found = kernel_node(row, compute, given, options, backend)
    return _tried_shape(row, compute, given, options) if found is None else found.shape


def _tried_shape(
    row: Op, compute: DType, given: Sequence[Node], options: Mapping[str, Any]
) -> Shape | None:
    """The shape of what a kernel returns for arrays of ones, if they are known and small."""
    sizes = [size for node in given for size in node.shape]
    plain = backend_named(DEFAULT_BACKEND)
    is_small = all(isinstance(size, int) and size < _MOST_TRIED for size in sizes)
    if row.compute is None or compute not in plain.dtypes or not is_small:
        return None
    ones = plain.make([1], compute, copy=None, device=None)
    try:
        arrays = [plain.namespace.broadcast_to(ones, node.shape) for node in given]
        found = row.compute(*arrays, **options)
    except Exception:  # as above
        return None
    return tuple(getattr(found, "shape", ()))


class _Nobody:
    """Watches in the place of those who are to see the declared op alone."""

    def note(self, decision: Decision, operands: Sequence[Any], result: Any) -> None:
        """Nothing."""


def with_kernels_written_out(graph: Graph, backend: Backend) -> Graph:
    """The graph with the nodes of kernels in the places of declared ops, where they are known."""

    def remade(node: Node, inputs: tuple[Node, ...]) -> Node:
        row = known_op(node.op)
        found = None
        if row is not None and row.compute is not None:
            found = kernel_node(row, inputs[0].dtype, inputs, node.options, backend)
        if found is None:
            return replace(node, inputs=inputs)
        is_right = found.dtype is node.dtype
        return found if is_right else Node(CAST, (found,), node.dtype, node.shape)

    return rebuilt(graph, remade)
