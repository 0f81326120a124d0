"""Ops beyond the Array API standard, written once on a namespace of it.

Each takes the namespace, then arrays of one dtype that computes without further rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any


def div(xp: Any, x: Any, y: Any) -> Any:
    """The quotient of integers rounded to zero, where a framework divides integers as C does."""
    quotient = xp.floor_divide(xp.abs(x), xp.abs(y))
    return xp.where((x < 0) == (y < 0), quotient, -quotient)


def fmod(xp: Any, x: Any, y: Any) -> Any:
    """The remainder with the sign of the dividend."""
    return xp.where(x < 0, -1, 1) * xp.remainder(xp.abs(x), xp.abs(y))


def float_power(xp: Any, x: Any, y: Any) -> Any:
    return xp.pow(x, y)


def fmax(xp: Any, x: Any, y: Any) -> Any:
    """The larger one; a number beside NaN."""
    return xp.where(y != y, x, xp.where(x != x, y, xp.maximum(x, y)))


def fmin(xp: Any, x: Any, y: Any) -> Any:
    """The smaller one; a number beside NaN."""
    return xp.where(y != y, x, xp.where(x != x, y, xp.minimum(x, y)))


def copysign(xp: Any, x: Any, y: Any) -> Any:
    """The size of one with the sign of the other, for integers."""
    return xp.where(y < 0, -xp.abs(x), xp.abs(x))


def atan2(xp: Any, y: Any, x: Any) -> Any:
    """The angle of complex numbers, by the definition for real ones."""
    return -1j * xp.log((x + 1j * y) / xp.sqrt(x * x + y * y))


def _floats(xp: Any, x: Any) -> Any:
    """Integers as floats, of 64 bits where there are such; what is no integer as it is."""
    if not xp.isdtype(x.dtype, ("bool", "integral")):
        return x
    floats = xp.__array_namespace_info__().dtypes(kind="real floating")
    return xp.astype(x, floats.get("float64", xp.float32))


def logaddexp(xp: Any, x: Any, y: Any) -> Any:
    """The logarithm of the sum of exponentials, of complex numbers and of integers."""
    x, y = _floats(xp, x), _floats(xp, y)
    is_first = xp.real(x) >= xp.real(y)
    high, low = xp.where(is_first, x, y), xp.where(is_first, y, x)
    return high + xp.log(1 + xp.exp(low - high))


def heaviside(xp: Any, x: Any, y: Any) -> Any:
    """0 below zero, 1 above, y at zero."""
    one, zero = xp.ones_like(x), xp.zeros_like(x)
    return xp.where(x == 0, y, xp.where(x < 0, zero, xp.where(x > 0, one, x)))


def xlogy(xp: Any, x: Any, y: Any) -> Any:
    """x * log(y), and 0 where x is."""
    is_zero = (x == 0) & ~xp.isnan(y)
    product = x * xp.log(xp.where(is_zero, xp.ones_like(y), y))
    return xp.where(is_zero, xp.zeros_like(product), product)


def dot(xp: Any, x: Any, y: Any) -> Any:
    """The product summed over the last dimension of one and the one before last of the other."""
    return xp.vecdot(xp.conj(x), y) if x.ndim == y.ndim == 1 else xp.tensordot(
        x, y, axes=((-1,), (max(y.ndim - 2, 0),))
    )  # fmt: skip


def clip_above(xp: Any, x: Any, high: Any) -> Any:
    """The smaller one of each element and the bound."""
    return xp.clip(x, None, high)


def lerp(xp: Any, start: Any, end: Any, weight: Any) -> Any:
    """From start to end, exact at both."""
    near = start + weight * (end - start)
    return xp.where(xp.abs(weight) < 0.5, near, end - (end - start) * (1 - weight))


def addcmul(xp: Any, x: Any, y: Any, z: Any) -> Any:
    return x + y * z


def mean(xp: Any, x: Any, **options: Any) -> Any:
    """The mean, of integers too."""
    return xp.mean(_floats(xp, x), **options)


def _reduced(xp: Any, losses: Any, reduction: str) -> Any:
    """A loss as its mean, its sum or as it is."""
    if reduction == "none":
        return losses
    return mean(xp, losses) if reduction == "mean" else xp.sum(losses)


def mse_loss(xp: Any, x: Any, y: Any, *, reduction: str = "mean") -> Any:
    return _reduced(xp, (x - y) * (x - y), reduction)


def l1_loss(xp: Any, x: Any, y: Any, *, reduction: str = "mean") -> Any:
    return _reduced(xp, xp.abs(x - y), reduction)


def huber_loss(xp: Any, x: Any, y: Any, *, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Half the square up to delta, from there on a line."""
    away = xp.abs(x - y)
    losses = xp.where(away <= delta, 0.5 * away * away, delta * (away - 0.5 * delta))
    return _reduced(xp, losses, reduction)


def poisson_nll_loss(
    xp: Any, x: Any, y: Any, *, reduction: str = "mean", log_input: bool = True
) -> Any:
    """The negative log likelihood of counts, the constant term aside."""
    losses = xp.exp(x) - y * x if log_input else x - y * xp.log(x + 1e-8)
    return _reduced(xp, losses, reduction)


def relu(xp: Any, x: Any) -> Any:
    return xp.maximum(x, xp.zeros_like(x))


def threshold(xp: Any, x: Any, *, threshold: float = 0, value: float = 0) -> Any:
    """The value where x is not above the threshold."""
    return xp.where(x <= threshold, xp.full_like(x, value), x)  # NaN stays


def rsqrt(xp: Any, x: Any) -> Any:
    return 1 / xp.sqrt(x)


