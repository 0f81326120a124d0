"""Elementwise comparisons, and functions on bits and bools."""

from __future__ import annotations

from castwise.array_api.calls import Operand, op
from castwise.arrays.tensor import Tensor

__all__ = [
    "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "equal", "greater", "greater_equal", "isfinite", "isinf", "isnan", "less",
    "less_equal", "logical_and", "logical_not", "logical_or", "logical_xor", "not_equal",
]  # fmt: skip


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


def equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether two operands are equal."""
    return op("eq", x1, x2)


def greater(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether one operand is greater than the other."""
    return op("gt", x1, x2)


def greater_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether one operand is greater than the other or equal to it."""
    return op("ge", x1, x2)


def isfinite(x: Tensor, /) -> Tensor:
    """Whether each element is neither infinite nor NaN."""
    return op("isfinite", x)


def isinf(x: Tensor, /) -> Tensor:
    """Whether each element is infinite."""
    return op("isinf", x)


def isnan(x: Tensor, /) -> Tensor:
    """Whether each element is NaN."""
    return op("isnan", x)


def less(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether one operand is less than the other."""
    return op("lt", x1, x2)


def less_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether one operand is less than the other or equal to it."""
    return op("le", x1, x2)


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


def not_equal(x1: Operand, x2: Operand, /) -> Tensor:
    """Whether two operands differ."""
    return op("ne", x1, x2)
