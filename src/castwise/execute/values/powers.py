"""Powers, if a dialect's rule differs from the backend's."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from castwise.errors import ScalarRangeError
from castwise.execute.functions.lookup import Function, function_for
from castwise.execute.values.casting import cast_under
from castwise.execute.values.place import Place
from castwise.execute.values.shapes import full_exponents
from castwise.vocab.dtypes import dtype


def power_rule(function: Function, at: Place) -> Function:
    """Integers to the power of integers, and floats to the power of a single exponent."""
    if at.compute.kind == "float":
        return _single_power(function, at)
    if at.compute.kind != "int":
        return function
    rule = at.values.powers.of_integers
    if rule == "in float64":
        return functools.partial(_float_power, at)
    if at.own.powers.of_integers == rule != "negative raises":
        return function
    if at.own.powers.of_integers == "six bits":
        function = functools.partial(_wrapping_power, at)
    return functools.partial(_POWERS[rule], function, at)


def _single_power(function: Function, at: Place) -> Function:
    """The power of 0.5, on a library that takes the square root if the exponent is broadcast."""
    if (
        at.own.powers.by_one_exponent != "square root"
        or at.values.powers.by_one_exponent == "square root"
    ):
        return function
    return full_exponents(function, at)


def _float_power(at: Place, x: Any, y: Any) -> Any:
    wide, backend = dtype("float64"), at.backend
    power = function_for(backend, "pow", wide)(backend.cast(x, wide), backend.cast(y, wide))
    return cast_under(at.values, backend, power, at.compute)


def _wrapping_power(at: Place, x: Any, y: Any) -> Any:
    """The power of non-negative exponents, bit by bit."""
    one, power = at.number(1), at.do("add", at.do("mul", x, at.number(0)), at.number(1))
    for _ in range(at.compute.bits):
        is_odd = at.do("eq", at.do("bitwise_and", y, one), one)
        power = at.choose(is_odd, at.do("mul", power, x), power)
        x, y = at.do("mul", x, x), at.do("bitwise_right_shift", y, one)
    return power


def _raising(function: Function, at: Place, x: Any, y: Any) -> Any:
    is_tried = at.compute.is_signed and 0 not in x.shape
    if is_tried and at.has_any(at.do("lt", y, at.number(0))):
        raise ScalarRangeError(
            f"this dialect refuses {at.compute} to a negative power: cast the base to a float, "
            "x.astype('float64')."
        )
    return function(x, y)


def _split(function: Function, at: Place, x: Any, y: Any, negative: Any) -> Any:
    """The power where the exponent is not negative, and the given values elsewhere."""
    zero = at.number(0)
    is_negative = at.do("lt", y, zero)
    return at.choose(is_negative, negative, function(x, at.choose(is_negative, zero, y)))


def _truncating(function: Function, at: Place, x: Any, y: Any) -> Any:
    if not at.compute.is_signed:
        return function(x, y)
    zero, one, minus = at.number(0), at.number(1), at.number(-1)
    is_odd = at.do("eq", at.do("bitwise_and", y, one), one)
    of_minus = at.choose(is_odd, minus, one)
    of_others = at.choose(at.do("eq", x, one), one, zero)
    return _split(function, at, x, y, at.choose(at.do("eq", x, minus), of_minus, of_others))


def _vanishing(function: Function, at: Place, x: Any, y: Any) -> Any:
    if not at.compute.is_signed:
        return function(x, y)
    return _split(function, at, x, y, at.number(0))


def _by_six_bits(function: Function, at: Place, x: Any, y: Any) -> Any:
    if not y.shape:  # a single exponent uses all its bits, for any dtype
        return function(x, at.backend.cast(y, at.compute))
    zero = at.number(0)
    power = function(x, at.do("bitwise_and", y, at.number(63)))
    both = function_for(at.backend, "logical_and", dtype("bool"))
    is_zero = both(at.do("eq", x, zero), at.do("ne", y, zero))
    return at.choose(is_zero, zero, power)


_POWERS: dict[str, Callable[..., Any]] = {
    "negative raises": _raising,
    "negative truncates": _truncating,
    "negative is zero": _vanishing,
    "six bits": _by_six_bits,
}
