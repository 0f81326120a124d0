"""Layers in ONNX, which has an op for most of them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from castwise.execute.functions.layer_shapes import (
    class_axis,
    convolution,
    needed,
    normalized_axes,
    pad_widths,
)
from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.dtypes import LackingError
from castwise.graph.onnx.writer import BOOL, INT64, Value, called
from castwise.graph.shapes.layers import SHAPES, topk_shapes
from castwise.graph.shapes.results import results_of


def einsum(*values: Value, equation: str = "") -> Value:
    shape = SHAPES["einsum"](*[v.shape for v in values], equation=equation)
    return values[0].writer.one_op("Einsum", *values, shape=shape, equation=equation)


def pad(x: Value, *, pad_width: Any = None, constant_values: Any = 0) -> Value:
    """ONNX lists all widths before the dimensions, then all after them."""
    w, widths = x.writer, pad_widths(needed("pad", "pad_width", pad_width), x.ndim)
    shape = SHAPES["pad"](x.shape, pad_width=pad_width)
    ends = w.integers([size for side in zip(*widths, strict=True) for size in side])
    filled = w.constant(constant_values, x.dtype)
    return w.one_op("Pad", x, ends, filled, shape=shape, mode="constant")


def one_hot(x: Value, *, num_classes: int | None = None) -> Value:
    w, depth = x.writer, needed("one_hot", "num_classes", num_classes)
    # ONNX counts negative indices from the end, where there is no such class.
    is_there = xp.greater_equal(x, 0) if x.dtype.is_signed else None
    shape = (*x.shape, depth)
    inputs = (w.cast(x, INT64), w.constant(depth, INT64), w.integers([0, 1]))
    found = w.add("OneHot", *inputs, dtype=INT64, shape=shape)
    if is_there is None:
        return found
    kept = w.add("Unsqueeze", w.cast(is_there, INT64), w.integers([-1]), shape=(*x.shape, 1))
    return found * kept


def embedding(indices: Value, weight: Value) -> Value:
    shape, w = (*indices.shape, *weight.shape[1:]), weight.writer
    return w.one_op("Gather", weight, w.cast(indices, INT64), shape=shape, axis=0)


def topk(part: int, x: Value, *, k: int | None = None, axis: int = -1) -> Value:
    """The values or their places: the first or the second output of an op that gives both."""
    if not x.ndim:
        raise LackingError("ONNX has no TopK of a 0-d array")
    w = x.writer
    shape = topk_shapes(x.shape, k=k, axis=axis)[part]
    held = w.comparable("TopK", x)
    values = w.add("TopK", held, w.integers([needed("topk", "k", k)]), shape=shape, axis=axis)
    places = w.new_name()
    w.nodes[-1].output.append(places)
    return w.cast(values, x.dtype) if part == 0 else Value(w, places, INT64, shape)


def convolved(op: str) -> Callable[..., Value]:
    """A convolution in one or two dimensions."""

    def written(x: Value, weight: Value, *bias: Value, **options: Any) -> Value:
        how = convolution(op, x.shape, weight.shape, **options)
        return x.writer.one_op(
            "Conv", x, weight, *bias,
            shape=(x.shape[0], weight.shape[0], *how.sizes),
            strides=how.stride,
            dilations=how.dilation,
            group=how.groups,
            pads=[size for side in zip(*how.padding, strict=True) for size in side],
        )  # fmt: skip

    return written


def layer_norm(
    x: Value, *parameters: Value, normalized_shape: Any = None, eps: float = 1e-5
) -> Value:
    """ONNX's needs a weight, which may be ones."""
    axes, w = normalized_axes(x.shape, normalized_shape), x.writer
    sizes = x.shape[axes[0] :]
    ones = w.one_op("Expand", w.constant(1.0, x.dtype), w.shape_of(sizes), shape=sizes)
    given = parameters or (ones,)
    return w.one_op("LayerNormalization", x, *given, shape=x.shape, axis=axes[0], epsilon=eps)


def scaled_dot_product_attention(
    query: Value, key: Value, value: Value, *, is_causal: bool = False, scale: Any = None
) -> Value:
    """Products and a softmax, with later keys left out if it is causal."""
    rank, w = key.ndim, key.writer
    turned = (*key.shape[:-2], key.shape[-1], key.shape[-2])
    order = [*range(rank - 2), rank - 1, rank - 2]
    factor = 1 / math.sqrt(int(query.shape[-1])) if scale is None else scale
    scores = _product(query, w.one_op("Transpose", key, shape=turned, perm=order)) * factor
    if is_causal:
        size = w.shape_of(scores.shape[-2:])
        ones = w.add("Expand", w.constant(1, INT64), size, shape=scores.shape[-2:])
        is_seen = w.cast(w.add("Trilu", ones, shape=ones.shape, upper=0), BOOL)
        scores = xp.where(is_seen, scores, -math.inf)
    return _product(called("Softmax", scores, axis=-1), value)


def _product(x: Value, y: Value) -> Value:
    ((_, shape),) = results_of("matmul", x.dtype, [x.shape, y.shape], {})
    return x.writer.one_op("MatMul", x, y, shape=shape)


def cross_entropy(x: Value, target: Value, *, reduction: str = "mean") -> Value:
    axis, w = class_axis(x.shape, target.shape), x.writer
    if target.ndim == x.ndim:
        logs = called("LogSoftmax", x, axis=axis)
        losses = -xp.sum(logs * target, axis=axis)
        if reduction == "none":
            return losses
        return xp.mean(losses) if reduction == "mean" else xp.sum(losses)
    if not axis:
        raise LackingError("ONNX has no cross entropy without a batch")
    shape = SHAPES["cross_entropy"](x.shape, target.shape, reduction=reduction)
    classes = w.cast(target, INT64)
    return w.one_op("SoftmaxCrossEntropyLoss", x, classes, shape=shape, reduction=reduction)
