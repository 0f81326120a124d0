"""The order in which the NumPy in use combines floats, found by trying it.

It is not documented, and differs between versions: from 2.3 on NumPy adds all of a run in pairs,
before it did so in pieces of the size of its buffer, one piece after the other.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from castwise.execute.backends.numpy.reducing.blocks import IN_PAIRS, IN_TURN, Reduction, reduced
from castwise.execute.backends.numpy.reducing.memory import Runs

_BLOCK = 1 << 14
_SHAPE = (3, 4, 8219)  # a run along two axes, and the last of these blocks, end within a piece


def order_of(ufunc: Any) -> str | None:
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
    return all(_is_alike(way, ufunc, array, some) for array in arrays for some in axes)


def _is_alike(way: str, ufunc: Any, array: Any, axes: tuple[int, ...]) -> bool:
    reduction = Reduction(ufunc, way, array.dtype.kind == "c", _BLOCK)
    found = reduced(reduction, Runs(array, np.copy), array.shape, axes, keepdims=False)
    return found is None or np.array_equal(found, ufunc.reduce(array, axis=axes))
