"""Ops beyond the Array API standard, written once for any namespace of it.

Each takes the namespace, then arrays of one dtype that is wide enough to compute in.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import FunctionType
from typing import Any

from castwise.errors import UsageError
from castwise.execute.functions.error_function import erf
from castwise.vocab.ops import OPS


def div(xp: Any, x: Any, y: Any) -> Any:
    """The quotient of integers rounded towards zero, for frameworks that divide integers as C
    does."""
    if not xp.isdtype(x.dtype, "signed integer"):
        return xp.floor_divide(x, y)
    is_minus = y == -1  # the lowest number cannot be divided by it
    quotient = xp.floor_divide(x, xp.where(is_minus, xp.ones_like(y), y))
    is_cut = (quotient * y != x) & ((x < 0) != (y < 0)) & (y != 0)
    return xp.where(is_minus, -x, xp.where(is_cut, quotient + 1, quotient))


def fmod(xp: Any, x: Any, y: Any) -> Any:
    """The remainder with the sign of the dividend."""
    return xp.where(x < 0, -1, 1) * xp.remainder(xp.abs(x), xp.abs(y))


def float_power(xp: Any, x: Any, y: Any) -> Any:
    return xp.pow(x, y)


def fmax(xp: Any, x: Any, y: Any) -> Any:
    """The larger one; if one is NaN, the other."""
    return xp.where(y != y, x, xp.where(x != x, y, xp.maximum(x, y)))


def fmin(xp: Any, x: Any, y: Any) -> Any:
    """The smaller one; if one is NaN, the other."""
    return xp.where(y != y, x, xp.where(x != x, y, xp.minimum(x, y)))


def copysign(xp: Any, x: Any, y: Any) -> Any:
    """The size of one with the sign of the other, for integers."""
    return xp.where(y < 0, -xp.abs(x), xp.abs(x))


def atan2(xp: Any, y: Any, x: Any) -> Any:
    """The angle of complex numbers, by the definition for real ones."""
    return -1j * xp.log((x + 1j * y) / xp.sqrt(x * x + y * y))


def _floats(xp: Any, x: Any) -> Any:
    """Integers as floats, of 64 bits if available; other dtypes unchanged."""
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


def logaddexp2(xp: Any, x: Any, y: Any) -> Any:
    """The same to base 2."""
    return logaddexp(xp, _floats(xp, x) * math.log(2), _floats(xp, y) * math.log(2)) / math.log(2)


def exp2(xp: Any, x: Any) -> Any:
    """2 to the power of each element, of complex numbers."""
    return xp.exp(x * math.log(2))


def cbrt(xp: Any, x: Any) -> Any:
    """The cube root: a power, made exact to the last place by one Newton step."""
    size = xp.abs(x)
    is_plain = (size > 0) & xp.isfinite(size)
    root = xp.where(is_plain, size, xp.ones_like(size)) ** (1 / 3)
    root = root - (root - xp.where(is_plain, size, root * root * root) / (root * root)) / 3
    return xp.where(is_plain, xp.where(x < 0, -root, root), x)


def degrees(xp: Any, x: Any) -> Any:
    return x * (180 / math.pi)


def radians(xp: Any, x: Any) -> Any:
    return x * (math.pi / 180)


def ldexp(xp: Any, x: Any, y: Any) -> Any:
    """x * 2**y; for integers y in three steps, none of which overflows before the product does."""
    if not xp.isdtype(y.dtype, ("bool", "integral")):
        return x * 2.0**y
    far = 2100 if x.dtype == xp.float64 else 300
    exponent = xp.clip(xp.astype(y, xp.float64), -far, far)
    third = xp.floor(exponent / 3)
    for part in (third, third, exponent - 2 * third):
        x = x * xp.astype(2.0**part, x.dtype)
    return x


def heaviside(xp: Any, x: Any, y: Any) -> Any:
    """0 below zero, 1 above, y at zero."""
    one, zero = xp.ones_like(x), xp.zeros_like(x)
    return xp.where(x == 0, y, xp.where(x < 0, zero, xp.where(x > 0, one, x)))


def xlogy(xp: Any, x: Any, y: Any) -> Any:
    """x * log(y), and 0 where x is."""
    is_zero = (x == 0) & ~xp.isnan(y)
    product = x * xp.log(xp.where(is_zero, xp.ones_like(y), y))
    return xp.where(is_zero, xp.zeros_like(product), product)


def clip_above(xp: Any, x: Any, high: Any) -> Any:
    """The smaller of each element and the bound."""
    return xp.clip(x, None, high)


def lerp(xp: Any, start: Any, end: Any, weight: Any) -> Any:
    """Interpolates from start to end, exact at both."""
    near = start + weight * (end - start)
    return xp.where(xp.abs(weight) < 0.5, near, end - (end - start) * (1 - weight))


def addcmul(xp: Any, x: Any, y: Any, z: Any, *, value: complex = 1) -> Any:
    """Adds the product, times a factor that is converted to the arrays' dtype."""
    is_integer = xp.isdtype(x.dtype, ("bool", "integral"))
    factor = int(value.real) if is_integer else value
    return x + (y if factor == 1 else y * factor) * z


