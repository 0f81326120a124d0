"""Layout functions in ONNX: they move elements, along sizes that may be known only at run time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from castwise.graph.ir import Shape
from castwise.graph.onnx_arrays import called, reshape
from castwise.graph.onnx_dtypes import LackingError
from castwise.graph.onnx_reductions import flattened
from castwise.graph.onnx_writer import INT64, Value
from castwise.graph.shapes import places

_BEFORE_ALL = -(2**63) + 1  # where a backward slice of all elements ends


def _permuted(x: Value, shape: Shape, *, axes: tuple[int, ...]) -> Value:
    return x.writer.one_op("Transpose", x, shape=shape, perm=list(axes))


def _reshaped(x: Value, wanted: Shape, *, shape: Shape) -> Value:
    return reshape(x, wanted)


def _broadcast(x: Value, wanted: Shape, *, shape: Shape) -> Value:
    return x.writer.one_op("Expand", x, x.writer.shape_of(wanted), shape=wanted)


def _flipped(x: Value, shape: Shape, *, axis: tuple[int, ...]) -> Value:
    if not axis:
        return x
    w, count = x.writer, len(axis)
    bounds = [[-1] * count, [_BEFORE_ALL] * count, axis, [-1] * count]
    return w.one_op("Slice", x, *[w.integers(part) for part in bounds], shape=shape)


def _rolled(x: Value, shape: Shape, *, shift: Any, axis: Any) -> Value:
    """The elements moved along dimensions, those beyond the end to the start."""
    if axis is None:
        return reshape(_rolled(flattened(x), shape, shift=shift, axis=0), shape)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    axes = places(axis, x.ndim)
    for place, count in zip(axes, shifts * len(axes) if len(shifts) == 1 else shifts, strict=True):
        x = _rolled_along(x, place, int(count))
    return x


def _rolled_along(x: Value, place: int, count: int) -> Value:
    w = x.writer
    size = w.size(x.shape[place])
    moved = called("Mod", w.integers([count]), called("Max", size, 1))  # an empty one has no rest
    rest: Shape = (*x.shape[:place], "", *x.shape[place + 1 :])  # as long as it then is
    where, end = w.integers([place]), size - moved
    last = w.one_op("Slice", x, end, size, where, shape=rest)
    first = w.one_op("Slice", x, w.integers([0]), end, where, shape=rest)
    return w.one_op("Concat", last, first, shape=x.shape, axis=place)


def _indexed(x: Value, shape: Shape, *, key: Any) -> Value:
    """x[key]: slices first, then single elements from the last dimension on, then new ones."""
    keys = _full_key(key, x.ndim)
    kept = [part for part in keys if part is not None]
    value = _sliced(x, kept)
    for place in reversed(range(len(kept))):
        if not isinstance(kept[place], slice):
            value = _element(value, place, int(kept[place]))
    added = _new_places(keys)
    if not added:
        return value
    w = value.writer
    return w.one_op("Unsqueeze", value, w.integers(added), shape=shape)


def _full_key(key: Any, rank: int) -> list[Any]:
    """A key with an entry for each dimension: ... written out."""
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(1 for part in keys if part is not None and part is not Ellipsis)
    place = next((n for n, part in enumerate(keys) if part is Ellipsis), len(keys))
    return [*keys[:place], *[slice(None)] * (rank - used), *keys[place + 1 :]]


def _sliced(x: Value, kept: list[Any]) -> Value:
    rows = []
    shape = list(x.shape)
    for place, part in enumerate(kept):
        size = x.shape[place]
        if isinstance(part, slice) and part != slice(None) and isinstance(size, int):
            start, stop, step = part.indices(size)
            rows.append((start, stop if stop >= 0 else _BEFORE_ALL, place, step))
            shape[place] = len(range(start, stop, step))
    if not rows:
        return x
    w = x.writer
    columns = [w.integers(column) for column in zip(*rows, strict=True)]
    return w.one_op("Slice", x, *columns, shape=tuple(shape))


def _element(x: Value, place: int, index: int) -> Value:
    w = x.writer
    shape = (*x.shape[:place], *x.shape[place + 1 :])
    return w.one_op("Gather", x, w.constant(index, INT64), shape=shape, axis=place)


def _new_places(keys: list[Any]) -> list[int]:
    """Where None adds a dimension, counted in the result."""
    found, place = [], 0
    for part in keys:
        if part is None:
            found.append(place)
        place += part is None or isinstance(part, slice)
    return found


LAYOUTS: dict[str, Callable[..., Value]] = {
    "reshape": _reshaped,
    "permute_dims": _permuted,
    "broadcast_to": _broadcast,
    "flip": _flipped,
    "roll": _rolled,
    "getitem": _indexed,
}


def write_layout(name: str, x: Value, shape: Shape, options: Mapping[str, Any]) -> Value:
    """The value of a layout function.

    Raises LackingError for one that is not written in ONNX.
    """
    if name not in LAYOUTS:
        raise LackingError(f"castwise has not written the layout function {name} in ONNX")
    return LAYOUTS[name](x, shape, **options)
