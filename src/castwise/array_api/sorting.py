"""Sorting functions."""

from __future__ import annotations

from castwise.array_api.calls import as_index, called, laid_out
from castwise.arrays.tensor import Tensor

__all__ = ["argsort", "sort"]


def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """The indices that sort the elements."""
    found = called("argsort", x, axis=axis, descending=descending, stable=stable)
    return as_index(found, x)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements, sorted."""
    return laid_out("sort", x, axis=axis, descending=descending, stable=stable)
