"""How operands lie in memory: dimensions merged where that changes nothing, in the order that
walks through memory forwards."""

from __future__ import annotations

import functools
from typing import NamedTuple

Strides = tuple[tuple[int, ...], ...]  # in bytes, of several arrays
UNIT, FIXED, ANY = "1", "0", "s"  # the next element is the next in memory, the same, or elsewhere


class Place(NamedTuple):
    """How the elements of an array lie in memory, wherever that is: its shape, the distances in
    bytes along each dimension, and the device."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: str = "cpu"


class Layout(NamedTuple):
    """The dimensions that a kernel loops over, outermost first, and for each array the distance in
    bytes between two elements along each. `steps` says how each array moves along the last."""

    shape: tuple[int, ...]
    strides: Strides
    steps: str


@functools.lru_cache(maxsize=1024)
def layout_of(shape: tuple[int, ...], strides: Strides, itemsizes: tuple[int, ...]) -> Layout:
    """The layout of arrays of one shape, each with its own strides (0 where it is broadcast). The
    first is the result, whose order counts most."""
    order = sorted(
        [n for n, length in enumerate(shape) if length != 1],
        key=lambda n: tuple(-abs(own[n]) for own in strides),
    )
    lengths: list[int] = []
    moves: list[list[int]] = [[] for _ in strides]
    for n in order:
        current = [own[n] for own in strides]
        if lengths and all(m[-1] == c * shape[n] for m, c in zip(moves, current, strict=True)):
            lengths[-1] *= shape[n]
            for move, stride in zip(moves, current, strict=True):
                move[-1] = stride
            continue
        lengths.append(shape[n])
        for move, stride in zip(moves, current, strict=True):
            move.append(stride)
    if not lengths:
        lengths, moves = [1], [[size] for size in itemsizes]
    return Layout(tuple(lengths), tuple(map(tuple, moves)), _steps(moves, itemsizes))


def _steps(moves: list[list[int]], itemsizes: tuple[int, ...]) -> str:
    """One of the three for each array. If one jumps, all that move count as jumping, so that there
    are few kernels of one program."""
    found = [
        FIXED if move[-1] == 0 else UNIT if move[-1] == size else ANY
        for move, size in zip(moves, itemsizes, strict=True)
    ]
    if ANY in found:
        found = [FIXED if kind == FIXED else ANY for kind in found]
    return "".join(found)


def broadcast_strides(
    shape: tuple[int, ...], own: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[int, ...]:
    """The strides of an array of the shape `own`, in a larger shape that it is broadcast to."""
    lead = len(shape) - len(own)
    return (0,) * lead + tuple([
        0 if length == 1 else stride for length, stride in zip(own, strides, strict=True)
    ])  # fmt: skip
