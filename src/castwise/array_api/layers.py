"""The layers that models are made of, which the standard has no functions for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from castwise.array_api.beyond import Reduction
from castwise.array_api.functions import op
from castwise.arrays.tensor import Tensor

__all__ = [
    "conv1d", "conv2d", "cross_entropy", "einsum", "embedding", "layer_norm", "one_hot", "pad",
    "scaled_dot_product_attention", "topk",
]  # fmt: skip

Widths: TypeAlias = int | tuple[int, int] | Sequence[tuple[int, int]]
Sizes: TypeAlias = int | tuple[int, ...]


class TopK(NamedTuple):
    """The largest elements, and their places."""

    values: Tensor
    indices: Tensor


def einsum(equation: str, /, *operands: Tensor) -> Tensor:
    """The products that an equation such as "ij,jk->ik" names, summed."""
    return op("einsum", *operands, equation=equation)


def pad(x: Tensor, /, pad_width: Widths, *, constant_values: float = 0) -> Tensor:
    """The elements, with a number added before and after each dimension."""
    return op("pad", x, pad_width=pad_width, constant_values=constant_values)


def one_hot(x: Tensor, /, num_classes: int) -> Tensor:
    """A new last dimension, with a 1 at the place that each element names."""
    return op("one_hot", x, num_classes=num_classes)


def embedding(indices: Tensor, weight: Tensor, /) -> Tensor:
    """The rows of the weight that the indices name."""
    return op("embedding", indices, weight)


def topk(x: Tensor, /, k: int, *, axis: int = -1) -> TopK:
    """The largest elements along an axis, the largest first, and their places."""
    found: Any = op("topk", x, k=k, axis=axis)
    return TopK(*found)


def layer_norm(
    x: Tensor, /, weight: Tensor | None = None, bias: Tensor | None = None, *,
    normalized_shape: Sizes | None = None, eps: float = 1e-5,
) -> Tensor:  # fmt: skip
    """The elements less their mean, divided by their deviation, over the last dimension or those
    of `normalized_shape`; times the weight and plus the bias."""
    return op("layer_norm", x, weight, bias, normalized_shape=normalized_shape, eps=eps)


def conv1d(
    x: Tensor, weight: Tensor, /, bias: Tensor | None = None, *, stride: Sizes = 1,
    padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The products of a kernel with each window of x, summed; x is (batch, channels, length)."""
    given = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return op("conv1d", x, weight, bias, **given)


def conv2d(
    x: Tensor, weight: Tensor, /, bias: Tensor | None = None, *, stride: Sizes = 1,
    padding: Sizes | str = 0, dilation: Sizes = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The same in two dimensions; x is (batch, channels, height, width)."""
    given = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    return op("conv2d", x, weight, bias, **given)


def cross_entropy(
    x: Tensor, target: Tensor, /, *, reduction: Reduction = "mean", ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:  # fmt: skip
    """How unlikely the scores make the target: a class each, or the probability of each class. The
    ignored class counts for nothing; a part of each target is smoothed over all classes."""
    given = {"ignore_index": ignore_index, "label_smoothing": label_smoothing}
    return op("cross_entropy", x, target, reduction=reduction, **given)


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, /, *, is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:  # fmt: skip
    """The values, weighted by the softmax of how well the queries match the keys."""
    return op("scaled_dot_product_attention", query, key, value, is_causal=is_causal, scale=scale)
