"""What ops give in a dtype, told without any framework: wider arithmetic, rounded once.

Numbers are Python's: a float holds every float dtype up to float64. None stands for what is not
known, because frameworks may do one or the other.
"""

from __future__ import annotations

import cmath
import math
import operator
from collections.abc import Callable, Sequence
from functools import reduce
from math import inf, nan
from typing import Any

from castwise.conformance.questions import Scalar, words
from castwise.conformance.values import integer_bits, integer_limits

Number = Scalar | None

# dtype -> significant bits, and the exponents of the least normal and of the greatest number
_FORMATS = {
    "float16": (11, -14, 15), "bfloat16": (8, -126, 127), "float32": (24, -126, 127),
    "float64": (53, -1022, 1023),
}  # fmt: skip
_PARTS = {"complex32": "float16", "complex64": "float32", "complex128": "float64"}
EXACT = "exact"  # values are compared or combined as they are


def is_known(dtype: str) -> bool:
    """Whether numbers can be rounded to a dtype here."""
    return dtype in ("bool", EXACT, *_FORMATS, *_PARTS) or _is_int(dtype)


def _is_int(dtype: str) -> bool:
    return dtype.startswith(("int", "uint"))


def is_subnormal(value: Number, dtype: str) -> bool:
    """Whether a number is smaller than the normal ones of a dtype: some processors' modes, and
    frameworks, take it for zero."""
    if value is None or isinstance(value, int):
        return False
    _, least, _ = _FORMATS.get(_PARTS.get(dtype, dtype), _FORMATS["float64"])
    return any(0 < abs(part) < 2.0**least for part in (value.real, value.imag))


def is_near(told: Scalar, found: Scalar, dtype: str) -> bool:
    """Whether two floats are within a few units in the last place of a dtype."""
    digits = _FORMATS[dtype][0]
    return abs(told - found) <= abs(told) * 2.0 ** (3 - digits)


def greatest(dtype: str) -> float:
    """The greatest finite number of a float dtype, or of the parts of a complex one."""
    digits, _, most = _FORMATS[_PARTS.get(dtype, dtype)]
    return (2.0 - 2.0 ** (1 - digits)) * 2.0**most


def rounded(value: float, dtype: str) -> float:
    """A float rounded to a float dtype, ties to even.

    >>> rounded(2049.0, "float16"), rounded(65520.0, "float16"), rounded(1e-8, "float16")
    (2048.0, inf, 0.0)
    """
    digits, least, _ = _FORMATS[dtype]
    if dtype == "float64" or value == 0 or not math.isfinite(value):
        return value
    exponent = max(math.frexp(value)[1] - 1, least)
    unit = 2.0 ** (exponent - digits + 1)
    near = round(value / unit) * unit
    if abs(near) > greatest(dtype):
        return math.copysign(inf, value)
    return math.copysign(near, value)


def converted(value: Number, dtype: str) -> Number:
    """A number as a dtype holds it; None where that is not the same everywhere.

    >>> converted(300, "uint8"), converted(2**24 + 1, "float32"), converted(-1.0, "uint8")
    (44, 16777216.0, None)
    """
    if value is None or dtype == EXACT:
        return value
    if dtype == "bool":
        return bool(value)
    if _is_int(dtype):
        return _as_int(value, dtype)
    if dtype in _PARTS:
        real, imaginary = (_as_float(p, _PARTS[dtype]) for p in (value.real, value.imag))
        return None if real is None or imaginary is None else complex(real, imaginary)
    return _as_float(value.real, dtype)


def _as_int(value: Scalar, dtype: str) -> Number:
    low, high = integer_limits(dtype)
    if isinstance(value, int):
        wrapped: int = (value - low) % 2 ** integer_bits(dtype) + low
        return wrapped
    real = value.real
    is_held = math.isfinite(real) and low <= int(real) <= high
    return int(real) if is_held else None


