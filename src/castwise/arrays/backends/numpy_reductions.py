"""The steps of a reduction that casts its operand, without a cast copy of all of it."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from castwise.arrays.backend import Backend
from castwise.arrays.casting import is_plain_cast
from castwise.arrays.functions import SIGNLESS, Function, function_for, widened_to
from castwise.arrays.steps import Steps
from castwise.arrays.values import adapted
from castwise.vocab.dtypes import DType

# The elements of an array in the order that a cast copy of it has in memory, read in runs.
#
# A copy keeps the order of the axes by their strides, and has no gaps. So a run of it can be made
# without the rest.

Step = Callable[[Any, Any], object]
Readable: TypeAlias = "Runs | Squares"  # elements that are read in runs


class Runs:
    """The elements of an array, cast run by run."""

    def __init__(self, array: Any, cast: Callable[[Any], Any]) -> None:
        self.order = _memory_order(array)  # of the axes, the outermost first
        self._view = _merged(array.transpose(self.order))
        self._cast = cast

    def read(self, start: int, stop: int) -> Any:
        """The cast elements from one place to another, as a new vector."""
        view = self._view
        if view.ndim == 1:
            return self._cast(view[start:stop])
        found = np.empty(stop - start, view.dtype)
        _piece_by_piece(np.copyto, found, view, start)
        return self._cast(found)


def _memory_order(array: Any) -> tuple[int, ...]:
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


# A reduction in blocks that fit the processor's cache, with every bit as in one piece.
#
# NumPy goes through an array in the order of its memory. It adds floats of a run pairwise, and the
# rows of the axes that stay one after the other. Both can be continued block by block.

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


# The order in which the NumPy in use combines floats, found by trying it.
#
# It is not documented, and differs between versions: from 2.3 on NumPy adds all of a run in pairs,
# before it did so in pieces of the size of its buffer, one piece after the other.

_BLOCK = 1 << 14
_SHAPE = (3, 4, 8219)  # a run along two axes, and the last of these blocks, end within a piece


def reduction_order(ufunc: Any) -> str | None:
    """How a ufunc combines the floats of a run; None if blocks cannot continue it."""
    return _order(ufunc, np.getbufsize())


@functools.cache
def _order(ufunc: Any, buffered: int) -> str | None:
    numbers = np.random.default_rng(0).uniform(0.5, 1.5, _SHAPE).astype(np.float32)
    ways = (IN_PAIRS, IN_TURN) if ufunc is np.add else (IN_TURN,)
    return next((way for way in ways if _is_right(way, ufunc, numbers)), None)


def _is_right(way: str, ufunc: Any, numbers: Any) -> bool:
    """Whether arrays that are reduced in blocks have the bits of NumPy's own reduction."""
    axes = [some for n in (1, 2, 3) for some in itertools.combinations(range(3), n)]
    arrays = [numbers, numbers.astype(np.complex64)] if ufunc is np.add else [numbers]
    for array, some in itertools.product(arrays, axes):
        reduction = Reduction(ufunc, way, array.dtype.kind == "c", _BLOCK)
        found = reduced(reduction, Runs(array, np.copy), array.shape, some, keepdims=False)
        if found is not None and not np.array_equal(found, ufunc.reduce(array, axis=some)):
            return False
    return True


# The place of the largest or smallest element, in blocks: the first of equal ones, or the first
# NaN.

_COLUMNS = 1 << 12  # columns that are searched at once, if each is longer than a block


