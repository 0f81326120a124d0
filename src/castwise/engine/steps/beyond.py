"""Whether a number lies beyond a dtype."""

from __future__ import annotations

import math

from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Scalar


def is_unconvertible(value: Scalar | None, compute: DType) -> bool:
    """torch's c10::overflows: an unsigned dtype takes negative integers, not floats, down to -max;
    inf and NaN pass."""
    if isinstance(value, complex):
        return any(is_unconvertible(part, compute) for part in (value.real, value.imag))
    assert value is not None
    is_unsigned = compute.kind == "int" and not compute.is_signed
    is_taken = is_unsigned and isinstance(value, int) and -compute.max <= value < 0
    return not is_taken and is_beyond(value, compute)


def is_beyond(value: Scalar | None, dtype: DType) -> bool:
    """Whether a number lies outside the range of a dtype; inf and NaN are in that of any float."""
    if isinstance(value, complex):
        return any(is_beyond(part, dtype) for part in (value.real, value.imag))
    if value is None or dtype.kind == "bool":
        return False
    if dtype.kind == "int":
        return not dtype.min <= value <= dtype.max
    return dtype.max < abs(value) < math.inf
