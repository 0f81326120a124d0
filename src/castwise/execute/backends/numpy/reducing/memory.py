"""The elements of an array in the order that a cast copy of it has in memory, read in runs.

A copy keeps the order of the axes by their strides, and has no gaps. So a run of it can be made
without the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided

Step = Callable[[Any, Any], None]


class Readable(Protocol):
    """Elements that are read in runs."""

    order: tuple[int, ...]  # of the axes, the outermost first

    def read(self, start: int, stop: int) -> Any:
        """The elements from one place to another, as a new vector."""


class Runs:
    """The elements of an array, cast run by run."""

    def __init__(self, array: Any, cast: Callable[[Any], Any]) -> None:
        self.order = memory_order(array)
        self._view = _merged(array.transpose(self.order))
        self._cast = cast

    def read(self, start: int, stop: int) -> Any:
        """The cast elements from one place to another, as a new vector."""
        view = self._view
        if view.ndim == 1:
            return self._cast(view[start:stop])
        found = np.empty(stop - start, view.dtype)
        _piece_by_piece(_copy, found, view, start)
        return self._cast(found)


class Subtracted:
    """Numbers that are subtracted from the elements of runs of the same shape and order."""

    def __init__(self, array: Any, runs: Runs) -> None:
        self._view = _merged(array.transpose(runs.order))

    def subtract_from(self, run: Any, start: int) -> None:
        """Subtracts from a run that begins at a place, in place."""
        _piece_by_piece(_subtract, run, self._view, start)


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
    # As plain bytes: as_strided does not know every dtype of ml_dtypes.
    plain = view.view(np.dtype((np.void, view.dtype.itemsize)))
    return as_strided(plain, shape or (1,), strides or (0,), writeable=False).view(view.dtype)


def _piece_by_piece(do: Step, run: Any, view: Any, start: int) -> None:
    """Does something to a run that begins at a place of a view, with the elements of the view: a
    part of a row, whole rows, a part of a row."""
    if view.ndim == 1:
        do(run, view[start : start + run.size])
        return
    width = view[0].size
    row, begin = divmod(start, width)
    if begin or run.size < width:
        head = min(width - begin, run.size)
        _piece_by_piece(do, run[:head], view[row], begin)
        run, row = run[head:], row + 1
    count = run.size // width
    if count:
        do(run[: count * width].reshape(count, *view.shape[1:]), view[row : row + count])
    rest = run[count * width :]
    if rest.size:
        _piece_by_piece(do, rest, view[row + count], 0)


def _copy(run: Any, elements: Any) -> None:
    run[...] = elements


def _subtract(run: Any, elements: Any) -> None:
    np.subtract(run, elements, out=run)
