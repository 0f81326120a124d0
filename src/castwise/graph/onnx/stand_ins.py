"""Replacements for kernels that a runtime lacks in every dtype that is wide enough.

Functions of 64-bit floats come first, then casts. `new_writer` at the end gives them to a writer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.arrays import equal, exp, greater, less, log, sqrt, where
from castwise.graph.onnx.complex import cast_complex
from castwise.graph.onnx.functions import INF, NAN, expm1, log1p
from castwise.graph.onnx.runtimes import Runtime, element_type
from castwise.graph.onnx.writer import INT64, StandIns, Value, Writer, called
from castwise.graph.program import Shape
from castwise.vocab.dtypes import DType, dtype

_FLOAT32, _FLOAT64 = dtype("float32"), dtype("float64")
_LN2 = math.log(2.0)
_LARGE = 2.0**30  # adding 1 does not change its square


def _odd(function: Callable[[Value], Value]) -> Callable[[Value], Value]:
    """A function of absolute values, for numbers of both signs, and zeros of both."""

    def whole(x: Value) -> Value:
        found = function(xp.abs(x))
        return where(equal(x, 0), x, where(less(x, 0), -found, found))

    return whole


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
    return where(greater(size, _LARGE), log(size) + _LN2, near)


def _acosh(x: Value) -> Value:
    above = x - 1
    near = log1p(above + sqrt(above * (above + 2)))
    return where(less(x, 1), NAN, where(greater(x, _LARGE), log(x) + _LN2, near))


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
    return xp.reshape(x, (*x.shape, 1))


def _sigmoid(x: Value) -> Value:
    power = exp(-xp.abs(x))
    return where(less(x, 0), power, 1.0) / (1 + power)


def _sign(x: Value) -> Value:
    return where(less(x, 0), -1, where(greater(x, 0), x.writer.constant(1, x.dtype), 0))


def _extreme(op: str) -> Callable[..., Value]:
    """The largest or smallest of integers: that of the upper halves, then that of the lower halves
    beside it, both as int32."""
    half, word = 2**32, dtype("int32")

    def written(x: Value, axes: Value, *, shape: Shape, keepdims: int) -> Value:
        w = x.writer
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

    return written


# ONNX op -> how it is written without its kernel
_WRITTEN_OUT: dict[str, Callable[..., Value]] = {
    "Tan": _tan,
    "Sinh": _odd(_sinh),
    "Cosh": _cosh,
    "Asinh": _odd(_asinh),
    "Acosh": _acosh,
    "Atanh": _odd(lambda size: log1p(2 * size / (1 - size)) / 2),
    "Atan": _odd(_atan),
    "Asin": lambda x: called("Atan", x / sqrt((1 - x) * (1 + x))),
    "Acos": lambda x: 2 * called("Atan", sqrt((1 - x) / (1 + x))),
    "Erf": _odd(_erf),
    "Gelu": lambda x: x / 2 * (1 + called("Erf", x / math.sqrt(2))),
    "Sigmoid": _sigmoid,
    "Relu": lambda x: xp.maximum(x, 0),
    "Max": lambda x, y: where(greater(x, y), x, y),
    "Min": lambda x, y: where(less(x, y), x, y),
    "Sign": _sign,
    "ReduceMax": _extreme("ReduceMax"),
    "ReduceMin": _extreme("ReduceMin"),
}

# Casts that a runtime does differently.


def _before_cast(x: Value, held: DType) -> Value:
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
    return where(
        xp.greater_equal(size, edge),
        where(less(wide, 0), -INF, wide.writer.constant(INF, wide.dtype)),
        wide,
    )


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


def new_writer(opset: int, runtime: Runtime | None = None) -> Writer:
    """A writer for an opset and a runtime, with replacements for what they lack."""
    return Writer(opset, runtime, StandIns(cast_complex, _before_cast, _WRITTEN_OUT))
