"""Methods with other operands. Written by castwise.array_api.write_methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from castwise.execute import handed
from castwise.execute.methods.spelling import Number, Operand, axis_of, given

if TYPE_CHECKING:
    from castwise.execute.tensor import Tensor


class Pairs:
    """Methods with other operands."""

    __slots__ = ()

    def add(self, other: Operand, *, alpha: Number | None = None) -> Tensor:
        """The sum of two operands."""
        return handed.calls.op("add", self, other, **given(alpha=alpha))

    def addcdiv(self, tensor1: Operand, tensor2: Operand, *, value: Number | None = None) -> Tensor:
        """The first operand plus the quotient of the others, times `value` if given."""
        return handed.calls.op("addcdiv", self, tensor1, tensor2, **given(value=value))

    def addcmul(self, tensor1: Operand, tensor2: Operand, *, value: Number | None = None) -> Tensor:
        """The first operand plus the product of the others, times `value` if given."""
        return handed.calls.op("addcmul", self, tensor1, tensor2, **given(value=value))

    def allclose(
        self, other: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Tensor:
        """Whether all elements are within the tolerance of one another."""
        return handed.calls.op("allclose", self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)

    def atan2(self, other: Operand) -> Tensor:
        """The angle of the points (x2, x1), in all four quadrants."""
        return handed.calls.op("atan2", self, other)

    arctan2 = atan2

    def bitwise_and(self, other: Operand) -> Tensor:
        """The bits set in both operands."""
        return handed.calls.op("bitwise_and", self, other)

    def bitwise_left_shift(self, other: Operand) -> Tensor:
        """The bits of one operand, shifted left by the other."""
        return handed.calls.op("bitwise_left_shift", self, other)

    def bitwise_or(self, other: Operand) -> Tensor:
        """The bits set in either operand."""
        return handed.calls.op("bitwise_or", self, other)

    def bitwise_right_shift(self, other: Operand) -> Tensor:
        """The bits of one operand, shifted right by the other."""
        return handed.calls.op("bitwise_right_shift", self, other)

    def bitwise_xor(self, other: Operand) -> Tensor:
        """The bits set in exactly one of two operands."""
        return handed.calls.op("bitwise_xor", self, other)

    def clamp_max(self, other: Operand) -> Tensor:
        """Each element, no larger than the bound."""
        return handed.calls.op("clamp_max", self, other)

    def clamp_min(self, other: Operand) -> Tensor:
        """Each element, no smaller than the bound."""
        return handed.calls.op("clamp_min", self, other)

    def copysign(self, other: Operand) -> Tensor:
        """The magnitude of one operand with the sign of the other."""
        return handed.calls.op("copysign", self, other)

    def cross(self, other: Tensor, axis: int | None = None, *, dim: int | None = None) -> Tensor:
        """The cross product of vectors with three elements."""
        return handed.calls.op("cross", self, other, axis=axis_of(axis, dim, -1))

    def div(self, other: Operand, *, rounding_mode: str | None = None) -> Tensor:
        """The quotient of two operands."""
        return handed.calls.op("div", self, other, **given(rounding_mode=rounding_mode))

    divide = div

    true_divide = div

    def dot(self, other: Operand) -> Tensor:
        """The sum of products over the last dimension of one and the one before last of the
        other."""
        return handed.calls.op("dot", self, other)

    def eq(self, other: Operand) -> Tensor:
        """Whether two operands are equal."""
        return handed.calls.op("eq", self, other)

    def float_power(self, other: Operand) -> Tensor:
        """One operand to the power of the other, in float64 or complex128."""
        return handed.calls.op("float_power", self, other)

    def floor_divide(self, other: Operand) -> Tensor:
        """The quotient of two operands, rounded down."""
        return handed.calls.op("floor_divide", self, other)

    def fmax(self, other: Operand) -> Tensor:
        """The larger of two operands; if one is NaN, the other."""
        return handed.calls.op("fmax", self, other)

    def fmin(self, other: Operand) -> Tensor:
        """The smaller of two operands; if one is NaN, the other."""
        return handed.calls.op("fmin", self, other)

    def fmod(self, other: Operand) -> Tensor:
        """The remainder of a division, with the sign of the dividend."""
        return handed.calls.op("fmod", self, other)

    def ge(self, other: Operand) -> Tensor:
        """Whether one operand is greater than the other or equal to it."""
        return handed.calls.op("ge", self, other)

    greater_equal = ge

    def gt(self, other: Operand) -> Tensor:
        """Whether one operand is greater than the other."""
        return handed.calls.op("gt", self, other)

    greater = gt

    def heaviside(self, other: Operand) -> Tensor:
        """0 below zero, 1 above, and the second operand at zero."""
        return handed.calls.op("heaviside", self, other)

    def hypot(self, other: Operand) -> Tensor:
        """The length of the hypotenuse of a right triangle with these legs."""
        return handed.calls.op("hypot", self, other)

    def inner(self, other: Operand) -> Tensor:
        """The sum of products over the last dimension of both."""
        return handed.calls.op("inner", self, other)

    def isclose(
        self, other: Operand, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
    ) -> Tensor:
        """Whether each element is within the tolerance of the other."""
        return handed.calls.op("isclose", self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)

    def kron(self, other: Operand) -> Tensor:
        """Each element of the first operand times the whole of the second, laid out as blocks."""
        return handed.calls.op("kron", self, other)

    def ldexp(self, other: Operand) -> Tensor:
        """The first operand times 2 to the power of the second."""
        return handed.calls.op("ldexp", self, other)

    def le(self, other: Operand) -> Tensor:
        """Whether one operand is less than the other or equal to it."""
        return handed.calls.op("le", self, other)

    less_equal = le

    def lerp(self, end: Operand, weight: Operand) -> Tensor:
        """The point between start and end at a weight."""
        return handed.calls.op("lerp", self, end, weight)

    def logaddexp(self, other: Operand) -> Tensor:
        """The logarithm of the sum of exponentials."""
        return handed.calls.op("logaddexp", self, other)

    def logaddexp2(self, other: Operand) -> Tensor:
        """The logarithm to base 2 of the sum of powers of 2."""
        return handed.calls.op("logaddexp2", self, other)

    def logical_and(self, other: Operand) -> Tensor:
        """Whether both operands are true."""
        return handed.calls.op("logical_and", self, other)

    def logical_or(self, other: Operand) -> Tensor:
        """Whether either operand is true."""
        return handed.calls.op("logical_or", self, other)

    def logical_xor(self, other: Operand) -> Tensor:
        """Whether exactly one of two operands is true."""
        return handed.calls.op("logical_xor", self, other)

    def lt(self, other: Operand) -> Tensor:
        """Whether one operand is less than the other."""
        return handed.calls.op("lt", self, other)

    less = lt

    def matmul(self, other: Operand) -> Tensor:
        """The matrix product."""
        return handed.calls.op("matmul", self, other)

    def maximum(self, other: Operand) -> Tensor:
        """The larger of two operands; NaN if one is NaN."""
        return handed.calls.op("maximum", self, other)

    def minimum(self, other: Operand) -> Tensor:
        """The smaller of two operands; NaN if one is NaN."""
        return handed.calls.op("minimum", self, other)

    def mul(self, other: Operand) -> Tensor:
        """The product of two operands."""
        return handed.calls.op("mul", self, other)

    multiply = mul

    def ne(self, other: Operand) -> Tensor:
        """Whether two operands differ."""
        return handed.calls.op("ne", self, other)

    not_equal = ne

    def nextafter(self, other: Operand) -> Tensor:
        """The next number of the dtype after one operand, towards the other."""
        return handed.calls.op("nextafter", self, other)

    def outer(self, other: Operand) -> Tensor:
        """All products of an element of one with an element of the other, for any shapes."""
        return handed.calls.op("outer", self, other)

    ger = outer

    def pow(self, other: Operand) -> Tensor:
        """One operand to the power of the other."""
        return handed.calls.op("pow", self, other)

    def remainder(self, other: Operand) -> Tensor:
        """The remainder of a division, with the sign of the divisor."""
        return handed.calls.op("remainder", self, other)

    def sub(self, other: Operand, *, alpha: Number | None = None) -> Tensor:
        """The difference of two operands."""
        return handed.calls.op("sub", self, other, **given(alpha=alpha))

    subtract = sub

    def vecdot(self, other: Operand) -> Tensor:
        """The sum of products over one dimension, the first operand conjugated."""
        return handed.calls.op("vecdot", self, other)

    def xlogy(self, other: Operand) -> Tensor:
        """The first operand times the logarithm of the second; 0 where the first is 0."""
        return handed.calls.op("xlogy", self, other)