def addcdiv(xp: Any, x: Any, y: Any, z: Any, *, value: complex = 1) -> Any:
    """Adds the quotient, with a factor for the dividend."""
    return x + (y if value == 1 else y * value) / z


def rsub(xp: Any, x: Any, y: Any) -> Any:
    """The second operand minus the first."""
    return xp.subtract(y, x)


def clamp_min(xp: Any, x: Any, low: Any) -> Any:
    return xp.maximum(x, low)


def clamp_max(xp: Any, x: Any, high: Any) -> Any:
    return xp.minimum(x, high)


def real_div(xp: Any, x: Any, y: Any) -> Any:
    return xp.divide(x, y)


def floor_div(xp: Any, x: Any, y: Any) -> Any:
    return xp.floor_divide(x, y)


def truncate_div(xp: Any, x: Any, y: Any) -> Any:
    """The quotient without its fraction."""
    return div(xp, x, y) if xp.isdtype(x.dtype, "integral") else xp.trunc(x / y)


def div_no_nan(xp: Any, x: Any, y: Any) -> Any:
    """The quotient; 0 where the divisor is 0."""
    is_zero = y == 0
    quotient = x / xp.where(is_zero, xp.ones_like(y), y)
    return xp.where(is_zero, xp.zeros_like(quotient), quotient)


def multiply_no_nan(xp: Any, x: Any, y: Any) -> Any:
    """The product; 0 where the second operand is 0, for any first operand."""
    product = x * y
    return xp.where(y == 0, xp.zeros_like(product), product)


def mean(xp: Any, x: Any, **options: Any) -> Any:
    """The mean, of integers too."""
    return xp.mean(_floats(xp, x), **options)


def _reduced(xp: Any, losses: Any, reduction: str) -> Any:
    """A loss as its mean, its sum, or per element."""
    if reduction == "none":
        return losses
    return mean(xp, losses) if reduction == "mean" else xp.sum(losses)


def mse_loss(xp: Any, x: Any, y: Any, *, reduction: str = "mean") -> Any:
    return _reduced(xp, (x - y) * (x - y), reduction)


def l1_loss(xp: Any, x: Any, y: Any, *, reduction: str = "mean") -> Any:
    return _reduced(xp, xp.abs(x - y), reduction)


def huber_loss(xp: Any, x: Any, y: Any, *, reduction: str = "mean", delta: float = 1.0) -> Any:
    """Half the square up to delta, and linear from there."""
    away = xp.abs(x - y)
    losses = xp.where(away <= delta, 0.5 * away * away, delta * (away - 0.5 * delta))
    return _reduced(xp, losses, reduction)


