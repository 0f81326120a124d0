"""Which values to ask for: every op over operands at which frameworks could compute differently.

As questions.py asks for every dtype, this asks for a few and looks at what they hold. An operand
that could make a framework raise is in a separate question, so that it hides no other answer.
"""

from __future__ import annotations

import cmath
import functools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, permutations
from math import inf, nan
from typing import Any, NamedTuple

from castwise.conformance.questions import BINARY as GRID_BINARY
from castwise.conformance.questions import (
    JOINS,
    LOSSES,
    REDUCTIONS,
    UNARY,
    GridQuestion,
    Scalar,
    read_literal,
    words,
)
from castwise.vocab.ops import known_op

# Arrays with their values, in the notation: `int8=1,-128[2]`, `float32=0.5[]`.
#
# A value cell is a cell whose operands and answer are written so. Every number is written so that
# it is read back exactly: a float as the shortest decimal of its value in float64.

_ARRAY = re.compile(r"(\w+)=([^\[]*)\[([\d,]*)\]")


class Held(NamedTuple):
    """An array and what it holds, row by row; or a Python number, whose dtype is None."""

    dtype: str | None
    shape: tuple[int, ...]
    values: tuple[Scalar, ...]

    def __str__(self) -> str:
        held = ",".join(map(written, self.values))
        if self.dtype is None:
            return held
        return f"{self.dtype}={held}[{','.join(map(str, self.shape))}]"


def vector(dtype: str, values: Iterable[Scalar]) -> Held:
    """A one-dimensional array that holds the values."""
    held = tuple(values)
    return Held(dtype, (len(held),), held)


def single(dtype: str, value: Scalar) -> Held:
    """A 0-d array that holds the value."""
    return Held(dtype, (), (value,))


def number(value: Scalar) -> Held:
    """A Python number."""
    return Held(None, (), (value,))


def read_held(notation: str) -> Held:
    """The array or number a piece of notation names.

    >>> read_held("int8=1,-128[2]")
    Held(dtype='int8', shape=(2,), values=(1, -128))
    >>> str(read_held("complex64=1.0-0.0j[]"))
    'complex64=1.0-0.0j[]'
    """
    array = _ARRAY.fullmatch(notation)
    if not array:
        return number(read_literal(notation))
    dtype, held, lengths = array.groups()
    shape = tuple(int(length) for length in lengths.split(",") if length)
    return Held(dtype, shape, tuple(map(read_literal, held.split(","))))


def written(value: Scalar) -> str:
    """A number as it is read back, signs of zero included."""
    if not isinstance(value, complex):
        return repr(value)
    imaginary = repr(value.imag)
    return f"{value.real!r}{'' if imaginary.startswith('-') else '+'}{imaginary}j"


# The values at which frameworks could compute differently, for each dtype.

INTEGERS = words("int8 int16 int32 int64 uint8 uint16 uint32 uint64")
FLOATS = words("float16 bfloat16 float32 float64")
COMPLEX = words("complex64 complex128")
DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)

Values = tuple[Scalar, ...]
Pair = tuple[Values, Values]

# The largest finite value, the least subnormal, and the least integer that is not held.
_LIMITS = {
    "float16": (65504.0, 2.0**-24, 2.0**11 + 1),
    "bfloat16": (3.3895313892515355e38, 2.0**-133, 2.0**8 + 1),
    "float32": (3.4028234663852886e38, 2.0**-149, 2.0**24 + 1),
    "float64": (1.7976931348623157e308, 5e-324, 2.0**53),
}


def integer_bits(dtype: str) -> int:
    """The width of an integer dtype.

    >>> integer_bits("uint16")
    16
    """
    return int(dtype.removeprefix("u").removeprefix("int"))


