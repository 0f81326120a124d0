"""How ops are written in steps, with the values that NumPy gives.

Where a dialect wants other values, castwise has already replaced the op by several of these.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from castwise.kernels.program import (
    BITS,
    BOOL,
    COMPARE,
    CONVERT,
    FLOAT32,
    FLOAT64,
    SELECT,
    SIGNED,
    UINT32,
    UNSIGNED,
    NotLoweredError,
    Value,
    known,
    step,
    stored_as,
)
from castwise.vocab.dtypes import DType

Written = Callable[..., Value]


def written_op(op: str, dtype: DType, *, notices_errors: bool) -> Written | None:
    """A function that writes the steps of an op in a dtype that steps compute in; None if the op
    must be computed in a wider dtype.

    Raises NotLoweredError for ops that no steps can express, or whose last bits a library decides.
    """
    if op in COMPARE:
        return lambda x, y: step(op, BOOL, x, y)
    if op in _OF_WHOLE and dtype.kind == "int":
        return partial(_OF_WHOLE[op], dtype, notices_errors)
    found = _BY_KIND[dtype.kind].get(op) or _EVERYWHERE.get(op)
    if found is not None:
        return partial(found, dtype)
    if dtype.kind == "bool" and op in _BY_KIND["int"]:
        return None
    raise NotLoweredError(op)


def _plain(does: str, dtype: DType, *values: Value) -> Value:
    return step(does, dtype, *values)


def choose(dtype: DType, condition: Value, x: Value, y: Value) -> Value:
    """x where the condition holds, y elsewhere."""
    return step(SELECT, dtype, condition, x, y)


def truth(dtype: DType, x: Value) -> Value:
    """Whether a number is not zero."""
    return x if dtype is BOOL else step("ne", BOOL, x, known(0, dtype))


def _logical(does: str, dtype: DType, x: Value, y: Value) -> Value:
    return step(does, BOOL, truth(dtype, x), truth(dtype, y))


def _logical_not(dtype: DType, x: Value) -> Value:
    return step("xor", BOOL, truth(dtype, x), known(True, BOOL))


def _clamp(dtype: DType, x: Value, *bounds: Value) -> Value:
    for does, bound in zip(("maximum", "minimum"), bounds, strict=False):
        x = step(does, dtype, x, bound)
    return x


def _is_nan(dtype: DType, x: Value) -> Value:
    """Whether it differs from itself, as no other number does."""
    return step("ne", BOOL, x, x)


# Integers.


def _negative(dtype: DType, x: Value) -> Value:
    return step("sub", dtype, known(0, dtype), x)


def _below_zero(dtype: DType, x: Value) -> Value:
    return step("lt", BOOL, x, known(0, dtype))


def _size(dtype: DType, x: Value) -> Value:
    if not dtype.is_signed:
        return x
    return choose(dtype, _below_zero(dtype, x), _negative(dtype, x), x)


def _sign(dtype: DType, x: Value) -> Value:
    above = choose(dtype, step("gt", BOOL, x, known(0, dtype)), known(1, dtype), known(0, dtype))
    if not dtype.is_signed:
        return above
    return choose(dtype, _below_zero(dtype, x), known(-1, dtype), above)


def _flipped(dtype: DType, x: Value) -> Value:
    ones = -1 if dtype.is_signed else int(dtype.max)
    return step("xor", dtype, x, known(ones, dtype))


def _shifted(does: str, dtype: DType, x: Value, y: Value) -> Value:
    """A shift; by a negative number, or by the width or more, it shifts all bits out."""
    unsigned = UNSIGNED[dtype.bits]
    count = step(BITS, unsigned, y) if dtype.is_signed else y
    is_near = step("lt", BOOL, count, known(dtype.bits, unsigned))
    near = choose(unsigned, is_near, count, known(0, unsigned))
    shifted = step(does, dtype, x, step(BITS, dtype, near) if dtype.is_signed else near)
    gone = known(0, dtype)
    if does == "shr" and dtype.is_signed:
        gone = choose(dtype, _below_zero(dtype, x), known(-1, dtype), known(0, dtype))
    return choose(dtype, is_near, shifted, gone)


def _divisor(dtype: DType, x: Value, y: Value, notices_errors: bool) -> tuple[Value, Value, Value]:
    """A divisor without 0 and -1, which processors may trap on, and where it was 0 or -1."""
    is_zero = step("eq", BOOL, y, known(0, dtype))
    is_minus = step("eq", BOOL, y, known(-1, dtype)) if dtype.is_signed else is_zero
    if notices_errors and y.writer:
        y.writer.alarm(is_zero)
        if dtype.is_signed:
            is_least = step("eq", BOOL, x, known(int(dtype.min), dtype))
            y.writer.alarm(step("and", BOOL, is_minus, is_least))
    is_odd = step("or", BOOL, is_zero, is_minus)
    return choose(dtype, is_odd, known(1, dtype), y), is_zero, is_minus


def _is_cut(dtype: DType, rest: Value, divisor: Value) -> Value:
    """Whether a quotient that was cut towards zero is above the rounded one: there is a rest, and
    its sign is not that of the divisor."""
    is_inexact = step("ne", BOOL, rest, known(0, dtype))
    signs_differ = step("ne", BOOL, _below_zero(dtype, rest), _below_zero(dtype, divisor))
    return step("and", BOOL, is_inexact, signs_differ)


def _floor_divide(dtype: DType, notices_errors: bool, x: Value, y: Value) -> Value:
    """The quotient rounded down; 0 for a divisor of 0."""
    safe, is_zero, is_minus = _divisor(dtype, x, y, notices_errors)
    found = step("idiv", dtype, x, safe)
    if dtype.is_signed:
        rest = step("irem", dtype, x, safe)
        below = step("sub", dtype, found, known(1, dtype))
        found = choose(dtype, _is_cut(dtype, rest, y), below, found)
        found = choose(dtype, is_minus, _negative(dtype, x), found)
    return choose(dtype, is_zero, known(0, dtype), found)


def _remainder(dtype: DType, notices_errors: bool, x: Value, y: Value) -> Value:
    """The remainder with the sign of the divisor; 0 for a divisor of 0."""
    rest = _fmod(dtype, notices_errors, x, y)
    if not dtype.is_signed:
        return rest
    return choose(dtype, _is_cut(dtype, rest, y), step("add", dtype, rest, y), rest)


def _fmod(dtype: DType, notices_errors: bool, x: Value, y: Value) -> Value:
    """The remainder with the sign of the dividend; a divisor of 1 stands in for 0 and -1."""
    safe, _, _ = _divisor(dtype, x, y, notices_errors)
    return step("irem", dtype, x, safe)


# Floats.


def _sign_of_float(dtype: DType, x: Value) -> Value:
    zero = known(0.0, dtype)
    found = choose(dtype, step("eq", BOOL, x, zero), zero, x)  # NaN stays
    found = choose(dtype, step("lt", BOOL, x, zero), known(-1.0, dtype), found)
    return choose(dtype, step("gt", BOOL, x, zero), known(1.0, dtype), found)


def _has_sign(dtype: DType, x: Value) -> Value:
    signed = SIGNED[dtype.bits]
    return _below_zero(signed, step(BITS, signed, x))


def _copysign(dtype: DType, x: Value, y: Value) -> Value:
    signed = SIGNED[dtype.bits]
    sign = step("and", signed, step(BITS, signed, y), known(int(signed.min), signed))
    size = step("and", signed, step(BITS, signed, x), known(int(signed.max), signed))
    return step(BITS, dtype, step("or", signed, size, sign))


def _beside_infinity(does: str, dtype: DType, x: Value) -> Value:
    return step(does, BOOL, step("fabs", dtype, x), known(math.inf, dtype))


def within(dtype: DType, x: Value, target: DType) -> Value:
    """Whether a float is in the range of an integer dtype, so that every cast agrees on it."""
    wide = x if dtype is FLOAT64 else step(CONVERT, FLOAT64, x)
    above = step("gt", BOOL, wide, known(float(target.min) - 1, FLOAT64))
    if target.bits == 64 and target.is_signed:  # float64 does not hold the number below it
        above = step("ge", BOOL, wide, known(float(target.min), FLOAT64))
    below = step("lt", BOOL, wide, known(float(int(target.max) + 1), FLOAT64))
    return step("and", BOOL, above, below)


_EVERYWHERE: dict[str, Written] = {
    **{f"logical_{does}": partial(_logical, does) for does in ("and", "or", "xor")},
    "logical_not": _logical_not,
    "where": choose,
}
_OF_NUMBERS: dict[str, Written] = {
    **{does: partial(_plain, does) for does in ("add", "sub", "mul", "maximum", "minimum")},
    "rsub": lambda dtype, x, y: step("sub", dtype, y, x),
    "square": lambda dtype, x: step("mul", dtype, x, x),
    "clamp": _clamp,
    "relu": lambda dtype, x: step("maximum", dtype, x, known(0, dtype)),
    "clamp_min": partial(_plain, "maximum"), "clamp_max": partial(_plain, "minimum"),
    "clip_above": partial(_plain, "minimum"),
}  # fmt: skip
_OF_BITS: dict[str, Written] = {
    f"bitwise_{does}": partial(_plain, does) for does in ("and", "or", "xor")
}
_OF_WHOLE: dict[str, Written] = {
    "floor_divide": _floor_divide, "remainder": _remainder, "fmod": _fmod,
}  # fmt: skip
_OF_EXACT: dict[str, Written] = {
    **dict.fromkeys(("isnan", "isinf"), _is_nan),
    "isfinite": lambda dtype, x: step("eq", BOOL, x, x),
}
_BY_KIND: dict[str, dict[str, Written]] = {
    "bool": {
        **_OF_BITS,
        "bitwise_not": _logical_not,
        "add": partial(_plain, "or"), "mul": partial(_plain, "and"),
        "maximum": partial(_plain, "or"), "minimum": partial(_plain, "and"),
        **_OF_EXACT,
    },
    "int": {
        **_OF_NUMBERS,
        **_OF_BITS,
        **dict.fromkeys(("floor", "ceil", "trunc", "round"), lambda dtype, x: x),
        "bitwise_not": _flipped,
        "bitwise_left_shift": partial(_shifted, "shl"),
        "bitwise_right_shift": partial(_shifted, "shr"),
        "abs": _size, "neg": _negative, "sign": _sign, "signbit": _below_zero,
        **_OF_EXACT,
    },
    "float": {
        **_OF_NUMBERS,
        **{does: partial(_plain, does) for does in ("sqrt", "floor", "ceil", "trunc")},
        "div": partial(_plain, "div"), "round": partial(_plain, "rint"),
        "abs": partial(_plain, "fabs"), "neg": partial(_plain, "fneg"), "sign": _sign_of_float,
        "reciprocal": lambda dtype, x: step("div", dtype, known(1.0, dtype), x),
        "copysign": _copysign, "signbit": _has_sign, "isnan": _is_nan,
        "isinf": partial(_beside_infinity, "eq"), "isfinite": partial(_beside_infinity, "lt"),
    },
}  # fmt: skip
LOWERED_OPS = frozenset([*COMPARE, *_EVERYWHERE, *_OF_WHOLE, *_BY_KIND["int"], *_BY_KIND["float"]])

# Small floats by bit operations: from their bits to float32, and back with one rounding.

_SIGN, _SIZE = 1 << 31, (1 << 31) - 1  # of float32: the bit of the sign, and all others
_INFINITY, _NAN = 0x7F800000, 0x7FC00000
_MANTISSA, _BIAS = 23, 127


def _u(number: int) -> Value:
    return known(number, UINT32)


def _do(does: str, *arguments: Value) -> Value:
    return step(does, UINT32, *arguments)


def _choose(condition: Value, x: Value, y: Value) -> Value:
    return step(SELECT, UINT32, condition, x, y)


def _is(does: str, x: Value, number: int) -> Value:
    return step(does, BOOL, x, _u(number))


def to_float32(value: Value, dtype: DType) -> Value:
    """The float32 with the value of a small float, which is always exact."""
    bits = step(CONVERT, UINT32, value.standing_for(stored_as(dtype)))
    shift = _MANTISSA - dtype.mantissa_bits
    if dtype.bias == _BIAS and dtype.bits == 16:  # the upper half of a float32
        return step(BITS, FLOAT32, _do("shl", bits, _u(shift)))
    if dtype.specials == "fnu":
        return step(BITS, FLOAT32, _power_of_two(bits))
    sign_bit = 1 << (dtype.bits - 1)
    size = _do("and", bits, _u(sign_bit - 1))
    sign = _do("shl", _do("and", bits, _u(sign_bit)), _u(32 - dtype.bits))
    normal = _do("add", _do("shl", size, _u(shift)), _u((_BIAS - dtype.bias) << _MANTISSA))
    tiny = step("mul", FLOAT32, step(CONVERT, FLOAT32, size), known(dtype.smallest, FLOAT32))
    is_tiny = _is("lt", size, 1 << dtype.mantissa_bits)
    found = _choose(is_tiny, step(BITS, UINT32, tiny), normal)
    return step(BITS, FLOAT32, _do("or", _with_specials(found, bits, size, dtype), sign))


def _power_of_two(bits: Value) -> Value:
    """float8_e8m0fnu: the exponent of a float32, whose lowest is subnormal there."""
    normal = _do("shl", bits, _u(_MANTISSA))
    found = _choose(_is("eq", bits, 0), _u(1 << (_MANTISSA - 1)), normal)
    return _choose(_is("eq", bits, 0xFF), _u(_NAN), found)


def _with_specials(found: Value, bits: Value, size: Value, dtype: DType) -> Value:
    """The bits of a float32 with infinity and NaN where the small float has them."""
    if dtype.specials == "ieee":
        top = ((1 << dtype.exponent_bits) - 1) << dtype.mantissa_bits
        rest = _do("sub", size, _u(top))
        special = _choose(_is("eq", rest, 0), _u(_INFINITY), _u(_NAN))
        return _choose(_is("ge", size, top), special, found)
    if dtype.specials == "fn":
        return _choose(_is("eq", size, (1 << (dtype.bits - 1)) - 1), _u(_NAN), found)
    if dtype.specials == "fnuz":
        return _choose(_is("eq", bits, 1 << (dtype.bits - 1)), _u(_NAN), found)
    return found


def from_float32(value: Value, dtype: DType) -> Value:
    """The small float nearest to a float32; of two that are as near, the even one."""
    bits = step(BITS, UINT32, value)
    if dtype.bias == _BIAS and dtype.bits == 16:
        found = _upper_half(bits, step("ne", BOOL, value, value))
    elif dtype.specials == "fnu":
        found = _nearest_power(bits)
    else:
        found = _nearest(bits, dtype)
    return step(CONVERT, stored_as(dtype), found).standing_for(dtype)


def _upper_half(bits: Value, is_nan: Value) -> Value:
    upper = _do("shr", bits, _u(16))
    rounded = _do("add", bits, _do("add", _do("and", upper, _u(1)), _u(0x7FFF)))
    return _choose(is_nan, _do("or", upper, _u(0x40)), _do("shr", rounded, _u(16)))


def _nearest_power(bits: Value) -> Value:
    """The exponent, rounded, halves up; NaN for what is not positive, and beyond the largest."""
    power = _do("shr", _do("add", bits, _u(1 << 22)), _u(_MANTISSA))
    power = _choose(_is("le", bits, 1 << 22), _u(0), power)  # up to the smallest, a subnormal
    is_power = step("and", BOOL, _is("gt", bits, 0), _is("lt", bits, _INFINITY))
    return _choose(is_power, power, _u(0xFF))


def _nearest(bits: Value, dtype: DType) -> Value:
    shift, mantissa = _MANTISSA - dtype.mantissa_bits, dtype.mantissa_bits
    size = _do("and", bits, _u(_SIZE))
    even = _do("and", _do("shr", size, _u(shift)), _u(1))
    rounded = _do("add", size, _do("add", even, _u((1 << (shift - 1)) - 1)))
    normal = _do("sub", _do("shr", rounded, _u(shift)), _u((_BIAS - dtype.bias) << mantissa))
    # A sum with this number has the smallest subnormal as its last bit, so it rounds there.
    least = 1 - dtype.bias
    magic = known(2.0 ** (least - mantissa + _MANTISSA), FLOAT32)
    summed = step(BITS, UINT32, step("add", FLOAT32, step(BITS, FLOAT32, size), magic))
    tiny = _do("sub", summed, _u((least - mantissa + _MANTISSA + _BIAS) << _MANTISSA))
    found = _choose(_is("lt", size, (least + _BIAS) << _MANTISSA), tiny, normal)
    return _signed(found, size, bits, dtype)


def _signed(found: Value, size: Value, bits: Value, dtype: DType) -> Value:
    """The bits with the sign, and with what takes the place of numbers that are too large."""
    sign_bit = 1 << (dtype.bits - 1)
    sign = _do("and", _do("shr", bits, _u(32 - dtype.bits)), _u(sign_bit))
    is_nan, greatest = _is("gt", size, _INFINITY), _greatest(dtype)
    above = {"ieee": greatest + 1, "fn": greatest + 1, "finite": greatest, "fnuz": sign_bit}
    found = _choose(_is("gt", found, greatest), _u(above[dtype.specials]), found)
    if dtype.specials == "fnuz":
        found = _choose(is_nan, _u(sign_bit), found)
        has_sign = step("and", BOOL, _is("ne", found, 0), _is("ne", found, sign_bit))
        return _choose(has_sign, _do("or", found, sign), found)
    if dtype.specials == "finite":  # NaN is a zero of the other sign
        return _choose(is_nan, _do("xor", sign, _u(sign_bit)), _do("or", found, sign))
    nan = greatest + 1
    if dtype.specials != "fn":
        nan += 1 << (dtype.mantissa_bits - 1)
    return _do("or", _choose(is_nan, _u(nan), found), sign)


def _greatest(dtype: DType) -> int:
    """The bits of the largest finite number."""
    top = (1 << (dtype.bits - 1)) - 1
    if dtype.specials == "ieee":
        return (((1 << dtype.exponent_bits) - 1) << dtype.mantissa_bits) - 1
    return top - 1 if dtype.specials == "fn" else top


def rounded_to_odd(value: Value) -> Value:
    """A float64 as a float32 whose last bit is odd if it is inexact, so that a further rounding
    gives what a single one would."""
    near = step(CONVERT, FLOAT32, value)
    back = step(CONVERT, FLOAT64, near)
    bits = step(BITS, UINT32, near)
    size, near_size = step("fabs", FLOAT64, value), step("fabs", FLOAT64, back)
    towards = _choose(step("gt", BOOL, near_size, size), _u((1 << 32) - 1), _u(1))
    is_even = _is("eq", _do("and", bits, _u(1)), 0)
    is_inexact = step("lt", BOOL, size, near_size)
    is_inexact = step("or", BOOL, is_inexact, step("gt", BOOL, size, near_size))
    is_moved = step("and", BOOL, is_even, is_inexact)
    return step(BITS, FLOAT32, _choose(is_moved, _do("add", bits, towards), bits))
