"""The reductions that are computed in blocks: what each block holds, and what follows at the
end."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from castwise.execute.backends.numpy.reducing import blocks
from castwise.execute.backends.numpy.reducing.blocks import FREE, Reduction
from castwise.execute.backends.numpy.reducing.memory import Readable, Runs
from castwise.execute.backends.numpy.reducing.order import order_of
from castwise.execute.backends.numpy.reducing.places import search
from castwise.execute.backends.numpy.reducing.spread import Squares

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
            return search(self.op, self.cast, blocks.BLOCK).place(x, place, keepdims)
        if self.op in _SPREADS:
            return self._spread(x, axes, keepdims, correction)
        found = self._reduced(self._runs(x), x.shape, axes, keepdims)
        if found is None or self._is_ambiguous(found):
            return None
        return self._divided_by(_count(x, axes), found) if self.op == "mean" else found

    def _runs(self, x: Any) -> Runs:
        if self.op == "count_nonzero":
            return Runs(x, lambda run: self.cast(run) != 0)
        return Runs(x, self.cast)

    def _reduced(self, runs: Readable, shape: tuple[int, ...], axes: Axes, keepdims: bool) -> Any:
        ufunc = _UFUNCS[self.op]
        is_rounded = self.native.kind in "fc" and ufunc in (np.add, np.multiply)
        is_free = not is_rounded or self.op == "count_nonzero"
        order = FREE if is_free else order_of(ufunc)
        if order is None or (self.op == "prod" and self.native.kind == "c"):
            return None  # 1, with which a product begins, changes complex zeros and infinities
        is_complex = self.native.kind == "c" and isinstance(runs, Runs)  # squares are real
        reduction = Reduction(ufunc, order, is_complex, blocks.BLOCK)
        return blocks.reduced(reduction, runs, shape, axes, keepdims)

    def _is_ambiguous(self, found: Any) -> bool:
        """Whether equal extremes may have other bits: zeros of both signs, or several NaN."""
        if self.op not in _EXTREMES or self.is_of_integers:
            return False
        return bool(np.any((found == 0) | (found != found)))

    def _divided_by(self, count: int, total: Any) -> Any:
        # NumPy adds integers as float64, which holds the sum of small ones exactly.
        is_rounded = self.native.kind in "fc"
        return _divided(total if is_rounded else total.astype(np.float64), np.intp(count))

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
