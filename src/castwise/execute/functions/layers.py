"""The layers that models are made of, written once for any namespace of the Array API standard,
like the other recipes. An index among the operands keeps its own dtype."""

from __future__ import annotations

import itertools
import math
from typing import Any

from castwise.errors import UsageError
from castwise.execute.functions.layer_shapes import (
    Convolution,
    check_attention,
    check_count,
    class_axis,
    convolution,
    needed,
    normalized_axes,
    pad_widths,
)

_ALL = (slice(None), slice(None))  # the batch and the channels


def einsum(xp: Any, *operands: Any, equation: str = "") -> Any:
    """The products that an equation such as ij,jk->ik names, summed; every library has it."""
    needed("einsum", "equation", equation or None)
    return xp.einsum(equation, *operands)


def pad(xp: Any, x: Any, *, pad_width: Any = None, constant_values: float = 0) -> Any:
    """The array with a number added at both ends of each dimension."""
    widths = pad_widths(needed("pad", "pad_width", pad_width), x.ndim)
    for axis, width in enumerate(widths):
        edges = [
            xp.full((*x.shape[:axis], size, *x.shape[axis + 1 :]), constant_values, dtype=x.dtype)
            for size in width
        ]
        x = xp.concat([edges[0], x, edges[1]], axis=axis)
    return x


def one_hot(xp: Any, x: Any, *, num_classes: int | None = None) -> Any:
    """A new last dimension, with a 1 at the place that each element names."""
    classes = xp.arange(needed("one_hot", "num_classes", num_classes), dtype=x.dtype)
    return xp.astype(xp.expand_dims(x, axis=-1) == classes, xp.int32)


def embedding(xp: Any, indices: Any, weight: Any) -> Any:
    """The rows of the weight that the indices name."""
    rows = xp.take(weight, xp.reshape(indices, (-1,)), axis=0)
    return xp.reshape(rows, (*indices.shape, *weight.shape[1:]))


def topk(xp: Any, x: Any, *, k: int | None = None, axis: int = -1) -> Any:
    """The largest elements along an axis, the largest first, and their places."""
    count = needed("topk", "k", k)
    if not x.ndim:
        return x, xp.zeros((), dtype=xp.int64)
    check_count(count, x.shape[axis])
    if not hasattr(xp, "take_along_axis"):
        raise UsageError("this backend has no topk: convert the tensor to one that does.")
    first = (*[slice(None)] * (axis % x.ndim), slice(count))
    places = xp.argsort(x, axis=axis, descending=True, stable=True)[first]
    return xp.take_along_axis(x, places, axis=axis), places


def conv1d(xp: Any, x: Any, weight: Any, *bias: Any, **options: Any) -> Any:
    """The products of a kernel with each window of x, summed; x is (batch, channels, length)."""
    return _convolved(xp, convolution("conv1d", x.shape, weight.shape, **options), x, weight, *bias)


def conv2d(xp: Any, x: Any, weight: Any, *bias: Any, **options: Any) -> Any:
    """The same in two dimensions; x is (batch, channels, height, width)."""
    return _convolved(xp, convolution("conv2d", x.shape, weight.shape, **options), x, weight, *bias)


def _convolved(xp: Any, how: Convolution, x: Any, weight: Any, *bias: Any) -> Any:
    """Sums the product of each element of the kernel with the part of x that it meets."""
    x = pad(xp, x, pad_width=[(0, 0), (0, 0), *how.padding])
    batch, channels, outputs = x.shape[0], x.shape[1] // how.groups, weight.shape[0] // how.groups
    total = None
    for place in itertools.product(*map(range, weight.shape[2:])):
        steps = zip(place, how.dilation, how.stride, how.sizes, strict=True)
        window = [slice(n * d, n * d + s * (size - 1) + 1, s) for n, d, s, size in steps]
        part, element = (*_ALL, *window), (*_ALL, *place)
        met = xp.reshape(x[part], (batch, how.groups, channels, -1))
        kernel = xp.reshape(weight[element], (how.groups, outputs, channels))
        product = xp.matmul(kernel, met)
        total = product if total is None else total + product
    found = xp.reshape(total, (batch, weight.shape[0], *how.sizes))
    return found + xp.reshape(bias[0], (-1, *[1] * len(how.sizes))) if bias else found


def layer_norm(
    xp: Any, x: Any, *parameters: Any, normalized_shape: Any = None, eps: float = 1e-5
) -> Any:
    """The elements less their mean, divided by their deviation, over the last dimensions; times a
    weight and plus a bias if given."""
    axes = normalized_axes(x.shape, normalized_shape)
    away = x - xp.mean(x, axis=axes, keepdims=True)
    found = away / xp.sqrt(xp.mean(away * away, axis=axes, keepdims=True) + eps)
    for parameter, combine in zip(parameters, (xp.multiply, xp.add), strict=False):
        found = combine(found, parameter)
    return found


def scaled_dot_product_attention(
    xp: Any, query: Any, key: Any, value: Any, *, is_causal: bool = False, scale: Any = None
) -> Any:
    """The values, weighted by the softmax of how well the queries match the keys."""
    check_attention(query.shape, key.shape, value.shape)
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = xp.matmul(query, xp.matrix_transpose(key)) * factor
    if is_causal:
        rows, columns = (xp.arange(n) for n in scores.shape[-2:])
        is_later = xp.expand_dims(columns, axis=0) > xp.expand_dims(rows, axis=1)
        scores = xp.where(is_later, xp.full_like(scores, -math.inf), scores)
    powers = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    return xp.matmul(powers / xp.sum(powers, axis=-1, keepdims=True), value)


def cross_entropy(xp: Any, x: Any, target: Any, *, reduction: str = "mean") -> Any:
    """The loss of scores for classes: how unlikely they make the target, which is a class, or the
    probability of each class."""
    axis = class_axis(x.shape, target.shape)
    away = x - xp.max(x, axis=axis, keepdims=True)
    logs = away - xp.log(xp.sum(xp.exp(away), axis=axis, keepdims=True))
    if target.ndim == x.ndim:
        products = logs * target
    else:
        places = xp.arange(x.shape[axis], dtype=target.dtype)
        places = xp.reshape(places, (-1, *[1] * (x.ndim - axis - 1)))
        is_it = xp.expand_dims(target, axis=axis) == places
        products = xp.where(is_it, logs, xp.zeros_like(logs))
    losses = -xp.sum(products, axis=axis)
    if reduction == "none":
        return losses
    return xp.mean(losses) if reduction == "mean" else xp.sum(losses)
