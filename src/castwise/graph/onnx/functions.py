"""Functions that ONNX lacks, composed of the ops that it has, with NumPy's special cases.

Functions of floats come first, then integers, layers, reductions and products. At the end are
replacements for kernels that a runtime lacks.
"""

from __future__ import annotations

import math
import string
from collections.abc import Callable
from functools import partial
from typing import Any

from castwise.arrays.functions import (
    IGNORED,
    class_axis,
    convolution,
    needed,
    normalized_axes,
    pad_widths,
    spread,
)
from castwise.errors import UsageError
from castwise.graph import shapes
from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.arrays import equal, exp, greater, isnan, less, reshape, sqrt, where
from castwise.graph.onnx.runtimes import LackingError, element_type, onnx_package
from castwise.graph.onnx.writer import BOOL, INT64, Value, Writer, called, same
from castwise.graph.program import Shape
from castwise.graph.shapes import LAYERS, PRODUCTS, broadcast, contracted, places, topk_shapes
from castwise.graph.sizes import element_count
from castwise.vocab.dtypes import DType, dtype, find_dtype

INF, NAN = math.inf, math.nan

# Functions of floats.


def remainder(x: Value, y: Value) -> Value:
    """The remainder with the sign of the divisor."""
    rest = called("Mod", x, y, fmod=1)
    return where(_is_apart(rest, rest, y), rest + y, rest)


def floor_divide(x: Value, y: Value) -> Value:
    """The quotient rounded down, from the exact remainder; by zero like division."""
    rest = called("Mod", x, y, fmod=1)
    quotient = (x - rest) / y
    quotient = where(_is_apart(rest, rest, y), quotient - 1, quotient)
    down = xp.floor(quotient)
    found = where(less(0.5, quotient - down), down + 1, down)
    return where(equal(y, 0), x / y, found)


def _is_apart(rest: Value, x: Value, y: Value) -> Value:
    """Whether there is a remainder, and x and the divisor y have different signs."""
    return xp.not_equal(rest, 0) & called("Xor", less(x, 0), less(y, 0))


def trunc(x: Value) -> Value:
    return where(less(x, 0), called("Ceil", x), called("Floor", x))


def atan2(y: Value, x: Value) -> Value:
    """The angle of a point, in all four quadrants."""
    are_both_inf = equal(xp.abs(x), INF) & equal(xp.abs(y), INF)
    are_both_zero = equal(x, 0) & equal(y, 0)
    ratio = where(are_both_inf, called("Sign", x) * called("Sign", y), y / x)
    found = called("Atan", where(are_both_zero, 0.0, ratio))
    half_turn = where(xp.is_negative(y), -math.pi, where(isnan(y), y, math.pi))
    return where(xp.is_negative(x), found + half_turn, found)


def hypot(x: Value, y: Value) -> Value:
    """The length of a diagonal, without intermediate overflow."""
    one, other = xp.abs(x), xp.abs(y)
    longer = xp.maximum(one, other)
    ratio = xp.minimum(one, other) / longer
    found = where(equal(longer, 0), longer, longer * sqrt(1 + ratio * ratio))
    return where(equal(one, INF) | equal(other, INF), INF, found)


def logaddexp(x: Value, y: Value) -> Value:
    """The logarithm of a sum of exponentials, without overflow."""
    larger = xp.maximum(x, y)
    return where(equal(x, y), x + math.log(2.0), larger + log1p(exp(-xp.abs(x - y))))


def log1p(x: Value) -> Value:
    """log(1 + x), exact for small x: the error of 1 + x is divided out."""
    total = 1 + x
    near = where(equal(total, 1), x, xp.log(total) * (x / (total - 1)))
    return where(equal(x, INF), x, near)


def expm1(x: Value) -> Value:
    """exp(x) - 1, exact for small x: the error of the exponential is divided out."""
    power = exp(x)
    is_plain = equal(power, 0) | equal(power, INF)
    near = where(equal(power, 1), x, (power - 1) * (x / xp.log(power)))
    return where(is_plain, power - 1, near)


def logarithm(base: float, x: Value) -> Value:
    """The logarithm to a base."""
    return xp.log(x) / math.log(base)


