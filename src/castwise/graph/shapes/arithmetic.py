"""Shapes with symbolic sizes: the shapes that ops and layout functions return."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from castwise.errors import UsageError
from castwise.graph.program import Shape
from castwise.graph.shapes.terms import (
    Terms,
    divided,
    is_natural,
    is_quotient,
    plus,
    terms_of,
    text_of,
    times,
)


def broadcast(shapes: Sequence[Shape]) -> Shape:
    """The shape that shapes broadcast to; a symbolic size matches itself and 1.

    Raises UsageError if two sizes do not fit.
    """
    rank = max((len(shape) for shape in shapes), default=0)
    sizes: list[int | str] = []
    for place in range(-rank, 0):
        given = {shape[place] for shape in shapes if len(shape) >= -place} - {1}
        if len(given) > 1:
            texts = " and ".join(f"[{','.join(map(str, shape))}]" for shape in shapes)
            raise UsageError(f"the shapes {texts} do not broadcast: sizes must be equal, or 1.")
        sizes.append(given.pop() if given else 1)
    return tuple(sizes)


def first(shape: Shape, *others: Shape, **options: Any) -> Shape:
    """The shape of the first operand, for any shapes of the others."""
    return shape


def places(axis: Any, rank: int) -> tuple[int, ...]:
    """The dimensions an axis argument names; None names all."""
    if axis is None:
        return tuple(range(rank))
    given = axis if isinstance(axis, (tuple, list)) else (axis,)
    for place in given:
        if not -rank <= place < rank:
            raise UsageError(f"axis {place} is out of range for {rank} dimension(s).")
    return tuple(place % rank for place in given)


def reduced(shape: Shape, axis: Any = None, keepdims: bool = False) -> Shape:
    """The shape after a reduction."""
    gone = places(axis, len(shape))
    if keepdims:
        return tuple(1 if n in gone else size for n, size in enumerate(shape))
    return tuple(size for n, size in enumerate(shape) if n not in gone)


def multiplied(left: Shape, right: Shape) -> Shape:
    """The shape of a matrix product."""
    if not left or not right:
        raise UsageError("a matrix product does not take 0-d operands.")
    inner = (left[-1], right[-1] if len(right) == 1 else right[-2])
    if inner[0] != inner[1]:
        raise UsageError(
            f"a matrix product needs equal inner sizes, not {inner[0]} and {inner[1]}."
        )
    rows = left[-2:-1]
    columns = right[-1:] if len(right) > 1 else ()
    return broadcast([left[:-2], right[:-2]]) + rows + columns


def joined(shapes: Sequence[Shape], axis: int | None) -> Shape:
    """The shape of concatenated arrays."""
    if axis is None:
        return (total([size_of(shape) for shape in shapes]),)
    place = places(axis, len(shapes[0]))[0]
    for shape in shapes[1:]:
        if len(shape) != len(shapes[0]) or any(
            size != other
            for n, (size, other) in enumerate(zip(shape, shapes[0], strict=True))
            if n != place
        ):
            raise UsageError("concatenated arrays need equal shapes except in that dimension.")
    whole = total([shape[place] for shape in shapes])
    return (*shapes[0][:place], whole, *shapes[0][place + 1 :])


def stacked(shapes: Sequence[Shape], axis: int = 0) -> Shape:
    """The shape of arrays stacked along a new dimension."""
    if len(set(shapes)) > 1:
        raise UsageError("stacked arrays need equal shapes.")
    place = places(axis, len(shapes[0]) + 1)[0]
    return (*shapes[0][:place], len(shapes), *shapes[0][place:])


def total(sizes: Sequence[int | str]) -> int | str:
    """The sum of sizes; text if one is symbolic.

    >>> total(["n", 1, "n"]), total([2, 3])
    ('2*n+1', 5)
    """
    return text_of(plus(map(terms_of, sizes)))


def size_of(shape: Shape) -> int | str:
    """The number of elements; text if a size is symbolic.

    >>> size_of((3, "n", 2)), size_of((3, "n+m"))
    ('6*n', '3*m+3*n')
    """
    return text_of(functools.reduce(times, map(terms_of, shape), Terms({(): 1})))


def difference(one: int | str, other: int | str) -> int | str | None:
    """A size minus another; None if the difference may be negative.

    >>> difference("n", "n//2"), difference("n", 1)
    ('n-n//2', None)
    """
    left = plus([terms_of(one), times({(): -1}, terms_of(other))])
    return text_of(left) if is_natural(left) else None


def quotient(size: int | str, divisor: int) -> int | str:
    """A size divided by a number and rounded down.

    >>> quotient("n", 2), quotient("4*n+3", 2)
    ('n//2', '2*n+1')
    """
    return text_of(divided(terms_of(size), divisor))


def reshaped(shape: Shape, wanted: Sequence[int | str]) -> Shape:
    """The shape that a reshape gives; -1 means the remaining size.

    If it depends on a remainder whether the sizes agree, as for n in n//2 by 2, the check happens
    when the graph runs.
    """
    known = tuple(size for size in wanted if size != -1)
    if len(known) == len(wanted):
        apart = plus([terms_of(size_of(shape)), times({(): -1}, terms_of(size_of(known)))])
        is_open = any(is_quotient(factor) for names in apart for factor in names if apart[names])
        if any(apart.values()) and not is_open:
            raise _unequal(shape, wanted)
        return known
    left = list(shape)
    for size in (size for size in known if isinstance(size, str)):
        if size not in left:
            raise _unequal(shape, wanted)
        left.remove(size)
    whole = size_of(tuple(left))
    given = math.prod(size for size in known if isinstance(size, int))
    if given == 0 or (isinstance(whole, int) and whole % given):
        raise _unequal(shape, wanted)
    rest = quotient(whole, given)
    return tuple(rest if size == -1 else size for size in wanted)


def _unequal(shape: Shape, wanted: Sequence[int | str]) -> UsageError:
    return UsageError(f"cannot reshape {list(shape)} to {list(wanted)}: the sizes do not agree.")


def accumulated(shape: Shape, axis: int | None = None, include_initial: bool = False) -> Shape:
    """The shape of cumulative sums: unchanged, or one longer if the initial value is included."""
    if not include_initial:
        return shape
    place = places(0 if axis is None and len(shape) == 1 else axis, len(shape))[0]
    return (*shape[:place], total([shape[place], 1]), *shape[place + 1 :])


def least(one: int | str, other: int | str, name: str) -> int | str:
    """The smaller of two sizes.

    Raises UsageError if it is not known.
    """
    if one == other:
        return one
    if isinstance(one, int) and isinstance(other, int):
        return min(one, other)
    raise UsageError(
        f"the size of {name} depends on which of {one} and {other} is smaller: fix them."
    )