def integer_limits(dtype: str) -> tuple[int, int]:
    """The least and the greatest value of an integer dtype."""
    bits = integer_bits(dtype)
    return (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def edges(dtype: str) -> Values:
    """Values of a dtype at which something could happen, zero the first of them."""
    if dtype == "bool":
        return (False, True)
    if dtype in INTEGERS:
        low, high = integer_limits(dtype)
        signed = (-1, -7, low, low + 1) if low else ()
        return (0, 1, 2, 3, 10, 100, high, high - 1, *signed)
    if dtype in COMPLEX:
        some = (0.0, 1.0, -1.0, 1j, -2.5 + 0.5j, 0.1 + 1 / 3 * 1j, 3 - 7j, 1e3 + 1e-3j)
        return _held(dtype, some)
    greatest, least, inexact = _LIMITS[dtype]
    plain = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1 / 3, 0.1, 7.0, -60000.0, 1000.5)
    return _held(dtype, (*plain, greatest, -greatest, least, inexact, inf, -inf, nan))


def ordinary(dtype: str) -> Values:
    """Values none of which overflows, divides by zero or is not finite."""
    if dtype == "bool":
        return (True, False, True, True)
    if dtype in INTEGERS:
        signed = (-1, -3, -5) if integer_limits(dtype)[0] else (9, 7, 6)
        return (1, 2, 3, 5, 4, 8, 11, *signed)
    if dtype in COMPLEX:
        return _held(dtype, (1.0, 2.5, -0.5 + 0.5j, 1 / 3 + 2j, 0.1 - 1j, 3j, 1.5 - 0.25j, -2.0))
    plain = (0.1, 1 / 3, 2.7, -1.3, 0.5, 1.5, 2.5, -2.5, 10.3, 0.7, -0.2, 3.0, -0.9, 1e-3, 5.3)
    return _held(dtype, plain)


def paired(
    first: Sequence[Scalar], second: Sequence[Scalar], *extra: tuple[Scalar, Scalar]
) -> Pair:
    """Two equally long sequences in which each value is paired with several of the other."""
    longest = max(len(first), len(second))
    pairs = [
        (first[place % len(first)], second[(place + turn) % len(second)])
        for turn in (0, 1, 4)
        for place in range(longest)
    ]
    once = {(repr(a), repr(b)): (a, b) for a, b in (*pairs, *extra)}  # 0.0 is not -0.0
    return tuple(a for a, _ in once.values()), tuple(b for _, b in once.values())


def _held(dtype: str, values: Sequence[complex]) -> Values:
    """The values as the dtype holds them."""
    import ml_dtypes  # noqa: F401  (registers bfloat16)
    import numpy as np

    with np.errstate(all="ignore"):
        array: Any = np.array(values).astype(dtype)
    wide: list[Scalar] = array.astype(complex if dtype in COMPLEX else float).tolist()
    return tuple(wide)


# Most of these are others with their operands turned round or bounded, which those tell.
_NOT_ASKED = words(
    "rsub clamp_min clamp_max real_div floor_div truncate_div div_no_nan multiply_no_nan outer "
    "inner kron dot result_type"
)
BINARY = (*(op for op in GRID_BINARY if op not in _NOT_ASKED), "isclose")
PRODUCTS = words("dot matmul")
TERNARY = words("where clamp lerp addcmul")
ZERO_DIVISION = "!zero"  # an answer: it raised, since an integer was divided by zero
CAST = "astype"  # an explicit cast, whose form `to=int8` names the dtype; no op of the vocabulary
OPS = (*BINARY, *LOSSES, *PRODUCTS, *TERNARY, *JOINS, *UNARY, *REDUCTIONS, CAST)

