"""Results over chunks: sums, extrema, moments, losses, running sums, places, matrix products."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.array.utils import validate_axis

from castwise.arrays.backends.dask_chunks import (
    Indices,
    aligned,
    as_chunk,
    as_text,
    blocks,
    broadcast_indices,
    elementwise,
    empty,
    in_one_chunk,
)
from castwise.arrays.backends.numpy import NUMPY
from castwise.arrays.functions import WIDER, Function, function_for, spread
from castwise.arrays.steps import Steps
from castwise.arrays.values import check_vectors
from castwise.vocab.dtypes import DType

# Reductions as trees: one state per chunk, merged a few at a time, finished once.

State = Any  # a partial result: arrays that keep the reduced dimensions
Axes = int | Sequence[int] | None
_PIECE = 1 << 16  # elements


def accumulator(compute: DType) -> DType:
    """The dtype of states: small dtypes would round or overflow at every merge."""
    wider = WIDER[compute.kind]
    return wider if compute.bits < wider.bits else compute


def function(op: str, compute: DType) -> Function:
    """NumPy's function for an op."""
    return function_for(NUMPY, op, compute)


class Stages(NamedTuple):
    """The stages of a reduction: three functions of a module, so that a worker can import them."""

    first: Callable[..., State]  # takes the reduction and arrays of the accumulator's dtype
    merge: Callable[[Reduction, Any], State]  # takes states in nested lists, one level per axis
    last: Callable[[Reduction, State], Any]


@dataclass(frozen=True)
class Reduction:
    """What a reduction does, on a worker."""

    stages: Stages
    steps: Steps
    axes: tuple[int, ...]
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def wide(self) -> DType:
        """The dtype of states."""
        return accumulator(self.steps.compute)

    def first_state(self, *chunks: Any) -> State:
        """The state of one chunk of each operand."""
        given = [as_chunk(chunk) for chunk in chunks]
        is_cast = bool(self.steps.entries[0]) or self.steps.compute is not self.wide
        with np.errstate(all="ignore"):
            if len(given) > 1 or not is_cast or not self.axes:
                return self._state(*given)
            place = max(range(len(self.axes)), key=lambda n: given[0].shape[self.axes[n]])
            nested: Any = [self._state(p) for p in _pieces(given[0], self.axes[place])]
            for _ in range(place):
                nested = [nested]
            return self.stages.merge(self, nested)

    def _state(self, *arrays: Any) -> State:
        entered = self.steps.enter(arrays, NUMPY)
        return self.stages.first(self, *[self._widened(part) for part in entered])

    def _widened(self, chunk: Any) -> Any:
        is_narrow = NUMPY.dtype_of(chunk) is self.steps.compute is not self.wide
        return NUMPY.cast(chunk, self.wide) if is_narrow else chunk

    def merged(self, nested: Any, axis: Any = None, keepdims: bool = True) -> State:
        """Merges several states, given as nested lists, one level per axis."""
        with np.errstate(all="ignore"):
            return self.stages.merge(self, nested)

    def result(self, nested: Any, axis: Any, keepdims: bool) -> Any:
        """The result of several states."""
        found = np.asarray(self.stages.last(self, self.merged(nested)))
        found = NUMPY.cast(found, self.steps.result)
        return found if keepdims else np.squeeze(found, self.axes)

    def __dask_tokenize__(self) -> Any:
        functions = [function.__qualname__ for function in self.stages]
        return as_text(self.steps), self.axes, functions, sorted(self.options.items())