class Search(NamedTuple):
    """How NumPy finds a place in a cast block, and whether one element comes before another."""

    find: Any
    is_before: Any
    cast: Callable[[Any], Any]
    block: int

    def place(self, x: Any, axis: int | None, keepdims: bool) -> Any:
        """What NumPy returns for the whole cast array."""
        if axis is None:
            found = self._in_all(x)
            return np.full((1,) * x.ndim, found) if keepdims else found
        places = np.empty(x.shape[:axis] + x.shape[axis:][1:], np.intp)
        self._fill(places, np.moveaxis(x, axis, 0))
        return np.expand_dims(places, axis) if keepdims else places[()]

    def _in_all(self, x: Any) -> Any:
        """The place among all elements, the last axis first."""
        best, place = None, 0
        for start, part in self._parts(x, 0):
            block = self.cast(part)
            found = self.find(block)
            value = block.flat[found]
            if best is None or self._is_next(value, best):
                best, place = value, start + found
        return np.intp(place)

    def _parts(self, x: Any, start: int) -> Iterator[tuple[int, Any]]:
        """The parts of an array that fit a block, each with the place of its first element."""
        width = x[0].size
        most = self.block // width
        for begin in range(0, len(x), most or 1):
            place = start + begin * width
            if most:
                yield place, x[begin : begin + most]
            else:
                yield from self._parts(x[begin], place)

    def _fill(self, places: Any, x: Any) -> None:
        """Writes the places along the first axis."""
        most = self.block // len(x) or min(places.size, _COLUMNS)
        if places.size <= most:
            places[...] = self._in_columns(x)
            return
        width = places[0].size
        step = max(most // width, 1)
        for begin in range(0, len(places), step):
            if width > most:
                self._fill(places[begin], x[:, begin])
            else:
                places[begin : begin + step] = self._in_columns(x[:, begin : begin + step])

    def _in_columns(self, x: Any) -> Any:
        """The places along the first axis of an array that may have more rows than fit a block."""
        rows = max(self.block // x[0].size, 1)
        if rows >= len(x):
            return self.find(self.cast(x), axis=0)
        best, places = None, None
        for begin in range(0, len(x), rows):
            block = self.cast(x[begin : begin + rows])
            found = np.asarray(self.find(block, axis=0))
            values = np.take_along_axis(block, found[None], 0)[0]
            if best is None:
                best, places = values, found
                continue
            is_next = self._is_next(values, best)
            best = np.where(is_next, values, best)
            places = np.where(is_next, found + begin, places)
        return places

    def _is_next(self, value: Any, best: Any) -> Any:
        """Whether a later element replaces the best one so far."""
        return self.is_before(value, best) | ((value != value) & (best == best))


# The squared distances from the mean, which a variance adds.


class Squares:
    """The squared distances of elements from their means, read in runs."""

    def __init__(self, runs: Runs, means: Any, shape: tuple[int, ...]) -> None:
        self.order, self._runs = runs.order, runs
        self._means = _merged(np.broadcast_to(means, shape).transpose(runs.order))

    def read(self, start: int, stop: int) -> Any:
        """The squares from one place to another, computed as NumPy's own variance does."""
        away = self._runs.read(start, stop)
        _piece_by_piece(
            lambda run, means: np.subtract(run, means, out=run), away, self._means, start
        )
        if away.dtype.kind != "c":
            return np.square(away, out=away)
        parts = away.view(away.real.dtype).reshape(-1, 2)
        np.square(parts, out=parts)
        return np.add(parts[:, 0], parts[:, 1])


# The reductions that are computed in blocks: what each block holds, and what follows at the
# end.

_UFUNCS = {
    "sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
    "any": np.logical_or, "all": np.logical_and, "count_nonzero": np.add, "mean": np.add,
    "var": np.add, "std": np.add,
}  # fmt: skip
_EXTREMES = ("max", "min")
_SPREADS = ("var", "std")
_PLACES = ("argmax", "argmin")
OPS = frozenset({*_UFUNCS, *_PLACES})
_MOST_AXES = 16
Axes = tuple[int, ...]


class Reduced(NamedTuple):
    """A reduction of arrays that are cast first, element by element."""

    op: str
    cast: Callable[[Any], Any]
    native: Any  # NumPy's dtype of the cast elements
    is_of_integers: bool  # before they are cast: there is no NaN, and zero has no sign

    def result(
        self, x: Any, *, axis: Any = None, keepdims: bool = False, correction: float = 0.0
    ) -> Any:
        """What NumPy's function returns for the whole cast array; None if blocks cannot tell."""
        axes = _axes(axis, x.ndim)
        is_place = self.op in _PLACES
        if axes is None or x.ndim > _MOST_AXES or (is_place and isinstance(axis, tuple)):
            return None
        if is_place:
            place = None if axis is None else axes[0]
            is_max = self.op == "argmax"
            find, is_before = (np.argmax, np.greater) if is_max else (np.argmin, np.less)
            return Search(find, is_before, self.cast, BLOCK).place(x, place, keepdims)
        if self.op in _SPREADS:
            return self._spread(x, axes, keepdims, correction)
        counted = (lambda run: self.cast(run) != 0) if self.op == "count_nonzero" else self.cast
        found = self._reduced(Runs(x, counted), x.shape, axes, keepdims)
        if found is None or self._is_ambiguous(found):
            return None
        if self.op != "mean":
            return found
        # NumPy adds integers as float64, which holds the sum of small ones exactly.
        total = found if self.native.kind in "fc" else found.astype(np.float64)
        return _divided(total, np.intp(_count(x, axes)))

    def _reduced(self, runs: Readable, shape: tuple[int, ...], axes: Axes, keepdims: bool) -> Any:
        ufunc = _UFUNCS[self.op]
        is_rounded = self.native.kind in "fc" and ufunc in (np.add, np.multiply)
        is_free = not is_rounded or self.op == "count_nonzero"
        order = FREE if is_free else reduction_order(ufunc)
        if order is None or (self.op == "prod" and self.native.kind == "c"):
            return None  # 1, with which a product begins, changes complex zeros and infinities
        is_complex = self.native.kind == "c" and isinstance(runs, Runs)  # squares are real
        reduction = Reduction(ufunc, order, is_complex, BLOCK)
        return reduced(reduction, runs, shape, axes, keepdims)

    def _is_ambiguous(self, found: Any) -> bool:
        """Whether equal extremes may have other bits: zeros of both signs, or several NaN."""
        if self.op not in _EXTREMES or self.is_of_integers:
            return False
        return bool(np.any((found == 0) | (found != found)))

    def _spread(self, x: Any, axes: Axes, keepdims: bool, correction: float) -> Any:
        count = np.intp(_count(x, axes))
        if correction >= count:  # NumPy warns
            return None
        runs = Runs(x, self.cast)
        total = self._reduced(runs, x.shape, axes, keepdims=True)
        if total is None:
            return None
        squares = Squares(runs, _divided(total, count), x.shape)
        found = self._reduced(squares, x.shape, axes, keepdims)
        variance = _divided(found, np.maximum(count - correction, 0))
        if self.op == "var":
            return variance
        is_array = isinstance(variance, np.ndarray)
        return np.sqrt(variance, out=variance) if is_array else np.sqrt(variance)


def _axes(axis: Any, ndim: int) -> Axes | None:
    """The reduced axes, counted from the front; None if they are not what NumPy takes."""
    if axis is None:
        return tuple(range(ndim))
    try:
        given = [operator.index(a) for a in (axis if isinstance(axis, tuple) else (axis,))]
    except TypeError:
        return None
    found = {a % ndim for a in given if -ndim <= a < ndim}
    return tuple(sorted(found)) if len(found) == len(given) > 0 else None


def _count(x: Any, axes: Axes) -> int:
    return math.prod([x.shape[axis] for axis in axes])


def _divided(total: Any, count: Any) -> Any:
    """A sum divided by a count, in the way of NumPy's mean and variance."""
    if isinstance(total, np.ndarray):
        return np.true_divide(total, count, out=total, casting="unsafe")
    return total.dtype.type(total / count)


_OPTIONS = frozenset({"axis", "keepdims", "correction"})
# Their rules are about arrays that have no elements, which are never reduced in blocks.
_OF_NOTHING = frozenset({"max", "min"})
# The result for integers does not depend on the width in which they are compared.
_OF_ANY_WIDTH = frozenset({"max", "min", "any", "all", "argmax", "argmin", "count_nonzero"})
_EXACT = 16  # bits of integers whose sum float64 holds
_WHOLE = ("bool", "int")


def blockwise(steps: Steps, backend: Backend) -> Function | None:
    """A function of raw operands and options that runs the steps; None if it would save nothing,
    or if the dialect's rules are not the library's."""
    reduced = _reduced(steps, backend)
    if reduced is None:
        return None
    (enter,) = steps.entry_casts(backend)
    function = steps.quieted(steps.function(backend), backend)
    uncast, in_blocks = _uncast(steps, backend), _in_blocks(steps, backend, reduced)

    def run(x: Any, **options: Any) -> Any:
        least = 0 if uncast and x.ndim else BLOCK
        if x.size > least and type(x) is np.ndarray and options.keys() <= _OPTIONS:
            found = (uncast or in_blocks)(x, **options)
            if found is not None:
                return steps.as_result(found, backend)
        return steps.as_result(function(enter(x) if enter else x, **options), backend)

    return run


def _uncast(steps: Steps, backend: Backend) -> Function | None:
    """A function on the integers themselves, if the cast changes no bit of the result."""
    compute, wider = steps.compute, widened_to(backend, steps.op, steps.compute)
    is_builtin = backend.native(compute).isbuiltin == 1
    if steps.op not in _OF_ANY_WIDTH or compute.kind not in _WHOLE or not (wider and is_builtin):
        return None
    function = backend.function(steps.op, wider)
    return None if function is None else steps.quieted(function, backend)


def _in_blocks(steps: Steps, backend: Backend, reduced: Reduced) -> Function:
    """A reduction in blocks, which returns None if the library must compute it."""
    in_blocks = steps.quieted(reduced.result, backend)
    if widened_to(backend, steps.op, steps.compute) is None:
        return in_blocks

    def narrowed(x: Any, **options: Any) -> Any:
        found = in_blocks(x, **options)
        is_wide = found is not None and found.dtype == reduced.native
        return backend.cast(np.asarray(found), steps.compute) if is_wide else found

    return narrowed


def _reduced(steps: Steps, backend: Backend) -> Reduced | None:
    """How blocks are cast and reduced."""
    if steps.op not in OPS or steps.composed or len(steps.entries) != 1:
        return None
    (entry,), compute = steps.entries, steps.compute
    wider = widened_to(backend, steps.op, compute)
    source = compute if entry is None else entry.source
    if source is None or compute is SIGNLESS or (entry is None and wider is None):
        return None
    if entry and (entry.through or not is_plain_cast(steps.values, source, entry.dtype)):
        return None
    if not _is_own(steps, backend) or not _is_rounded_alike(steps, wider or compute, source):
        return None
    (enter,) = steps.entry_casts(backend)

    def cast(run: Any) -> Any:
        entered = enter(run) if enter else run
        return backend.cast(entered, wider) if wider else entered

    return Reduced(steps.op, cast, backend.native(wider or compute), source.kind in _WHOLE)


def _is_own(steps: Steps, backend: Backend) -> bool:
    """Whether the library's function follows the dialect's rules for arrays that have elements."""
    op, compute = steps.op, steps.compute
    if op in _OF_NOTHING or (op in ("argmax", "argmin") and compute.kind in _WHOLE):
        return True
    function = function_for(backend, op, compute)
    return adapted(function, backend, op, compute, steps.values) is function


def _is_rounded_alike(steps: Steps, held: DType, source: DType) -> bool:
    """Whether blocks are added as the library adds the whole array. It casts integers to take
    their mean or variance, in pieces of its own."""
    if held.kind not in _WHOLE or steps.op not in ("mean", "var", "std"):
        return True
    return steps.op == "mean" and source.kind in _WHOLE and source.bits <= _EXACT
