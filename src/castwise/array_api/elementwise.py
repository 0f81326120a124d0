"""Functions that are ops and take one or two operands, or reduce one: those of the standard, and
some beyond it. Written by tools/methods.py."""

from __future__ import annotations

from castwise.array_api.calls import Axes, Operand, op
from castwise.arrays.tensor import Tensor

__all__ = [
    "abs", "acos", "acosh", "add", "all", "angle", "any", "argmax", "argmin", "asin", "asinh",
    "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "cbrt", "ceil", "clamp_max", "clamp_min", "conj",
    "copysign", "cos", "cosh", "count_nonzero", "degrees", "div_no_nan", "divide", "dot", "equal",
    "erf", "exp", "exp2", "expm1", "float_power", "floor", "floor_div", "floor_divide", "fmax",
    "fmin", "fmod", "gelu", "greater", "greater_equal", "heaviside", "hypot", "imag", "inner",
    "isfinite", "isinf", "isnan", "kron", "ldexp", "less", "less_equal", "log", "log1p", "log2",
    "log10", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor",
    "logsumexp", "max", "maximum", "mean", "median", "min", "minimum", "multiply",
    "multiply_no_nan", "negative", "nextafter", "not_equal", "outer", "positive", "pow", "radians",
    "real", "real_div", "reciprocal", "relu", "remainder", "round", "rsqrt", "rsub", "sigmoid",
    "sign", "signbit", "silu", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
    "truncate_div", "xlogy",
]  # fmt: skip


def abs(x: Tensor, /) -> Tensor:
    """The absolute value of each element."""
    return op("abs", x)


def acos(x: Tensor, /) -> Tensor:
    """The inverse cosine of each element."""
    return op("acos", x)


def acosh(x: Tensor, /) -> Tensor:
    """The inverse hyperbolic cosine of each element."""
    return op("acosh", x)


def add(x1: Operand, x2: Operand, /) -> Tensor:
    """The sum of two operands."""
    return op("add", x1, x2)


