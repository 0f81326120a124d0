"""The state of a running program: the tensors that it reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from castwise.errors import UsageError
from castwise.execute import tracing
from castwise.execute.tensor import Tensor
from castwise.execute.variable import Variable
from castwise.graph.program import Node, Program, State


def live_tensors(program: Program, arguments: Mapping[Node, Any]) -> dict[State, Any]:
    """The tensor of each state, which may be an argument of this run.

    Raises UsageError if an argument cannot be written to, or two states have the same tensor.
    """
    live = {s: arguments[s.before] if s.tensor is None else s.tensor for s in program.state}
    for state, tensor in live.items():
        if state.is_written and state.tensor is None and not isinstance(tensor, Variable):
            raise UsageError(
                f"{program.name} assigns to {state.name}: give it a cw.Variable, not a "
                f"{type(tensor).__name__}."
            )
        if state.is_written and sum(tensor is other for other in live.values()) > 1:
            raise UsageError(
                f"{program.name} assigns to {state.name}, which was also passed under another "
                "name: pass two variables, or run the function itself."
            )
        if state.is_written:
            tracing.writing(tensor)
    return live


def is_as_traced(program: Program) -> bool:
    """Whether the tensors from outside have the dtypes and shapes they were traced with."""
    return all(
        s.tensor is None
        or (s.tensor.dtype is s.before.dtype and tuple(s.tensor.shape) == s.before.shape)
        for s in program.state
    )


def put(tensor: Tensor, array: Any, node: Node) -> None:
    """Writes a tensor's value after a run; into its own array if the dtype is unchanged."""
    kind = tensor._kind
    if kind.dtype is node.dtype:
        tensor._array = kind.backend.write(tensor._array, ..., array)
    else:
        tensor._array = array
    if kind.dtype is not node.dtype or kind.is_weak is not node.is_weak:
        tensor._kind = kind.with_(dtype=node.dtype, is_weak=node.is_weak)