_DIVISIONS = words("floor_divide remainder fmod")
_POWERS = words("pow float_power")
_SHIFTS = words("bitwise_left_shift bitwise_right_shift")
# The ops asked of operands of unequal dtypes and of scalars: one or two of each family.
_MIXED = words("add sub mul div floor_divide lt eq maximum pow where")
_MIXED_DTYPES = words(
    "bool uint8 int8 int32 int64 uint64 float16 bfloat16 float32 float64 complex64"
)
_BESIDE_SCALARS = words(
    "add sub mul div floor_divide remainder fmod lt eq maximum bitwise_and atan2 where clamp lerp"
)
_NUMBERS = words("True 0 3 -1 300 70000 0.1 1.5 70000.0 1e39 inf nan 0.1+1j")
_ZERO_D = (
    single("bool", True), single("int8", -1), single("int64", 300), single("int64", 2**53 + 1),
    single("float16", 1.5), single("float32", 70000.0), single("float64", 0.1),
    single("float64", 1e39), single("complex64", 0.5 + 1j),
)  # fmt: skip
_EXPONENTS = words("0 1 2 3 -1 -2 0.5 2.0 -1.0 1.3")

Operands = tuple[Held, ...]


def value_questions(
    forms: Mapping[str, Collection[str]], dtypes: Collection[str], ops: Iterable[str] | None = None
) -> Iterator[GridQuestion]:
    """Every question on values to a framework that has these forms of each op and these dtypes."""
    # Where there are methods, `a += b` computes as they do, or as the operator.
    has_methods = any("inplace" in exists for exists in forms.values())
    for op in OPS if ops is None else ops:
        for form in ("function", "operator", "inplace" if has_methods else "augmented"):
            # An operator calls its function; those named are computed differently.
            is_apart = op in (*_POWERS, *_DIVISIONS, "div", "mul")
            if form in forms.get(op, ()) and (form != "operator" or is_apart):
                yield from _asked(op, form, chain(_alike(op), _unlike(op, form)), dtypes)
        if op == CAST:
            for target in filter(dtypes.__contains__, DTYPES):
                yield from _asked(op, f"to={target}", _casts(target), dtypes)


def _asked(
    op: str, form: str, cases: Iterable[Operands], dtypes: Collection[str]
) -> Iterator[GridQuestion]:
    """The questions on operands of dtypes the framework has, none of them twice."""
    own = [case for case in cases if all(o.dtype is None or o.dtype in dtypes for o in case)]
    for operands in dict.fromkeys(tuple(map(str, case)) for case in own):
        yield GridQuestion(op, form, operands)


def _alike(op: str) -> Iterator[Operands]:
    """Operands of one dtype."""
    for dtype in DTYPES:
        if op in UNARY:
            yield (vector(dtype, _once((*edges(dtype), *ordinary(dtype)))),)
        elif op in REDUCTIONS:
            yield from _reduced(dtype)
        elif op in TERNARY:
            yield _third(op, dtype, dtype)
        elif op in JOINS:
            yield vector(dtype, edges(dtype)), vector(dtype, edges(dtype))
        elif op in PRODUCTS:
            yield from _products(op, dtype)
        elif op in LOSSES:
            yield vector(dtype, ordinary(dtype)), vector(dtype, ordinary(dtype)[::-1])
        else:
            yield from _binary(op, dtype, dtype)


def _unlike(op: str, form: str) -> Iterator[Operands]:
    """Operands of several dtypes, and scalars."""
    if op in _MIXED:
        for first, second in permutations(_MIXED_DTYPES, 2):
            yield from [_third(op, first, second)] if op == "where" else _binary(op, first, second)
    if op in JOINS:
        yield vector("int64", edges("int64")), vector("float32", edges("float32"))
    for dtype in DTYPES:
        if op in _BESIDE_SCALARS:
            yield from _beside_scalars(op, form, dtype)
        if op == "pow":
            yield from _powers(dtype)


