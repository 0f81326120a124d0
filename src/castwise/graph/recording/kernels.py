"""Kernels of declared ops, run on the recording backend to find their nodes and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from castwise.engine.decision import Decision
from castwise.execute.backend import Backend, backend_named
from castwise.execute.backends import DEFAULT as DEFAULT_BACKEND
from castwise.execute.fast_path import watched_by
from castwise.execute.kinds import Kind, interned
from castwise.execute.tensor import Tensor
from castwise.graph.program import Node, Shape
from castwise.graph.recording.arrays import Traced
from castwise.rules.catalog import dialect_named
from castwise.rules.default import DEFAULT
from castwise.vocab.dtypes import DType
from castwise.vocab.ops import Op

_MOST_TRIED = 1024  # elements along an axis


def kernel_node(
    row: Op, compute: DType, given: Sequence[Node], options: Mapping[str, Any], backend: Backend
) -> Node | None:
    """The node that a declared op's kernel computes from other nodes, passed as tensors.

    None if the kernel does not accept tensors, for example because it calls a library's own
    functions. It then stays one node, and runs on arrays.
    """
    if row.compute is None:
        return None
    dialect = dialect_named(DEFAULT)  # all operands have one dtype, so nothing is promoted
    kinds = [interned(Kind(backend, compute, not n.shape, False, dialect)) for n in given]
    tensors = [Tensor._of(Traced(n), kind) for n, kind in zip(given, kinds, strict=True)]
    try:
        with watched_by(_NoWatcher(), alone=True):
            found = row.compute(*tensors, **options)
    except Exception:  # a kernel that was written for arrays may raise anything
        return None
    array = found._array if isinstance(found, Tensor) else None
    return array.node if isinstance(array, Traced) else None


def kernel_shape(
    row: Op, compute: DType, given: Sequence[Node], options: Mapping[str, Any], backend: Backend
) -> Shape | None:
    """The shape of a kernel's result; None if it is known only when the program runs."""
    found = kernel_node(row, compute, given, options, backend)
    return _tried_shape(row, compute, given, options) if found is None else found.shape


def _tried_shape(
    row: Op, compute: DType, given: Sequence[Node], options: Mapping[str, Any]
) -> Shape | None:
    """The shape of a kernel's result for arrays of ones, if the sizes are known and small."""
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


class _NoWatcher:
    """Replaces the watchers, which should see only the declared op."""

    def note(self, decision: Decision, operands: Sequence[Any], result: Any) -> None:
        """Does nothing."""
