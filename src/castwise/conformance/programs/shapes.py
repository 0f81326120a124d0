"""What steps do to shapes, as far as all frameworks agree."""

from __future__ import annotations

from collections.abc import Sequence

from castwise.conformance.programs.program import KeyPart
from castwise.conformance.values.notation import Held

Shape = tuple[int, ...]


def broadcast(*shapes: Shape) -> Shape | None:
    """The shape that arrays broadcast to, None where they do not.

    >>> broadcast((2, 1), (3,)), broadcast((2,), (3,))
    ((2, 3), None)
    """
    rank = max(map(len, shapes))
    filled = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    lengths = [{length for length in column if length != 1} for column in zip(*filled, strict=True)]
    if any(len(some) > 1 for some in lengths):
        return None
    return tuple(min(some, default=1) for some in lengths)


def reduced(shape: Shape, axis: int | None, *, keeps: bool) -> Shape:
    """The shape of a reduction along an axis, or of all.

    >>> reduced((2, 3), -1, keeps=True)
    (2, 1)
    """
    if axis is None:
        return ()
    place = axis % len(shape)
    return (*shape[:place], *([1] if keeps else []), *shape[place + 1 :])


def product_of(first: Shape, second: Shape) -> Shape | None:
    """The shape of `first @ second`, None where there is none.

    >>> product_of((2, 3), (3,))
    (2,)
    """
    if not first or not second or first[-1] != second[-2:][0]:
        return None
    if len(first) > 2 or len(second) > 2:
        return None
    return (*first[:-1], *second[1:])


def indexed(shape: Shape, key: Sequence[KeyPart]) -> Shape:
    """The shape of what a key picks: of slices, `...` with a slice, None, or one other part.

    >>> indexed((4, 3), (slice(1, None),)), indexed((4, 3), (..., slice(None, 2)))
    ((3, 3), (4, 2))
    """
    part = key[-1] if key else ...
    if part is ...:
        return shape
    if part is None:
        return (1, *shape)
    if isinstance(part, int):
        return shape[1:]
    if isinstance(part, Held):
        count = sum(map(bool, part.values)) if part.dtype == "bool" else len(part.values)
        return (count, *shape[1:])
    if key[0] is ...:
        return (*shape[:-1], len(range(shape[-1])[part]))
    return (len(range(shape[0])[part]), *shape[1:])
