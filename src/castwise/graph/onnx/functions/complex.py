"""Functions of complex numbers in ONNX, computed from their parts; in float64 if intermediate
results would round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.arrays import isnan, where
from castwise.graph.onnx.dtypes import LackingError
from castwise.graph.onnx.functions import linalg
from castwise.graph.onnx.functions.floats import INF, atan2, copysign, hypot
from castwise.graph.onnx.functions.pairs import Pair
from castwise.graph.onnx.functions.reductions import flattened
from castwise.graph.onnx.writer import Value, called
from castwise.graph.shapes import arithmetic as shapes
from castwise.vocab.dtypes import dtype

_WIDE = dtype("float64")
_ENDS = 50.0  # beyond it the hyperbolic tangent is 1 in float32
_LARGEST = 100  # smaller integer exponents are multiplied out, as in NumPy
_BITS = 7  # of such an exponent


def multiplied(x: Pair, y: Pair) -> Pair:
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def chosen(condition: Value, x: Pair, y: Pair) -> Pair:
    """One of two, by a condition."""
    return where(condition, x[0], y[0]), where(condition, x[1], y[1])


def in_float64(function: Callable[..., Pair]) -> Callable[..., Pair]:
    """A function computed in float64, and rounded at the end."""

    def computed(*pairs: Pair) -> Pair:
        held = pairs[0][0].dtype
        wide = [tuple([part.writer.cast(part, _WIDE) for part in pair]) for pair in pairs]
        real, imag = function(*wide)
        return real.writer.cast(real, held), imag.writer.cast(imag, held)

    return computed


def sqrt(x: Pair) -> Pair:
    """The root whose real part is not negative."""
    real, imag = x
    size = hypot(real, imag)
    root = xp.sqrt((size + xp.abs(real)) / 2)
    other = where(xp.equal(root, 0), root, xp.abs(imag) / (2 * root))
    is_left = xp.less(real, 0)
    found = where(is_left, other, root), copysign(where(is_left, root, other), imag)
    infinite = where(xp.equal(xp.abs(imag), INF), INF, found[0])
    return infinite, where(isnan(imag) | xp.equal(xp.abs(imag), INF), imag, found[1])


def reciprocal(x: Pair) -> Pair:
    """The reciprocal, in a dtype that holds the squares of the parts; infinity for zero."""
    square = x[0] * x[0] + x[1] * x[1]
    return where(xp.equal(square, 0), 1 / square, x[0] / square), -x[1] / square


def exp(x: Pair) -> Pair:
    size = xp.exp(x[0])
    return size * called("Cos", x[1]), where(xp.equal(x[1], 0), x[1], size * called("Sin", x[1]))


def tanh(x: Pair) -> Pair:
    """Uses hyperbolic functions of the real part and trigonometric ones of the imaginary part."""
    near = xp.maximum(xp.minimum(x[0], _ENDS), -_ENDS)
    near = where(isnan(x[0]), x[0], near)
    hyperbolic, cosine = called("Sinh", near), called("Cos", x[1])
    below = hyperbolic * hyperbolic + cosine * cosine
    return hyperbolic * called("Cosh", near) / below, called("Sin", x[1]) * cosine / below


def sigmoid(x: Pair) -> Pair:
    power = exp((-x[0], -x[1]))
    return reciprocal((1 + power[0], power[1]))


def power(x: Pair, y: Pair) -> Pair:
    """Multiplies out small integer powers, and uses the logarithm for others; 0 ** 0 is 1."""
    found = exp(multiplied(y, (xp.log(hypot(*x)), atan2(x[1], x[0]))))
    size = xp.abs(y[0])
    is_small = xp.equal(y[1], 0) & xp.equal(xp.floor(size), size) & xp.less(size, _LARGEST)
    found = chosen(is_small, _whole_power(x, where(is_small, y[0], 0)), found)
    is_zero = xp.equal(x[0], 0) & xp.equal(x[1], 0)
    grows = xp.less(0, y[0])
    of_zero = where(grows, 0, xp.full_like(x[0], float("nan")))
    is_one = xp.equal(y[0], 0) & xp.equal(y[1], 0)
    return chosen(is_zero & ~is_one, (of_zero, of_zero), found)


def _whole_power(x: Pair, exponent: Value) -> Pair:
    """By repeated squaring, one bit of the exponent at a time."""
    one = xp.ones_like(x[0]), xp.zeros_like(x[0])
    found, square, left = one, x, xp.abs(exponent)
    for _ in range(_BITS):
        half = xp.floor(left / 2)
        is_odd = xp.less(0.5, left - 2 * half)
        found = chosen(is_odd, multiplied(found, square), found)
        square, left = multiplied(square, square), half
    return chosen(xp.less(exponent, 0), reciprocal(found), found)


def prod(x: Pair, *, axis: Any = None, keepdims: bool = False) -> Pair:
    """The product, by multiplying halves with each other."""
    shape = shapes.reduced(x[0].shape, axis, keepdims)
    pair = (flattened(x[0]), flattened(x[1])) if axis is None else x
    for place in (0,) if axis is None else shapes.places(axis, x[0].ndim):
        pair = _product_along(pair, place)
    return xp.reshape(pair[0], shape), xp.reshape(pair[1], shape)


def _product_along(x: Pair, place: int) -> Pair:
    size = x[0].shape[place]
    if not isinstance(size, int) or size == 0:
        raise LackingError(f"castwise cannot write the product of {size} complex numbers in ONNX")
    while size > 1:
        half = size // 2
        product = multiplied(_part(x, place, 0, half), _part(x, place, half, 2 * half))
        if size % 2:
            last = _part(x, place, size - 1, size)
            product = (
                _concatenated(product[0], last[0], place),
                _concatenated(product[1], last[1], place),
            )
        x, size = product, half + size % 2
    return x


def _part(x: Pair, place: int, start: int, stop: int) -> Pair:
    shape = (*x[0].shape[:place], stop - start, *x[0].shape[place + 1 :])
    w = x[0].writer
    bounds = [w.integers([number]) for number in (start, stop, place)]
    real, imag = (w.one_op("Slice", part, *bounds, shape=shape) for part in x)
    return real, imag


def _concatenated(x: Value, y: Value, place: int) -> Value:
    shape = shapes.joined([x.shape, y.shape], place)
    return x.writer.one_op("Concat", x, y, shape=shape, axis=place)


def by_products(function: Callable[..., Value]) -> Callable[..., Pair]:
    """A sum of products of two arrays, computed from their parts."""

    def computed(x: Pair, y: Pair, **options: Any) -> Pair:
        def of(n: int, m: int) -> Value:
            return function(x[n], y[m], **options)

        return of(0, 0) - of(1, 1), of(0, 1) + of(1, 0)

    return computed


def vecdot(x: Pair, y: Pair, **options: Any) -> Pair:
    """The product of vectors, with the first operand conjugated."""
    return by_products(linalg.vecdot)((x[0], -x[1]), y, **options)
