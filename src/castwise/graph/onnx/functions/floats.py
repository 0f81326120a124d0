"""Float functions that ONNX lacks, composed of those it has, with NumPy's special cases."""

from __future__ import annotations

import math

from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.arrays import (
    equal,
    exp,
    floor,
    full_like,
    is_negative,
    isnan,
    less,
    log,
    maximum,
    minimum,
    not_equal,
    sqrt,
    where,
)
from castwise.graph.onnx.dtypes import LackingError, element_type
from castwise.graph.onnx.writer import Value, called
from castwise.vocab.dtypes import dtype, find_dtype

INF, NAN = math.inf, math.nan


def remainder(x: Value, y: Value) -> Value:
    """The remainder with the sign of the divisor."""
    rest = called("Mod", x, y, fmod=1)
    return where(_is_past(rest, y), rest + y, rest)


def floor_divide(x: Value, y: Value) -> Value:
    """The quotient rounded down, from the exact remainder; by zero like division."""
    rest = called("Mod", x, y, fmod=1)
    quotient = (x - rest) / y
    quotient = where(_is_past(rest, y), quotient - 1, quotient)
    down = floor(quotient)
    found = where(less(0.5, quotient - down), down + 1, down)
    return where(equal(y, 0), x / y, found)


def _is_past(rest: Value, y: Value) -> Value:
    """Whether a remainder's sign differs from the divisor's."""
    return not_equal(rest, 0) & called("Xor", less(rest, 0), less(y, 0))


def trunc(x: Value) -> Value:
    return where(less(x, 0), called("Ceil", x), called("Floor", x))


def atan2(y: Value, x: Value) -> Value:
    """The angle of a point, in all four quadrants."""
    are_both_inf = equal(xp.abs(x), INF) & equal(xp.abs(y), INF)
    are_both_zero = equal(x, 0) & equal(y, 0)
    ratio = where(are_both_inf, called("Sign", x) * called("Sign", y), y / x)
    found = called("Atan", where(are_both_zero, 0.0, ratio))
    half_turn = where(is_negative(y), -math.pi, where(isnan(y), y, math.pi))
    return where(is_negative(x), found + half_turn, found)


def hypot(x: Value, y: Value) -> Value:
    """The length of a diagonal, without intermediate overflow."""
    one, other = xp.abs(x), xp.abs(y)
    longer = maximum(one, other)
    ratio = minimum(one, other) / longer
    found = where(equal(longer, 0), longer, longer * sqrt(1 + ratio * ratio))
    return where(equal(one, INF) | equal(other, INF), INF, found)


def logaddexp(x: Value, y: Value) -> Value:
    """The logarithm of a sum of exponentials, without overflow."""
    larger = maximum(x, y)
    return where(equal(x, y), x + math.log(2.0), larger + log1p(exp(-xp.abs(x - y))))


def log1p(x: Value) -> Value:
    """log(1 + x), exact for small x: the error of 1 + x is divided out."""
    total = 1 + x
    near = where(equal(total, 1), x, log(total) * (x / (total - 1)))
    return where(equal(x, INF), x, near)


def expm1(x: Value) -> Value:
    """exp(x) - 1, exact for small x: the error of the exponential is divided out."""
    power = exp(x)
    is_plain = equal(power, 0) | equal(power, INF)
    near = where(equal(power, 1), x, (power - 1) * (x / log(power)))
    return where(is_plain, power - 1, near)


def logarithm(base: float, x: Value) -> Value:
    """The logarithm to a base."""
    return log(x) / math.log(base)


def logaddexp2(x: Value, y: Value) -> Value:
    """The same to base 2."""
    power = exp(-xp.abs(x - y) * math.log(2.0))
    return where(equal(x, y), x + 1, maximum(x, y) + log1p(power) / math.log(2.0))


def ldexp(x: Value, y: Value) -> Value:
    """x * 2**y; for integers y in three steps, none of which overflows before the product does."""
    if y.dtype.kind == "float":
        return x * called("Pow", full_like(x, 2), y)
    w = x.writer
    far = 2100.0 if x.dtype.bits == 64 else 300.0
    exponent = maximum(minimum(w.cast(y, x.dtype), far), -far)
    third = floor(exponent / 3)
    for part in (third, third, exponent - 2 * third):
        x = x * called("Pow", full_like(x, 2), part)
    return x


def copysign(x: Value, y: Value) -> Value:
    """The first one's magnitude with the second one's sign; NaN counts as positive."""
    size = xp.abs(x)
    return where(is_negative(y), -size, size)


def angle(x: Value) -> Value:
    """pi for a negative number, 0 for others, NaN for NaN."""
    return where(isnan(x), x, where(is_negative(x), full_like(x, math.pi), 0.0))


def nextafter(x: Value, y: Value) -> Value:
    """The next number of the dtype towards another, by stepping through its bit patterns."""
    held, w = x.dtype, x.writer
    code = find_dtype(f"int{held.bits}")
    if code is None or not held.is_signed:
        raise LackingError(f"castwise cannot step through the codes of {held} in ONNX")
    counted = dtype("int64" if held.bits == 64 else "int32")
    bits = w.cast(w.add("BitCast", x, dtype=code, to=element_type(code)), counted)
    wide_x, wide_y = w.widened(x), w.widened(y)
    grows = equal(less(0, wide_x), less(wide_x, wide_y))
    stepped = where(grows, bits + 1, bits - 1)
    least = where(less(wide_y, 0), 1 - 2 ** (held.bits - 1), w.constant(1, counted))
    stepped = where(equal(wide_x, 0), least, stepped)
    if held.specials == "fnuz":  # the code of minus zero is that of NaN
        stepped = where(equal(stepped, -(2 ** (held.bits - 1))), 0, stepped)
    moved = w.add("BitCast", w.cast(stepped, code), dtype=held, to=element_type(held))
    is_still = equal(wide_x, wide_y)
    either = where(isnan(wide_x), wide_x, wide_y)
    stays = is_still | isnan(wide_x) | isnan(wide_y)
    return where(stays, w.cast(either, held), moved)
