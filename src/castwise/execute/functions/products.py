"""Products of vectors and matrices beyond the Array API standard, written once for any namespace of
it, like the other recipes."""

from __future__ import annotations

import math
from typing import Any

from castwise.errors import UsageError


def dot(xp: Any, x: Any, y: Any) -> Any:
    """The product summed over the last dimension of one and the one before last of the other."""
    return xp.vecdot(xp.conj(x), y) if x.ndim == y.ndim == 1 else xp.tensordot(
        x, y, axes=((-1,), (max(y.ndim - 2, 0),))
    )  # fmt: skip


def outer(xp: Any, x: Any, y: Any) -> Any:
    """All products of an element of one with an element of the other, for any shapes."""
    return xp.reshape(x, (math.prod(x.shape), 1)) * xp.reshape(y, (1, math.prod(y.shape)))


def inner(xp: Any, x: Any, y: Any) -> Any:
    """The products summed over the last dimension of both; a number multiplies."""
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    return xp.tensordot(x, y, axes=((x.ndim - 1,), (y.ndim - 1,)))


def vecdot(xp: Any, x: Any, y: Any, *, axis: int = -1) -> Any:
    """The products summed over one dimension, with the first operand conjugated. 0-d arrays, which
    the standard's vecdot does not take, are repeated along it."""
    if x.ndim and y.ndim:
        return xp.vecdot(x, y, axis=axis)
    products = xp.conj(x) * y
    return xp.sum(products, axis=axis, dtype=products.dtype) if products.ndim else products


def cross(xp: Any, x: Any, y: Any, *, axis: int = -1) -> Any:
    """The cross product of vectors with three elements."""
    if x.shape[axis] != 3 or y.shape[axis] != 3:
        raise UsageError(
            f"a cross product needs vectors with 3 elements, not {x.shape[axis]} and"
            f" {y.shape[axis]}: choose another axis."
        )
    x, y = xp.moveaxis(x, axis, -1), xp.moveaxis(y, axis, -1)
    parts = [x[..., n] * y[..., m] - x[..., m] * y[..., n] for n, m in ((1, 2), (2, 0), (0, 1))]
    return xp.moveaxis(xp.stack(parts, axis=-1), -1, axis)


def kron(xp: Any, x: Any, y: Any) -> Any:
    """Each element of x times the whole of y, laid out as blocks."""
    left, right = spread(x.shape, y.shape)
    product = xp.reshape(x, left) * xp.reshape(y, right)
    return xp.reshape(product, tuple([n * m for n, m in zip(left[::2], right[1::2], strict=True)]))


def spread(x: tuple[Any, ...], y: tuple[Any, ...]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Two shapes with alternating dimensions of length 1, so that all pairs of elements combine.

    >>> spread((2,), (3, 4))
    ((1, 1, 2, 1), (1, 3, 1, 4))
    """
    rank = max(len(x), len(y))
    left, right = [(1,) * (rank - len(shape)) + tuple(shape) for shape in (x, y)]
    return (
        tuple([size for n in left for size in (n, 1)]),
        tuple([size for n in right for size in (1, n)]),
    )
