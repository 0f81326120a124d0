"""Ops on complex numbers in ONNX, which moves complex numbers but cannot compute with them.

complex64 is split by its bits into two float32 values, computed, and combined again; in float64 if
intermediate results would round. complex128 would need a 128-bit integer, which ONNX lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from castwise.graph import shapes
from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx import functions
from castwise.graph.onnx.arrays import isnan, where
from castwise.graph.onnx.functions import INF, atan2, hypot, joined
from castwise.graph.onnx.runtimes import LackingError, element_type
from castwise.graph.onnx.writer import Value, called
from castwise.vocab.dtypes import DType, dtype

# From a value to its parts, and back.

Pair = tuple[Value, Value]  # the real and the imaginary part

_COMPLEX, _PART = dtype("complex64"), dtype("float32")
_BITS, _HALF = dtype("uint64"), dtype("uint32")


def _parts(x: Value) -> Pair:
    """The real and the imaginary part: the lower and the upper half of the bits."""
    if x.dtype is not _COMPLEX:
        raise LackingError(f"ONNX computes nothing in {x.dtype}; cast to complex64")
    w = x.writer
    bits = w.add("BitCast", x, dtype=_BITS, to=element_type(_BITS))
    upper = w.add("BitShift", bits, w.constant(32, _BITS), direction="RIGHT")
    halves = [w.cast(half, _HALF) for half in (bits, upper)]
    real, imag = [w.add("BitCast", half, dtype=_PART, to=element_type(_PART)) for half in halves]
    return real, imag


def _joined(pair: Pair) -> Value:
    """A complex64 value from its parts."""
    w = pair[0].writer
    halves = (w.add("BitCast", part, dtype=_HALF, to=element_type(_HALF)) for part in pair)
    real, imag = (w.cast(half, _BITS) for half in halves)
    upper = w.add("BitShift", imag, w.constant(32, _BITS), direction="LEFT")
    bits = w.add("BitwiseOr", real, upper)
    return w.add("BitCast", bits, dtype=_COMPLEX, to=element_type(_COMPLEX))


def cast_complex(value: Value, held: DType) -> Value:
    """A cast to or from complex64; real values have no imaginary part."""
    if held is _COMPLEX and value.dtype.kind != "complex":
        real = value.writer.cast(value, _PART)
        return _joined((real, xp.zeros_like(real)))
    if value.dtype is not _COMPLEX or held.kind == "complex":
        raise LackingError(f"ONNX cannot cast {value.dtype} to {held}")
    pair = _parts(value)
    return _is_nonzero(pair) if held.kind == "bool" else value.writer.cast(pair[0], held)


def _is_nonzero(x: Pair) -> Value:
    """Whether any part is not zero."""
    return xp.not_equal(x[0], 0) | xp.not_equal(x[1], 0)


# Functions of both parts.

_WIDE = dtype("float64")
_ENDS = 50.0  # beyond it the hyperbolic tangent is 1 in float32
_LARGEST = 100  # smaller integer exponents are multiplied out, as in NumPy
_PART_BITS = 7  # of such an exponent


def _multiplied(x: Pair, y: Pair) -> Pair:
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def _chosen(condition: Value, x: Pair, y: Pair) -> Pair:
    """One of two, by a condition."""
    return where(condition, x[0], y[0]), where(condition, x[1], y[1])


def _in_float64(function: Callable[..., Pair], *pairs: Pair) -> Pair:
    """A function computed in float64, and rounded at the end."""
    held = pairs[0][0].dtype
    wide = [tuple([part.writer.cast(part, _WIDE) for part in pair]) for pair in pairs]
    real, imag = function(*wide)
    return real.writer.cast(real, held), imag.writer.cast(imag, held)


def _sqrt(x: Pair) -> Pair:
    """The root whose real part is not negative."""
    real, imag = x
    size = hypot(real, imag)
    root = xp.sqrt((size + xp.abs(real)) / 2)
    other = where(xp.equal(root, 0), root, xp.abs(imag) / (2 * root))
    is_left = xp.less(real, 0)
    found = where(is_left, other, root), functions.copysign(where(is_left, root, other), imag)
    infinite = where(xp.equal(xp.abs(imag), INF), INF, found[0])
    return infinite, where(isnan(imag) | xp.equal(xp.abs(imag), INF), imag, found[1])


def _reciprocal(x: Pair) -> Pair:
    """The reciprocal, in a dtype that holds the squares of the parts; infinity for zero."""
    square = x[0] * x[0] + x[1] * x[1]
    return where(xp.equal(square, 0), 1 / square, x[0] / square), -x[1] / square


def _exp(x: Pair) -> Pair:
    size = xp.exp(x[0])
    return size * called("Cos", x[1]), where(xp.equal(x[1], 0), x[1], size * called("Sin", x[1]))


def _tanh(x: Pair) -> Pair:
    """Uses hyperbolic functions of the real part and trigonometric ones of the imaginary part."""
    near = xp.maximum(xp.minimum(x[0], _ENDS), -_ENDS)
    near = where(isnan(x[0]), x[0], near)
    hyperbolic, cosine = called("Sinh", near), called("Cos", x[1])
    below = hyperbolic * hyperbolic + cosine * cosine
    return hyperbolic * called("Cosh", near) / below, called("Sin", x[1]) * cosine / below


def _sigmoid(x: Pair) -> Pair:
    power = _exp((-x[0], -x[1]))
    return _reciprocal((1 + power[0], power[1]))


def _power(x: Pair, y: Pair) -> Pair:
    """Multiplies out small integer powers, and uses the logarithm for others; 0 ** 0 is 1."""
    found = _exp(_multiplied(y, (xp.log(hypot(*x)), atan2(x[1], x[0]))))
    size = xp.abs(y[0])
    is_small = xp.equal(y[1], 0) & xp.equal(xp.floor(size), size) & xp.less(size, _LARGEST)
    found = _chosen(is_small, _whole_power(x, where(is_small, y[0], 0)), found)
    is_zero = xp.equal(x[0], 0) & xp.equal(x[1], 0)
    grows = xp.less(0, y[0])
    of_zero = where(grows, 0, xp.full_like(x[0], float("nan")))
    is_one = xp.equal(y[0], 0) & xp.equal(y[1], 0)
    return _chosen(is_zero & ~is_one, (of_zero, of_zero), found)


def _whole_power(x: Pair, exponent: Value) -> Pair:
    """By repeated squaring, one bit of the exponent at a time."""
    one = xp.ones_like(x[0]), xp.zeros_like(x[0])
    found, square, left = one, x, xp.abs(exponent)
    for _ in range(_PART_BITS):
        half = xp.floor(left / 2)
        is_odd = xp.less(0.5, left - 2 * half)
        found = _chosen(is_odd, _multiplied(found, square), found)
        square, left = _multiplied(square, square), half
    return _chosen(xp.less(exponent, 0), _reciprocal(found), found)


def _prod(x: Pair, *, axis: Any = None, keepdims: bool = False) -> Pair:
    """The product, by multiplying halves with each other."""
    shape = shapes.reduced(x[0].shape, axis, keepdims)
    pair = (functions.flattened(x[0]), functions.flattened(x[1])) if axis is None else x
    for place in (0,) if axis is None else shapes.places(axis, x[0].ndim):
        pair = _product_along(pair, place)
    return xp.reshape(pair[0], shape), xp.reshape(pair[1], shape)


def _product_along(x: Pair, place: int) -> Pair:
    size = x[0].shape[place]
    if not isinstance(size, int) or size == 0:
        raise LackingError(f"castwise cannot write the product of {size} complex numbers in ONNX")
    while size > 1:
        half = size // 2
        product = _multiplied(_part(x, place, 0, half), _part(x, place, half, 2 * half))
        if size % 2:
            real, imag = zip(product, _part(x, place, size - 1, size), strict=True)
            product = joined(*real, axis=place), joined(*imag, axis=place)
        x, size = product, half + size % 2
    return x


def _part(x: Pair, place: int, start: int, stop: int) -> Pair:
    shape = (*x[0].shape[:place], stop - start, *x[0].shape[place + 1 :])
    w = x[0].writer
    bounds = [w.integers([number]) for number in (start, stop, place)]
    real, imag = (w.one_op("Slice", part, *bounds, shape=shape) for part in x)
    return real, imag


def _by_products(function: Callable[..., Value], x: Pair, y: Pair, **options: Any) -> Pair:
    """A sum of products of two arrays, computed from their parts."""
    real = function(x[0], y[0], **options) - function(x[1], y[1], **options)
    return real, function(x[0], y[1], **options) + function(x[1], y[0], **options)


def _vecdot(x: Pair, y: Pair, **options: Any) -> Pair:
    """The product of vectors, with the first operand conjugated."""
    return _by_products(functions.vecdot, (x[0], -x[1]), y, **options)


def _add(x: Pair, y: Pair) -> Pair:
    return x[0] + y[0], x[1] + y[1]


def _sub(x: Pair, y: Pair) -> Pair:
    return x[0] - y[0], x[1] - y[1]


def _div(x: Pair, y: Pair) -> Pair:
    """Scaled by the larger part of the divisor, so that no intermediate result overflows."""
    real, imag = _scaled_quotient(x, y)
    is_zero = xp.equal(y[0], 0) & xp.equal(y[1], 0)
    size = xp.abs(y[0])
    return _chosen(is_zero, (x[0] / size, x[1] / size), (real, imag))


def _scaled_quotient(x: Pair, y: Pair) -> Pair:
    by_real = xp.less_equal(xp.abs(y[1]), xp.abs(y[0]))
    large, small = where(by_real, y[0], y[1]), where(by_real, y[1], y[0])
    ratio = small / large
    scale = 1 / (large + small * ratio)
    first, second = where(by_real, x[0], x[1]), where(by_real, x[1], x[0])
    imag = where(by_real, x[1] - x[0] * ratio, x[1] * ratio - x[0])
    return (first + second * ratio) * scale, imag * scale


def _each_part(function: Callable[..., Value], x: Pair, **options: Any) -> Pair:
    return function(x[0], **options), function(x[1], **options)


_matmul = partial(_by_products, partial(functions.product, "matmul"))


def _equal(x: Pair, y: Pair) -> Value:
    return xp.equal(x[0], y[0]) & xp.equal(x[1], y[1])


def _ordered(is_before: Callable[..., Value], x: Pair, y: Pair) -> Value:
    """Whether one comes before another: by the real parts, then by the imaginary parts."""
    has_order = xp.equal(x[1], x[1]) & xp.equal(y[1], y[1])
    by_real = xp.less(x[0], y[0]) & has_order
    return by_real | (xp.equal(x[0], y[0]) & is_before(x[1], y[1]))


def _extreme(is_smaller: bool, passes_nan: bool, x: Pair, y: Pair) -> Pair:
    """The larger or smaller one; if one is NaN, NaN or the other."""
    first = _ordered(xp.less_equal, x, y) if is_smaller else _ordered(xp.less_equal, y, x)
    is_nan = _is_nan(x) if passes_nan else _is_nan(y)
    return _chosen(first | is_nan, x, y)


def _is_nan(x: Pair) -> Value:
    return isnan(x[0]) | isnan(x[1])


def _lerp(start: Pair, end: Pair, weight: Pair) -> Pair:
    """Interpolates from start to end, exact at both."""
    whole = _sub(end, start)
    near = _add(start, _multiplied(weight, whole))
    far = _sub(end, _multiplied(whole, (1 - weight[0], -weight[1])))
    return _chosen(xp.less(hypot(*weight), 0.5), near, far)


def _sin(x: Pair) -> Pair:
    """Uses sin and cos of the real part, and sinh and cosh of the imaginary part."""
    sine = called("Sin", x[0])
    cosine = called("Cos", x[0])
    return sine * called("Cosh", x[1]), cosine * called("Sinh", x[1])


def _mse_loss(x: Pair, y: Pair, *, reduction: str = "mean") -> Pair:
    away = _sub(x, y)
    real, imag = _multiplied(away, away)
    return functions.reduced_losses(real, reduction), functions.reduced_losses(imag, reduction)


def _l1_loss(x: Pair, y: Pair, *, reduction: str = "mean") -> Value:
    return functions.reduced_losses(hypot(*_sub(x, y)), reduction)


def _var(x: Pair, **options: Any) -> Value:
    return functions.var(x[0], **options) + functions.var(x[1], **options)


# Functions of pairs, which return a pair or a real value.
_WRITTEN: dict[str, Callable[..., Any]] = {
    "add": _add, "sub": _sub, "mul": _multiplied, "div": _div, "matmul": _matmul,
    "square": lambda x: _multiplied(x, x), "addcmul": lambda x, y, z: _add(x, _multiplied(y, z)),
    "reciprocal": lambda x: _scaled_quotient((xp.ones_like(x[0]), xp.zeros_like(x[0])), x),
    "dot": _matmul, "lerp": _lerp, "sin": _sin,
    "neg": lambda x: (-x[0], -x[1]), "conj": lambda x: (x[0], -x[1]), "exp": _exp,
    "log": lambda x: (xp.log(hypot(*x)), atan2(x[1], x[0])),
    "real": lambda x: x[0], "imag": lambda x: x[1],
    "abs": lambda x: hypot(*x), "angle": lambda x: atan2(x[1], x[0]),
    "lt": lambda x, y: _ordered(xp.less, x, y), "le": lambda x, y: _ordered(xp.less_equal, x, y),
    "gt": lambda x, y: _ordered(xp.less, y, x), "ge": lambda x, y: _ordered(xp.less_equal, y, x),
    "mse_loss": _mse_loss, "l1_loss": _l1_loss, "var": _var,
    "std": lambda x, **options: xp.sqrt(_var(x, **options)),
    "norm": lambda x, **options: xp.sqrt(xp.sum(x[0] * x[0] + x[1] * x[1], **options)),
    "maximum": partial(_extreme, False, True), "minimum": partial(_extreme, True, True),
    "fmax": partial(_extreme, False, False), "fmin": partial(_extreme, True, False),
    "sqrt": partial(_in_float64, _sqrt),
    "rsqrt": partial(_in_float64, lambda x: _reciprocal(_sqrt(x))),
    "tanh": partial(_in_float64, _tanh), "sigmoid": partial(_in_float64, _sigmoid),
    "pow": partial(_in_float64, _power), "prod": _prod, "vecdot": _vecdot,
    **{
        name: partial(_by_products, getattr(functions, name))
        for name in ("tensordot", "outer", "inner", "cross", "kron")
    },
    "linalg.vector_norm": lambda x, **options: functions.vector_norm(hypot(*x), **options),
    "linalg.matrix_norm": lambda x, **options: functions.matrix_norm(hypot(*x), **options),
    "eq": _equal, "ne": lambda x, y: ~_equal(x, y),
    "isnan": _is_nan,
    "isinf": lambda x: xp.equal(xp.maximum(xp.abs(x[0]), xp.abs(x[1])), float("inf")),
    "isfinite": lambda x: xp.isfinite(x[0]) & xp.isfinite(x[1]),
    "logical_and": lambda x, y: _is_nonzero(x) & _is_nonzero(y),
    "logical_or": lambda x, y: _is_nonzero(x) | _is_nonzero(y),
    "logical_xor": lambda x, y: called("Xor", _is_nonzero(x), _is_nonzero(y)),
    "logical_not": lambda x: ~_is_nonzero(x),
    "any": lambda x, **options: xp.any(_is_nonzero(x), **options),
    "all": lambda x, **options: xp.all(_is_nonzero(x), **options),
    "count_nonzero": lambda x, **options: xp.count(_is_nonzero(x), **options),
    "sum": partial(_each_part, xp.sum), "mean": partial(_each_part, xp.mean),
    "cumsum": partial(_each_part, partial(functions.accumulated, "CumSum")),
}  # fmt: skip


def write_complex(name: str, values: Sequence[Value], options: Mapping[str, Any]) -> Value:
    """The value of an op on complex numbers.

    Raises LackingError if castwise cannot write it.
    """
    if name not in _WRITTEN:
        raise LackingError(f"ONNX has no {name} of complex numbers, and castwise has no substitute")
    result = _WRITTEN[name](*[_parts(value) for value in values], **options)
    return _joined(result) if isinstance(result, tuple) else result
