"""Ops of castwise that the standard has no function for."""

from __future__ import annotations

from typing import Literal, TypeAlias

from castwise.array_api.calls import Axes, Number, Operand, op
from castwise.arrays.tensor import Tensor

__all__ = [
    "addcdiv", "addcmul", "allclose", "angle", "cbrt", "clamp_max", "clamp_min", "cross", "degrees",
    "div_no_nan", "dot", "erf", "exp2", "float_power", "floor_div", "fmax", "fmin", "fmod", "gelu",
    "heaviside", "huber_loss", "inner", "isclose", "kron", "l1_loss", "ldexp", "lerp",
    "log_softmax", "logaddexp2", "logsumexp", "median", "mse_loss", "multiply_no_nan", "norm",
    "outer", "poisson_nll_loss", "radians", "real_div", "relu", "rsqrt", "rsub", "sigmoid",
    "silu", "softmax", "threshold", "truncate_div", "xlogy",
]  # fmt: skip

Reduction: TypeAlias = Literal["mean", "sum", "none"]


def fmod(x1: Operand, x2: Operand, /) -> Tensor:
    """The remainder of a division, with the sign of the dividend."""
    return op("fmod", x1, x2)


def float_power(x1: Operand, x2: Operand, /) -> Tensor:
    """One operand to the power of the other, in float64 or complex128."""
    return op("float_power", x1, x2)


def fmax(x1: Operand, x2: Operand, /) -> Tensor:
    """The larger of two operands; if one is NaN, the other."""
    return op("fmax", x1, x2)


def fmin(x1: Operand, x2: Operand, /) -> Tensor:
    """The smaller of two operands; if one is NaN, the other."""
    return op("fmin", x1, x2)


def heaviside(x1: Operand, x2: Operand, /) -> Tensor:
    """0 below zero, 1 above, and the second operand at zero."""
    return op("heaviside", x1, x2)


def logaddexp2(x1: Operand, x2: Operand, /) -> Tensor:
    """The logarithm to base 2 of the sum of powers of 2."""
    return op("logaddexp2", x1, x2)


def ldexp(x1: Operand, x2: Operand, /) -> Tensor:
    """The first operand times 2 to the power of the second."""
    return op("ldexp", x1, x2)


def exp2(x: Tensor, /) -> Tensor:
    """2 to the power of each element."""
    return op("exp2", x)


def cbrt(x: Tensor, /) -> Tensor:
    """The cube root of each element."""
    return op("cbrt", x)


def degrees(x: Tensor, /) -> Tensor:
    """Each angle, given in radians, in degrees."""
    return op("degrees", x)


def radians(x: Tensor, /) -> Tensor:
    """Each angle, given in degrees, in radians."""
    return op("radians", x)


def xlogy(x1: Operand, x2: Operand, /) -> Tensor:
    """The first operand times the logarithm of the second; 0 where the first is 0."""
    return op("xlogy", x1, x2)


def dot(x1: Operand, x2: Operand, /) -> Tensor:
    """The sum of products over the last dimension of one and the one before last of the other."""
    return op("dot", x1, x2)


def outer(x1: Operand, x2: Operand, /) -> Tensor:
    """All products of an element of one with an element of the other, for any shapes."""
    return op("outer", x1, x2)


def inner(x1: Operand, x2: Operand, /) -> Tensor:
    """The sum of products over the last dimension of both."""
    return op("inner", x1, x2)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The cross product of vectors with three elements."""
    return op("cross", x1, x2, axis=axis)


def kron(x1: Operand, x2: Operand, /) -> Tensor:
    """Each element of the first operand times the whole of the second, laid out as blocks."""
    return op("kron", x1, x2)


def lerp(start: Operand, end: Operand, weight: Operand, /) -> Tensor:
    """The point between start and end at a weight."""
    return op("lerp", start, end, weight)


def addcmul(x1: Operand, x2: Operand, x3: Operand, /, *, value: Number | None = None) -> Tensor:
    """The first operand plus the product of the others, times `value` if given."""
    return op("addcmul", x1, x2, x3, value=value)


def addcdiv(x1: Operand, x2: Operand, x3: Operand, /, *, value: Number | None = None) -> Tensor:
    """The first operand plus the quotient of the others, times `value` if given."""
    return op("addcdiv", x1, x2, x3, value=value)


def rsub(x1: Operand, x2: Operand, /) -> Tensor:
    """The second operand minus the first."""
    return op("rsub", x1, x2)


def clamp_min(x1: Operand, x2: Operand, /) -> Tensor:
    """Each element, no smaller than the bound."""
    return op("clamp_min", x1, x2)


def clamp_max(x1: Operand, x2: Operand, /) -> Tensor:
    """Each element, no larger than the bound."""
    return op("clamp_max", x1, x2)


def real_div(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands, in their own dtype."""
    return op("real_div", x1, x2)