def logaddexp2(x: Value, y: Value) -> Value:
    """The logarithm to base 2 of a sum of powers of 2, without overflow."""
    power = exp(-xp.abs(x - y) * math.log(2.0))
    return where(equal(x, y), x + 1, xp.maximum(x, y) + log1p(power) / math.log(2.0))


def ldexp(x: Value, y: Value) -> Value:
    """x * 2**y; for integers y in three steps, none of which overflows before the product does."""
    if y.dtype.kind == "float":
        return x * called("Pow", xp.full_like(x, 2), y)
    w = x.writer
    far = 2100.0 if x.dtype.bits == 64 else 300.0
    exponent = xp.maximum(xp.minimum(w.cast(y, x.dtype), far), -far)
    third = xp.floor(exponent / 3)
    for part in (third, third, exponent - 2 * third):
        x = x * called("Pow", xp.full_like(x, 2), part)
    return x


def copysign(x: Value, y: Value) -> Value:
    """The first one's magnitude with the second one's sign; NaN counts as positive."""
    size = xp.abs(x)
    return where(xp.is_negative(y), -size, size)


def angle(x: Value) -> Value:
    """pi for a negative number, 0 for others, NaN for NaN."""
    return where(isnan(x), x, where(xp.is_negative(x), xp.full_like(x, math.pi), 0.0))


def nextafter(x: Value, y: Value) -> Value:
    """The next number of the dtype towards another, by stepping through its bit patterns."""
    held, w = x.dtype, x.writer
    code = find_dtype(f"int{held.bits}")
    if code is None or not held.is_signed:
        raise LackingError(f"castwise cannot step through the codes of {held} in ONNX")
    wide = dtype("int64" if held.bits == 64 else "int32")
    bits = w.cast(w.add("BitCast", x, dtype=code, to=element_type(code)), wide)
    wide_x, wide_y = w.widened(x), w.widened(y)
    grows = equal(less(0, wide_x), less(wide_x, wide_y))
    stepped = where(grows, bits + 1, bits - 1)
    least = where(less(wide_y, 0), 1 - 2 ** (held.bits - 1), w.constant(1, wide))
    stepped = where(equal(wide_x, 0), least, stepped)
    if held.specials == "fnuz":  # the code of minus zero is that of NaN
        stepped = where(equal(stepped, -(2 ** (held.bits - 1))), 0, stepped)
    moved = w.add("BitCast", w.cast(stepped, code), dtype=held, to=element_type(held))
    is_still = equal(wide_x, wide_y)
    either = where(isnan(wide_x), wide_x, wide_y)
    stays = is_still | isnan(wide_x) | isnan(wide_y)
    return where(stays, w.cast(either, held), moved)


# Integers, with results for what ONNX leaves undefined: zero divisors, long shifts.


def floor_divide_integers(x: Value, y: Value) -> Value:
    """The quotient rounded down; 0 where the divisor is 0."""
    divisor, is_zero, is_minus = _safe_divisor(y)
    found = x / divisor  # towards zero, which differs from down if the signs differ
    if y.dtype.is_signed:
        found = where(_is_apart(called("Mod", x, divisor), x, divisor), found - 1, found)
        found = found if is_minus is None else where(is_minus, 0 - x, found)
    return found if is_zero is None else where(is_zero, 0, found)


def remainder_integers(x: Value, y: Value) -> Value:
    """The remainder with the sign of the divisor; 0 where the divisor is 0."""
    divisor, is_zero, _ = _safe_divisor(y)
    found = called("Mod", x, divisor)  # by 1 instead of -1 it is 0 too
    return found if is_zero is None else where(is_zero, 0, found)


def fmod(x: Value, y: Value) -> Value:
    """The remainder with the sign of the dividend; 0 where the divisor is 0.

    Mod with its attribute fmod is not used: runtimes compute it in floats.
    """
    divisor, is_zero, _ = _safe_divisor(y)
    found = called("Mod", x, divisor)
    if y.dtype.is_signed:
        found = where(_is_apart(found, x, divisor), found - divisor, found)
    return found if is_zero is None else where(is_zero, 0, found)


