"""Manipulation functions: they move elements; for concat and stack the engine decides."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from castwise.array_api.calls import Axes, called, laid_out, op, tensor, together
from castwise.arrays.tensor import Tensor, wrapped
from castwise.errors import UsageError

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


def broadcast_arrays(*arrays: Tensor) -> tuple[Tensor, ...]:
    """The arrays, broadcast to a common shape; each keeps its dtype."""
    if not arrays:
        return ()
    arrays = together(*arrays)
    found = called("broadcast_arrays", *arrays)
    return tuple([wrapped(array, x._kind) for array, x in zip(found, arrays, strict=True)])


def broadcast_shapes(*shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to.

    Raises ValueError if they do not broadcast.
    """
    found = []
    for sizes in zip_longest(*[shape[::-1] for shape in shapes], fillvalue=1):
        longer = {size for size in sizes if size != 1}
        if len(longer) > 1:
            raise ValueError(
                f"the shapes {', '.join(map(str, shapes))} do not broadcast: the sizes of "
                "each dimension must be equal, or 1."
            )
        found.append(longer.pop() if longer else 1)
    return tuple(found[::-1])


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """The array in a larger shape, with its elements repeated."""
    return laid_out("broadcast_to", x, shape)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Arrays joined along a dimension, or flattened first if axis is None."""
    _check(arrays, "concat")
    if axis is None:
        return op("concat", *[reshape(x, (-1,)) for x in arrays], axis=0)
    return op("concat", *arrays, axis=axis)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Arrays joined along a new dimension."""
    _check(arrays, "stack")
    return op("stack", *arrays, axis=axis)


def _check(arrays: Sequence[Tensor], name: str) -> None:
    if not arrays:
        raise UsageError(f"{name} takes at least one tensor.")


def expand_dims(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """The array with new dimensions of length 1, at the given positions in the result."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = tensor(x, "expand_dims").ndim + len(axes)
    places = sorted({place % ndim for place in axes if -ndim <= place < ndim})
    if len(places) != len(axes):
        raise IndexError(
            f"expand_dims to {ndim} dimensions needs distinct axes from {-ndim} to {ndim - 1}, "
            f"not {axis}."
        )
    for place in places:
        x = laid_out("expand_dims", x, axis=place)
    return x


def flip(x: Tensor, /, *, axis: Axes = None) -> Tensor:
    """The elements in the opposite order."""
    return laid_out("flip", x, axis=axis)


def moveaxis(
    x: Tensor, source: int | tuple[int, ...], destination: int | tuple[int, ...], /
) -> Tensor:
    """The array with some dimensions moved to other positions."""
    return laid_out("moveaxis", x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """The array with its dimensions in another order."""
    ndim = tensor(x, "permute_dims").ndim
    return laid_out("permute_dims", x, tuple([n + ndim if n < 0 else n for n in axes]))


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element several times."""
    return laid_out("repeat", x, repeats, axis=axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The elements in another shape."""
    return laid_out("reshape", x, shape, copy=copy)


def roll(x: Tensor, /, shift: int | tuple[int, ...], *, axis: Axes = None) -> Tensor:
    """The elements shifted; those beyond the end reappear at the start."""
    return laid_out("roll", x, shift, axis=axis)


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """The array without some dimensions of length 1."""
    return laid_out("squeeze", x, axis=axis)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """The whole array several times along each dimension."""
    return laid_out("tile", x, repetitions)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices of an array along a dimension."""
    kind = tensor(x, "unstack")._kind
    return tuple([wrapped(array, kind) for array in called("unstack", x, axis=axis)])
