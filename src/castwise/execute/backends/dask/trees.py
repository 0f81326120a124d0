"""Reductions as trees: one state per chunk, merged a few at a time, finished once."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.array.utils import validate_axis

from castwise.execute.backends.dask.chunks import (
    Indices,
    as_chunk,
    as_text,
    blocks,
    empty,
    numpy_backend,
)
from castwise.execute.functions.lookup import function_for
from castwise.execute.steps.steps import Steps
from castwise.vocab.dtypes import DType, dtype

State = Any  # a partial result: arrays that keep the reduced dimensions
Axes = int | Sequence[int] | None
_PIECE = 1 << 16  # elements
_WIDER = {"bool": "int32", "int": "int32", "float": "float32", "complex": "complex64"}


def accumulator(compute: DType) -> DType:
    """The dtype of states: small dtypes would round or overflow at every merge."""
    wider = dtype(_WIDER[compute.kind])
    return wider if compute.bits < wider.bits else compute


def function(op: str, compute: DType) -> Callable[..., Any]:
    """NumPy's function for an op."""
    return function_for(numpy_backend(), op, compute)


class How(NamedTuple):
    """A kind of reduction: three functions of a module, so that a worker can import them."""

    first: Callable[..., State]  # takes the reduction and arrays of the accumulator's dtype
    merge: Callable[[Reduction, Any], State]  # takes states in nested lists, one level per axis
    last: Callable[[Reduction, State], Any]


@dataclass(frozen=True)
class Reduction:
    """What a reduction does, on a worker."""

    how: How
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
            return self.how.merge(self, nested)

    def _state(self, *arrays: Any) -> State:
        entered = self.steps.enter(arrays, numpy_backend())
        return self.how.first(self, *[self._widened(part) for part in entered])

    def _widened(self, chunk: Any) -> Any:
        numpy = numpy_backend()
        is_narrow = numpy.dtype_of(chunk) is self.steps.compute is not self.wide
        return numpy.cast(chunk, self.wide) if is_narrow else chunk

    def merged(self, nested: Any) -> State:
        """Merges several states, given as nested lists, one level per axis."""
        with np.errstate(all="ignore"):
            return self.how.merge(self, nested)

    def result(self, nested: Any, keepdims: bool) -> Any:
        """The result of several states."""
        found = np.asarray(self.how.last(self, self.merged(nested)))
        numpy = numpy_backend()
        found = numpy.cast(found, self.steps.result)
        return found if keepdims else np.squeeze(found, self.axes)

    def __dask_tokenize__(self) -> Any:
        functions = [function.__qualname__ for function in self.how]
        return as_text(self.steps), self.axes, functions, sorted(self.options.items())


def _pieces(chunk: Any, axis: int) -> list[Any]:
    """Parts of a chunk, small enough that their cast copies stay in the processor's cache."""
    count = min(-(-chunk.size // _PIECE), chunk.shape[axis])
    return np.array_split(chunk, count, axis) if count > 1 else [chunk]


def flat(nested: Any) -> list[State]:
    """The states in lists of lists, in order."""
    return [s for part in nested for s in flat(part)] if isinstance(nested, list) else [nested]


def _first_state(reduction: Reduction, *chunks: Any) -> State:
    return reduction.first_state(*chunks)


def _kept(state: Any, axis: Any, keepdims: bool) -> Any:
    """The first step of Dask's reduction, which has nothing to do: the states exist already."""
    return state


def _combined(reduction: Reduction, nested: Any, axis: Any, keepdims: bool) -> State:
    return reduction.merged(nested)


def _aggregated(reduction: Reduction, nested: Any, axis: Any, keepdims: bool) -> Any:
    return reduction.result(nested, keepdims)


def tree(
    reduction: Reduction,
    operands: Sequence[tuple[Any, Indices | None]],
    indices: Indices,
    keepdims: bool = False,
) -> Any:
    """The result of a reduction over chunks whose states have these indices."""
    steps, axes = reduction.steps, reduction.axes
    reduced = {indices[n]: 1 for n in axes}
    states = blocks(
        functools.partial(_first_state, reduction),
        indices,
        operands,
        reduction.wide,
        adjust_chunks=reduced,
        token=steps.op,
    )
    return da.reduction(
        states,
        _kept,
        functools.partial(_aggregated, reduction),
        combine=functools.partial(_combined, reduction),
        axis=axes,
        keepdims=keepdims,
        dtype=numpy_backend().native(steps.result),
        concatenate=False,
        name=steps.op,
        meta=empty(steps.result, len(indices) - (0 if keepdims else len(axes))),
    )


def normal_axes(axis: Axes, ndim: int) -> tuple[int, ...]:
    """The axes as a sorted tuple of non-negative numbers."""
    given = tuple(range(ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
    return tuple(sorted(set(validate_axis(tuple(given), ndim))))


def over_axes(how: How, steps: Steps, x: Any, axis: Axes, keepdims: bool, **options: Any) -> Any:
    """A reduction of one array over some of its axes."""
    reduction = Reduction(how, steps, normal_axes(axis, x.ndim), options)
    indices = tuple(range(x.ndim))
    return tree(reduction, [(x, indices)], indices, keepdims)
