"""Methods with no other operand. Written by castwise.array_api.write_methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from castwise.execute import handed
from castwise.execute.methods.spelling import Operand, axis_of, given

if TYPE_CHECKING:
    from castwise.execute.tensor import Tensor


class Unary:
    """Methods with no other operand."""

    __slots__ = ()

    def abs(self) -> Tensor:
        """The absolute value of each element."""
        return handed.calls.op("abs", self)

    absolute = abs

    def acos(self) -> Tensor:
        """The inverse cosine of each element."""
        return handed.calls.op("acos", self)

    arccos = acos

    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine of each element."""
        return handed.calls.op("acosh", self)

    arccosh = acosh

    def angle(self) -> Tensor:
        """The angle of each complex number; pi for a negative real one."""
        return handed.calls.op("angle", self)

    def asin(self) -> Tensor:
        """The inverse sine of each element."""
        return handed.calls.op("asin", self)

    arcsin = asin

    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine of each element."""
        return handed.calls.op("asinh", self)

    arcsinh = asinh

    def atan(self) -> Tensor:
        """The inverse tangent of each element."""
        return handed.calls.op("atan", self)

    arctan = atan

    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent of each element."""
        return handed.calls.op("atanh", self)

    arctanh = atanh

    def bitwise_not(self) -> Tensor:
        """Each element with its bits inverted."""
        return handed.calls.op("bitwise_not", self)

    def cbrt(self) -> Tensor:
        """The cube root of each element."""
        return handed.calls.op("cbrt", self)

    def ceil(self) -> Tensor:
        """The next integer up, in the same dtype."""
        return handed.calls.op("ceil", self)

    def clamp(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """Each element, no smaller than one bound and no larger than the other."""
        return handed.calls.op("clamp", self, min, max)

    clip = clamp

    def cos(self) -> Tensor:
        """The cosine of each element."""
        return handed.calls.op("cos", self)

    def cosh(self) -> Tensor:
        """The hyperbolic cosine of each element."""
        return handed.calls.op("cosh", self)

    def cumprod(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None
    ) -> Tensor:
        """The product of all elements up to each."""
        return handed.calls.op("cumprod", self, axis=axis_of(axis, dim), **given(dtype=dtype))

    cumulative_prod = cumprod

    def cumsum(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None
    ) -> Tensor:
        """The sum of all elements up to each."""
        return handed.calls.op("cumsum", self, axis=axis_of(axis, dim), **given(dtype=dtype))

    cumulative_sum = cumsum

    def degrees(self) -> Tensor:
        """Each angle, given in radians, in degrees."""
        return handed.calls.op("degrees", self)

    rad2deg = degrees

    def erf(self) -> Tensor:
        """The error function of each element."""
        return handed.calls.op("erf", self)

    def exp(self) -> Tensor:
        """e to the power of each element."""
        return handed.calls.op("exp", self)

    def exp2(self) -> Tensor:
        """2 to the power of each element."""
        return handed.calls.op("exp2", self)

    def expm1(self) -> Tensor:
        """e to the power of each element, minus 1, exact near 0."""
        return handed.calls.op("expm1", self)

    def floor(self) -> Tensor:
        """The next integer down, in the same dtype."""
        return handed.calls.op("floor", self)

    def gelu(self) -> Tensor:
        """Each element times the probability that a normal variable is below it."""
        return handed.calls.op("gelu", self)

    def isfinite(self) -> Tensor:
        """Whether each element is neither infinite nor NaN."""
        return handed.calls.op("isfinite", self)

    def isinf(self) -> Tensor:
        """Whether each element is infinite."""
        return handed.calls.op("isinf", self)

    def isnan(self) -> Tensor:
        """Whether each element is NaN."""
        return handed.calls.op("isnan", self)

    def log(self) -> Tensor:
        """The natural logarithm of each element."""
        return handed.calls.op("log", self)

    def log10(self) -> Tensor:
        """The logarithm to base 10 of each element."""
        return handed.calls.op("log10", self)

    def log1p(self) -> Tensor:
        """The logarithm of 1 plus each element, exact near 0."""
        return handed.calls.op("log1p", self)

    def log2(self) -> Tensor:
        """The logarithm to base 2 of each element."""
        return handed.calls.op("log2", self)

    def log_softmax(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None
    ) -> Tensor:
        """The logarithm of softmax."""
        return handed.calls.op(
            "log_softmax", self, axis=axis_of(axis, dim, -1), **given(dtype=dtype)
        )

    def logical_not(self) -> Tensor:
        """Whether each element is false."""
        return handed.calls.op("logical_not", self)

    def neg(self) -> Tensor:
        """Each element with its sign flipped."""
        return handed.calls.op("neg", self)

    negative = neg

    def positive(self) -> Tensor:
        """Each element unchanged."""
        return handed.calls.op("positive", self)

    def radians(self) -> Tensor:
        """Each angle, given in degrees, in radians."""
        return handed.calls.op("radians", self)

    deg2rad = radians

    def reciprocal(self) -> Tensor:
        """1 divided by each element."""
        return handed.calls.op("reciprocal", self)

    def relu(self) -> Tensor:
        """Each element, or 0 where it is negative."""
        return handed.calls.op("relu", self)

    def rsqrt(self) -> Tensor:
        """1 divided by the square root of each element."""
        return handed.calls.op("rsqrt", self)

    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x))."""
        return handed.calls.op("sigmoid", self)

    def sign(self) -> Tensor:
        """-1, 0 or 1; for complex numbers the number divided by its magnitude."""
        return handed.calls.op("sign", self)

    def signbit(self) -> Tensor:
        """Whether the sign bit of each element is set, including that of -0."""
        return handed.calls.op("signbit", self)

    def sin(self) -> Tensor:
        """The sine of each element."""
        return handed.calls.op("sin", self)

    def sinh(self) -> Tensor:
        """The hyperbolic sine of each element."""
        return handed.calls.op("sinh", self)

    def softmax(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None
    ) -> Tensor:
        """The exponentials divided by their sum."""
        return handed.calls.op("softmax", self, axis=axis_of(axis, dim, -1), **given(dtype=dtype))

    def sqrt(self) -> Tensor:
        """The square root of each element."""
        return handed.calls.op("sqrt", self)

    def square(self) -> Tensor:
        """The square of each element."""
        return handed.calls.op("square", self)

    def tan(self) -> Tensor:
        """The tangent of each element."""
        return handed.calls.op("tan", self)

    def tanh(self) -> Tensor:
        """The hyperbolic tangent of each element."""
        return handed.calls.op("tanh", self)

    def threshold(self, threshold: float = 0, value: float = 0) -> Tensor:
        """Each element, or the value where it is not above the threshold."""
        return handed.calls.op("threshold", self, threshold=threshold, value=value)

    def trunc(self) -> Tensor:
        """Each element truncated towards zero, in the same dtype."""
        return handed.calls.op("trunc", self)

    fix = trunc