def _safe_divisor(y: Value) -> tuple[Value, Value | None, Value | None]:
    """The divisor with 1 in place of 0 and -1, which processors trap on, and where those were."""
    if y.number is not None and y.number not in (0, -1):
        return y, None, None
    is_zero = equal(y, 0)
    if not y.dtype.is_signed:
        return where(is_zero, 1, y), is_zero, None
    is_minus = equal(y, -1)
    return where(is_zero | is_minus, 1, y), is_zero, is_minus


def shift(direction: str, x: Value, y: Value) -> Value:
    """Shifts, also of signed integers; too many bits, or a negative number, leave no bit."""
    held, w = x.dtype, x.writer
    is_right = direction == "RIGHT"
    is_flipped = less(x, 0) if held.is_signed and is_right else None
    kept = x if is_flipped is None else where(is_flipped, called("BitwiseNot", x), x)
    is_short = None
    if y.number is None or not 0 <= y.number < held.bits:
        is_short = less(y, held.bits)
        is_short = is_short & xp.greater_equal(y, 0) if held.is_signed else is_short
        y = where(is_short, y, 0)
    unsigned = dtype(f"uint{held.bits}")
    moved = called("BitShift", w.cast(kept, unsigned), w.cast(y, unsigned), direction=direction)
    found = w.cast(moved, held)
    found = found if is_short is None else where(is_short, found, 0)
    return found if is_flipped is None else where(is_flipped, called("BitwiseNot", found), found)


def power(x: Value, y: Value) -> Value:
    """An integer power that wraps; negative exponents are not defined here."""
    if y.number is not None and y.number >= 0:
        return _known_power(x, int(y.number))
    w: Writer = x.writer
    shape = shapes.broadcast([x.shape, y.shape])
    base = w.add("Expand", x, w.add("Shape", y, dtype=INT64, shape=(y.ndim,)), shape=shape)
    exponent = w.add("Expand", y, w.add("Shape", x, dtype=INT64, shape=(x.ndim,)), shape=shape)
    ones = w.add("Expand", w.constant(1, x.dtype), w.sizes(shape), shape=shape)
    start = w.constant(True, BOOL)
    carried = [ones, base, exponent]
    names = ["", start.name, *[value.name for value in carried]]
    result = w.add_untyped("Loop", names, x.dtype, shape, body=_squaring_body(w, carried))
    w.nodes[-1].output.extend([w.new_name(), w.new_name()])
    return result


def _known_power(x: Value, exponent: int) -> Value:
    result, square = None, x
    while exponent:
        if exponent & 1:
            result = square if result is None else result * square
        exponent >>= 1
        square = square * square if exponent else square
    if result is not None:
        return result
    shape = x.writer.sizes(x.shape)
    return x.writer.add("Expand", *same(1, x)[:1], shape, shape=x.shape)


def _squaring_body(outer: Writer, carried: list[Value]) -> Any:
    """One step: multiply the result if the exponent is odd, square the base, halve the exponent."""
    helper = onnx_package().helper
    info = helper.make_tensor_value_info
    w = outer.inner()
    given = [Value(w, w.new_name(), value.dtype, value.shape) for value in carried]
    result, base, exponent = given
    is_odd = equal(called("Mod", exponent, 2), 1)
    left = exponent / 2
    made = [xp.any(greater(left, 0)), where(is_odd, result * base, result), base * base, left]
    infos = [info(v.name, element_type(v.dtype), None) for v in given]
    counter = info(w.new_name(), element_type(INT64), ())
    goes_on = info(w.new_name(), element_type(BOOL), ())
    outputs = [info(v.name, element_type(v.dtype), () if v.dtype is BOOL else None) for v in made]
    return helper.make_graph(w.nodes, "squaring", [counter, goes_on, *infos], outputs)


# Layers, most of which are one op of ONNX.


def einsum(*values: Value, equation: str = "") -> Value:
    shape = LAYERS["einsum"](*[v.shape for v in values], equation=equation)
    return values[0].writer.one_op("Einsum", *values, shape=shape, equation=equation)


