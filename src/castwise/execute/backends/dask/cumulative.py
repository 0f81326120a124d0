"""Cumulative sums and products: within each chunk, starting from the total of the chunks before."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np

from castwise.execute.backends.dask.chunks import (
    as_chunk,
    as_text,
    blocks,
    numpy_backend,
)
from castwise.execute.backends.dask.trees import accumulator, normal_axes
from castwise.execute.steps.steps import Steps

_UFUNCS = {"cumsum": np.add, "cumprod": np.multiply}


@dataclass(frozen=True)
class _Running:
    """A task on a chunk, computed in the accumulator's dtype."""

    steps: Steps
    axis: int

    def __dask_tokenize__(self) -> Any:
        return type(self).__name__, as_text(self.steps), self.axis

    def in_accumulator(self, chunk: Any) -> Any:
        numpy, entry = numpy_backend(), self.steps.entries[0]
        array = as_chunk(chunk)
        array = numpy.cast(array, entry.dtype) if entry else array
        return numpy.cast(array, accumulator(self.steps.compute))

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
        return numpy_backend().cast(found, self.steps.result)


def running(steps: Steps, x: Any, *, axis: int | None = None, include_initial: bool = False) -> Any:
    """The cumulative sums or products along an axis; chunks are computed in parallel."""
    if not x.ndim:
        found = running(steps, x[None], axis=axis, include_initial=include_initial)
        is_kept = steps.values is not None and steps.values.reducing.cumulated_number == "0-d"
        return found[0] if is_kept and not include_initial else found
    if axis is None and x.ndim != 1:
        raise ValueError(f"{steps.op} of {x.ndim} dimensions needs an axis.")
    (place,) = normal_axes(0 if axis is None else axis, x.ndim)
    wide, indices = accumulator(steps.compute), tuple(range(x.ndim))
    totals = blocks(_Total(steps, place), indices, [(x, indices)], wide, adjust_chunks={place: 1})
    chunks = totals.chunks[place]
    gathered = totals.rechunk({place: -1})
    before = blocks(_Before(steps, place), indices, [(gathered, indices)], wide)
    found = blocks(
        _WithBefore(steps, place),
        indices,
        [(x, indices), (before.rechunk({place: chunks}), indices)],
        steps.result,
        align_arrays=False,
        token=steps.op,
    )
    return _after_start(found, place, _UFUNCS[steps.op].identity) if include_initial else found


def _after_start(found: Any, place: int, identity: int) -> Any:
    """The array with the identity element in front."""
    chunks = (*found.chunks[:place], (1,), *found.chunks[place + 1 :])
    shape = tuple(sum(sizes) for sizes in chunks)
    start = da.full(shape, identity, dtype=found.dtype, chunks=chunks)
    return da.concatenate([start, found], axis=place)