def all(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether all elements are true."""
    return op("all", x, axis=axis, keepdims=keepdims)


def angle(x: Tensor, /) -> Tensor:
    """The angle of each complex number; pi for a negative real one."""
    return op("angle", x)


def any(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """Whether at least one element is true."""
    return op("any", x, axis=axis, keepdims=keepdims)


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the largest element."""
    return op("argmax", x, axis=axis, keepdims=keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The index of the smallest element."""
    return op("argmin", x, axis=axis, keepdims=keepdims)


def asin(x: Tensor, /) -> Tensor:
    """The inverse sine of each element."""
    return op("asin", x)


def asinh(x: Tensor, /) -> Tensor:
    """The inverse hyperbolic sine of each element."""
    return op("asinh", x)


def atan(x: Tensor, /) -> Tensor:
    """The inverse tangent of each element."""
    return op("atan", x)


def atan2(x1: Operand, x2: Operand, /) -> Tensor:
    """The angle of the points (x2, x1), in all four quadrants."""
    return op("atan2", x1, x2)


def atanh(x: Tensor, /) -> Tensor:
    """The inverse hyperbolic tangent of each element."""
    return op("atanh", x)


def bitwise_and(x1: Operand, x2: Operand, /) -> Tensor:
    """The bits set in both operands."""
    return op("bitwise_and", x1, x2)


def bitwise_invert(x: Tensor, /) -> Tensor:
    """Each element with its bits inverted."""
    return op("bitwise_not", x)


def bitwise_left_shift(x1: Operand, x2: Operand, /) -> Tensor:
    """The bits of one operand, shifted left by the other."""
    return op("bitwise_left_shift", x1, x2)


def bitwise_or(x1: Operand, x2: Operand, /) -> Tensor:
    """The bits set in either operand."""
    return op("bitwise_or", x1, x2)


def bitwise_right_shift(x1: Operand, x2: Operand, /) -> Tensor:
    """The bits of one operand, shifted right by the other."""
    return op("bitwise_right_shift", x1, x2)


def bitwise_xor(x1: Operand, x2: Operand, /) -> Tensor:
    """The bits set in exactly one of two operands."""
    return op("bitwise_xor", x1, x2)


def cbrt(x: Tensor, /) -> Tensor:
    """The cube root of each element."""
    return op("cbrt", x)


def ceil(x: Tensor, /) -> Tensor:
    """The next integer up, in the same dtype."""
    return op("ceil", x)


def clamp_max(x1: Operand, x2: Operand, /) -> Tensor:
    """Each element, no larger than the bound."""
    return op("clamp_max", x1, x2)


def clamp_min(x1: Operand, x2: Operand, /) -> Tensor:
    """Each element, no smaller than the bound."""
    return op("clamp_min", x1, x2)


def conj(x: Tensor, /) -> Tensor:
    """The complex conjugate of each element."""
    return op("conj", x)


def copysign(x1: Operand, x2: Operand, /) -> Tensor:
    """The magnitude of one operand with the sign of the other."""
    return op("copysign", x1, x2)


def cos(x: Tensor, /) -> Tensor:
    """The cosine of each element."""
    return op("cos", x)


def cosh(x: Tensor, /) -> Tensor:
    """The hyperbolic cosine of each element."""
    return op("cosh", x)


def count_nonzero(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """How many elements are not zero."""
    return op("count_nonzero", x, axis=axis, keepdims=keepdims)


def degrees(x: Tensor, /) -> Tensor:
    """Each angle, given in radians, in degrees."""
    return op("degrees", x)


def div_no_nan(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands; 0 where the divisor is 0."""
    return op("div_no_nan", x1, x2)


def divide(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands."""
    return op("div", x1, x2)


def dot(x1: Operand, x2: Operand, /) -> Tensor:
    """The sum of products over the last dimension of one and the one before last of the other."""
    return op("dot", x1, x2)


def equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether two operands are equal."""
    return op("eq", x1, x2)


def erf(x: Tensor, /) -> Tensor:
    """The error function of each element."""
    return op("erf", x)


def exp(x: Tensor, /) -> Tensor:
    """e to the power of each element."""
    return op("exp", x)


def exp2(x: Tensor, /) -> Tensor:
    """2 to the power of each element."""
    return op("exp2", x)


def expm1(x: Tensor, /) -> Tensor:
    """e to the power of each element, minus 1, exact near 0."""
    return op("expm1", x)


def float_power(x1: Operand, x2: Operand, /) -> Tensor:
    """One operand to the power of the other, in float64 or complex128."""
    return op("float_power", x1, x2)


def floor(x: Tensor, /) -> Tensor:
    """The next integer down, in the same dtype."""
    return op("floor", x)


def floor_div(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands, rounded down."""
    return op("floor_div", x1, x2)


def floor_divide(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands, rounded down."""
    return op("floor_divide", x1, x2)


def fmax(x1: Operand, x2: Operand, /) -> Tensor:
    """The larger of two operands; if one is NaN, the other."""
    return op("fmax", x1, x2)


def fmin(x1: Operand, x2: Operand, /) -> Tensor:
    """The smaller of two operands; if one is NaN, the other."""
    return op("fmin", x1, x2)


def fmod(x1: Operand, x2: Operand, /) -> Tensor:
    """The remainder of a division, with the sign of the dividend."""
    return op("fmod", x1, x2)


def gelu(x: Tensor, /) -> Tensor:
    """Each element times the probability that a normal variable is below it."""
    return op("gelu", x)


def greater(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether one operand is greater than the other."""
    return op("gt", x1, x2)


def greater_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether one operand is greater than the other or equal to it."""
    return op("ge", x1, x2)


def heaviside(x1: Operand, x2: Operand, /) -> Tensor:
    """0 below zero, 1 above, and the second operand at zero."""
    return op("heaviside", x1, x2)


def hypot(x1: Operand, x2: Operand, /) -> Tensor:
    """The length of the hypotenuse of a right triangle with these legs."""
    return op("hypot", x1, x2)


def imag(x: Tensor, /) -> Tensor:
    """The imaginary part of each element."""
    return op("imag", x)


def inner(x1: Operand, x2: Operand, /) -> Tensor:
    """The sum of products over the last dimension of both."""
    return op("inner", x1, x2)


def isfinite(x: Tensor, /) -> Tensor:
    """Whether each element is neither infinite nor NaN."""
    return op("isfinite", x)


def isinf(x: Tensor, /) -> Tensor:
    """Whether each element is infinite."""
    return op("isinf", x)


def isnan(x: Tensor, /) -> Tensor:
    """Whether each element is NaN."""
    return op("isnan", x)


def kron(x1: Operand, x2: Operand, /) -> Tensor:
    """Each element of the first operand times the whole of the second, laid out as blocks."""
    return op("kron", x1, x2)


def ldexp(x1: Operand, x2: Operand, /) -> Tensor:
    """The first operand times 2 to the power of the second."""
    return op("ldexp", x1, x2)


def less(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether one operand is less than the other."""
    return op("lt", x1, x2)


def less_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether one operand is less than the other or equal to it."""
    return op("le", x1, x2)


def log(x: Tensor, /) -> Tensor:
    """The natural logarithm of each element."""
    return op("log", x)


def log10(x: Tensor, /) -> Tensor:
    """The logarithm to base 10 of each element."""
    return op("log10", x)


def log1p(x: Tensor, /) -> Tensor:
    """The logarithm of 1 plus each element, exact near 0."""
    return op("log1p", x)


def log2(x: Tensor, /) -> Tensor:
    """The logarithm to base 2 of each element."""
    return op("log2", x)


def logaddexp(x1: Operand, x2: Operand, /) -> Tensor:
    """The logarithm of the sum of exponentials."""
    return op("logaddexp", x1, x2)


def logaddexp2(x1: Operand, x2: Operand, /) -> Tensor:
    """The logarithm to base 2 of the sum of powers of 2."""
    return op("logaddexp2", x1, x2)


def logical_and(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether both operands are true."""
    return op("logical_and", x1, x2)


def logical_not(x: Tensor, /) -> Tensor:
    """Whether each element is false."""
    return op("logical_not", x)


def logical_or(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether either operand is true."""
    return op("logical_or", x1, x2)


def logical_xor(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether exactly one of two operands is true."""
    return op("logical_xor", x1, x2)


def logsumexp(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The logarithm of the sum of exponentials."""
    return op("logsumexp", x, axis=axis, keepdims=keepdims)


def max(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The largest element."""
    return op("max", x, axis=axis, keepdims=keepdims)


def maximum(x1: Operand, x2: Operand, /) -> Tensor:
    """The larger of two operands; NaN if one is NaN."""
    return op("maximum", x1, x2)


def mean(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The mean of the elements."""
    return op("mean", x, axis=axis, keepdims=keepdims)


def median(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The middle element, or the mean of the middle two."""
    return op("median", x, axis=axis, keepdims=keepdims)


def min(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
    """The smallest element."""
    return op("min", x, axis=axis, keepdims=keepdims)


def minimum(x1: Operand, x2: Operand, /) -> Tensor:
    """The smaller of two operands; NaN if one is NaN."""
    return op("minimum", x1, x2)


def multiply(x1: Operand, x2: Operand, /) -> Tensor:
    """The product of two operands."""
    return op("mul", x1, x2)


def multiply_no_nan(x1: Operand, x2: Operand, /) -> Tensor:
    """The product of two operands; 0 where the second is 0, for any first operand."""
    return op("multiply_no_nan", x1, x2)


def negative(x: Tensor, /) -> Tensor:
    """Each element with its sign flipped."""
    return op("neg", x)


def nextafter(x1: Operand, x2: Operand, /) -> Tensor:
    """The next number of the dtype after one operand, towards the other."""
    return op("nextafter", x1, x2)


def not_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether two operands differ."""
    return op("ne", x1, x2)


def outer(x1: Operand, x2: Operand, /) -> Tensor:
    """All products of an element of one with an element of the other, for any shapes."""
    return op("outer", x1, x2)


def positive(x: Tensor, /) -> Tensor:
    """Each element unchanged."""
    return op("positive", x)


def pow(x1: Operand, x2: Operand, /) -> Tensor:
    """One operand to the power of the other."""
    return op("pow", x1, x2)


def radians(x: Tensor, /) -> Tensor:
    """Each angle, given in degrees, in radians."""
    return op("radians", x)


def real(x: Tensor, /) -> Tensor:
    """The real part of each element."""
    return op("real", x)


def real_div(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands, in their own dtype."""
    return op("real_div", x1, x2)


def reciprocal(x: Tensor, /) -> Tensor:
    """1 divided by each element."""
    return op("reciprocal", x)


def relu(x: Tensor, /) -> Tensor:
    """Each element, or 0 where it is negative."""
    return op("relu", x)


def remainder(x1: Operand, x2: Operand, /) -> Tensor:
    """The remainder of a division, with the sign of the divisor."""
    return op("remainder", x1, x2)


def round(x: Tensor, /) -> Tensor:
    """The nearest integer, ties to even, in the same dtype."""
    return op("round", x)


def rsqrt(x: Tensor, /) -> Tensor:
    """1 divided by the square root of each element."""
    return op("rsqrt", x)


def rsub(x1: Operand, x2: Operand, /) -> Tensor:
    """The second operand minus the first."""
    return op("rsub", x1, x2)


def sigmoid(x: Tensor, /) -> Tensor:
    """1 / (1 + exp(-x))."""
    return op("sigmoid", x)


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1; for complex numbers the number divided by its magnitude."""
    return op("sign", x)


def signbit(x: Tensor, /) -> Tensor:
    """Whether the sign bit of each element is set, including that of -0."""
    return op("signbit", x)


def silu(x: Tensor, /) -> Tensor:
    """Each element times its sigmoid."""
    return op("silu", x)


def sin(x: Tensor, /) -> Tensor:
    """The sine of each element."""
    return op("sin", x)


def sinh(x: Tensor, /) -> Tensor:
    """The hyperbolic sine of each element."""
    return op("sinh", x)


def sqrt(x: Tensor, /) -> Tensor:
    """The square root of each element."""
    return op("sqrt", x)


def square(x: Tensor, /) -> Tensor:
    """The square of each element."""
    return op("square", x)


def subtract(x1: Operand, x2: Operand, /) -> Tensor:
    """The difference of two operands."""
    return op("sub", x1, x2)


def tan(x: Tensor, /) -> Tensor:
    """The tangent of each element."""
    return op("tan", x)


def tanh(x: Tensor, /) -> Tensor:
    """The hyperbolic tangent of each element."""
    return op("tanh", x)


def trunc(x: Tensor, /) -> Tensor:
    """Each element truncated towards zero, in the same dtype."""
    return op("trunc", x)


def truncate_div(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands, truncated towards zero."""
    return op("truncate_div", x1, x2)


def xlogy(x1: Operand, x2: Operand, /) -> Tensor:
    """The first operand times the logarithm of the second; 0 where the first is 0."""
    return op("xlogy", x1, x2)
