"""Elementwise functions that compute numbers."""

from __future__ import annotations

from castwise.array_api.calls import Bound, Operand, op
from castwise.arrays.elements import check_tensor
from castwise.arrays.tensor import Tensor

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "hypot",
    "imag",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
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


def ceil(x: Tensor, /) -> Tensor:
    """The next integer up, in the same dtype."""
    return op("ceil", x)


def clip(x: Tensor, /, min: Bound = None, max: Bound = None) -> Tensor:
    """Each element, no smaller than one bound and no larger than the other."""
    return op("clamp", check_tensor(x, "clip"), min, max)


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


def divide(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands."""
    return op("div", x1, x2)


def exp(x: Tensor, /) -> Tensor:
    """e to the power of each element."""
    return op("exp", x)


def expm1(x: Tensor, /) -> Tensor:
    """e to the power of each element, minus 1, exact near 0."""
    return op("expm1", x)


def floor(x: Tensor, /) -> Tensor:
    """The next integer down, in the same dtype."""
    return op("floor", x)


def floor_divide(x1: Operand, x2: Operand, /) -> Tensor:
    """The quotient of two operands, rounded down."""
    return op("floor_divide", x1, x2)


def hypot(x1: Operand, x2: Operand, /) -> Tensor:
    """The length of the hypotenuse of a right triangle with these legs."""
    return op("hypot", x1, x2)


def imag(x: Tensor, /) -> Tensor:
    """The imaginary part of each element."""
    return op("imag", x)


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


def maximum(x1: Operand, x2: Operand, /) -> Tensor:
    """The larger of two operands; NaN if one is NaN."""
    return op("maximum", x1, x2)


def minimum(x1: Operand, x2: Operand, /) -> Tensor:
    """The smaller of two operands; NaN if one is NaN."""
    return op("minimum", x1, x2)


def multiply(x1: Operand, x2: Operand, /) -> Tensor:
    """The product of two operands."""
    return op("mul", x1, x2)


def negative(x: Tensor, /) -> Tensor:
    """Each element with its sign flipped."""
    return op("neg", x)


def nextafter(x1: Operand, x2: Operand, /) -> Tensor:
    """The next number of the dtype after one operand, towards the other."""
    return op("nextafter", x1, x2)


def positive(x: Tensor, /) -> Tensor:
    """Each element unchanged."""
    return op("positive", x)


def pow(x1: Operand, x2: Operand, /) -> Tensor:
    """One operand to the power of the other."""
    return op("pow", x1, x2)


def real(x: Tensor, /) -> Tensor:
    """The real part of each element."""
    return op("real", x)


def reciprocal(x: Tensor, /) -> Tensor:
    """1 divided by each element."""
    return op("reciprocal", x)


def remainder(x1: Operand, x2: Operand, /) -> Tensor:
    """The remainder of a division, with the sign of the divisor."""
    return op("remainder", x1, x2)


def round(x: Tensor, /) -> Tensor:
    """The nearest integer, ties to even, in the same dtype."""
    return op("round", x)


def sign(x: Tensor, /) -> Tensor:
    """-1, 0 or 1; for complex numbers the number divided by its magnitude."""
    return op("sign", x)


def signbit(x: Tensor, /) -> Tensor:
    """Whether the sign bit of each element is set, including that of -0."""
    return op("signbit", x)


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
