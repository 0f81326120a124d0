"""Layout functions in ONNX: they move elements; sizes may be known only at run time."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from castwise.graph.onnx.arrays import reshape
from castwise.graph.onnx.dtypes import LackingError
from castwise.graph.onnx.functions import indexing
from castwise.graph.onnx.functions.indexing import BEFORE_ALL
from castwise.graph.onnx.functions.reductions import flattened
from castwise.graph.onnx.writer import Value, Writer, called
from castwise.graph.program import Shape, given_numbers, with_given
from castwise.graph.shapes.arithmetic import places
from castwise.vocab.dtypes import DType


def _permuted(x: Value, *, shape: Shape, axes: tuple[int, ...]) -> Value:
    if not axes:  # ONNX treats this as all axes reversed, or refuses it
        return x
    return x.writer.one_op("Transpose", x, shape=shape, perm=list(axes))


def _broadcast(x: Value, *, shape: Shape) -> Value:
    return x.writer.one_op("Expand", x, x.writer.shape_of(shape), shape=shape)


def _flipped(x: Value, *, shape: Shape, axis: tuple[int, ...]) -> Value:
    if not axis:
        return x
    w, count = x.writer, len(axis)
    bounds = [[-1] * count, [BEFORE_ALL] * count, axis, [-1] * count]
    return w.one_op("Slice", x, *[w.integers(part) for part in bounds], shape=shape)


def _rolled(x: Value, *, shape: Shape, shift: Any, axis: Any) -> Value:
    """The elements shifted along dimensions; those beyond the end reappear at the start."""
    if axis is None:
        return reshape(_rolled(flattened(x), shape=shape, shift=shift, axis=0), shape)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    axes = places(axis, x.ndim)
    for place, count in zip(axes, shifts * len(axes) if len(shifts) == 1 else shifts, strict=True):
        x = _rolled_along(x, place, int(count))
    return x


def _rolled_along(x: Value, place: int, count: int) -> Value:
    w = x.writer
    size = w.size(x.shape[place])
    moved = called("Mod", w.integers([count]), called("Max", size, 1))  # an empty one has size 0
    rest: Shape = (*x.shape[:place], "", *x.shape[place + 1 :])  # a length not known yet
    where, end = w.integers([place]), size - moved
    last = w.one_op("Slice", x, end, size, where, shape=rest)
    first = w.one_op("Slice", x, w.integers([0]), end, where, shape=rest)
    return w.one_op("Concat", last, first, shape=x.shape, axis=place)


def _shifted(sign: int, x: Value, *, shape: Shape, axes: Any) -> Value:
    """The elements shifted by half of each size, to or from the middle."""
    chosen = places(axes, x.ndim)
    halves = []
    for place in chosen:
        size = x.shape[place]
        if not isinstance(size, int):
            raise LackingError(f"castwise cannot write a shift by half of the symbolic size {size}")
        halves.append(sign * (size // 2))
    return _rolled(x, shape=shape, shift=tuple(halves), axis=chosen)


def counted(w: Writer, held: DType, shape: Shape, options: Mapping[str, Any]) -> Value:
    """Evenly spaced numbers, computed in int64."""
    bounds = [reshape(w.size(options[name]), ()) for name in ("start", "stop", "step")]
    return w.cast(w.add("Range", *bounds, shape=shape), held)


LAYOUTS: dict[str, Callable[..., Value]] = {
    "reshape": lambda x, *, shape: reshape(x, shape),
    "permute_dims": _permuted,
    "broadcast_to": _broadcast,
    "flip": _flipped,
    "roll": _rolled,
    "fft.fftshift": functools.partial(_shifted, 1),
    "fft.ifftshift": functools.partial(_shifted, -1),
    "getitem": indexing.get_item,
    "setitem": indexing.set_item,
    "take": indexing.take,
    "take_along_axis": indexing.take_along,
    "sort": indexing.sort,
    "argsort": indexing.argsort,
    "searchsorted": indexing.searchsorted,
    "linalg.diagonal": indexing.diagonal,
    "tril": functools.partial(indexing.triangle, upper=0),
    "triu": functools.partial(indexing.triangle, upper=1),
}


def write_layout(
    name: str, given: Sequence[Value], shape: Shape, options: Mapping[str, Any]
) -> Value:
    """The value of a layout function with a given shape.

    Raises LackingError for one that castwise cannot write in ONNX.
    """
    if name not in LAYOUTS:
        raise LackingError(f"castwise cannot write the layout function {name} in ONNX")
    if name in ("getitem", "setitem"):  # their keys are not values
        return LAYOUTS[name](*given, shape=shape, **options)
    numbers = given_numbers(options)
    operands = [value for n, value in enumerate(given) if n not in numbers]
    filled = {key: with_given(option, given) for key, option in options.items()}
    return LAYOUTS[name](*operands, **{**filled, "shape": shape})