def poisson_nll_loss(
    xp: Any, x: Any, y: Any, *, reduction: str = "mean", log_input: bool = True
) -> Any:
    """The negative log likelihood of counts, without the constant term."""
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
    """1 / (1 + exp(-x)), without overflow for large negative x."""
    if not xp.isdtype(x.dtype, "real floating"):
        return 1 / (1 + xp.exp(-x))
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1 / (1 + small), small / (1 + small))


def gelu(xp: Any, x: Any) -> Any:
    return 0.5 * x * (1 + erf(xp, x / math.sqrt(2.0)))


def silu(xp: Any, x: Any) -> Any:
    return x * sigmoid(xp, x)


def gelu_tanh(xp: Any, x: Any) -> Any:
    """The approximation of gelu by tanh."""
    return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def _highest(xp: Any, x: Any, axis: Any) -> Any:
    """The largest element along an axis, which is kept; zero if there is none."""
    return xp.sum(x, axis=axis, keepdims=True) if 0 in x.shape else xp.max(
        x, axis=axis, keepdims=True
    )  # fmt: skip


def softmax(xp: Any, x: Any, *, axis: int = -1) -> Any:
    """The exponentials divided by their sum."""
    powers = xp.exp(x - _highest(xp, x, axis))
    return powers / xp.sum(powers, axis=axis, keepdims=True)


def log_softmax(xp: Any, x: Any, *, axis: int = -1) -> Any:
    away = x - _highest(xp, x, axis)
    return away - xp.log(xp.sum(xp.exp(away), axis=axis, keepdims=True))


def logsumexp(xp: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials, without overflow."""
    real = xp.real(x) if xp.isdtype(x.dtype, "complex floating") else x
    highest = _highest(xp, real, axis)
    highest = xp.where(xp.isfinite(highest), highest, xp.zeros_like(highest))
    total = xp.log(xp.sum(xp.exp(x - highest), axis=axis, keepdims=keepdims))
    return total + (highest if keepdims else xp.max(highest, axis=axis))


def angle(xp: Any, x: Any) -> Any:
    """The angle of a complex number; pi for a negative real one."""
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
    """The middle one, or a value between the middle two; NaN if there is a NaN."""
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


def isclose(
    xp: Any, x: Any, y: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether each element is within the tolerance of the other."""
    is_near = (x == y) | (xp.isfinite(y) & (xp.abs(x - y) <= atol + rtol * xp.abs(y)))
    return is_near | ((x != x) & (y != y)) if equal_nan else is_near


def allclose(xp: Any, x: Any, y: Any, **tolerance: Any) -> Any:
    """Whether all elements are within the tolerance of one another."""
    return xp.all(isclose(xp, x, y, **tolerance))


def isin(xp: Any, x: Any, y: Any, *, invert: bool = False) -> Any:
    return xp.isin(x, y, invert=invert)


def _eig(xp: Any, x: Any) -> Any:
    """Eigenvalues and eigenvectors, complex even if the backend gives real ones."""
    return tuple([_as_complex(xp, part) for part in _of_linalg(xp, "eig")(x)])


def _eigvals(xp: Any, x: Any) -> Any:
    """Eigenvalues, complex even if the backend gives real ones."""
    return _as_complex(xp, _of_linalg(xp, "eigvals")(x))


def _of_linalg(xp: Any, name: str) -> Any:
    found = getattr(xp.linalg, name, None)
    if found is None:
        raise UsageError(f"this backend has no linalg.{name}: convert the tensor to one that does.")
    return found


def _as_complex(xp: Any, x: Any) -> Any:
    if xp.isdtype(x.dtype, "complex floating"):
        return x
    return xp.astype(x, xp.complex128 if x.dtype == xp.float64 else xp.complex64)


_PARTS_OF_OPS = {"clip_above", "gelu_tanh", "lower_median", "isin"}

# A recipe has the name of its op, or is part of one.
RECIPES: dict[str, Callable[..., Any]] = {
    **{
        name: found
        for name, found in globals().items()
        if isinstance(found, FunctionType) and (name in OPS or name in _PARTS_OF_OPS)
    },
    "linalg.eig": _eig,
    "linalg.eigvals": _eigvals,
}
