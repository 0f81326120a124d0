"""Whether what was computed agrees with what a framework computed, op by op.

Bit for bit, except for the payload of NaN, the sign of zero and the ops named here: functions that
no standard rounds, and floats that are added or multiplied in an order that is nobody's promise.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Sequence
from typing import Any

from castwise.conformance.operand import Scalar, words
from castwise.conformance.values.notation import Held
from castwise.vocab.ops import known_op

# dtype -> significant bits and the exponent of the smallest normal number
_FORMATS = {
    "float16": (11, -14),
    "bfloat16": (8, -126),
    "float32": (24, -126),
    "float64": (53, -1022),
}
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
# What small floats are added and multiplied in.
_ACCUMULATED = {"float16": "float32", "bfloat16": "float32"}

# Units in the last place of complex numbers, whose parts are sums of products; of floats the op's
# row tells how many.
_COMPLEX_ULPS = 4
# A sum in these cancels: they are off by as many units of the operands, too.
_CANCELLING = words("gelu logaddexp2")
_COMPLEX_POWER_ULPS = 32  # exp(y * log(x)), of which the error grows with y * log(x)
_SUMS = words("sum cumsum mean dot matmul mse_loss l1_loss huber_loss poisson_nll_loss")
_PRODUCTS = words("prod cumprod")
_SPREADS = words("std var norm")
_MIXTURES = words("lerp addcmul")  # one or two roundings in between, or none where fused


def agrees(op: str, operands: Sequence[Held], expected: Held, computed: Held) -> bool:
    """Whether a result is what the framework gave, within what the op allows."""
    if (expected.dtype, expected.shape) != (computed.dtype, computed.shape):
        return False
    slack = _slack(op, operands, expected)
    if op in _CANCELLING and expected.dtype in (*_FORMATS, *_PARTS):
        units = [4 * _unit(size, str(expected.dtype)) for size in _sizes(operands, expected)]
        trios = zip(expected.values, computed.values, units, strict=True)
        return all(_is_near(a, b, expected.dtype, (slack[0], unit)) for a, b, unit in trios)
    pairs = zip(expected.values, computed.values, strict=True)
    return all(_is_near(a, b, expected.dtype, slack) for a, b in pairs)


def _sizes(operands: Sequence[Held], expected: Held) -> list[float]:
    """The largest size beside each value of a result, with which the operands are broadcast."""
    import numpy as np

    sizes: list[Any] = [np.reshape([_size(value) for value in o.values], o.shape) for o in operands]
    largest = functools.reduce(np.maximum, sizes)
    return [float(size) for size in np.broadcast_to(largest, expected.shape).ravel()]


def _slack(op: str, operands: Sequence[Held], expected: Held) -> tuple[float, float]:
    """How many units in the last place a value may be off, and the absolute error."""
    part = _PARTS.get(expected.dtype or "", expected.dtype or "")
    if part not in _FORMATS:
        return 0, 0.0
    is_complex = expected.dtype in _PARTS
    row = known_op(op)
    ulps = row.ulps if row else 0
    if is_complex and op not in _EXACT_OF_COMPLEX:
        ulps = _COMPLEX_POWER_ULPS if op in ("pow", "float_power") else max(ulps, _COMPLEX_ULPS)
    if op == "abs" and operands[0].dtype in _PARTS:
        ulps = 2  # a square root of a sum of squares
    if op in (*_SUMS, *_PRODUCTS, *_SPREADS, *_MIXTURES):
        return 1, _rounding_bound(op, operands, part)
    return ulps, 0.0


_EXACT_OF_COMPLEX = words(
    "add sub where concat stack neg positive conj real imag maximum minimum fmax fmin astype"
)


def _rounding_bound(op: str, operands: Sequence[Held], part: str) -> float:
    """The bound of n roundings in the accumulator's dtype: n times its unit, of what is added."""
    bits = _FORMATS[_ACCUMULATED.get(part, part)][0]
    count = max(len(operand.values) for operand in operands) + 2
    sizes = [[_size(value) for value in operand.values] for operand in operands]
    if op in _PRODUCTS:
        total = _largest_product(sizes[0])
    elif op in _SPREADS:
        total = 2 * math.sqrt(sum(size * size for size in sizes[0])) if sizes[0] else 0.0
        total = total * total if op == "var" else total
    elif op in ("dot", "matmul", "mse_loss", *_MIXTURES):
        total = math.prod(2 * max(size, default=0.0) + 1 for size in sizes) * count
    else:
        total = sum(size for some in sizes for size in some)
        total = math.exp(min(total, 700)) if op == "poisson_nll_loss" else total
    return count * 2.0**-bits * total


def _size(value: Scalar) -> float:
    """The magnitude of a finite number; what is not finite adds nothing that could be rounded."""
    size = max(abs(value.real), abs(value.imag))
    return float(size) if math.isfinite(size) else 0.0


def _largest_product(sizes: Sequence[float]) -> float:
    largest = product = 1.0
    for size in sizes:
        product *= size
        largest = max(largest, product) if math.isfinite(product) else largest
    return largest


def _is_near(a: Scalar, b: Scalar, dtype: str | None, slack: tuple[float, float]) -> bool:
    if isinstance(a, complex) or isinstance(b, complex):
        a, b = complex(a), complex(b)
        if not (cmath.isfinite(a) and cmath.isfinite(b)):
            # Which of the parts of an infinite or undefined number are so is left open.
            return cmath.isfinite(a) == cmath.isfinite(b)
        unit = _unit(max(abs(a.real), abs(a.imag)), str(dtype))
        away = max(abs(a.real - b.real), abs(a.imag - b.imag))
        return a == b or away <= slack[0] * unit + slack[1]
    if _is_same(a, b):
        return True
    if not isinstance(a, float) or not (math.isfinite(a) and math.isfinite(b)):
        return False
    return abs(a - b) <= slack[0] * _unit(a, str(dtype)) + slack[1]


def _is_same(a: float, b: float) -> bool:
    return a == b or (a != a and b != b)


def _unit(value: float, dtype: str) -> float:
    """The distance from a number to the next one of its dtype."""
    bits, least = _FORMATS[_PARTS.get(dtype, dtype)]
    exponent = math.frexp(value)[1] - 1 if value else least
    return 2.0 ** (max(exponent, least) - bits + 1)