def sigmoid(xp: Any, x: Any) -> Any:
    """1 / (1 + exp(-x)), without an overflow for large negative x."""
    if not xp.isdtype(x.dtype, "real floating"):
        return 1 / (1 + xp.exp(-x))
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1 / (1 + small), small / (1 + small))


def gelu(xp: Any, x: Any) -> Any:
    return 0.5 * x * (1 + erf(xp, x / math.sqrt(2.0)))


def gelu_tanh(xp: Any, x: Any) -> Any:
    """gelu by its approximation."""
    return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def erf(xp: Any, x: Any) -> Any:
    """The error function, within a few units of the last place of float64."""
    if x.dtype != xp.float64:
        return xp.astype(erf(xp, xp.astype(x, xp.float64)), x.dtype)
    away = xp.abs(x)
    near = xp.where(away < 2.5, away, xp.zeros_like(away))
    far = xp.where(away < 2.5, xp.full_like(away, 2.5), xp.minimum(away, xp.full_like(away, 7.0)))
    found = xp.where(away < 2.5, _erf_series(near), 1 - _erfc_fraction(xp, far))
    return xp.where(x < 0, -found, xp.where(xp.isnan(x), x, found))


def _erf_series(x: Any) -> Any:
    """2 / sqrt(pi) * the sum of x**(2n+1) 2**n exp(-x**2) / (1 * 3 * ... * (2n+1))."""
    square = x * x
    total = x * 0
    for n in range(60, 0, -1):
        total = (1 + total) * (2 * square / (2 * n + 1))
    return (2 / math.sqrt(math.pi)) * x * (1 + total) * math.e ** (-square)


def _erfc_fraction(xp: Any, x: Any) -> Any:
    """The continued fraction of erfc, which converges quickly from 2 on."""
    tail = x
    for n in range(60, 0, -1):
        tail = x + (n / 2) / tail
    return xp.exp(-x * x) / (math.sqrt(math.pi) * tail)


def _highest(xp: Any, x: Any, axis: Any) -> Any:
    """The largest one along an axis that stays; zero where there is none."""
    return xp.sum(x, axis=axis, keepdims=True) if 0 in x.shape else xp.max(
        x, axis=axis, keepdims=True
    )  # fmt: skip


def softmax(xp: Any, x: Any, *, axis: int = -1) -> Any:
    """The exponentials as shares of their sum."""
    powers = xp.exp(x - _highest(xp, x, axis))
    return powers / xp.sum(powers, axis=axis, keepdims=True)


def log_softmax(xp: Any, x: Any, *, axis: int = -1) -> Any:
    away = x - _highest(xp, x, axis)
    return away - xp.log(xp.sum(xp.exp(away), axis=axis, keepdims=True))


def logsumexp(xp: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials, without an overflow."""
    highest = _highest(xp, x, axis)
    highest = xp.where(xp.isfinite(highest), highest, xp.zeros_like(highest))
    total = xp.log(xp.sum(xp.exp(x - highest), axis=axis, keepdims=keepdims))
    return total + (highest if keepdims else xp.max(highest, axis=axis))


def angle(xp: Any, x: Any) -> Any:
    """The angle of a complex number; of a negative real one, pi."""
    if xp.isdtype(x.dtype, "complex floating"):
        return xp.atan2(xp.imag(x), xp.real(x))
    turned = xp.where(x < 0, xp.full_like(x, math.pi), xp.zeros_like(x))
    return xp.where(xp.isnan(x), x, turned)


def norm(xp: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The square root of the sum of squares."""
    away = xp.abs(x)
    return xp.sqrt(xp.sum(away * away, axis=axis, keepdims=keepdims))


def median(xp: Any, x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The middle one, or the mean of the middle two."""
    return _middle(xp, x, axis, keepdims, lambda low, high: (low + high) / 2)


def lower_median(xp: Any, x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The middle one, or the lower of the middle two."""
    return _middle(xp, x, axis, keepdims, lambda low, high: low)


def _middle(
    xp: Any, x: Any, axis: int | None, keepdims: bool, between: Callable[[Any, Any], Any]
) -> Any:
    """The middle one, or what lies between the middle two; NaN where there is one."""
    flat, place = (xp.reshape(x, (-1,)), 0) if axis is None else (x, axis)
    ordered, count = xp.sort(flat, axis=place), flat.shape[place]
    before = (slice(None),) * (place % ordered.ndim)
    parts = [slice(n, n + 1) for n in ((count - 1) // 2, count // 2)]
    low, high = (ordered[before + (part,)] for part in parts)  # noqa: RUF005 -- Python 3.10
    found = between(low, high) if count % 2 == 0 else low
    if xp.isdtype(x.dtype, "real floating"):
        has_nan = xp.any(flat != flat, axis=place, keepdims=True)
        found = xp.where(has_nan, xp.full_like(found, math.nan), found)
    return xp.reshape(found, (1,) * x.ndim if keepdims else ()) if axis is None else (
        found if keepdims else xp.squeeze(found, axis=axis)
    )  # fmt: skip


def allclose(
    xp: Any, x: Any, y: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether all elements are within the tolerance of one another."""
    is_near = (x == y) | (xp.isfinite(y) & (xp.abs(x - y) <= atol + rtol * xp.abs(y)))
    return xp.all(is_near | ((x != x) & (y != y)) if equal_nan else is_near)


RECIPES: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        div, fmod, float_power, fmax, fmin, copysign, atan2, logaddexp, heaviside, xlogy, dot,
        clip_above, lerp, addcmul, mean, mse_loss, l1_loss, huber_loss, poisson_nll_loss,
        relu, threshold, rsqrt, sigmoid, gelu, gelu_tanh, erf, softmax, log_softmax, logsumexp,
        angle, norm, median, lower_median, allclose,
    )
}  # fmt: skip