def pad(x: Value, *, pad_width: Any = None, constant_values: Any = 0) -> Value:
    """ONNX lists all widths before the dimensions, then all after them."""
    w, widths = x.writer, pad_widths(needed("pad", "pad_width", pad_width), x.ndim)
    shape = LAYERS["pad"](x.shape, pad_width=pad_width)
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
    held, count = w.comparable("TopK", x), w.integers([needed("topk", "k", k)])
    values, places = w.top_k(held, count, shape, axis=axis)
    return places if part else w.cast(values, x.dtype)


def convolved(op: str, x: Value, weight: Value, *bias: Value, **options: Any) -> Value:
    """A convolution in one or two dimensions."""
    how = convolution(op, x.shape, weight.shape, **options)
    shape = (x.shape[0], weight.shape[0], *how.sizes)
    pads = [size for side in zip(*how.padding, strict=True) for size in side]
    return x.writer.one_op("Conv", x, weight, *bias, shape=shape, strides=how.stride,
                           dilations=how.dilation, group=how.groups, pads=pads)  # fmt: skip


def layer_norm(
    x: Value, *parameters: Value, normalized_shape: Any = None, eps: float = 1e-5
) -> Value:
    """ONNX's needs a weight, which may be ones."""
    axes, w = normalized_axes(x.shape, normalized_shape), x.writer
    sizes = x.shape[axes[0] :]
    ones = w.filled(1.0, x.dtype, sizes)
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
    turned_key = w.one_op("Transpose", key, shape=turned, perm=order)
    scores = product("matmul", query, turned_key) * factor
    if is_causal:
        size = w.sizes(scores.shape[-2:])
        ones = w.add("Expand", w.constant(1, INT64), size, shape=scores.shape[-2:])
        is_seen = w.cast(w.add("Trilu", ones, shape=ones.shape, upper=0), BOOL)
        scores = where(is_seen, scores, -math.inf)
    return product("matmul", called("Softmax", scores, axis=-1), value)


def cross_entropy(
    x: Value, target: Value, *, reduction: str = "mean", ignore_index: int = IGNORED,
    label_smoothing: float = 0.0,
) -> Value:  # fmt: skip
    if label_smoothing:
        raise LackingError("ONNX has no cross entropy with label_smoothing")
    axis, w = class_axis(x.shape, target.shape), x.writer
    if target.ndim == x.ndim:
        logs = called("LogSoftmax", x, axis=axis)
        return reduced_losses(-xp.sum(logs * target, axis=axis), reduction)
    if not axis:
        raise LackingError("ONNX has no cross entropy without a batch")
    shape = LAYERS["cross_entropy"](x.shape, target.shape, reduction=reduction)
    classes = w.cast(target, INT64)
    how: dict[str, Any] = {"reduction": reduction, "ignore_index": ignore_index}
    return w.one_op("SoftmaxCrossEntropyLoss", x, classes, shape=shape, **how)


def reduced_losses(losses: Value, reduction: str) -> Value:
    """Losses as they are, their mean or their sum."""
    if reduction == "none":
        return losses
    return xp.mean(losses) if reduction == "mean" else xp.sum(losses)


# Joined arrays, reductions and products.


def joined(*values: Value, axis: int | None = 0) -> Value:
    """Concatenated arrays."""
    parts = values if axis is not None else [flattened(v) for v in values]
    place = 0 if axis is None else places(axis, values[0].ndim)[0]
    shape = shapes.joined([part.shape for part in parts], place)
    return parts[0].writer.one_op("Concat", *parts, shape=shape, axis=place)


def stacked(*values: Value, axis: int = 0) -> Value:
    """Arrays stacked along a new dimension."""
    place = places(axis, values[0].ndim + 1)[0]
    longer = []
    for value in values:
        shape = (*value.shape[:place], 1, *value.shape[place:])
        w = value.writer
        longer.append(w.one_op("Unsqueeze", value, w.integers([place]), shape=shape))
    return joined(*longer, axis=place)


