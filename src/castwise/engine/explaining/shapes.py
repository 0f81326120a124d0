"""The shape that an op's result has as an operand of the next op.

Rules tell 0-d arrays from others, and vectors from matrices. An unknown size is a name, an unknown
shape None.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from castwise.errors import UsageError
from castwise.vocab.ops import Op

Size: TypeAlias = "int | str"
Shape: TypeAlias = "tuple[Size, ...] | None"
_AXIS = ("axis", "dim")
OF_SHAPES = (*_AXIS, "keepdims", "keepdim")  # the arguments that change a shape, and no dtype


def takes_axis(row: Op) -> bool:
    """Whether an op works along an axis."""
    return row.family in ("reductions", "joining") or row.call.along_axis


def result_shape(row: Op, shapes: Sequence[Shape], options: Mapping[str, Any]) -> Shape:
    """The shape of an op's result.

    Raises UsageError where the shapes do not fit together.
    """
    if row.family == "losses" or row.shapes.gives_one:
        return ()
    if row.family == "conversion":
        return shapes[0]
    if row.family == "reductions" and not row.call.along_axis:
        return _reduced(shapes[0], options)
    if None in shapes:
        return None
    known = [shape for shape in shapes if shape is not None]
    if row.family == "products":
        return _product(row.name, *known)
    if row.family == "joining":
        return _joined(row.name, known, _axis(options) or 0)
    return broadcast(known)


def broadcast(shapes: Sequence[tuple[Size, ...]]) -> tuple[Size, ...]:
    """The shape of elementwise results.

    >>> broadcast([(3,), (2, 1), ()])
    (2, 3)

    Raises UsageError where sizes differ.
    """
    rank = max(map(len, shapes))
    wide = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    sizes: list[Size] = []
    for found in zip(*wide, strict=True):
        different = list(dict.fromkeys(size for size in found if size != 1))
        known = [size for size in different if isinstance(size, int)]
        if len(known) > 1:
            shown = " and ".join(f"[{','.join(map(str, shape))}]" for shape in shapes)
            raise UsageError(f"arrays of the shapes {shown} do not broadcast.")
        sizes.append(next(iter([*known, *different]), 1))
    return tuple(sizes)


def _axis(options: Mapping[str, Any]) -> int | None:
    axis = next((options[name] for name in _AXIS if options.get(name) is not None), None)
    if axis is not None and (isinstance(axis, bool) or not isinstance(axis, int)):
        raise UsageError(f"an axis is a whole number, not {str(axis)[:40]}.")
    return axis


def _reduced(shape: Shape, options: Mapping[str, Any]) -> Shape:
    axis = _axis(options)
    keeps = bool(options.get("keepdims") or options.get("keepdim"))
    if axis is None:
        return shape and (1,) * len(shape) if keeps else ()
    if shape is None:
        return None
    rank = max(len(shape), 1)  # some frameworks let a 0-d array have an axis
    if not -rank <= axis < rank:
        raise UsageError(f"an array of {len(shape)} dimensions has no axis {axis}.")
    place = axis % rank
    return (*shape[:place], *((1,) if keeps and shape else ()), *shape[place + 1 :])


def _product(name: str, x: tuple[Size, ...], y: tuple[Size, ...]) -> tuple[Size, ...]:
    if name == "outer":
        return _size(x), _size(y)
    if name in ("kron", "cross") or not x or not y:
        return broadcast([x, y]) if name == "cross" or not x or not y else _kron(x, y)
    if name == "vecdot":
        return broadcast([x[:-1], y[:-1]])
    if name == "inner":
        return (*x[:-1], *y[:-1])
    stacks = broadcast([x[:-2], y[:-2]])
    return (*stacks, *x[:-1][-1:], *(y[-1:] if len(y) > 1 else ()))


def _size(shape: tuple[Size, ...]) -> Size:
    known = [size for size in shape if isinstance(size, int)]
    return math.prod(known) if len(known) == len(shape) else "n"


def _kron(x: tuple[Size, ...], y: tuple[Size, ...]) -> tuple[Size, ...]:
    rank = max(len(x), len(y))
    left, right = ((1,) * (rank - len(shape)) + shape for shape in (x, y))
    return tuple([_size(pair) for pair in zip(left, right, strict=True)])


def _joined(name: str, shapes: list[tuple[Size, ...]], axis: int) -> tuple[Size, ...]:
    first = shapes[0]
    if name == "stack":
        place = axis % (len(first) + 1)
        return (*first[:place], len(shapes), *first[place:])
    if not first:
        return (len(shapes),)
    place = axis % len(first)
    sizes = [shape[place] for shape in shapes if len(shape) == len(first)]
    known = [size for size in sizes if isinstance(size, int)]
    total: Size = sum(known) if len(known) == len(shapes) else "n"
    return (*first[:place], total, *first[place + 1 :])