def _as_float(value: float, dtype: str) -> float | None:
    """Rounded once; None where rounding it in between, as some do, gives another number."""
    try:
        wide = float(value)
    except OverflowError:
        wide = math.copysign(inf, value)
    once = rounded(wide, dtype)
    if isinstance(value, int) and wide != value and dtype != "float64":
        return None if rounded(rounded(wide, "float32"), dtype) != once else once
    twice = rounded(rounded(wide, "float32"), dtype) if dtype in ("float16", "bfloat16") else once
    return once if twice == once or once != once else None


# Elementwise ops: a function of numbers that are in the dtype it computes in, or exact.

Elementwise = Callable[..., Number]


def computed(op: str, dtype: str, operands: Sequence[Number]) -> Number:
    """What an op gives in a dtype; None where that is not known."""
    if any(operand is None or _is_open(operand) for operand in operands):
        return None
    function = _FUNCTIONS.get(op)
    if function is None:
        return None
    if dtype in _PARTS and op not in _OF_COMPLEX:
        return None
    if dtype == "bool" and op in _OF_BOOLEANS:
        function = _OF_BOOLEANS[op]
    elif dtype == "bool" and op not in (*_PREDICATES, *_CHOOSING):
        return None
    try:
        found = function(*operands)
    except (ArithmeticError, ValueError, TypeError):
        return None
    if found is None or op in _PREDICATES or dtype == EXACT:
        return found
    if isinstance(found, float) and dtype in _FORMATS:
        return rounded(found, dtype)
    return converted(found, dtype)


def _is_open(operand: Number) -> bool:
    """Whether it is a complex number of which it is left open what becomes of its parts."""
    return isinstance(operand, complex) and not cmath.isfinite(operand)


def _divided(x: Any, y: Any) -> float:
    x, y = float(x), float(y)
    if y:
        quotient: float = x / y
        return quotient
    sign = math.copysign(1, x) * math.copysign(1, y)
    return nan if not x or math.isnan(x) else sign * inf


def _extreme(choose: Callable[..., Any]) -> Elementwise:
    def chosen(*values: Any) -> Number:
        is_open = any(v != v for v in values) or all(v == 0 for v in values)
        return None if is_open else choose(values)

    return chosen


def _clamped(x: Any, *bounds: Any) -> Number:
    if len(bounds) != 2 or any(v != v for v in (x, *bounds)):
        return None
    bounded = min(max(x, bounds[0]), bounds[1])
    return None if bounded == 0 else bounded


def _integer(function: Callable[[int, int], int]) -> Elementwise:
    """An op on integers, which frameworks compute of floats in several ways."""

    def called(x: Any, y: Any) -> Number:
        return function(x, y) if isinstance(x, int) and isinstance(y, int) and y else None

    return called


def _square_root(x: Any) -> float:
    return math.sqrt(x) if x >= 0 else nan


def _shifted(function: Callable[[int, int], int]) -> Elementwise:
    return lambda x, y: function(x, y) if 0 <= y < 8 else None


def _whole(function: Callable[[float], int]) -> Elementwise:
    def called(x: Any) -> Number:
        if isinstance(x, int) or not math.isfinite(x):
            return x  # type: ignore[no-any-return]
        return math.copysign(float(function(x)), x)

    return called


def _sign(x: Any) -> Number:
    return None if x != x or not x else int(math.copysign(1, x)) if isinstance(x, int) else (
        math.copysign(1.0, x)
    )  # fmt: skip


def _copied_sign(x: Any, y: Any) -> Number:
    return None if y != y or x != x else math.copysign(float(x), float(y))