def floor_div(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands, rounded down."""
    return op("floor_div", x1, x2)


def truncate_div(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands, truncated towards zero."""
    return op("truncate_div", x1, x2)


def div_no_nan(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands; 0 where the divisor is 0."""
    return op("div_no_nan", x1, x2)


def multiply_no_nan(x1: Operand, x2: Operand, /) -> Tensor:
    """The product of two operands; 0 where the second is 0, for any first operand."""
    return op("multiply_no_nan", x1, x2)


def mse_loss(x1: Operand, x2: Operand, /, *, reduction: Reduction = "mean") -> Tensor:
    """The squares of the differences: their mean, their sum, or each."""
    return op("mse_loss", x1, x2, reduction=reduction)


def l1_loss(x1: Operand, x2: Operand, /, *, reduction: Reduction = "mean") -> Tensor:
    """The sizes of the differences: their mean, their sum, or each."""
    return op("l1_loss", x1, x2, reduction=reduction)


def huber_loss(
    x1: Operand, x2: Operand, /, *, reduction: Reduction = "mean", delta: float = 1.0
) -> Tensor:
    """Half the square of each difference up to delta, and linear from there."""
    return op("huber_loss", x1, x2, reduction=reduction, delta=delta)


def poisson_nll_loss(
    x1: Operand, x2: Operand, /, *, reduction: Reduction = "mean", log_input: bool = True
) -> Tensor:
    """The negative log likelihood of counts x2 at rates x1, or at rates exp(x1)."""
    return op("poisson_nll_loss", x1, x2, reduction=reduction, log_input=log_input)


def relu(x: Tensor, /) -> Tensor:
    """Each element, or 0 where it is negative."""
    return op("relu", x)


def threshold(x: Tensor, /, *, threshold: float = 0, value: float = 0) -> Tensor:
    """Each element, or the value where it is not above the threshold."""
    return op("threshold", x, threshold=threshold, value=value)


def rsqrt(x: Tensor, /) -> Tensor:
    """1 divided by the square root of each element."""
    return op("rsqrt", x)


def sigmoid(x: Tensor, /) -> Tensor:
    """1 / (1 + exp(-x))."""
    return op("sigmoid", x)


def erf(x: Tensor, /) -> Tensor:
    """The error function of each element."""
    return op("erf", x)


def gelu(x: Tensor, /) -> Tensor:
    """Each element times the probability that a normal variable is below it."""
    return op("gelu", x)


def silu(x: Tensor, /) -> Tensor:
    """Each element times its sigmoid."""
    return op("silu", x)


def softmax(x: Tensor, /, *, axis: int = -1) -> Tensor:
    """The exponentials divided by their sum."""
    return op("softmax", x, axis=axis)


def log_softmax(x: Tensor, /, *, axis: int = -1) -> Tensor:
    """The logarithm of softmax."""
    return op("log_softmax", x, axis=axis)


def angle(x: Tensor, /) -> Tensor:
    """The angle of each complex number; pi for a negative real one."""
    return op("angle", x)


def norm(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The square root of the sum of squares."""
    return op("norm", x, axis=axis, keepdims=keepdims)


def median(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The middle element, or the mean of the middle two."""
    return op("median", x, axis=axis, keepdims=keepdims)


def logsumexp(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials."""
    return op("logsumexp", x, axis=axis, keepdims=keepdims)


def isclose(
    x1: Operand,
    x2: Operand,
    /,
    *,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Tensor:
    """Whether each element is within the tolerance of the other."""
    return op("isclose", x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan)


def allclose(
    x1: Operand,
    x2: Operand,
    /,
    *,
    rtol: float = 1e-5,
    atol: float = 1e-8,
    equal_nan: bool = False,
) -> Tensor:
    """Whether all elements are within the tolerance of one another."""
    return op("allclose", x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan)
