"""Statistical functions: the dialect decides the accumulator dtype of sums and products."""

from __future__ import annotations

from castwise.array_api.calls import Axes, op, reduced
from castwise.arrays.tensor import Tensor
from castwise.vocab.dtypes import DType

__all__ = [
    "cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var",
]  # fmt: skip


def cumulative_prod(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Tensor:
    """The product of all elements up to each."""
    return reduced("cumprod", x, dtype, axis=axis, include_initial=include_initial)


def cumulative_sum(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: DType | None = None,
    include_initial: bool = False,
) -> Tensor:
    """The sum of all elements up to each."""
    return reduced("cumsum", x, dtype, axis=axis, include_initial=include_initial)


def max(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The largest element."""
    return op("max", x, axis=axis, keepdims=keepdims)


def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The mean of the elements."""
    return op("mean", x, axis=axis, keepdims=keepdims)


def min(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The smallest element."""
    return op("min", x, axis=axis, keepdims=keepdims)


def prod(
    x: Tensor, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False
) -> Tensor:
    """The product of the elements."""
    return reduced("prod", x, dtype, axis=axis, keepdims=keepdims)


def std(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The standard deviation of the elements."""
    return op("std", x, axis=axis, correction=correction, keepdims=keepdims)


def sum(
    x: Tensor, /, *, axis: Axes = None, dtype: DType | None = None, keepdims: bool = False
) -> Tensor:
    """The sum of the elements."""
    return reduced("sum", x, dtype, axis=axis, keepdims=keepdims)


def var(
    x: Tensor, /, *, axis: Axes = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """The variance of the elements."""
    return op("var", x, axis=axis, correction=correction, keepdims=keepdims)
