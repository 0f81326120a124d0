"""The arguments of a program: in order, of one backend, and with the traced types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from castwise.errors import UsageError
from castwise.execute.backend import Backend, two_backends
from castwise.execute.tensor import Tensor, asarray
from castwise.graph.program import Node, Program


def arranged(program: Program, arrays: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """The arrays in the order of the inputs; some may be given by name.

    Raises UsageError for an unknown name, or one that is given twice.
    """
    free = [node.name for node in program.inputs[len(arrays) :]]
    for name in named:
        if name not in free:
            said = ", ".join(free) or "none"
            raise UsageError(f"{program.name} does not take {name} by name here; missing: {said}.")
    return [*arrays, *[named[name] for name in free if name in named]]


def common_backend(tensors: Sequence[Tensor], backend: str | None) -> Backend:
    """The common backend of all tensors, or the named one if there are none.

    Raises UsageError if there are two.
    """
    holders = {tensor.backend: tensor._kind.backend for tensor in tensors}
    if len(holders) > 1:
        raise two_backends(*list(holders)[:2])
    return next(iter(holders.values()), None) or asarray(0, backend=backend)._kind.backend


def check_input(node: Node, tensor: Tensor, sizes: dict[str, int]) -> None:
    """Raises UsageError if an array has another dtype or shape than the input."""
    is_alike = tensor.dtype is node.dtype and len(tensor.shape) == len(node.shape)
    for size, wanted in zip(tensor.shape, node.shape, strict=False):
        expected = sizes.setdefault(wanted, size) if isinstance(wanted, str) else wanted
        is_alike = is_alike and size == expected
    if not is_alike:
        shape = ",".join(map(str, tensor.shape))
        raise UsageError(
            f"{node.name} was traced as {node.type}, but is {tensor.dtype}[{shape}] here: cast or "
            "reshape it, or trace the function for it."
        )
