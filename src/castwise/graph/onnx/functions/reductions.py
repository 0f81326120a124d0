"""Reductions and products in ONNX."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from castwise.errors import UsageError
from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.arrays import (
    equal,
    isnan,
    logical_not,
    mean,
    reduced,
    reshape,
    sqrt,
    where,
)
from castwise.graph.onnx.dtypes import LackingError
from castwise.graph.onnx.writer import INT64, Value
from castwise.graph.shapes import arithmetic as shapes


def var(x: Value, *, axis: Any = None, keepdims: bool = False, correction: float = 0) -> Value:
    """The mean square of the distances to the mean."""
    away = x - mean(x, axis=axis, keepdims=True)
    total = xp.sum(away * away, axis=axis, keepdims=keepdims)
    w = x.writer
    sizes = tuple([x.shape[place] for place in shapes.places(axis, x.ndim)])
    count = reshape(w.cast(w.size(shapes.size_of(sizes)), x.dtype), ())
    return total / (count - correction if correction else count)


def std(x: Value, *, axis: Any = None, keepdims: bool = False, correction: float = 0) -> Value:
    return sqrt(var(x, axis=axis, keepdims=keepdims, correction=correction))


def norm(x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """The square root of the sum of squares."""
    if not shapes.places(axis, x.ndim):
        return xp.abs(x)
    return reduced("ReduceL2", x, axis, keepdims)


def accumulated(op: str, x: Value, *, axis: Any = None, include_initial: bool = False) -> Value:
    """Cumulative sums or products along one dimension."""
    if axis is None and x.ndim != 1:
        raise UsageError("running sums and products need an axis")
    place = shapes.places(0 if axis is None else axis, x.ndim)[0]
    w = x.writer
    if include_initial:
        one = (*x.shape[:place], 1, *x.shape[place + 1 :])
        start = w.constant(op == "CumProd", x.dtype)
        spread = w.one_op("Expand", start, w.shape_of(one), shape=one)
        shape = shapes.accumulated(x.shape, place, True)
        x = w.one_op("Concat", spread, x, shape=shape, axis=place)
    return w.one_op(op, x, w.constant(place, INT64), shape=x.shape)


def place_of(op: str, x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """The index of the largest or smallest element, or of the first NaN; of all without an axis."""
    if axis is None:
        found = place_of(op, flattened(x), axis=0)
        return reshape(found, (1,) * x.ndim) if keepdims else found
    place = shapes.places(axis, x.ndim)[0]
    shape = shapes.reduced(x.shape, place, keepdims)
    if x.dtype.kind == "float" and x.dtype.specials not in ("finite", "fnu"):
        x = _nan_first(op, x, place)
    more = {"axis": place, "keepdims": int(keepdims)}
    return x.writer.one_op(op, x, dtype=INT64, shape=shape, **more)


def _nan_first(op: str, x: Value, place: int) -> Value:
    """The elements, or marks of NaN if there is one, because runtimes treat NaN differently."""
    w = x.writer
    is_nan = isnan(x)
    marks = is_nan if op == "ArgMax" else logical_not(is_nan)
    return where(xp.any(is_nan, axis=place, keepdims=True), w.cast(marks, x.dtype), x)


def flattened(x: Value) -> Value:
    """All elements in one dimension."""
    w = x.writer
    return w.one_op("Reshape", x, w.integers([-1]), shape=(shapes.size_of(x.shape),))


def median(x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """The middle one, or the mean of the middle two."""
    return _middle(x, axis, keepdims, _mean)


def lower_median(x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """The middle one, or the lower of the middle two."""
    return _middle(x, axis, keepdims, lambda low, high: low)


def _mean(low: Value, high: Value) -> Value:
    return where(equal(low, high), low, (low + high) / 2)


def _middle(x: Value, axis: Any, keepdims: bool, between: Callable[[Value, Value], Value]) -> Value:
    """The middle one, or a value between the middle two; NaN if there is a NaN."""
    values = flattened(x) if axis is None else x
    place = 0 if axis is None else shapes.places(axis, x.ndim)[0]
    w = x.writer
    size = w.size(values.shape[place])
    ordered = w.add("TopK", values, size, shape=values.shape, axis=place, largest=0)
    w.nodes[-1].output.append(w.new_name())  # the indices, which are not used
    one = shapes.reduced(values.shape, place, True)
    low = w.add("Gather", ordered, (size - 1) / 2, shape=one, axis=place)
    high = w.add("Gather", ordered, size / 2, shape=one, axis=place)
    found = between(low, high)
    if x.dtype.kind == "float":
        found = where(xp.any(isnan(values), axis=place, keepdims=True), math.nan, found)
    return reshape(found, shapes.reduced(x.shape, axis, keepdims))


def product(name: str, x: Value, y: Value) -> Value:
    """A matrix product."""
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    if name == "dot" and y.ndim > 2:
        raise LackingError(
            "castwise cannot write dot with a second operand of 3 or more dimensions"
        )
    return x.writer.one_op("MatMul", x, y, shape=shapes.multiplied(x.shape, y.shape))
