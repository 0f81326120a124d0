"""A reduction in blocks that fit the processor's cache, with every bit as in one piece.

NumPy goes through an array in the order of its memory. It adds floats of a run pairwise, and the
rows of the axes that stay one after the other. Both can be continued block by block.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from castwise.execute.backends.numpy.reducing.memory import Readable

BLOCK = 1 << 18  # elements that are cast at once, few enough to stay in the processor's cache
FREE, IN_PAIRS, IN_TURN = "in any order", "in pairs", "one after the other"
_UNROLLED = 8  # NumPy adds a run in two halves, of which the first is a multiple of this
_FEW = 8  # layers, of which NumPy finds the extremes more slowly than of many


class Dimension(NamedTuple):
    """Neighbouring axes in memory, all reduced or all kept."""

    length: int
    is_reduced: bool


class Reduction(NamedTuple):
    """A ufunc that reduces, and the order in which it combines the elements of a run."""

    ufunc: Any
    order: str
    is_complex: bool
    block: int  # elements that are cast at once


def reduced(
    reduction: Reduction, runs: Readable, shape: Sequence[int], axes: Sequence[int], keepdims: bool
) -> Any:
    """The reduction of an array of a shape along axes; None if no blocks give the same bits."""
    order = runs.order
    found = _part(reduction, runs, 0, _dimensions([(shape[a], a in axes) for a in order]))
    if found is None:
        return None
    kept = [axis for axis in order if axis not in axes]
    if not kept and not keepdims:
        return found.reshape(())[()]
    array = found.reshape([1 if axis in axes else shape[axis] for axis in order])
    array = array.transpose(np.argsort(order))
    return array if keepdims else array.squeeze(tuple(axes))


def _dimensions(axes: Sequence[tuple[int, bool]]) -> list[Dimension]:
    """Axes in the order of memory, joined with neighbours that are reduced or kept alike."""
    found: list[Dimension] = []
    for length, is_reduced in axes:
        if length == 1:
            continue
        if found and found[-1].is_reduced is is_reduced:
            length *= found.pop().length
        found.append(Dimension(length, is_reduced))
    return found


def _part(reduction: Reduction, runs: Readable, start: int, dimensions: Sequence[Dimension]) -> Any:
    """The reduction of the elements from a place on, as a vector of those that stay."""
    size = math.prod([d.length for d in dimensions])
    if size <= reduction.block:
        return _in_one(reduction, runs, start, dimensions)
    first, *rest = dimensions
    if not first.is_reduced:
        return _by_kept(reduction, runs, start, dimensions)
    if not rest:
        return np.asarray(_run(reduction, runs, start, start + size)).reshape(1)
    if len(rest) == 1:
        return _rows(reduction, runs, start, first.length, rest[0].length)
    if len(rest) == 2 and reduction.order is not IN_TURN:
        return _layers(reduction, runs, start, dimensions)
    return None


def _in_one(
    reduction: Reduction, runs: Readable, start: int, dimensions: Sequence[Dimension]
) -> Any:
    """One block, by NumPy."""
    shape = [d.length for d in dimensions]
    block = runs.read(start, start + math.prod(shape)).reshape(shape)
    along = tuple([place for place, d in enumerate(dimensions) if d.is_reduced])
    return np.asarray(reduction.ufunc.reduce(block, axis=along)).reshape(-1)


def _by_kept(
    reduction: Reduction, runs: Readable, start: int, dimensions: Sequence[Dimension]
) -> Any:
    """Each index of the outermost axis on its own, or several at once."""
    first, *rest = dimensions
    width = math.prod([d.length for d in rest])
    most = max(reduction.block // width, 1)
    each = math.prod([d.length for d in rest if not d.is_reduced])  # elements that stay
    found = None
    for begin in range(0, first.length, most):
        count = min(most, first.length - begin)
        some = [Dimension(count, is_reduced=False)] if count > 1 else []
        part = _part(reduction, runs, start + begin * width, [*some, *rest])
        if part is None:
            return None
        if found is None:
            found = np.empty(first.length * each, part.dtype)
        found[begin * each : (begin + count) * each] = part
    return found


def _run(reduction: Reduction, runs: Readable, start: int, stop: int) -> Any:
    """A run of reduced elements."""
    if reduction.order is IN_TURN:
        return _one_by_one(reduction, runs, start, stop)
    if stop - start <= reduction.block:
        return reduction.ufunc.reduce(runs.read(start, stop))
    middle = start + half(stop - start, is_complex=reduction.is_complex)
    pair = [_run(reduction, runs, start, middle), _run(reduction, runs, middle, stop)]
    return reduction.ufunc.reduce(np.asarray(pair))


def half(count: int, *, is_complex: bool) -> int:
    """Where NumPy divides a run to add each half: it counts both parts of complex numbers."""
    numbers = count if is_complex else count // 2
    numbers -= numbers % _UNROLLED
    return numbers // 2 if is_complex else numbers


def _one_by_one(reduction: Reduction, runs: Readable, start: int, stop: int) -> Any:
    """A run whose elements are combined one after the other."""
    reduce, block = reduction.ufunc.reduce, reduction.block
    found = reduce(runs.read(start, min(start + block, stop)))
    for begin in range(start + block, stop, block):
        found = reduce(runs.read(begin, min(begin + block, stop)), initial=found)
    return found


def _rows(reduction: Reduction, runs: Readable, start: int, count: int, width: int) -> Any:
    """Rows that are combined one after the other."""
    if width > reduction.block // 2:
        return _long_rows(reduction, runs, start, count, width)
    most, found = reduction.block // width, None
    for begin in range(0, count, most):
        rows = min(most, count - begin)
        place = start + begin * width
        block = runs.read(place, place + rows * width).reshape(rows, width)
        found = _continued(reduction, found, block)
    return found


def _continued(reduction: Reduction, found: Any, rows: Any) -> Any:
    """The reduction of rows, after that of the rows before them. The rows are overwritten."""
    ufunc = reduction.ufunc
    if found is None:
        return ufunc.reduce(rows, axis=0)
    if reduction.order is FREE:
        return ufunc(found, ufunc.reduce(rows, axis=0))
    ufunc(found, rows[0], out=rows[0])
    return ufunc.reduce(rows, axis=0)


def _long_rows(reduction: Reduction, runs: Readable, start: int, count: int, width: int) -> Any:
    """Rows so long that each is read in parts."""
    ufunc, whole = reduction.ufunc, None
    for begin in range(0, width, reduction.block):
        length = min(reduction.block, width - begin)
        first = start + begin
        # As NumPy begins: with the neutral element, which may change the sign of a zero.
        found = ufunc.reduce(runs.read(first, first + length).reshape(1, length), axis=0)
        for place in range(first + width, first + count * width, width):
            found = ufunc(found, runs.read(place, place + length))
        if whole is None:
            whole = np.empty(width, found.dtype)
        whole[begin : begin + length] = found
    return whole


def _layers(
    reduction: Reduction, runs: Readable, start: int, dimensions: Sequence[Dimension]
) -> Any:
    """Reduced runs in kept rows in reduced layers: the runs first, then the layers in turn."""
    count, *inner = dimensions
    width = math.prod([d.length for d in inner])
    if reduction.ufunc.identity is None and reduction.block // width < _FEW:
        return None
    if width > reduction.block:
        places = range(start, start + count.length * width, width)
        return functools.reduce(
            reduction.ufunc, (_part(reduction, runs, place, inner) for place in places)
        )
    most, found = reduction.block // width, None
    for begin in range(0, count.length, most):
        layers = min(most, count.length - begin)
        place = start + begin * width
        if reduction.order is FREE:
            part = _in_one(reduction, runs, place, [count._replace(length=layers), *inner])
            found = part if found is None else reduction.ufunc(found, part)
            continue
        shape = layers, inner[0].length, inner[1].length
        block = runs.read(place, place + layers * width).reshape(shape)
        found = _continued(reduction, found, reduction.ufunc.reduce(block, axis=2))
    return found