def _pieces(chunk: Any, axis: int) -> list[Any]:
    """Parts of a chunk, small enough that their cast copies stay in the processor's cache."""
    count = min(-(-chunk.size // _PIECE), chunk.shape[axis])
    return np.array_split(chunk, count, axis) if count > 1 else [chunk]


def flat(nested: Any) -> list[State]:
    """The states in lists of lists, in order."""
    return [s for part in nested for s in flat(part)] if isinstance(nested, list) else [nested]


def _kept(state: Any, axis: Any, keepdims: bool) -> Any:
    """The first step of Dask's reduction, which has nothing to do: the states exist already."""
    return state


def tree(
    reduction: Reduction,
    operands: Sequence[tuple[Any, Indices | None]],
    indices: Indices,
    keepdims: bool = False,
) -> Any:
    """The result of a reduction over chunks whose states have these indices."""
    steps, axes = reduction.steps, reduction.axes
    first, ones = functools.partial(Reduction.first_state, reduction), {indices[n]: 1 for n in axes}
    states = blocks(first, indices, operands, reduction.wide, adjust_chunks=ones, token=steps.op)
    return da.reduction(
        states,
        _kept,
        functools.partial(Reduction.result, reduction),
        combine=functools.partial(Reduction.merged, reduction),
        axis=axes,
        keepdims=keepdims,
        dtype=NUMPY.native(steps.result),
        concatenate=False,
        name=steps.op,
        meta=empty(steps.result, len(indices) - (0 if keepdims else len(axes))),
    )


def _normal_axes(axis: Axes, ndim: int) -> tuple[int, ...]:
    """The axes as a sorted tuple of non-negative numbers."""
    given = tuple(range(ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
    return tuple(sorted(set(validate_axis(tuple(given), ndim))))


def _over_axes(
    stages: Stages, steps: Steps, x: Any, axis: Axes, keepdims: bool, **options: Any
) -> Any:
    """A reduction of one array over some of its axes."""
    reduction = Reduction(stages, steps, _normal_axes(axis, x.ndim), options)
    indices = tuple(range(x.ndim))
    return tree(reduction, [(x, indices)], indices, keepdims)


# Sums, products, extrema and truth values: the states are the results on parts.

# op -> the op that folds the states of chunks into one
FOLDS = {
    "sum": "sum", "prod": "prod", "max": "max", "min": "min", "any": "any", "all": "all",
    "count_nonzero": "sum",
}  # fmt: skip
_NO_IDENTITY = ("max", "min", "logsumexp")  # not defined for no elements


def _fold(op: str, states: list[Any]) -> Any:
    """Combines states of one shape by an op in their own dtype."""
    stacked = np.stack(states)
    options = {"dtype": stacked.dtype} if op in ("sum", "prod") else {}
    return np.asarray(getattr(np, op)(stacked, axis=0, **options))


def _fold_first(reduction: Reduction, x: Any) -> State:
    op = reduction.steps.op
    if op in _NO_IDENTITY and not _count(x, reduction.axes):
        return None
    return np.asarray(function(op, reduction.wide)(x, axis=reduction.axes, keepdims=True))


def _fold_merge(reduction: Reduction, nested: Any) -> State:
    known = [state for state in flat(nested) if state is not None]
    return _fold(FOLDS[reduction.steps.op], known) if known else None


def _fold_last(reduction: Reduction, state: State) -> Any:
    """The state, if there is one."""
    if state is None:
        raise ValueError(f"{reduction.steps.op} of no elements: there is nothing to choose.")
    return state


def folded(steps: Steps, x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """A reduction whose states are its own results on parts."""
    return _over_axes(Stages(_fold_first, _fold_merge, _fold_last), steps, x, axis, keepdims)


# Means, variances, standard deviations and norms.


def _sum(x: Any, axes: tuple[int, ...]) -> Any:
    return np.sum(x, axis=axes, keepdims=True, dtype=x.dtype)


def _count(x: Any, axes: tuple[int, ...]) -> int:
    return math.prod([x.shape[n] for n in axes])


def _mean_first(reduction: Reduction, x: Any) -> State:
    return _sum(x, reduction.axes), _count(x, reduction.axes)


def _mean_merge(reduction: Reduction, nested: Any) -> State:
    sums, counts = zip(*flat(nested), strict=True)
    return _fold("sum", list(sums)), sum(counts)


def _mean_last(reduction: Reduction, state: State) -> Any:
    total, count = state
    with np.errstate(all="ignore"):
        return total / np.asarray(count, total.real.dtype)


def _spread_first(reduction: Reduction, x: Any) -> State:
    """The number of elements, their mean, and the sum of squared distances from it."""
    axes, count = reduction.axes, _count(x, reduction.axes)
    mean = _sum(x, axes) / np.asarray(max(count, 1), x.real.dtype)
    away = np.abs(x - mean)
    return count, mean, _sum(away * away, axes)


def _spread_merge(reduction: Reduction, nested: Any) -> State:
    return functools.reduce(_spread_of_two, flat(nested))


def _spread_of_two(one: State, other: State) -> State:
    """Two states as one, by the method of Chan, Golub and LeVeque, which subtracts nothing
    large."""
    total = one[0] + other[0]
    if total == 0:
        return one
    away = other[1] - one[1]
    kind = one[2].dtype
    mean = one[1] + away * np.asarray(other[0] / total, kind)
    between = np.abs(away) ** 2 * np.asarray(one[0] * other[0] / total, kind)
    return total, mean, one[2] + other[2] + between


def _var_last(reduction: Reduction, state: State) -> Any:
    count, _, squares = state
    rest = max(count - reduction.options["correction"], 0)
    with np.errstate(all="ignore"):
        return squares / np.asarray(rest, squares.dtype)


def _std_last(reduction: Reduction, state: State) -> Any:
    return np.sqrt(_var_last(reduction, state))


def _norm_first(reduction: Reduction, x: Any) -> State:
    away = np.abs(x)
    return _sum(away * away, reduction.axes)


def _sum_merge(reduction: Reduction, nested: Any) -> State:
    return _fold("sum", flat(nested))


def _norm_last(reduction: Reduction, state: State) -> Any:
    return np.sqrt(state)


MOMENTS = {
    "mean": Stages(_mean_first, _mean_merge, _mean_last),
    "var": Stages(_spread_first, _spread_merge, _var_last),
    "std": Stages(_spread_first, _spread_merge, _std_last),
    "norm": Stages(_norm_first, _sum_merge, _norm_last),
}


def moment(
    steps: Steps, x: Any, *, axis: Axes = None, keepdims: bool = False, correction: float = 0
) -> Any:
    """Mean, variance, standard deviation or norm."""
    return _over_axes(MOMENTS[steps.op], steps, x, axis, keepdims, correction=correction)


# The logarithm of a sum of exponentials.


def _logsumexp_first(reduction: Reduction, x: Any) -> State:
    """The largest element, and the sum of exponentials of the distances from it."""
    if not _count(x, reduction.axes):
        return None
    highest = np.max(x, axis=reduction.axes, keepdims=True)
    return highest, _sum(np.exp(x - _finite(highest)), reduction.axes)


def _logsumexp_merge(reduction: Reduction, nested: Any) -> State:
    known = [state for state in flat(nested) if state is not None]
    if not known:
        return None
    highest = _fold("max", [state[0] for state in known])
    return highest, _fold("sum", [s * np.exp(_finite(h) - _finite(highest)) for h, s in known])


def _logsumexp_last(reduction: Reduction, state: State) -> Any:
    highest, total = _fold_last(reduction, state)
    with np.errstate(all="ignore"):
        return _finite(highest) + np.log(total)


def _finite(highest: Any) -> Any:
    return np.where(np.isfinite(highest), highest, np.zeros_like(highest))


def logsumexp(steps: Steps, x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials."""
    stages = Stages(_logsumexp_first, _logsumexp_merge, _logsumexp_last)
    return _over_axes(stages, steps, x, axis, keepdims)


# Reductions of two operands: losses, and allclose.

LOSSES = ("mse_loss", "l1_loss", "huber_loss", "poisson_nll_loss")


def _loss_first(reduction: Reduction, x: Any, y: Any) -> State:
    compute = function(reduction.steps.op, reduction.wide)
    losses = compute(x, y, reduction="none", **reduction.options)
    return _sum(losses, reduction.axes), _count(losses, reduction.axes)


def _total_last(reduction: Reduction, state: State) -> Any:
    return state[0]


def loss(steps: Steps, x: Any, y: Any, *, reduction: str = "mean", **options: Any) -> Any:
    """A loss as its mean, its sum, or per element."""
    if reduction == "none":
        return elementwise(steps, x, y, reduction="none", **options)
    last = _mean_last if reduction == "mean" else _total_last
    return _over_all(Stages(_loss_first, _mean_merge, last), steps, x, y, options)


def _as_it_is(reduction: Reduction, state: State) -> Any:
    return state


def _allclose_first(reduction: Reduction, x: Any, y: Any) -> State:
    is_near = function("allclose", reduction.wide)(x, y, **reduction.options)
    return np.asarray(is_near).reshape((1,) * max(np.ndim(x), np.ndim(y)))


def _all_merge(reduction: Reduction, nested: Any) -> State:
    return _fold("all", flat(nested))


def allclose(steps: Steps, x: Any, y: Any, **options: Any) -> Any:
    """Whether all elements are within the tolerance of one another."""
    return _over_all(Stages(_allclose_first, _all_merge, _as_it_is), steps, x, y, options)


def _over_all(stages: Stages, steps: Steps, x: Any, y: Any, options: dict[str, Any]) -> Any:
    """A reduction of two operands, broadcast, over everything."""
    indices = broadcast_indices(x, y)
    reduction = Reduction(stages, steps, tuple(range(len(indices))), options)
    return tree(reduction, [aligned(x), aligned(y)], indices)


# Cumulative sums and products: within each chunk, starting from the total of the chunks before.

_UFUNCS = {"cumsum": np.add, "cumprod": np.multiply}


@dataclass(frozen=True)
class _Running:
    """A task on a chunk, computed in the accumulator's dtype."""

    steps: Steps
    axis: int

    def __dask_tokenize__(self) -> Any:
        return type(self).__name__, as_text(self.steps), self.axis

    def in_accumulator(self, chunk: Any) -> Any:
        array, entry = as_chunk(chunk), self.steps.entries[0]
        array = NUMPY.cast(array, entry.dtype) if entry else array
        return NUMPY.cast(array, accumulator(self.steps.compute))

    @property
    def ufunc(self) -> Any:
        return _UFUNCS[self.steps.op]


class _Total(_Running):
    """The total of a chunk."""

    def __call__(self, chunk: Any) -> Any:
        array = self.in_accumulator(chunk)
        return self.ufunc.reduce(array, axis=self.axis, keepdims=True, dtype=array.dtype)


class _Before(_Running):
    """The total of all chunks before each chunk."""

    def __call__(self, totals: Any) -> Any:
        so_far = self.ufunc.accumulate(totals, axis=self.axis, dtype=totals.dtype)
        start = np.full_like(np.take(so_far, [0], self.axis), self.ufunc.identity)
        return np.concatenate([start, np.delete(so_far, -1, self.axis)], axis=self.axis)


class _WithBefore(_Running):
    """The cumulative results of a chunk, starting from the total before it."""

    def __call__(self, chunk: Any, before: Any) -> Any:
        array = self.in_accumulator(chunk)
        with np.errstate(all="ignore"):
            so_far = self.ufunc.accumulate(array, axis=self.axis, dtype=array.dtype)
            found = self.ufunc(so_far, before)
        return NUMPY.cast(found, self.steps.result)


def running(steps: Steps, x: Any, *, axis: int | None = None, include_initial: bool = False) -> Any:
    """The cumulative sums or products along an axis; chunks are computed in parallel."""
    if not x.ndim:
        found = running(steps, x[None], axis=axis, include_initial=include_initial)
        is_kept = steps.values is not None and steps.values.reducing.cumulated_number == "0-d"
        return found[0] if is_kept and not include_initial else found
    if axis is None and x.ndim != 1:
        raise ValueError(f"{steps.op} of {x.ndim} dimensions needs an axis.")
    (place,) = _normal_axes(0 if axis is None else axis, x.ndim)
    wide, indices = accumulator(steps.compute), tuple(range(x.ndim))
    totals = blocks(_Total(steps, place), indices, [(x, indices)], wide, adjust_chunks={place: 1})
    chunks = totals.chunks[place]
    gathered = totals.rechunk({place: -1})
    before = blocks(_Before(steps, place), indices, [(gathered, indices)], wide)
    pairs = [(x, indices), (before.rechunk({place: chunks}), indices)]
    with_before = _WithBefore(steps, place)
    found = blocks(with_before, indices, pairs, steps.result, align_arrays=False, token=steps.op)
    return _after_start(found, place, _UFUNCS[steps.op].identity) if include_initial else found


def _after_start(found: Any, place: int, identity: int) -> Any:
    """The array with the identity element in front."""
    chunks = (*found.chunks[:place], (1,), *found.chunks[place + 1 :])
    shape = tuple(sum(sizes) for sizes in chunks)
    start = da.full(shape, identity, dtype=found.dtype, chunks=chunks)
    return da.concatenate([start, found], axis=place)


# The index of the largest or smallest element, even if no chunk's size is known beforehand.


class Found(NamedTuple):
    """The best element of a span of chunks, its index on each reduced axis, and the span's
    lengths."""

    value: Any  # None in a span without elements
    places: tuple[Any, ...]
    lengths: tuple[int, ...]


def _place_first(reduction: Reduction, x: Any) -> Found:
    axes = reduction.axes
    lengths = tuple(x.shape[n] for n in axes)
    if 0 in lengths:
        return Found(None, (), lengths)
    choose = np.argmax if reduction.steps.op == "argmax" else np.argmin
    kept = [n for n in range(x.ndim) if n not in axes]
    flat = np.transpose(x, [*kept, *axes]).reshape([x.shape[n] for n in kept] + [-1])
    index = np.asarray(choose(flat, axis=-1))
    value = np.take_along_axis(flat, index[..., None], axis=-1)[..., 0]
    shape = [1 if n in axes else size for n, size in enumerate(x.shape)]
    places = tuple(np.reshape(p, shape) for p in np.unravel_index(index, lengths))
    return Found(value.reshape(shape), places, lengths)


def _place_merge(reduction: Reduction, nested: Any, depth: int = 0) -> Found:
    """Merges consecutive spans into one; lists at depth n follow each other along axis n."""
    if isinstance(nested, Found):
        return nested
    spans = [_place_merge(reduction, part, depth + 1) for part in nested]
    is_max = reduction.steps.op == "argmax"
    return functools.reduce(lambda one, other: _joined(one, other, depth, is_max), spans)


def _joined(one: Found, other: Found, depth: int, is_max: bool) -> Found:
    lengths = list(one.lengths)
    lengths[depth] += other.lengths[depth]
    if other.value is None:
        return Found(one.value, one.places, tuple(lengths))
    places = [
        place + one.lengths[depth] if n == depth else place for n, place in enumerate(other.places)
    ]
    if one.value is None:
        return Found(other.value, tuple(places), tuple(lengths))
    new, old = other.value, one.value
    is_better = (new > old if is_max else new < old) | ((new != new) & (old == old))
    is_same = (new == old) | ((new != new) & (old != old))
    # NaN is best of all, as in NumPy; of equal elements, the one that comes first.
    takes = is_better | (is_same & _comes_before(places, one.places))
    value = np.where(takes, new, old)
    chosen = [np.where(takes, n, o) for n, o in zip(places, one.places, strict=True)]
    return Found(value, tuple(chosen), tuple(lengths))


def _comes_before(new: Sequence[Any], old: Sequence[Any]) -> Any:
    """Whether one index comes before another in row-major order."""
    before: Any = np.False_
    for one, other in zip(reversed(new), reversed(old), strict=True):
        before = (one < other) | ((one == other) & before)
    return before


def _place_last(reduction: Reduction, found: Found) -> Any:
    _fold_last(reduction, found.value)
    index: Any = np.zeros_like(found.value, dtype=np.int64)
    for place, length in zip(found.places, found.lengths, strict=True):
        index = index * length + place
    return index


def place(steps: Steps, x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first of the largest or smallest elements."""
    return _over_axes(Stages(_place_first, _place_merge, _place_last), steps, x, axis, keepdims)


# Matrix products and similar ops: the products of chunks, summed over the contracted chunks.

Shape = tuple[int, ...]


def _product(reduction: Reduction, x: Any, y: Any) -> State:
    """The product of two chunks, with a dimension of length 1 for each one that is summed over."""
    compute = function(reduction.steps.op, reduction.wide)
    return np.expand_dims(np.asarray(compute(x, y, **reduction.options)), reduction.axes)


_PRODUCT = Stages(_product, _sum_merge, _as_it_is)


def _contracted(
    steps: Steps, operands: Sequence[tuple[Any, Indices]], free: Sequence[int],
    between: Sequence[int], **options: Any,
) -> Any:  # fmt: skip
    """The product summed over the contracted indices, which come last in the states of chunks."""
    indices = (*free, *between)
    axes = tuple(range(len(free), len(indices)))
    return tree(Reduction(_PRODUCT, steps, axes, options), operands, indices)


def matmul(steps: Steps, x: Any, y: Any) -> Any:
    """Matrices, or stacks of them; a vector is a row on the left and a column on the right."""
    row, column, between = 0, 1, 2
    stacks = range(3, 3 + max(x.ndim, y.ndim, 2) - 2)
    left = _matrix_indices(x.ndim, stacks, (row, between), between)
    right = _matrix_indices(y.ndim, stacks, (between, column), between)
    free = [*stacks, *([row] if x.ndim > 1 else []), *([column] if y.ndim > 1 else [])]
    return _contracted(steps, [(x, left), (y, right)], free, [between])


def _matrix_indices(
    ndim: int, stacks: Sequence[int], matrix: tuple[int, int], between: int
) -> Indices:
    if ndim < 2:
        return (between,) * ndim
    return (*stacks[len(stacks) - (ndim - 2) :], *matrix)


def dot(steps: Steps, x: Any, y: Any) -> Any:
    """The sum over the last dimension of one and the one before last of the other."""
    check_vectors(steps.op, steps.values, x, y)
    if x.ndim == 0 or y.ndim == 0:
        return elementwise(steps, x, y)
    return _along(steps, x, y, [x.ndim - 1], [max(y.ndim - 2, 0)])


def tensordot(
    steps: Steps, x: Any, y: Any, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Any:
    """The sum over the last dimensions of one and the first of the other, or over the given
    axes."""
    if isinstance(axes, int):
        axes = range(-axes, 0), range(axes)
    left, right = [n % x.ndim for n in axes[0]], [n % y.ndim for n in axes[1]]
    return _along(steps, x, y, left, right, axes=(tuple(left), tuple(right)))


def _along(
    steps: Steps, x: Any, y: Any, left: Sequence[int], right: Sequence[int], **options: Any
) -> Any:
    """The product summed over some dimensions of one and equally many of the other."""
    of_x = list(range(x.ndim))
    of_y = [x.ndim + n for n in range(y.ndim)]
    for one, other in zip(left, right, strict=True):
        of_y[other] = of_x[one]
    between = [of_x[n] for n in left]
    free = [n for n in (*of_x, *of_y) if n not in between]
    return _contracted(steps, [(x, tuple(of_x)), (y, tuple(of_y))], free, between, **options)


def outer(steps: Steps, x: Any, y: Any) -> Any:
    """All products of an element of one with an element of the other, chunk by chunk."""
    check_vectors(steps.op, steps.values, x, y)
    return elementwise(replace(steps, op="mul"), *_reshaped(x, y, (-1, 1), (1, -1)))


def _reshaped(x: Any, y: Any, left: Shape, right: Shape) -> list[Any]:
    """Two operands, reshaped; a number, which is not a Dask array, is left unchanged."""
    pairs = ((x, left), (y, right))
    return [z.reshape(shape) if isinstance(z, da.Array) else z for z, shape in pairs]


def inner(steps: Steps, x: Any, y: Any) -> Any:
    """The sum over the last dimension of both."""
    if not (np.ndim(x) and np.ndim(y)):
        return elementwise(steps, x, y)
    return _along(steps, x, y, [x.ndim - 1], [y.ndim - 1])


def cross(steps: Steps, x: Any, y: Any, *, axis: int = -1) -> Any:
    """The cross product of vectors, each of which becomes one chunk."""
    return elementwise(steps, in_one_chunk(x, axis), in_one_chunk(y, axis), axis=axis)


def kron(steps: Steps, x: Any, y: Any) -> Any:
    """Each chunk of x times each of y, then rearranged into the blocks of the result."""
    product = elementwise(steps, *_reshaped(x, y, *spread(np.shape(x), np.shape(y))))
    sizes = product.shape
    return product.reshape(tuple([n * m for n, m in zip(sizes[::2], sizes[1::2], strict=True)]))


def vecdot(steps: Steps, x: Any, y: Any, *, axis: int = -1) -> Any:
    """The sum of products along one axis; the first operand is conjugated."""
    if axis >= 0:
        raise ValueError("axis must be negative here: it counts from the last dimension.")
    place = -1 - axis
    of_x, of_y = (tuple(range(array.ndim))[::-1] for array in (x, y))
    free = [n for n in range(max(x.ndim, y.ndim))[::-1] if n != place]
    return _contracted(steps, [(x, of_x), (y, of_y)], free, [place], axis=axis)
