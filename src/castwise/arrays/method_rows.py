"""Methods that are ops. Written by tools/methods.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

from castwise.arrays.apply import apply_op
from castwise.arrays.spelling import Axes, Number, Operand, axis_or_dim, corrected, given, reduced

if TYPE_CHECKING:
    from castwise.arrays.tensor import Tensor


class Unary:
    """Methods with no other operand."""

    __slots__ = ()

    def abs(self) -> Tensor:
        """The absolute value of each element."""
        return apply_op("abs", self)

    absolute = abs

    def acos(self) -> Tensor:
        """The inverse cosine of each element."""
        return apply_op("acos", self)

    arccos = acos

    def acosh(self) -> Tensor:
        """The inverse hyperbolic cosine of each element."""
        return apply_op("acosh", self)

    arccosh = acosh

    def angle(self) -> Tensor:
        """The angle of each complex number; pi for a negative real one."""
        return apply_op("angle", self)

    def asin(self) -> Tensor:
        """The inverse sine of each element."""
        return apply_op("asin", self)

    arcsin = asin

    def asinh(self) -> Tensor:
        """The inverse hyperbolic sine of each element."""
        return apply_op("asinh", self)

    arcsinh = asinh

    def atan(self) -> Tensor:
        """The inverse tangent of each element."""
        return apply_op("atan", self)

    arctan = atan

    def atanh(self) -> Tensor:
        """The inverse hyperbolic tangent of each element."""
        return apply_op("atanh", self)

    arctanh = atanh

    def bitwise_not(self) -> Tensor:
        """Each element with its bits inverted."""
        return apply_op("bitwise_not", self)

    def cbrt(self) -> Tensor:
        """The cube root of each element."""
        return apply_op("cbrt", self)

    def ceil(self) -> Tensor:
        """The next integer up, in the same dtype."""
        return apply_op("ceil", self)

    def clamp(self, min: Operand | None = None, max: Operand | None = None) -> Tensor:
        """Each element, no smaller than one bound and no larger than the other."""
        return apply_op("clamp", self, min, max)

    clip = clamp

    def cos(self) -> Tensor:
        """The cosine of each element."""
        return apply_op("cos", self)

    def cosh(self) -> Tensor:
        """The hyperbolic cosine of each element."""
        return apply_op("cosh", self)

    def cumprod(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None
    ) -> Tensor:
        """The product of all elements up to each."""
        return apply_op("cumprod", self, axis=axis_or_dim(axis, dim), **given(dtype=dtype))

    cumulative_prod = cumprod

    def cumsum(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None
    ) -> Tensor:
        """The sum of all elements up to each."""
        return apply_op("cumsum", self, axis=axis_or_dim(axis, dim), **given(dtype=dtype))

    cumulative_sum = cumsum

    def degrees(self) -> Tensor:
        """Each angle, given in radians, in degrees."""
        return apply_op("degrees", self)

    rad2deg = degrees

    def erf(self) -> Tensor:
        """The error function of each element."""
        return apply_op("erf", self)

    def exp(self) -> Tensor:
        """e to the power of each element."""
        return apply_op("exp", self)

    def exp2(self) -> Tensor:
        """2 to the power of each element."""
        return apply_op("exp2", self)

    def expm1(self) -> Tensor:
        """e to the power of each element, minus 1, exact near 0."""
        return apply_op("expm1", self)

    def floor(self) -> Tensor:
        """The next integer down, in the same dtype."""
        return apply_op("floor", self)

    def gelu(self) -> Tensor:
        """Each element times the probability that a normal variable is below it."""
        return apply_op("gelu", self)

    def isfinite(self) -> Tensor:
        """Whether each element is neither infinite nor NaN."""
        return apply_op("isfinite", self)

    def isinf(self) -> Tensor:
        """Whether each element is infinite."""
        return apply_op("isinf", self)

    def isnan(self) -> Tensor:
        """Whether each element is NaN."""
        return apply_op("isnan", self)

    def log(self) -> Tensor:
        """The natural logarithm of each element."""
        return apply_op("log", self)

    def log10(self) -> Tensor:
        """The logarithm to base 10 of each element."""
        return apply_op("log10", self)

    def log1p(self) -> Tensor:
        """The logarithm of 1 plus each element, exact near 0."""
        return apply_op("log1p", self)

    def log2(self) -> Tensor:
        """The logarithm to base 2 of each element."""
        return apply_op("log2", self)

    def log_softmax(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None
    ) -> Tensor:
        """The logarithm of softmax."""
        return apply_op("log_softmax", self, axis=axis_or_dim(axis, dim, -1), **given(dtype=dtype))

    def logical_not(self) -> Tensor:
        """Whether each element is false."""
        return apply_op("logical_not", self)

    def neg(self) -> Tensor:
        """Each element with its sign flipped."""
        return apply_op("neg", self)

    negative = neg

    def positive(self) -> Tensor:
        """Each element unchanged."""
        return apply_op("positive", self)

    def radians(self) -> Tensor:
        """Each angle, given in degrees, in radians."""
        return apply_op("radians", self)

    deg2rad = radians

    def reciprocal(self) -> Tensor:
        """1 divided by each element."""
        return apply_op("reciprocal", self)

    def relu(self) -> Tensor:
        """Each element, or 0 where it is negative."""
        return apply_op("relu", self)

    def rsqrt(self) -> Tensor:
        """1 divided by the square root of each element."""
        return apply_op("rsqrt", self)

    def sigmoid(self) -> Tensor:
        """1 / (1 + exp(-x))."""
        return apply_op("sigmoid", self)

    def sign(self) -> Tensor:
        """-1, 0 or 1; for complex numbers the number divided by its magnitude."""
        return apply_op("sign", self)

    def signbit(self) -> Tensor:
        """Whether the sign bit of each element is set, including that of -0."""
        return apply_op("signbit", self)

    def sin(self) -> Tensor:
        """The sine of each element."""
        return apply_op("sin", self)

    def sinh(self) -> Tensor:
        """The hyperbolic sine of each element."""
        return apply_op("sinh", self)

    def softmax(
        self, axis: int | None = None, *, dtype: object = None, dim: int | None = None
    ) -> Tensor:
        """The exponentials divided by their sum."""
        return apply_op("softmax", self, axis=axis_or_dim(axis, dim, -1), **given(dtype=dtype))

    def sqrt(self) -> Tensor:
        """The square root of each element."""
        return apply_op("sqrt", self)

    def square(self) -> Tensor:
        """The square of each element."""
        return apply_op("square", self)

    def tan(self) -> Tensor:
        """The tangent of each element."""
        return apply_op("tan", self)

    def tanh(self) -> Tensor:
        """The hyperbolic tangent of each element."""
        return apply_op("tanh", self)

    def threshold(self, threshold: float = 0, value: float = 0) -> Tensor:
        """Each element, or the value where it is not above the threshold."""
        return apply_op("threshold", self, threshold=threshold, value=value)

    def trunc(self) -> Tensor:
        """Each element truncated towards zero, in the same dtype."""
        return apply_op("trunc", self)

    fix = trunc


class Pairs:
    """Methods with other operands."""

    __slots__ = ()

    def add(self, other: Operand, *, alpha: Number | None = None) -> Tensor:
        """The sum of two operands."""
        return apply_op("add", self, other, **given(alpha=alpha))

    def addcdiv(self, tensor1: Operand, tensor2: Operand, *, value: Number | None = None) -> Tensor:
        """The first operand plus the quotient of the others, times `value` if given."""
        return apply_op("addcdiv", self, tensor1, tensor2, **given(value=value))

    def addcmul(self, tensor1: Operand, tensor2: Operand, *, value: Number | None = None) -> Tensor:
        """The first operand plus the product of the others, times `value` if given."""
        return apply_op("addcmul", self, tensor1, tensor2, **given(value=value))

    def allclose(
        self, other: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Tensor:
        """Whether all elements are within the tolerance of one another."""
        return apply_op("allclose", self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)

    def atan2(self, other: Operand) -> Tensor:
        """The angle of the points (x2, x1), in all four quadrants."""
        return apply_op("atan2", self, other)

    arctan2 = atan2

    def bitwise_and(self, other: Operand) -> Tensor:
        """The bits set in both operands."""
        return apply_op("bitwise_and", self, other)

    def bitwise_left_shift(self, other: Operand) -> Tensor:
        """The bits of one operand, shifted left by the other."""
        return apply_op("bitwise_left_shift", self, other)

    def bitwise_or(self, other: Operand) -> Tensor:
        """The bits set in either operand."""
        return apply_op("bitwise_or", self, other)

    def bitwise_right_shift(self, other: Operand) -> Tensor:
        """The bits of one operand, shifted right by the other."""
        return apply_op("bitwise_right_shift", self, other)

    def bitwise_xor(self, other: Operand) -> Tensor:
        """The bits set in exactly one of two operands."""
        return apply_op("bitwise_xor", self, other)

    def clamp_max(self, other: Operand) -> Tensor:
        """Each element, no larger than the bound."""
        return apply_op("clamp_max", self, other)

    def clamp_min(self, other: Operand) -> Tensor:
        """Each element, no smaller than the bound."""
        return apply_op("clamp_min", self, other)

    def copysign(self, other: Operand) -> Tensor:
        """The magnitude of one operand with the sign of the other."""
        return apply_op("copysign", self, other)

    def cross(self, other: Tensor, axis: int | None = None, *, dim: int | None = None) -> Tensor:
        """The cross product of vectors with three elements."""
        return apply_op("cross", self, other, axis=axis_or_dim(axis, dim, -1))

    def div(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """The quotient of two operands."""
        return apply_op("div", self, other, **given(rounding_mode=rounding_mode))

    divide = div

    true_divide = div

    def dot(self, other: Operand) -> Tensor:
        """The sum of products over the last dimension of one and the one before last of the
        other."""
        return apply_op("dot", self, other)

    def eq(self, other: Operand) -> Tensor:
        """Whether two operands are equal."""
        return apply_op("eq", self, other)

    def float_power(self, other: Operand) -> Tensor:
        """One operand to the power of the other, in float64 or complex128."""
        return apply_op("float_power", self, other)

    def floor_divide(self, other: Operand) -> Tensor:
        """The quotient of two operands, rounded down."""
        return apply_op("floor_divide", self, other)

    def fmax(self, other: Operand) -> Tensor:
        """The larger of two operands; if one is NaN, the other."""
        return apply_op("fmax", self, other)

    def fmin(self, other: Operand) -> Tensor:
        """The smaller of two operands; if one is NaN, the other."""
        return apply_op("fmin", self, other)

    def fmod(self, other: Operand) -> Tensor:
        """The remainder of a division, with the sign of the dividend."""
        return apply_op("fmod", self, other)

    def ge(self, other: Operand) -> Tensor:
        """Whether one operand is greater than the other or equal to it."""
        return apply_op("ge", self, other)

    greater_equal = ge

    def gt(self, other: Operand) -> Tensor:
        """Whether one operand is greater than the other."""
        return apply_op("gt", self, other)

    greater = gt

    def heaviside(self, other: Operand) -> Tensor:
        """0 below zero, 1 above, and the second operand at zero."""
        return apply_op("heaviside", self, other)

    def hypot(self, other: Operand) -> Tensor:
        """The length of the hypotenuse of a right triangle with these legs."""
        return apply_op("hypot", self, other)

    def inner(self, other: Operand) -> Tensor:
        """The sum of products over the last dimension of both."""
        return apply_op("inner", self, other)

    def isclose(
        self, other: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Tensor:
        """Whether each element is within the tolerance of the other."""
        return apply_op("isclose", self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)

    def kron(self, other: Operand) -> Tensor:
        """Each element of the first operand times the whole of the second, laid out as blocks."""
        return apply_op("kron", self, other)

    def ldexp(self, other: Operand) -> Tensor:
        """The first operand times 2 to the power of the second."""
        return apply_op("ldexp", self, other)

    def le(self, other: Operand) -> Tensor:
        """Whether one operand is less than the other or equal to it."""
        return apply_op("le", self, other)

    less_equal = le

    def lerp(self, end: Operand, weight: Operand) -> Tensor:
        """The point between start and end at a weight."""
        return apply_op("lerp", self, end, weight)

    def logaddexp(self, other: Operand) -> Tensor:
        """The logarithm of the sum of exponentials."""
        return apply_op("logaddexp", self, other)

    def logaddexp2(self, other: Operand) -> Tensor:
        """The logarithm to base 2 of the sum of powers of 2."""
        return apply_op("logaddexp2", self, other)

    def logical_and(self, other: Operand) -> Tensor:
        """Whether both operands are true."""
        return apply_op("logical_and", self, other)

    def logical_or(self, other: Operand) -> Tensor:
        """Whether either operand is true."""
        return apply_op("logical_or", self, other)

    def logical_xor(self, other: Operand) -> Tensor:
        """Whether exactly one of two operands is true."""
        return apply_op("logical_xor", self, other)

    def lt(self, other: Operand) -> Tensor:
        """Whether one operand is less than the other."""
        return apply_op("lt", self, other)

    less = lt

    def matmul(self, other: Operand) -> Tensor:
        """The matrix product."""
        return apply_op("matmul", self, other)

    def maximum(self, other: Operand) -> Tensor:
        """The larger of two operands; NaN if one is NaN."""
        return apply_op("maximum", self, other)

    def minimum(self, other: Operand) -> Tensor:
        """The smaller of two operands; NaN if one is NaN."""
        return apply_op("minimum", self, other)

    def mul(self, other: Operand) -> Tensor:
        """The product of two operands."""
        return apply_op("mul", self, other)

    multiply = mul

    def ne(self, other: Operand) -> Tensor:
        """Whether two operands differ."""
        return apply_op("ne", self, other)

    not_equal = ne

    def nextafter(self, other: Operand) -> Tensor:
        """The next number of the dtype after one operand, towards the other."""
        return apply_op("nextafter", self, other)

    def outer(self, other: Operand) -> Tensor:
        """All products of an element of one with an element of the other, for any shapes."""
        return apply_op("outer", self, other)

    ger = outer

    def pow(self, other: Operand) -> Tensor:
        """One operand to the power of the other."""
        return apply_op("pow", self, other)

    def remainder(self, other: Operand) -> Tensor:
        """The remainder of a division, with the sign of the divisor."""
        return apply_op("remainder", self, other)

    def sub(self, other: Operand, *, alpha: Number | None = None) -> Tensor:
        """The difference of two operands."""
        return apply_op("sub", self, other, **given(alpha=alpha))

    subtract = sub

    def vecdot(self, other: Operand) -> Tensor:
        """The sum of products over one dimension, the first operand conjugated."""
        return apply_op("vecdot", self, other)

    def xlogy(self, other: Operand) -> Tensor:
        """The first operand times the logarithm of the second; 0 where the first is 0."""
        return apply_op("xlogy", self, other)


class Reductions:
    """Methods that reduce a tensor along dimensions."""

    __slots__ = ()

    def all(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """Whether all elements are true."""
        return apply_op("all", self, **reduced(axis, keepdims, dim, keepdim), **given(where=where))

    def amax(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        initial: Operand | None = None,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The largest element."""
        return apply_op(
            "max",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **given(initial=initial, where=where),
        )

    def amin(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        initial: Operand | None = None,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The smallest element."""
        return apply_op(
            "min",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **given(initial=initial, where=where),
        )

    def any(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """Whether at least one element is true."""
        return apply_op("any", self, **reduced(axis, keepdims, dim, keepdim), **given(where=where))

    def argmax(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The index of the largest element."""
        return apply_op("argmax", self, **reduced(axis, keepdims, dim, keepdim))

    def argmin(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The index of the smallest element."""
        return apply_op("argmin", self, **reduced(axis, keepdims, dim, keepdim))

    def count_nonzero(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """How many elements are not zero."""
        return apply_op("count_nonzero", self, **reduced(axis, keepdims, dim, keepdim))

    def logsumexp(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The logarithm of the sum of exponentials."""
        return apply_op("logsumexp", self, **reduced(axis, keepdims, dim, keepdim))

    def mean(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dtype: object = None,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The mean of the elements."""
        return apply_op(
            "mean", self, **reduced(axis, keepdims, dim, keepdim), **given(dtype=dtype, where=where)
        )

    def prod(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dtype: object = None,
        initial: Operand | None = None,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The product of the elements."""
        return apply_op(
            "prod",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **given(dtype=dtype, initial=initial, where=where),
        )

    def std(
        self,
        axis: Axes = None,
        *,
        correction: float | None = None,
        ddof: float | None = None,
        unbiased: bool | None = None,
        keepdims: bool = False,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The standard deviation of the elements."""
        return apply_op(
            "std",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **corrected(correction, ddof, unbiased),
        )

    def sum(
        self,
        axis: Axes = None,
        keepdims: bool = False,
        *,
        dtype: object = None,
        initial: Operand | None = None,
        where: Tensor | None = None,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The sum of the elements."""
        return apply_op(
            "sum",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **given(dtype=dtype, initial=initial, where=where),
        )

    def var(
        self,
        axis: Axes = None,
        *,
        correction: float | None = None,
        ddof: float | None = None,
        unbiased: bool | None = None,
        keepdims: bool = False,
        dim: Axes = None,
        keepdim: bool | None = None,
    ) -> Tensor:
        """The variance of the elements."""
        return apply_op(
            "var",
            self,
            **reduced(axis, keepdims, dim, keepdim),
            **corrected(correction, ddof, unbiased),
        )
