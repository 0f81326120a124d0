"""The products and transposes that the standard has outside its linalg extension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from castwise.array_api.calls import laid_out, op
from castwise.arrays.tensor import Tensor

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]

Pairs: TypeAlias = int | tuple[Sequence[int], Sequence[int]]


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The matrix product."""
    return op("matmul", x1, x2)


def matrix_transpose(x: Tensor, /) -> Tensor:
    """The transpose of each matrix in the last two dimensions."""
    return laid_out("matrix_transpose", x)


def tensordot(x1: Tensor, x2: Tensor, /, *, axes: Pairs = 2) -> Tensor:
    """The sum of products over some dimensions of each."""
    return op("tensordot", x1, x2, axes=axes)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The sum of products over one dimension, the first operand conjugated."""
    return op("vecdot", x1, x2, axis=axis)
