"""Searching functions; indices and counts have the dialect's index dtype."""

from __future__ import annotations

from typing import Literal

from castwise.array_api.calls import Axes, Operand, alone, as_index, called, op, tensor, together
from castwise.array_api.data_type_functions import result_type
from castwise.array_api.manipulation import reshape
from castwise.arrays.tensor import Tensor

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the largest element."""
    return op("argmax", x, axis=axis, keepdims=keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the smallest element."""
    return op("argmin", x, axis=axis, keepdims=keepdims)


def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """How many elements are not zero."""
    return op("count_nonzero", x, axis=axis, keepdims=keepdims)


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """The indices of all nonzero elements, one array per dimension."""
    return tuple([as_index(array, x) for array in called("nonzero", x)])


def searchsorted(
    x1: Tensor,
    x2: Tensor | int | float,
    /,
    *,
    side: Literal["left", "right"] = "left",
    sorter: Tensor | None = None,
) -> Tensor:
    """The positions where elements of x2 would be inserted into x1, which is sorted or has a
    sorter.
    """
    if isinstance(x2, Tensor):
        x1, x2 = together(tensor(x1, "searchsorted"), x2)
    joined = result_type(tensor(x1, "searchsorted"), x2)
    first = x1.astype(joined, copy=False)
    second = x2.astype(joined, copy=False) if isinstance(x2, Tensor) else alone(x2, first)
    order = None if sorter is None else sorter._array
    sought = second if second.ndim else reshape(second, (1,))  # every backend accepts this shape
    found = as_index(called("searchsorted", first, sought, side=side, sorter=order), x1)
    return found if second.ndim else reshape(found, ())


def where(condition: Tensor, x1: Operand, x2: Operand, /) -> Tensor:
    """Elements of x1 where the condition holds, of x2 elsewhere."""
    return op("where", condition, x1, x2)
