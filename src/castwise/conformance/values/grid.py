"""Which values to ask for: every op over operands at which frameworks could compute differently.

As grid.py asks for every dtype, this asks for a few and looks at what they hold. An operand that
could make a framework raise is in a separate question, so that it hides no other answer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain

from castwise.conformance.grid import BINARY as GRID_BINARY
from castwise.conformance.grid import JOINS, LOSSES, REDUCTIONS, UNARY, GridQuestion
from castwise.conformance.operand import Scalar, read_literal, words
from castwise.conformance.values.notation import Held, number, single, vector
from castwise.conformance.values.operands import (
    COMPLEX,
    DTYPES,
    FLOATS,
    INTEGERS,
    bits_of,
    edges,
    limits_of,
    ordinary,
    paired,
)

# Most of these are others with their operands turned round or bounded, which those tell.
_NOT_ASKED = words(
    "rsub clamp_min clamp_max real_div floor_div truncate_div div_no_nan multiply_no_nan outer "
    "inner kron dot result_type"
)
BINARY = (*(op for op in GRID_BINARY if op not in _NOT_ASKED), "isclose")
PRODUCTS = words("dot matmul")
TERNARY = words("where clamp lerp addcmul")
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
            if form in forms.get(op, ()):
                yield from _of(op, form, dtypes)
        if op == CAST:
            for target in filter(dtypes.__contains__, DTYPES):
                yield from _asked(op, f"to={target}", _casts(target), dtypes)


def _of(op: str, form: str, dtypes: Collection[str]) -> Iterator[GridQuestion]:
    if form == "operator" and op not in (*_POWERS, *_DIVISIONS, "div", "mul"):
        return  # an operator calls its function; those named are computed differently
    yield from _asked(op, form, chain(_alike(op), _unlike(op, form)), dtypes)


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
        for first in _MIXED_DTYPES:
            for second in _MIXED_DTYPES:
                if op == "where" and first != second:
                    yield _third(op, first, second)
                elif first != second:
                    yield from _binary(op, first, second)
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
        low, _ = limits_of(second)
        tame = tuple(x for x in right if x) if op in _DIVISIONS else tuple(
            x for x in (0, 1, 2, 3, 5, 10, 63, 64) if x <= limits_of(second)[1]
        )  # fmt: skip
        extra = ((limits_of(first)[0], -1),) if low and first in INTEGERS else ()
        yield _both(first, second, paired(left, tame, *(extra if op in _DIVISIONS else ())))
        wild = (0,) if op in _DIVISIONS else (-1, -2, -3)
        if op in _DIVISIONS or low:
            yield _both(first, second, paired(left, wild))
        return
    if op == "ldexp":
        second = second if second in INTEGERS else "int32"
        far = [x for x in (0, 1, -1, 7, -7, 100, -100, 200, -200, 2000, -2000)
               if limits_of(second)[0] <= x <= limits_of(second)[1]]  # fmt: skip
        yield _both(first, second, paired(left, far))
        return
    if op in _SHIFTS and second in INTEGERS:
        width = bits_of(second)
        counts = (0, 1, width // 2, width - 1, width, width + 1, 2 * width - 1)
        signed = (-1, -2, -width) if limits_of(second)[0] else ()
        fitting = [count for count in (*counts, *signed) if count <= limits_of(second)[1]]
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
        yield from (
            (array, number(low), number(high)) for low, high in ((-1, 3), (0, 100), (0.5, 2.5))
        )
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
    for text in _EXPONENTS:
        exponent = read_literal(text)
        yield array, number(exponent)
        yield number(exponent), vector(dtype, [x for x in ordinary(dtype) if _is_small(x)])
        if isinstance(exponent, int):
            yield array, single("int64", exponent)
            yield array, single("int8", exponent)
        else:
            yield array, single("float64", exponent)


def _is_small(value: Scalar) -> bool:
    return isinstance(value, complex) or 0 <= value < 4


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
        yield (vector(dtype, [limits_of(dtype)[1]] * 4 + [1]),)
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
            low, high = limits_of(target)
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
