"""Matrix products and similar ops: the products of chunks, summed over the contracted chunks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import dask.array as da
import numpy as np

from castwise.execute.backends.dask.chunks import Indices, elementwise, in_one_chunk
from castwise.execute.backends.dask.trees import (
    How,
    Reduction,
    State,
    flat,
    function,
    tree,
)
from castwise.execute.functions.products import spread
from castwise.execute.steps.steps import Steps
from castwise.execute.values.shapes import check_vectors

Shape = tuple[int, ...]


def _product(reduction: Reduction, x: Any, y: Any) -> State:
    """The product of two chunks, with a dimension of length 1 for each one that is summed over."""
    compute = function(reduction.steps.op, reduction.wide)
    return np.expand_dims(np.asarray(compute(x, y, **reduction.options)), reduction.axes)


def _merge(reduction: Reduction, nested: Any) -> State:
    stacked = np.stack(flat(nested))
    return np.sum(stacked, axis=0, dtype=stacked.dtype)


def _last(reduction: Reduction, state: State) -> Any:
    return state


_PRODUCT = How(_product, _merge, _last)


def _contracted(
    steps: Steps,
    operands: Sequence[tuple[Any, Indices]],
    free: Sequence[int],
    between: Sequence[int],
    **options: Any,
) -> Any:
    """The product summed over the contracted indices, which come last in the states of chunks."""
    indices = (*free, *between)
    axes = tuple(range(len(free), len(indices)))
    return tree(Reduction(_PRODUCT, steps, axes, options), operands, indices)


def matmul(steps: Steps, x: Any, y: Any) -> Any:
    """Matrices, or stacks of them; a vector is a row on the left and a column on the right."""
    row, column, between = 0, 1, 2
    stacks = range(3, 3 + max(x.ndim, y.ndim, 2) - 2)
    left = _matrix_indices(x.ndim, stacks, (row, between), between)
    right = _matrix_indices(y.ndim, stacks, (between, column), between)
    free = [*stacks, *([row] if x.ndim > 1 else []), *([column] if y.ndim > 1 else [])]
    return _contracted(steps, [(x, left), (y, right)], free, [between])


def _matrix_indices(
    ndim: int, stacks: Sequence[int], matrix: tuple[int, int], between: int
) -> Indices:
    if ndim < 2:
        return (between,) * ndim
    return (*stacks[len(stacks) - (ndim - 2) :], *matrix)


def dot(steps: Steps, x: Any, y: Any) -> Any:
    """The sum over the last dimension of one and the one before last of the other."""
    check_vectors(steps.op, steps.values, x, y)
    if x.ndim == 0 or y.ndim == 0:
        return elementwise(steps, x, y)
    return _along(steps, x, y, [x.ndim - 1], [max(y.ndim - 2, 0)])


def tensordot(
    steps: Steps, x: Any, y: Any, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Any:
    """The sum over the last dimensions of one and the first of the other, or over the given
    axes."""
    if isinstance(axes, int):
        left, right = list(range(x.ndim - axes, x.ndim)), list(range(axes))
    else:
        left, right = [n % x.ndim for n in axes[0]], [n % y.ndim for n in axes[1]]
    return _along(steps, x, y, left, right, axes=(tuple(left), tuple(right)))


def _along(
    steps: Steps, x: Any, y: Any, left: Sequence[int], right: Sequence[int], **options: Any
) -> Any:
    """The product summed over some dimensions of one and equally many of the other."""
    of_x = list(range(x.ndim))
    of_y = [x.ndim + n for n in range(y.ndim)]
    for one, other in zip(left, right, strict=True):
        of_y[other] = of_x[one]
    between = [of_x[n] for n in left]
    free = [n for n in (*of_x, *of_y) if n not in between]
    return _contracted(steps, [(x, tuple(of_x)), (y, tuple(of_y))], free, between, **options)


def outer(steps: Steps, x: Any, y: Any) -> Any:
    """All products of an element of one with an element of the other, chunk by chunk."""
    check_vectors(steps.op, steps.values, x, y)
    return elementwise(replace(steps, op="mul"), *_reshaped(x, y, (-1, 1), (1, -1)))


def _reshaped(x: Any, y: Any, left: Shape, right: Shape) -> list[Any]:
    """Two operands, reshaped; a number, which is not a Dask array, is left unchanged."""
    pairs = ((x, left), (y, right))
    return [z.reshape(shape) if isinstance(z, da.Array) else z for z, shape in pairs]


def inner(steps: Steps, x: Any, y: Any) -> Any:
    """The sum over the last dimension of both."""
    if not (np.ndim(x) and np.ndim(y)):
        return elementwise(steps, x, y)
    return _along(steps, x, y, [x.ndim - 1], [y.ndim - 1])


def cross(steps: Steps, x: Any, y: Any, *, axis: int = -1) -> Any:
    """The cross product of vectors, each of which becomes one chunk."""
    return elementwise(steps, in_one_chunk(x, axis), in_one_chunk(y, axis), axis=axis)


def kron(steps: Steps, x: Any, y: Any) -> Any:
    """Each chunk of x times each of y, then rearranged into the blocks of the result."""
    product = elementwise(steps, *_reshaped(x, y, *spread(np.shape(x), np.shape(y))))
    sizes = product.shape
    return product.reshape(tuple([n * m for n, m in zip(sizes[::2], sizes[1::2], strict=True)]))


def vecdot(steps: Steps, x: Any, y: Any, *, axis: int = -1) -> Any:
    """The sum of products along one axis; the first operand is conjugated."""
    place = -1 - axis if axis < 0 else None
    if place is None:
        raise ValueError("axis must be negative here: it counts from the last dimension.")
    of_x, of_y = (tuple(range(array.ndim))[::-1] for array in (x, y))
    free = [n for n in range(max(x.ndim, y.ndim))[::-1] if n != place]
    return _contracted(steps, [(x, of_x), (y, of_y)], free, [place], axis=axis)
