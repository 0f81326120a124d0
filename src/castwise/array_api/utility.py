"""Utility functions."""

from __future__ import annotations

from castwise.array_api.calls import Axes, op, tensor
from castwise.array_api.manipulation import concat
from castwise.arrays.tensor import Tensor

__all__ = ["all", "any", "diff"]


def all(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether all elements are true."""
    return op("all", x, axis=axis, keepdims=keepdims)


def any(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether at least one element is true."""
    return op("any", x, axis=axis, keepdims=keepdims)


def diff(
    x: Tensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """The differences of neighbours, taken n times."""
    found = tensor(x, "diff")
    if prepend is not None or append is not None:
        found = concat([part for part in (prepend, x, append) if part is not None], axis=axis)
    before = [slice(None)] * found.ndim
    for _ in range(n):
        later, earlier = [*before], [*before]
        later[axis], earlier[axis] = slice(1, None), slice(None, -1)
        found = op("sub", found[tuple(later)], found[tuple(earlier)])
    return found