_PREDICATES: dict[str, Elementwise] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le,
    "gt": operator.gt, "ge": operator.ge,
    "logical_and": lambda x, y: bool(x) and bool(y),
    "logical_or": lambda x, y: bool(x) or bool(y),
    "logical_xor": lambda x, y: bool(x) != bool(y),
    "logical_not": lambda x: not x,
}  # fmt: skip
_CHOOSING: dict[str, Elementwise] = {
    "where": lambda condition, x, y: x if condition else y, "positive": lambda x: x,
}  # fmt: skip
_OF_BOOLEANS: dict[str, Elementwise] = {
    "add": lambda x, y: x or y, "mul": lambda x, y: x and y, "bitwise_not": lambda x: not x,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "maximum": lambda x, y: x or y, "minimum": lambda x, y: x and y, "abs": lambda x: x,
}  # fmt: skip
_FUNCTIONS: dict[str, Elementwise] = {
    **_PREDICATES, **_CHOOSING,
    "add": operator.add, "sub": operator.sub, "rsub": lambda x, y: y - x, "mul": operator.mul,
    "div": _divided, "reciprocal": lambda x: _divided(1.0, x), "neg": operator.neg, "abs": abs,
    "square": lambda x: x * x, "sqrt": _square_root, "sign": _sign, "copysign": _copied_sign,
    "floor": _whole(math.floor), "ceil": _whole(math.ceil), "trunc": _whole(math.trunc),
    "round": _whole(round), "relu": lambda x: None if x != x else max(x, 0) or None,
    "maximum": _extreme(max), "minimum": _extreme(min), "fmax": _extreme(max),
    "fmin": _extreme(min), "clamp_min": _extreme(max), "clamp_max": _extreme(min),
    "clamp": _clamped,
    "bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor,
    "bitwise_not": operator.invert, "bitwise_left_shift": _shifted(operator.lshift),
    "bitwise_right_shift": _shifted(operator.rshift),
    "floor_divide": _integer(operator.floordiv), "remainder": _integer(operator.mod),
    "fmod": _integer(lambda x, y: int(math.copysign(abs(x) % abs(y), x)) if abs(x) < 2**53 else
                     (abs(x) % abs(y)) * (1 if x > 0 else -1)),
}  # fmt: skip
_OF_COMPLEX = words(
    "add sub eq ne where logical_and logical_or logical_xor logical_not neg positive"
)
ELEMENTWISE = tuple(_FUNCTIONS)
NOT_ROUNDED = ("sqrt",)  # not everywhere to the nearest number


# Sums and products of four numbers, in every order that is likely: one of these must explain what
# a framework gives of all arrays.

SUMS = words("sum mean prod")
RUNNING = words("cumsum cumprod")
SPREADS = words("norm std var")
_PAIRED: tuple[tuple[tuple[int, int], tuple[int, int]], ...] = (
    ((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)),
)  # fmt: skip


def totals(op: str, dtype: str, values: Sequence[Number]) -> list[Number]:
    """The sum, the product or the mean, one for each order."""
    join = "mul" if "prod" in op else "add"

    def joined(*some: Number) -> Number:
        return reduce(lambda a, b: computed(join, dtype, (a, b)), some)

    found = [joined(*values), joined(*values[::-1])]
    if len(values) == 4:
        found += [joined(*(joined(*[values[at] for at in two]) for two in p)) for p in _PAIRED]
        (a, b, c, d) = values
        found += [joined(joined(b, c), a, d), joined(joined(c, d), b, a)]
    if op == "mean":
        return [_shared(each, len(values), dtype) for each in found]
    return found


def _shared(total: Number, count: int, dtype: str) -> Number:
    if dtype == "bool":  # a quotient of booleans is no boolean
        return None
    if isinstance(total, int) and dtype not in _FORMATS:
        return abs(total) // count * (1 if total > 0 else -1)
    return computed("div", dtype, (total, count))


def running(op: str, dtype: str, values: Sequence[Number]) -> list[Number]:
    """What is summed or multiplied so far, at each place."""
    join = "mul" if "prod" in op else "add"
    found = list(values[:1])
    for value in values[1:]:
        found.append(computed(join, dtype, (found[-1], value)))
    return found


def overflows_squared(dtype: str, values: Sequence[Any]) -> bool | None:
    """Whether squares of numbers overflow in a dtype; None where it is close to that."""
    square = sum(abs(value) * abs(value) for value in values)
    most = greatest(dtype)
    return None if most / 16 < square < most * 16 else square > most
