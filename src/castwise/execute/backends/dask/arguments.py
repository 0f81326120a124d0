"""The index of the largest or smallest element, even if no chunk's size is known beforehand."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from castwise.execute.backends.dask.trees import How, Reduction, over_axes
from castwise.execute.steps.steps import Steps


class Found(NamedTuple):
    """The best element of a span of chunks, its index on each reduced axis, and the span's
    lengths."""

    value: Any  # None in a span without elements
    places: tuple[Any, ...]
    lengths: tuple[int, ...]


def _first(reduction: Reduction, x: Any) -> Found:
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


def _merge(reduction: Reduction, nested: Any) -> Found:
    return _merged(nested, 0, reduction.steps.op == "argmax")


def _merged(nested: Any, depth: int, is_max: bool) -> Found:
    """Merges consecutive spans into one; lists at depth n follow each other along axis n."""
    if isinstance(nested, Found):
        return nested
    spans = [_merged(part, depth + 1, is_max) for part in nested]
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
    takes = _is_better(other.value, one.value, is_max) | (
        _is_same(other.value, one.value) & _comes_before(places, one.places)
    )
    value = np.where(takes, other.value, one.value)
    chosen = [np.where(takes, new, old) for new, old in zip(places, one.places, strict=True)]
    return Found(value, tuple(chosen), tuple(lengths))


def _is_better(new: Any, old: Any, is_max: bool) -> Any:
    """Whether an element is better than the best so far; NaN is best of all, as in NumPy."""
    return (new > old if is_max else new < old) | ((new != new) & (old == old))


def _is_same(new: Any, old: Any) -> Any:
    return (new == old) | ((new != new) & (old != old))


def _comes_before(new: Sequence[Any], old: Sequence[Any]) -> Any:
    """Whether one index comes before another in row-major order."""
    before: Any = np.False_
    for one, other in zip(reversed(new), reversed(old), strict=True):
        before = (one < other) | ((one == other) & before)
    return before


def _last(reduction: Reduction, found: Found) -> Any:
    if found.value is None:
        raise ValueError(f"{reduction.steps.op} of no elements: there is nothing to choose.")
    index: Any = np.zeros_like(found.value, dtype=np.int64)
    for place, length in zip(found.places, found.lengths, strict=True):
        index = index * length + place
    return index


def place(steps: Steps, x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first of the largest or smallest elements."""
    return over_axes(How(_first, _merge, _last), steps, x, axis, keepdims)