def var(x: Value, *, axis: Any = None, keepdims: bool = False, correction: float = 0) -> Value:
    """The mean square of the distances to the mean."""
    away = x - xp.mean(x, axis=axis, keepdims=True)
    total = xp.sum(away * away, axis=axis, keepdims=keepdims)
    w = x.writer
    sizes = tuple([x.shape[place] for place in shapes.places(axis, x.ndim)])
    count = reshape(w.cast(w.size(element_count(sizes)), x.dtype), ())
    return total / (count - correction if correction else count)


def std(x: Value, *, axis: Any = None, keepdims: bool = False, correction: float = 0) -> Value:
    return sqrt(var(x, axis=axis, keepdims=keepdims, correction=correction))


def norm(x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """The square root of the sum of squares."""
    if not shapes.places(axis, x.ndim):
        return xp.abs(x)
    return xp.reduced("ReduceL2", x, axis, keepdims)


def accumulated(op: str, x: Value, *, axis: Any = None, include_initial: bool = False) -> Value:
    """Cumulative sums or products along one dimension."""
    if axis is None and x.ndim != 1:
        raise UsageError("running sums and products need an axis")
    place = shapes.places(0 if axis is None else axis, x.ndim)[0]
    w = x.writer
    if include_initial:
        one = (*x.shape[:place], 1, *x.shape[place + 1 :])
        x = joined(w.filled(op == "CumProd", x.dtype, one), x, axis=place)
    return w.one_op(op, x, w.constant(place, INT64), shape=x.shape)


def extreme_place(op: str, x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """The index of the largest or smallest element, or of the first NaN; of all without an axis."""
    if axis is None:
        found = extreme_place(op, flattened(x), axis=0)
        return reshape(found, (1,) * x.ndim) if keepdims else found
    place = shapes.places(axis, x.ndim)[0]
    shape = shapes.reduced(x.shape, place, keepdims)
    if x.dtype.kind == "float" and x.dtype.specials not in ("finite", "fnu"):
        # Marks of NaN if there is one, because runtimes treat NaN differently.
        is_nan = isnan(x)
        marks = is_nan if op == "ArgMax" else xp.logical_not(is_nan)
        has_nan = xp.any(is_nan, axis=place, keepdims=True)
        x = where(has_nan, x.writer.cast(marks, x.dtype), x)
    more = {"axis": place, "keepdims": int(keepdims)}
    return x.writer.one_op(op, x, dtype=INT64, shape=shape, **more)


def flattened(x: Value) -> Value:
    """All elements in one dimension."""
    w = x.writer
    return w.one_op("Reshape", x, w.integers([-1]), shape=(element_count(x.shape),))


def median(x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """The middle one, or the mean of the middle two."""
    return _middle(
        x, axis, keepdims, lambda low, high: where(equal(low, high), low, (low + high) / 2)
    )


def lower_median(x: Value, *, axis: Any = None, keepdims: bool = False) -> Value:
    """The middle one, or the lower of the middle two."""
    return _middle(x, axis, keepdims, lambda low, high: low)


def _middle(x: Value, axis: Any, keepdims: bool, between: Callable[[Value, Value], Value]) -> Value:
    """The middle one, or a value between the middle two; NaN if there is a NaN."""
    values = flattened(x) if axis is None else x
    place = 0 if axis is None else shapes.places(axis, x.ndim)[0]
    w = x.writer
    size = w.size(values.shape[place])
    ordered, _ = w.top_k(values, size, values.shape, axis=place, largest=0)
    one = shapes.reduced(values.shape, place, True)
    low = w.add("Gather", ordered, (size - 1) / 2, shape=one, axis=place)
    high = w.add("Gather", ordered, size / 2, shape=one, axis=place)
    found = between(low, high)
    if x.dtype.kind == "float":
        found = where(xp.any(isnan(values), axis=place, keepdims=True), math.nan, found)
    return reshape(found, shapes.reduced(x.shape, axis, keepdims))


def product(name: str, x: Value, y: Value) -> Value:
    """A matrix product."""
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    if name == "dot" and y.ndim > 2:
        raise LackingError(
            "castwise cannot write dot with a second operand of 3 or more dimensions"
        )
    return x.writer.one_op("MatMul", x, y, shape=shapes.multiplied(x.shape, y.shape))


# Products and norms of the standard's linear algebra.


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
    return permuted(x, [*[n for n in range(x.ndim) if n != place], place])


def permuted(x: Value, order: list[int]) -> Value:
    """The array with its dimensions in another order."""
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
    return _rotated(x, axis, 1) * _rotated(y, axis, 2) - _rotated(x, axis, 2) * _rotated(y, axis, 1)


def _rotated(x: Value, axis: int, count: int) -> Value:
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


# Replacements for kernels that a runtime lacks in every dtype that is wide enough: functions of
# 64-bit floats, integers, and casts.

_FLOAT32, _FLOAT64 = dtype("float32"), dtype("float64")
_LN2 = math.log(2.0)
_LARGE = 2.0**30  # adding 1 does not change its square


def _odd(function: Callable[[Value], Value], x: Value) -> Value:
    """A function of absolute values, for numbers of both signs, and zeros of both."""
    found = function(xp.abs(x))
    return where(equal(x, 0), x, where(less(x, 0), -found, found))


def _tan(x: Value) -> Value:
    return called("Sin", x) / called("Cos", x)


def _sinh(size: Value) -> Value:
    less_one, half = expm1(size), exp(size / 2)
    return where(greater(size, 20), half / 2 * half, (less_one + less_one / (less_one + 1)) / 2)


def _cosh(x: Value) -> Value:
    half = exp(xp.abs(x) / 2)
    return where(greater(xp.abs(x), 20), half / 2 * half, (exp(x) + exp(-x)) / 2)


def _asinh(size: Value) -> Value:
    square = size * size
    near = log1p(size + square / (1 + sqrt(square + 1)))
    return where(greater(size, _LARGE), xp.log(size) + _LN2, near)


def _acosh(x: Value) -> Value:
    above = x - 1
    near = log1p(above + sqrt(above * (above + 2)))
    return where(less(x, 1), NAN, where(greater(x, _LARGE), xp.log(x) + _LN2, near))


def _atan(size: Value) -> Value:
    """The angle in float32, plus a correction."""
    is_steep = greater(size, 1)
    ratio = where(is_steep, 1 / size, size)
    w = size.writer
    first = w.cast(called("Atan", w.cast(ratio, _FLOAT32)), size.dtype)
    slope = _tan(first)
    left = (ratio - slope) / (1 + ratio * slope)
    found = first + (left - left * left * left / 3)
    return where(is_steep, math.pi / 2 - found, found)


def _erf(size: Value) -> Value:
    """The integral of the bell curve up to a value or, from 1 on, the rest of it up to 7."""
    w = size.writer
    places, weights = _quadrature(48)
    at, weight = (w.constant(numbers, size.dtype) for numbers in ((places + 1) / 2, weights / 2))
    is_far = greater(size, 1)
    start, end = where(is_far, xp.minimum(size, 7), 0.0), where(is_far, 7.0, size)
    along = _deeper(start) + _deeper(end - start) * at
    mean = xp.sum(exp(-(along * along)) * weight, axis=-1)
    found = (end - start) * mean * (2 / math.sqrt(math.pi))
    return where(is_far, 1 - found, found)


def _quadrature(count: int) -> tuple[Any, Any]:
    """The places and weights of Fejér's first rule, which are exact to the last bits; those of
    NumPy's leggauss are off by 1e-12."""
    import numpy as np

    angles = (np.arange(count) + 0.5) * np.pi / count
    n = np.arange(1, count // 2 + 1)[:, None]
    waves = np.sum(np.cos(2 * n * angles) / (4 * n * n - 1), axis=0)
    return np.cos(angles), (1 - 2 * waves) * 2 / count


def _deeper(x: Value) -> Value:
    return reshape(x, (*x.shape, 1))


def _sigmoid(x: Value) -> Value:
    power = exp(-xp.abs(x))
    return where(less(x, 0), power, 1.0) / (1 + power)


def _sign(x: Value) -> Value:
    return where(less(x, 0), -1, where(greater(x, 0), x.writer.constant(1, x.dtype), 0))


def _extreme(op: str, x: Value, axes: Value, *, shape: Shape, keepdims: int) -> Value:
    """The largest or smallest of integers: that of the upper halves, then that of the lower halves
    beside it, both as int32."""
    half, word, w = 2**32, dtype("int32"), x.writer
    whole = w.cast(x, INT64)
    lower = called("Mod", whole, half)
    high, low = w.cast((whole - lower) / half, word), w.cast(lower - half // 2, word)
    beside = w.one_op(op, high, axes, shape=x.shape, keepdims=1)  # the shape it broadcasts to
    low = where(equal(high, beside), low, int(word.min if op == "ReduceMax" else word.max))
    upper, last = (
        w.cast(w.one_op(op, part, axes, shape=shape, keepdims=keepdims), INT64)
        for part in (high, low)
    )
    return w.cast(upper * half + last + half // 2, x.dtype)


# ONNX op -> how it is written without its kernel
WRITTEN_OUT: dict[str, Callable[..., Value]] = {
    "Tan": _tan, "Sinh": partial(_odd, _sinh), "Cosh": _cosh, "Asinh": partial(_odd, _asinh),
    "Acosh": _acosh, "Atanh": partial(_odd, lambda size: log1p(2 * size / (1 - size)) / 2),
    "Atan": partial(_odd, _atan), "Erf": partial(_odd, _erf), "Sigmoid": _sigmoid, "Sign": _sign,
    "ReduceMax": partial(_extreme, "ReduceMax"), "ReduceMin": partial(_extreme, "ReduceMin"),
    "Asin": lambda x: called("Atan", x / sqrt((1 - x) * (1 + x))),
    "Acos": lambda x: 2 * called("Atan", sqrt((1 - x) / (1 + x))),
    "Gelu": lambda x: x / 2 * (1 + called("Erf", x / math.sqrt(2))),
    "Relu": lambda x: xp.maximum(x, 0),
    "Max": lambda x, y: where(greater(x, y), x, y),
    "Min": lambda x, y: where(less(x, y), x, y),
}  # fmt: skip

# Casts that a runtime does differently.


def before_cast(x: Value, held: DType) -> Value:
    """A value from which a runtime's deviating cast gives the right result."""
    if held.name == "float16":
        return _rounded_to_odd(x)
    wide = x if x.dtype.bits >= 32 and x.dtype.kind == "float" else x.writer.widened(x)
    if held.kind != "float":
        return wide
    if held.specials == "fnu":
        return _power_of_two(wide, held)
    # Half a step above the largest number; a tie rounds to the even code.
    edge = held.max + 2.0 ** (math.frexp(held.max)[1] - 1 - held.mantissa_bits) / 2
    size = xp.abs(wide)
    if not held.has_inf:
        return where(greater(size, edge), NAN, wide)
    is_beyond = xp.greater_equal(size, edge)
    infinite = where(less(wide, 0), -INF, wide.writer.constant(INF, wide.dtype))
    return where(is_beyond, infinite, wide)


def _power_of_two(x: Value, held: DType) -> Value:
    """Positive numbers within the range of a power-of-two format, up to rounding."""
    low = where(less(x, held.smallest) & greater(x, 0), float(held.smallest), x)
    is_above = greater(low, held.max) & less(low, 1.5 * held.max)
    return where(is_above, float(held.max), low)


def _rounded_to_odd(x: Value) -> Value:
    """float64 as a float32 that rounds further like the float64 itself: a value between two numbers
    becomes the one with an odd code."""
    w = x.writer
    code = dtype("int32")
    near = w.one_op("Cast", x, dtype=_FLOAT32, to=element_type(_FLOAT32))
    back = w.one_op("Cast", near, dtype=_FLOAT64, to=element_type(_FLOAT64))
    bits = w.add("BitCast", near, dtype=code, to=element_type(code))
    is_even = equal(called("BitwiseAnd", bits, 1), 0)
    is_between = xp.not_equal(x, back) & equal(x, x)
    grows = equal(greater(x, back), greater(x, 0))
    step = where(grows, w.constant(1, code), -1)
    odd = where(is_between & is_even, bits + step, bits)
    return w.add("BitCast", odd, dtype=_FLOAT32, to=element_type(_FLOAT32))
