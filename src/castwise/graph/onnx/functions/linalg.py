"""Products and norms of the standard's linear algebra in ONNX."""

from __future__ import annotations

import math
import string
from typing import Any

from castwise.execute.functions.products import spread
from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.arrays import reshape
from castwise.graph.onnx.dtypes import LackingError
from castwise.graph.onnx.functions.reductions import flattened, norm
from castwise.graph.onnx.writer import Value, called
from castwise.graph.shapes.arithmetic import broadcast, places
from castwise.graph.shapes.linalg import contracted
from castwise.graph.shapes.products import PRODUCTS


def tensordot(x: Value, y: Value, *, axes: Any = 2) -> Value:
    """The sum of products over some dimensions of each."""
    left, right = contracted(x.shape, y.shape, axes)
    letters = string.ascii_letters
    one = letters[: x.ndim]
    other = list(letters[x.ndim : x.ndim + y.ndim])
    for n, m in zip(left, right, strict=True):
        other[m] = one[n]
    kept = [n for n in range(x.ndim) if n not in left]
    rest = [m for m in range(y.ndim) if m not in right]
    result = "".join([*[one[n] for n in kept], *[other[m] for m in rest]])
    shape = (*[x.shape[n] for n in kept], *[y.shape[m] for m in rest])
    equation = f"{one},{''.join(other)}->{result}"
    return x.writer.one_op("Einsum", x, y, shape=shape, equation=equation)


def inner(x: Value, y: Value) -> Value:
    """The sum of products over the last dimension of both."""
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    return tensordot(x, y, axes=((x.ndim - 1,), (y.ndim - 1,)))


def vecdot(x: Value, y: Value, *, axis: int = -1) -> Value:
    """The sum of products over one dimension."""
    if x.ndim == 0 or y.ndim == 0:
        return xp.sum(x * y, axis=axis) if x.ndim or y.ndim else x * y
    x, y = _axis_last(x, axis), _axis_last(y, axis)
    rank = max(x.ndim, y.ndim)
    x, y = (reshape(v, (1,) * (rank - v.ndim) + v.shape) if v.ndim < rank else v for v in (x, y))
    shape = broadcast([x.shape[:-1], y.shape[:-1]])
    return x.writer.one_op("Einsum", x, y, shape=shape, equation="...i,...i->...")


def _axis_last(x: Value, axis: int) -> Value:
    place = places(axis, x.ndim)[0]
    order = [*[n for n in range(x.ndim) if n != place], place]
    if order == sorted(order):
        return x
    return x.writer.one_op("Transpose", x, shape=tuple(x.shape[n] for n in order), perm=order)


def outer(x: Value, y: Value) -> Value:
    """All products of an element of one with an element of the other."""
    x, y = flattened(x), flattened(y)
    return reshape(x, (*x.shape, 1)) * y


def kron(x: Value, y: Value) -> Value:
    """Each element of x times the whole of y, laid out as blocks."""
    left, right = spread(x.shape, y.shape)
    return reshape(reshape(x, left) * reshape(y, right), PRODUCTS["kron"](x.shape, y.shape))


def cross(x: Value, y: Value, *, axis: int = -1) -> Value:
    """The cross product of vectors with three elements."""
    return _turned(x, axis, 1) * _turned(y, axis, 2) - _turned(x, axis, 2) * _turned(y, axis, 1)


def _turned(x: Value, axis: int, count: int) -> Value:
    """The three elements of vectors, rotated by a number of positions."""
    order = [(n + count) % 3 for n in range(3)]
    place = places(axis, x.ndim)[0]
    return x.writer.one_op("Gather", x, x.writer.integers(order), shape=x.shape, axis=place)


def det(x: Value) -> Value:
    """The determinants of matrices."""
    return x.writer.one_op("Det", x, shape=x.shape[:-2])


def vector_norm(x: Value, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Value:
    """A norm of vectors."""
    if ord == 2:
        return norm(x, axis=axis, keepdims=keepdims)
    size = xp.abs(x)
    if math.isinf(ord):
        return (xp.max if ord > 0 else xp.min)(size, axis=axis, keepdims=keepdims)
    if ord == 0:
        found = xp.count(xp.not_equal(size, 0), axis=axis, keepdims=keepdims)
        return x.writer.cast(found, x.dtype)
    total = xp.sum(size if ord == 1 else called("Pow", size, ord), axis=axis, keepdims=keepdims)
    return total if ord == 1 else called("Pow", total, 1 / ord)


def matrix_norm(x: Value, *, keepdims: bool = False, ord: Any = "fro") -> Value:
    """A norm of matrices that needs no singular values."""
    if ord == "fro":
        return norm(x, axis=(-2, -1), keepdims=keepdims)
    if ord in (1, -1, math.inf, -math.inf):
        down, across = (-2, -1) if abs(ord) == 1 else (-1, -2)
        sums = xp.sum(xp.abs(x), axis=down, keepdims=True)
        found = (xp.max if ord > 0 else xp.min)(sums, axis=across, keepdims=True)
        return found if keepdims else reshape(found, x.shape[:-2])
    raise LackingError(f"ONNX has no op for the norm {ord} of matrices")
