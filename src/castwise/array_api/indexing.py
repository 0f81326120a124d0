"""Indexing functions."""

from __future__ import annotations

from castwise.array_api.calls import laid_out, tensor, together
from castwise.arrays.tensor import Tensor

__all__ = ["take", "take_along_axis"]


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The slices at the given indices of a dimension."""
    x, indices = together(tensor(x, "take"), indices)
    return laid_out("take", x, indices, axis=axis)


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """The elements at the indices in another array, one per element of it."""
    x, indices = together(tensor(x, "take_along_axis"), indices)
    return laid_out("take_along_axis", x, indices, axis=axis)
