"""The elements of an array in the order that a cast copy of it has in memory, read in runs.

A copy keeps the order of the axes by their strides, and has no gaps. So a run of it can be made
without the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided


class Readable(Protocol):
    """Elements that are read in runs."""

    order: tuple[int, ...]  # of the axes, the outermost first

    def read(self, start: int, stop: int) -> Any:
        """The elements from one place to another, as a new vector."""


class Runs:
    """The elements of an array, cast run by run, in the order of memory or in a given one."""

    def __init__(
        self, array: Any, cast: Callable[[Any], Any], order: tuple[int, ...] | None = None
    ) -> None:
        self.order = memory_order(array) if order is None else order
        self._view = _merged(array.transpose(self.order))
        self._cast = cast

    def read(self, start: int, stop: int) -> Any:
        """The cast elements from one place to another, as a new vector."""
        view = self._view
        if view.ndim == 1:
            return self._cast(view[start:stop])
        found = np.empty(stop - start, view.dtype)
        _copy_run(found, view, start, stop)
        return self._cast(found)


def memory_order(array: Any) -> tuple[int, ...]:
    """The axes of an array in the order that a copy of it has in memory, the outermost first."""
    # NumPy itself decides, from the strides; the corner is small and has the same ones.
    corner = array[(slice(0, 2),) * array.ndim]
    strides = np.empty_like(corner, dtype=np.bool_, order="K").strides
    return tuple(sorted(range(array.ndim), key=lambda axis: -strides[axis]))


def _merged(view: Any) -> Any:
    """The same elements in the same order, with as few axes as possible."""
    shape: list[int] = []
    strides: list[int] = []
    for length, step in zip(view.shape, view.strides, strict=True):
        if length == 1:
            continue
        if shape and strides[-1] == length * step:
            shape[-1] *= length
            strides[-1] = step
        else:
            shape.append(length)
            strides.append(step)
    return as_strided(view, shape or (1,), strides or (0,), writeable=False)


def _copy_run(found: Any, view: Any, start: int, stop: int) -> None:
    """Copies a run of the elements into a vector: a part of a row, whole rows, a part of a row."""
    if view.ndim == 1:
        found[...] = view[start:stop]
        return
    width = view[0].size
    first, last = -(-start // width), stop // width
    if first > last:  # within one row
        _copy_run(found, view[last], start - last * width, stop - last * width)
        return
    head, tail = first * width - start, stop - last * width
    if head:
        _copy_run(found[:head], view[first - 1], width - head, width)
    if first < last:
        rows = found[head : found.size - tail].reshape(last - first, *view.shape[1:])
        rows[...] = view[first:last]
    if tail:
        _copy_run(found[found.size - tail :], view[last], 0, tail)