def _binary(op: str, first: str, second: str) -> Iterator[Operands]:
    """Two arrays: the values that may raise apart from the others."""
    left, right = edges(first), edges(second)
    if op in (*_DIVISIONS, *_POWERS) and second in INTEGERS:
        low, _ = integer_limits(second)
        tame = tuple(x for x in right if x) if op in _DIVISIONS else tuple(
            x for x in (0, 1, 2, 3, 5, 10, 63, 64) if x <= integer_limits(second)[1]
        )  # fmt: skip
        extra = ((integer_limits(first)[0], -1),) if low and first in INTEGERS else ()
        yield _both(first, second, paired(left, tame, *(extra if op in _DIVISIONS else ())))
        wild = (0,) if op in _DIVISIONS else (-1, -2, -3)
        if op in _DIVISIONS or low:
            yield _both(first, second, paired(left, wild))
        return
    if op == "ldexp":
        second = second if second in INTEGERS else "int32"
        far = [x for x in (0, 1, -1, 7, -7, 100, -100, 200, -200, 2000, -2000)
               if integer_limits(second)[0] <= x <= integer_limits(second)[1]]  # fmt: skip
        yield _both(first, second, paired(left, far))
        return
    if op in _SHIFTS and second in INTEGERS:
        width = integer_bits(second)
        counts = (0, 1, width // 2, width - 1, width, width + 1, 2 * width - 1)
        signed = (-1, -2, -width) if integer_limits(second)[0] else ()
        fitting = [count for count in (*counts, *signed) if count <= integer_limits(second)[1]]
        yield _both(first, second, paired(left, fitting))
        return
    yield _both(first, second, paired(left, right))


def _both(first: str, second: str, values: tuple[Iterable[Scalar], Iterable[Scalar]]) -> Operands:
    return vector(first, values[0]), vector(second, values[1])


def _beside_scalars(op: str, form: str, dtype: str) -> Iterator[Operands]:
    """An array with a Python number or a 0-d array, on either side; 0-d arrays with one another."""
    array = vector(dtype, [x for x in edges(dtype) if x or op not in _DIVISIONS])
    zero_d = single(dtype, ordinary(dtype)[1])
    numbers = [number(read_literal(text)) for text in _NUMBERS]
    others = (*numbers, *_ZERO_D)
    if op == "where":
        condition = vector("bool", [bool(place % 3) for place in range(array.shape[0])])
        yield from ((condition, array, other) for other in others)
        yield from ((condition, other, array) for other in others)
        return
    if op == "clamp":
        bounds = ((-1, 3), (0, 100), (0.5, 2.5))
        yield from ((array, number(low), number(high)) for low, high in bounds)
        return
    if op == "lerp":
        end = vector(dtype, edges(dtype)[::-1])
        yield from ((array, end, weight) for weight in (number(0.3), number(1 / 3), _ZERO_D[6]))
        return
    yield from ((array, other) for other in others)
    yield from ((zero_d, other) for other in others)
    if form not in ("augmented", "inplace"):
        yield from ((other, array) for other in others)
        yield from ((other, zero_d) for other in numbers)


def _powers(dtype: str) -> Iterator[Operands]:
    """Exponents that are numbers or 0-d, at some of which frameworks take short cuts."""
    array = vector(dtype, edges(dtype))
    small = [x for x in ordinary(dtype) if isinstance(x, complex) or 0 <= x < 4]
    for text in _EXPONENTS:
        exponent = read_literal(text)
        yield array, number(exponent)
        yield number(exponent), vector(dtype, small)
        if isinstance(exponent, int):
            yield array, single("int64", exponent)
            yield array, single("int8", exponent)
        else:
            yield array, single("float64", exponent)


def _third(op: str, first: str, second: str) -> Operands:
    """Three operands: a condition and two, a value and its bounds, or three of a kind."""
    left, right = paired(edges(first), edges(second)[::-1])
    if op == "where":
        condition = vector("bool", [bool(place % 3) for place in range(len(left))])
        return condition, vector(first, left), vector(second, right)
    size = len(ordinary(first))
    if op == "clamp":
        low, high = min(ordinary(first), key=abs), max(ordinary(first), key=abs)
        return vector(first, edges(first)), single(first, low), single(first, high)
    turned = [ordinary(first)[(place * 3 + 1) % size] for place in range(size)]
    return tuple(vector(first, v) for v in (ordinary(first), ordinary(first)[::-1], turned))


def _reduced(dtype: str) -> Iterator[Operands]:
    """Plain values; values that overflow or wrap; and for floats a sum that shows in which dtype
    it is kept, and values that are not finite."""
    yield (vector(dtype, ordinary(dtype)),)
    yield (single(dtype, ordinary(dtype)[0]),)
    if dtype in INTEGERS:
        yield (vector(dtype, edges(dtype)),)
        yield (vector(dtype, [integer_limits(dtype)[1]] * 4 + [1]),)
    if dtype in FLOATS:
        finite = edges(dtype)[:-3]
        large = {"float16": 2048.0, "bfloat16": 256.0, "float32": 2.0**24, "float64": 2.0**53}
        yield (vector(dtype, [large[dtype], *[1.0] * 15]),)
        yield (vector(dtype, finite),)
        yield (vector(dtype, edges(dtype)),)
        yield (vector(dtype, [*ordinary(dtype), *edges(dtype)[-3:-1]]),)
    if dtype in COMPLEX:
        yield (vector(dtype, edges(dtype)),)


def _products(op: str, dtype: str) -> Iterator[Operands]:
    values = ordinary(dtype)
    yield vector(dtype, values), vector(dtype, values[::-1])
    if dtype in INTEGERS:
        yield vector(dtype, edges(dtype)), vector(dtype, edges(dtype)[::-1])
    if op == "matmul":
        square = Held(dtype, (2, 2), values[:4])
        yield square, Held(dtype, (2, 2), values[-4:])


def _casts(target: str) -> Iterator[Operands]:
    """Explicit casts to a dtype, of values it has no room for too."""
    for dtype in DTYPES:
        around: list[float] = []
        if target in INTEGERS and dtype in FLOATS:
            low, high = integer_limits(target)
            around = [low - 1.0, low - 0.5, high + 0.5, high + 1.0, 2.0 * high + 3, 3e9 + 5]
        known = edges(dtype)
        held = [x for x in around if _is_held(dtype, x)]
        yield (vector(dtype, _once((*known, *held))),)
        yield (single(dtype, known[-1]),)


def _is_held(dtype: str, value: float) -> bool:
    """Whether a float dtype, of which the wide ones hold all there is here, has the value."""
    return dtype == "float64" or (dtype == "float32" and abs(value) <= 2**24)


def _once(values: Iterable[Scalar]) -> list[Scalar]:
    """The values, each once; 0.0 and -0.0 are two."""
    return list({repr(value): value for value in values}.values())


# Held values as NumPy arrays, and back.


def numpy_array(held: Held) -> Any:
    """A Python number, or a NumPy array that holds the values."""
    import ml_dtypes  # noqa: F401  (registers bfloat16)
    import numpy as np

    if held.dtype is None:
        return held.values[0]
    # An array of Python ints would be one of objects beyond int64.
    wide = held.dtype if "int" in held.dtype else None
    return np.array(held.values, wide).astype(held.dtype).reshape(held.shape)


def numpy_held(array: Any) -> Held:
    """What a NumPy array or scalar holds."""
    import numpy as np

    array = np.asarray(array)
    name = str(array.dtype.name)
    wide = array.astype("float32") if name == "bfloat16" else array
    return Held(name, array.shape, tuple(wide.reshape(-1).tolist()))


# Whether what was computed agrees with what a framework computed, op by op.
#
# Bit for bit, except for the payload of NaN, the sign of zero and the ops named here: functions
# that no standard rounds, and floats that are added or multiplied in an order that is nobody's
# promise.

# dtype -> significant bits and the exponent of the smallest normal number
_FORMATS = {
    "float16": (11, -14), "bfloat16": (8, -126), "float32": (24, -126), "float64": (53, -1022),
}  # fmt: skip
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
    if a == b or (a != a and b != b):
        return True
    if not isinstance(a, float) or not (math.isfinite(a) and math.isfinite(b)):
        return False
    return abs(a - b) <= slack[0] * _unit(a, str(dtype)) + slack[1]


def _unit(value: float, dtype: str) -> float:
    """The distance from a number to the next one of its dtype."""
    bits, least = _FORMATS[_PARTS.get(dtype, dtype)]
    exponent = math.frexp(value)[1] - 1 if value else least
    return 2.0 ** (max(exponent, least) - bits + 1)


# How far apart two arrays of one dtype are, in units in the last place.


def ulps_apart(one: Any, other: Any) -> Any:
    """The distance between the elements of two NumPy arrays of one dtype and shape, in float64.

    It counts the numbers of the dtype between them. The distance between integers is their
    difference; zeros of both signs, and NaNs, are zero apart; a finite number is infinitely far
    from one that is not.

    >>> import numpy as np
    >>> ulps_apart(np.float16([1, 0.0, np.inf]), np.float16([1.002, -0.0, 1])).tolist()
    [2.0, 0.0, inf]
    """
    import ml_dtypes  # noqa: F401  (its dtypes have ufuncs)
    import numpy as np

    if one.dtype.kind == "c":
        return np.maximum(ulps_apart(one.real, other.real), ulps_apart(one.imag, other.imag))
    if one.dtype.name == "bool" or "int" in one.dtype.name:
        return np.abs(one.astype(object) - other.astype(object)).astype(np.float64)
    (first, is_minus), (second, is_also_minus) = _float_sizes(one), _float_sizes(other)
    between = np.maximum(first, second) - np.minimum(first, second)
    apart = np.where(is_minus == is_also_minus, between, first + second).astype(np.float64)
    both_nan = np.isnan(one) & np.isnan(other)
    same_infinity = np.isinf(one) & (one == other)
    is_odd = ~(np.isfinite(one) & np.isfinite(other)) & ~both_nan & ~same_infinity
    return np.where(is_odd, np.inf, np.where(both_nan, 0.0, apart))


def _float_sizes(array: Any) -> tuple[Any, Any]:
    """The place of each number among those of its dtype, counted from zero, and its sign."""
    import numpy as np

    width = 8 * array.dtype.itemsize
    bits = array.view(f"uint{width}").astype(np.uint64)
    if array.dtype.name.endswith("fnu"):  # without a sign
        return bits, np.zeros(array.shape, bool)
    sign = np.uint64(1 << (width - 1))
    return bits & ~sign, (bits & sign) != 0


class Apart(NamedTuple):
    """Where two results first differ, and by how much they do."""

    operands: tuple[Scalar, ...]  # the numbers of which the element was made, where that is known
    one: Scalar
    other: Scalar
    differing: int  # the count of elements that differ
    ulps: float  # between those that are the furthest apart


def first_apart(operands: Sequence[Held], one: Held, other: Held) -> Apart | None:
    """The first element in which two results of one dtype differ in bits, where NaNs are equal;
    None where their shapes differ."""
    import numpy as np

    if one.shape != other.shape:
        return None
    pairs = list(zip(one.values, other.values, strict=True))
    places = [at for at, (a, b) in enumerate(pairs) if written(a) != written(b)]
    are_elementwise = all(held.shape in (one.shape, ()) for held in operands)
    numbers = (held.values[places[0] if held.shape else 0] for held in operands)
    with np.errstate(all="ignore"):
        ulps = float(ulps_apart(_as_array(one), _as_array(other)).max())
    known = tuple(numbers) if are_elementwise else ()
    return Apart(known, *pairs[places[0]], len(places), ulps)


def _as_array(held: Held) -> Any:
    import numpy as np

    return np.array(held.values).astype(str(held.dtype))
