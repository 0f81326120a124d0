"""Small floats by bit operations: from their bits to float32, and back with one rounding."""

from __future__ import annotations

from castwise.kernels.program import (
    BITS,
    BOOL,
    CONVERT,
    FLOAT32,
    FLOAT64,
    SELECT,
    UINT32,
    stored_as,
)
from castwise.kernels.writing import Value, known, step
from castwise.vocab.dtypes import DType

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


def to_float32(value: Value, held: DType) -> Value:
    """The float32 with the value of a small float, which is always exact."""
    bits = step(CONVERT, UINT32, value.standing_for(stored_as(held)))
    shift = _MANTISSA - held.mantissa_bits
    if held.bias == _BIAS and held.bits == 16:  # the upper half of a float32
        return step(BITS, FLOAT32, _do("shl", bits, _u(shift)))
    if held.specials == "fnu":
        return step(BITS, FLOAT32, _power_of_two(bits))
    sign_bit = 1 << (held.bits - 1)
    size = _do("and", bits, _u(sign_bit - 1))
    sign = _do("shl", _do("and", bits, _u(sign_bit)), _u(32 - held.bits))
    normal = _do("add", _do("shl", size, _u(shift)), _u((_BIAS - held.bias) << _MANTISSA))
    tiny = step("mul", FLOAT32, step(CONVERT, FLOAT32, size), known(held.smallest, FLOAT32))
    is_tiny = _is("lt", size, 1 << held.mantissa_bits)
    found = _choose(is_tiny, step(BITS, UINT32, tiny), normal)
    return step(BITS, FLOAT32, _do("or", _with_specials(found, bits, size, held), sign))


def _power_of_two(bits: Value) -> Value:
    """float8_e8m0fnu: the exponent of a float32, whose lowest is subnormal there."""
    normal = _do("shl", bits, _u(_MANTISSA))
    found = _choose(_is("eq", bits, 0), _u(1 << (_MANTISSA - 1)), normal)
    return _choose(_is("eq", bits, 0xFF), _u(_NAN), found)


def _with_specials(found: Value, bits: Value, size: Value, held: DType) -> Value:
    """The bits of a float32 with infinity and NaN where the small float has them."""
    if held.specials == "ieee":
        top = ((1 << held.exponent_bits) - 1) << held.mantissa_bits
        rest = _do("sub", size, _u(top))
        special = _choose(_is("eq", rest, 0), _u(_INFINITY), _u(_NAN))
        return _choose(_is("ge", size, top), special, found)
    if held.specials == "fn":
        return _choose(_is("eq", size, (1 << (held.bits - 1)) - 1), _u(_NAN), found)
    if held.specials == "fnuz":
        return _choose(_is("eq", bits, 1 << (held.bits - 1)), _u(_NAN), found)
    return found


def from_float32(value: Value, held: DType) -> Value:
    """The small float nearest to a float32; of two that are as near, the even one."""
    bits = step(BITS, UINT32, value)
    if held.bias == _BIAS and held.bits == 16:
        found = _upper_half(bits, step("ne", BOOL, value, value))
    elif held.specials == "fnu":
        found = _nearest_power(bits)
    else:
        found = _nearest(bits, held)
    return step(CONVERT, stored_as(held), found).standing_for(held)


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


def _nearest(bits: Value, held: DType) -> Value:
    shift, mantissa = _MANTISSA - held.mantissa_bits, held.mantissa_bits
    size = _do("and", bits, _u(_SIZE))
    even = _do("and", _do("shr", size, _u(shift)), _u(1))
    rounded = _do("add", size, _do("add", even, _u((1 << (shift - 1)) - 1)))
    normal = _do("sub", _do("shr", rounded, _u(shift)), _u((_BIAS - held.bias) << mantissa))
    # A sum with this number has the smallest subnormal as its last bit, so it rounds there.
    least = 1 - held.bias
    magic = known(2.0 ** (least - mantissa + _MANTISSA), FLOAT32)
    summed = step(BITS, UINT32, step("add", FLOAT32, step(BITS, FLOAT32, size), magic))
    tiny = _do("sub", summed, _u((least - mantissa + _MANTISSA + _BIAS) << _MANTISSA))
    found = _choose(_is("lt", size, (least + _BIAS) << _MANTISSA), tiny, normal)
    return _signed(found, size, bits, held)


def _signed(found: Value, size: Value, bits: Value, held: DType) -> Value:
    """The bits with the sign, and with what takes the place of numbers that are too large."""
    sign_bit = 1 << (held.bits - 1)
    sign = _do("and", _do("shr", bits, _u(32 - held.bits)), _u(sign_bit))
    is_nan, greatest = _is("gt", size, _INFINITY), _greatest(held)
    above = {"ieee": greatest + 1, "fn": greatest + 1, "finite": greatest, "fnuz": sign_bit}
    found = _choose(_is("gt", found, greatest), _u(above[held.specials]), found)
    if held.specials == "fnuz":
        found = _choose(is_nan, _u(sign_bit), found)
        has_sign = step("and", BOOL, _is("ne", found, 0), _is("ne", found, sign_bit))
        return _choose(has_sign, _do("or", found, sign), found)
    if held.specials == "finite":  # NaN is a zero of the other sign
        return _choose(is_nan, _do("xor", sign, _u(sign_bit)), _do("or", found, sign))
    nan = greatest + 1 if held.specials == "fn" else greatest + 1 + (1 << (held.mantissa_bits - 1))
    return _do("or", _choose(is_nan, _u(nan), found), sign)


def _greatest(held: DType) -> int:
    """The bits of the largest finite number."""
    top = (1 << (held.bits - 1)) - 1
    if held.specials == "ieee":
        return (((1 << held.exponent_bits) - 1) << held.mantissa_bits) - 1
    return top - 1 if held.specials == "fn" else top


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
