"""Layout functions in ONNX, which move elements: x[key], x[key] = values, sorting, rolling.

`write_layout` at the end writes each by its name. Sizes may be known only at run time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.arrays import reshape
from castwise.graph.onnx.functions import flattened, permuted
from castwise.graph.onnx.runtimes import LackingError
from castwise.graph.onnx.writer import INT64, Value, Writer, called
from castwise.graph.program import Given, Shape, given_numbers, with_given
from castwise.graph.shapes import full_key, indexed, places
from castwise.vocab.dtypes import DType

_BEFORE_ALL = -(2**63) + 1  # where a backward slice of all elements ends


# x[key] and x[key] = values.


def _get_item(x: Value, *arrays: Value, shape: Shape, key: Any) -> Value:
    """x[key]: slices first, then single elements from the last dimension on, then new axes."""
    keys = full_key(key, x.ndim)
    kept = [part for part in keys if part is not None]
    value = _sliced(x, kept)
    if arrays:
        if len(arrays) > 1 or None in keys or any(isinstance(part, int) for part in kept):
            raise LackingError("castwise cannot write an array mixed with other indices in ONNX")
        place = next(n for n, part in enumerate(kept) if isinstance(part, Given))
        return _take(value, arrays[0], shape=shape, axis=place)
    for place in reversed(range(len(kept))):
        if not isinstance(kept[place], slice):
            left = (*value.shape[:place], *value.shape[place + 1 :])
            index = x.writer.constant(int(kept[place]), INT64)
            value = x.writer.one_op("Gather", value, index, shape=left, axis=place)
    added = _new_places(keys)
    if not added:
        return value
    return value.writer.one_op("Unsqueeze", value, value.writer.integers(added), shape=shape)


def _take(x: Value, places: Value, *, shape: Shape, axis: int) -> Value:
    """The slices at the given indices of a dimension, in a dtype that ONNX accepts for them."""
    w = x.writer
    return w.one_op("Gather", x, w.cast(places, INT64), shape=shape, axis=axis)


def _sliced(x: Value, kept: list[Any]) -> Value:
    """The array sliced by a key; each slice has a start, an end, a dimension and a step."""
    rows: list[tuple[int | str, ...]] = []
    shape = list(x.shape)
    for place, part in enumerate(kept):
        if isinstance(part, slice) and part != slice(None):
            rows.append((*_bounds(x.shape[place], part), place, part.step or 1))
            shape[place] = indexed((x.shape[place],), part)[0]
    if not rows:
        return x
    w = x.writer
    columns = [w.sizes(column) for column in zip(*rows, strict=True)]
    return w.one_op("Slice", x, *columns, shape=tuple(shape))


def _bounds(size: int | str, part: slice) -> tuple[int | str, int | str]:
    """The start and end of a slice; with a symbolic size it goes forward from 0 or later."""
    if not any(isinstance(n, str) for n in (size, part.start, part.stop)):
        start, stop, _ = part.indices(int(size))
        return start, stop if stop >= 0 else _BEFORE_ALL
    return 0 if part.start is None else part.start, size if part.stop is None else part.stop


def _new_places(keys: list[Any]) -> list[int]:
    """The positions in the result where None adds a dimension."""
    found, place = [], 0
    for part in keys:
        if part is None:
            found.append(place)
        place += part is None or isinstance(part, slice)
    return found


def _set_item(x: Value, new: Value, *arrays: Value, shape: Shape, key: Any) -> Value:
    """x with new values at key; the dimensions it indexes are moved first and written at once."""
    keys = full_key(key, x.ndim)
    if None in keys:
        raise LackingError("castwise cannot write x[..., None, ...] = value in ONNX")
    named = [n for n, part in enumerate(keys) if part != slice(None)]
    if not named:
        return _spread(new, x.shape)
    others = [n for n in range(x.ndim) if n not in named]
    order = [*named, *others]
    turned = permuted(x, order)
    places, part = _written_places(x, keys, named, arrays)
    given = _in_order(new, x, keys, part, [x.shape[n] for n in others])
    w = x.writer
    made = w.one_op("ScatterND", turned, places, given, shape=turned.shape)
    return permuted(made, [order.index(n) for n in range(x.ndim)])


def _written_places(
    x: Value, keys: list[Any], named: list[int], arrays: tuple[Value, ...]
) -> tuple[Value, Shape]:
    """The positions to write to, one row of numbers each, and their shape."""
    import numpy as np

    w = x.writer
    if arrays:
        if len(named) > 1:
            raise LackingError("castwise cannot assign by an array and other indices in ONNX")
        return reshape(w.cast(arrays[0], INT64), (*arrays[0].shape, 1)), arrays[0].shape
    lengths = [x.shape[n] for n in named]
    if not all(isinstance(length, int) for length in lengths):
        raise LackingError("castwise cannot assign to a part of a symbolic size in ONNX")
    grid = np.indices([int(length) for length in lengths])
    chosen = grid[tuple([slice(None), *[keys[n] for n in named]])]
    return w.constant(np.moveaxis(chosen, 0, -1), INT64), tuple(chosen.shape[1:])


def _in_order(new: Value, x: Value, keys: list[Any], part: Shape, rest: list[Any]) -> Value:
    """New values in the shape of x[key], with the dimensions that the key indexes first."""
    arrays = [part] * (1 + max((k.number for k in keys if isinstance(k, Given)), default=0))
    spread = _spread(new, indexed(x.shape, tuple(keys), arrays))
    first: list[int] = []
    last: list[int] = []
    place = 0
    for key in keys:
        if isinstance(key, int):
            continue
        count = len(part) if isinstance(key, Given) else 1
        (last if key == slice(None) else first).extend(range(place, place + count))
        place += count
    return permuted(spread, [*first, *last])


def _spread(value: Value, shape: Shape) -> Value:
    return value if value.shape == shape else _expanded(value, shape=shape)


def _expanded(x: Value, *, shape: Shape) -> Value:
    return x.writer.one_op("Expand", x, x.writer.sizes(shape), shape=shape)


# Elements by their positions, and sorted elements.


def _take_along(x: Value, places: Value, *, shape: Shape, axis: int) -> Value:
    """The elements at the indices in another array, one per element of it."""
    wide = (*shape[:axis], x.shape[axis], *shape[axis + 1 :])
    return _at(_spread(x, wide), _spread(x.writer.cast(places, INT64), shape), axis)


def _at(x: Value, places: Value, axis: int) -> Value:
    return x.writer.one_op("GatherElements", x, places, shape=places.shape, axis=axis)


def _sort(x: Value, *, shape: Shape, axis: int = -1, **options: Any) -> Value:
    return _at(x, _argsort(x, shape=shape, axis=axis, **options), axis % x.ndim)


def _argsort(
    x: Value, *, shape: Shape, axis: int = -1, descending: bool = False, stable: bool = True
) -> Value:
    """The indices that sort the elements; NaN is the largest, and equal elements keep their
    order."""
    if x.dtype.kind == "complex":
        raise LackingError(f"ONNX cannot sort {x.dtype}")
    place = axis % x.ndim
    if x.dtype.kind != "float" or x.dtype.specials == "finite":
        return _ordered(x, place, descending)
    is_nan = xp.isnan(x)
    by_value = _ordered(xp.where(is_nan, 0, x), place, descending)
    marks = _at(x.writer.cast(is_nan, INT64), by_value, place)
    return _at(by_value, _ordered(marks, place, descending), place)


def _ordered(x: Value, place: int, descending: bool) -> Value:
    w = x.writer
    wide = w.comparable("TopK", x)
    size, largest = w.size(x.shape[place]), int(descending)
    return w.top_k(wide, size, x.shape, axis=place, largest=largest, sorted=1)[1]


def _searchsorted(x: Value, y: Value, *, shape: Shape, side: str, sorter: Value | None) -> Value:
    """How many sorted elements come before each one; NaN counts as the largest."""
    if x.dtype.kind == "complex":
        raise LackingError(f"ONNX cannot sort {x.dtype}")
    x = x if sorter is None else _take(x, sorter, shape=x.shape, axis=0)
    each = reshape(y, (*y.shape, 1))
    comes_before = xp.less if side == "left" else xp.less_equal
    is_before = comes_before(x, each)
    if x.dtype.kind == "float" and x.dtype.specials != "finite":
        ends = xp.isnan(each) if side == "right" else xp.isnan(each) & ~xp.isnan(x)
        is_before = is_before | ends
    return xp.count(is_before, axis=-1)


# Matrices.


def _diagonal(x: Value, *, shape: Shape, offset: int = 0) -> Value:
    """The elements on a diagonal of matrices, by their positions in the flattened rows."""
    *stack, rows, columns = x.shape
    if not (isinstance(rows, int) and isinstance(columns, int)):
        raise LackingError("castwise cannot write a diagonal of symbolic sizes in ONNX")
    first = offset if offset >= 0 else -offset * columns
    places = [first + n * (columns + 1) for n in range(int(shape[-1]))]
    flat = reshape(x, (*stack, rows * columns))
    return _take(flat, x.writer.integers(places), shape=shape, axis=len(stack))


def _triangle(x: Value, *, shape: Shape, k: int, upper: int) -> Value:
    """The lower or upper triangles of matrices. A dtype without zero is filled with its lowest
    number, whose bits are all zero."""
    w, held = x.writer, x.dtype
    if held.specials != "fnu":  # it has a zero
        return w.one_op("Trilu", x, w.constant(k, INT64), shape=shape, upper=upper)
    wide = w.widened(x)
    kept = w.one_op("Trilu", wide, w.constant(k, INT64), shape=shape, upper=upper)
    is_outside = xp.equal(kept, w.constant(0, wide.dtype))
    return w.cast(xp.where(is_outside, w.constant(held.smallest, wide.dtype), kept), held)


# Whole arrays.


def _permuted_axes(x: Value, *, shape: Shape, axes: tuple[int, ...]) -> Value:
    if not axes:  # ONNX treats this as all axes reversed, or refuses it
        return x
    return x.writer.one_op("Transpose", x, shape=shape, perm=list(axes))


def _flipped(x: Value, *, shape: Shape, axis: tuple[int, ...]) -> Value:
    if not axis:
        return x
    w, count = x.writer, len(axis)
    bounds = [[-1] * count, [_BEFORE_ALL] * count, axis, [-1] * count]
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


def write_arange(w: Writer, held: DType, shape: Shape, options: Mapping[str, Any]) -> Value:
    """Evenly spaced numbers, computed in int64."""
    bounds = [reshape(w.size(options[name]), ()) for name in ("start", "stop", "step")]
    return w.cast(w.add("Range", *bounds, shape=shape), held)


LAYOUTS: dict[str, Callable[..., Value]] = {
    "copy": lambda x, *, shape: x,  # no array of ONNX is written to
    "reshape": lambda x, *, shape: reshape(x, shape), "permute_dims": _permuted_axes,
    "broadcast_to": _expanded, "flip": _flipped, "roll": _rolled,
    "fft.fftshift": functools.partial(_shifted, 1),
    "fft.ifftshift": functools.partial(_shifted, -1), "getitem": _get_item, "setitem": _set_item,
    "take": _take, "take_along_axis": _take_along, "sort": _sort, "argsort": _argsort,
    "searchsorted": _searchsorted, "linalg.diagonal": _diagonal,
    "tril": functools.partial(_triangle, upper=0), "triu": functools.partial(_triangle, upper=1),
}  # fmt: skip


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
