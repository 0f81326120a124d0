"""Manipulation functions: they move elements; where arrays are joined, the engine decides."""

from __future__ import annotations

from collections.abc import Sequence

from castwise.array_api.calls import Axes, called, laid_out, op, tensor, together
from castwise.errors import UsageError
from castwise.execute.tensor import Tensor, wrapped

__all__ = [
    "broadcast_arrays", "broadcast_to", "concat", "expand_dims", "flip", "moveaxis",
    "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """The arrays in their common shape; each keeps its dtype."""
    if not arrays:
        return []
    arrays = together(*arrays)
    found = called("broadcast_arrays", *arrays)
    return [wrapped(array, x._kind) for array, x in zip(found, arrays, strict=True)]


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """The array in a larger shape, its elements repeated."""
    return laid_out("broadcast_to", x, shape)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Arrays one after the other along a dimension, or flat where it is None."""
    _check(arrays, "concat")
    if axis is None:
        return op("concat", *[reshape(x, (-1,)) for x in arrays], axis=0)
    return op("concat", *arrays, axis=axis)


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Arrays one after the other along a new dimension."""
    _check(arrays, "stack")
    return op("stack", *arrays, axis=axis)


def _check(arrays: Sequence[Tensor], name: str) -> None:
    if not arrays:
        raise UsageError(f"{name} takes at least one tensor.")


def expand_dims(x: Tensor, /, axis: int) -> Tensor:
    """The array with one more dimension of length 1."""
    return laid_out("expand_dims", x, axis=axis)


def flip(x: Tensor, /, *, axis: Axes = None) -> Tensor:
    """The elements in the opposite order."""
    return laid_out("flip", x, axis=axis)


def moveaxis(
    x: Tensor, source: int | tuple[int, ...], destination: int | tuple[int, ...], /
) -> Tensor:
    """The array with some dimensions in other places."""
    return laid_out("moveaxis", x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """The array with its dimensions in another order."""
    return laid_out("permute_dims", x, axes)


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element several times."""
    return laid_out("repeat", x, repeats, axis=axis)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """The elements in another shape."""
    return laid_out("reshape", x, shape, copy=copy)


def roll(x: Tensor, /, shift: int | tuple[int, ...], *, axis: Axes = None) -> Tensor:
    """The elements moved on; those beyond the end come in at the beginning."""
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
