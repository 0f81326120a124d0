"""With which values a question of the grid is asked, where what it computes is replayed.

A decision tells which operands are cast, to what, and in what the work is done. So the values are
those that casts tell apart: beyond the range of a smaller dtype, not held by it, negative beside
unsigned dtypes. What could raise, and what is not finite, is asked apart, so that it hides nothing.
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from math import inf, nan
from typing import Any, NamedTuple

from castwise.conformance.questions import (
    DTYPES_ONLY,
    NUMPY_DTYPES,
    REDUCTIONS,
    SELECTIONS,
    GridQuestion,
    Scalar,
    Scope,
    Spec,
    questions,
    read_operand,
    words,
)
from castwise.conformance.recorder import ValueRecorder
from castwise.conformance.values import (
    Held,
    integer_bits,
    integer_limits,
    numpy_array,
    paired,
    written,
)
from castwise.vocab.notation import given_by_name
from castwise.vocab.operands import Role
from castwise.vocab.ops import LAYERS, known_op

# What an operand of a replay is.


class Given(NamedTuple):
    """An operand: what it holds, and what holds it."""

    held: Held
    is_numpy: bool = False  # NumPy's array, 0-d array or scalar
    is_scalar: bool = False  # NumPy's scalar
    is_weak: bool = False

    @property
    def is_number(self) -> bool:
        """Whether it is a Python number."""
        return self.held.dtype is None

    def __str__(self) -> str:
        """The notation: what a number, a scalar and a 0-d array hold, and of others the shape."""
        dtype, shape, values = self.held
        if dtype is None:
            return str(self.held)
        name = f"{'np.' * self.is_numpy}{dtype}{'*' * self.is_weak}"
        if self.is_scalar:
            return f"{name}({written(values[0])})"
        lengths = ",".join(map(str, shape))
        return f"{name}[{lengths}]" if shape else f"{name}={written(values[0])}[]"

    @property
    def role(self) -> str:
        """What it is, in words."""
        if self.is_number:
            return Role.SCALAR.value
        if self.is_scalar:
            return Role.NUMPY_SCALAR.value
        own, foreign = (
            (Role.ARRAY, Role.NUMPY_ARRAY) if self.held.shape else (Role.ZERO_D, Role.NUMPY_ZERO_D)
        )
        return f"{'weak ' * self.is_weak}{(foreign if self.is_numpy else own).value}"


Case = tuple[Given, ...]


class ReplayedQuestion(NamedTuple):
    """A question of the grid, and the operands it is asked with, one case after another."""

    question: GridQuestion
    cases: tuple[Case, ...]


def live(recorder: ValueRecorder, given: Given) -> Any:
    """The live operand."""
    if given.is_number or not given.is_numpy:
        if given.is_weak:
            return recorder.hold(given.held._replace(dtype=f"{given.held.dtype}*"))
        return recorder.hold(given.held)
    array = numpy_array(given.held)
    return array[()] if given.is_scalar else array


def cast_by_hand(recorder: ValueRecorder, given: Given, operand: Any, dtype: str) -> Any:
    """The live operand in another dtype; a foreign array stays foreign, where it can."""
    if given.is_number:
        return number_as(recorder, given.held.values[0], dtype)
    own = recorder.hold(given.held) if given.is_numpy else operand
    is_own = own is operand or given.is_scalar or dtype not in NUMPY_DTYPES
    return recorder.cast(own, dtype) if is_own else operand.astype(dtype)


def number_as(recorder: ValueRecorder, value: Scalar, dtype: str) -> Any:
    """A Python number as a 0-d array, by the framework's own cast from the widest of its kind."""
    if dtype == "bool":
        return recorder.hold(Held("bool", (), (bool(value),)))
    wide = _widest(value)
    if wide == "int64" and "int" in dtype:
        value = _wrapped(int(value.real), dtype)
        return recorder.hold(Held(dtype, (), (value,)))
    held = Held(wide, (), (value,))
    if wide == "int64" and not -(2**63) <= value.real < 2**63:
        held = Held("float64", (), (_as_float(int(value.real)),))
    if wide in recorder.dtypes:
        return recorder.cast(recorder.hold(held), dtype)
    return recorder.hold(cast_here(held, dtype))


def _widest(value: Scalar) -> str:
    names = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
    return names[type(value)]


def _wrapped(value: int, dtype: str) -> int:
    low, _ = integer_limits(dtype)
    wrapped: int = (value - low) % 2 ** integer_bits(dtype) + low
    return wrapped


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(inf, value)


def cast_here(held: Held, dtype: str) -> Held:
    """An array in another dtype, as NumPy casts it."""
    import numpy as np

    with np.errstate(all="ignore"):
        cast = numpy_array(held).astype(dtype)
    wide = cast.astype("float32") if dtype == "bfloat16" else cast
    return Held(dtype, held.shape, tuple(wide.reshape(-1).tolist()))


# The values of each dtype that tell casts apart.

_INTEGERS = (
    1, 2, 3, 7, -1, 100, 300, -7, 2049, 70001, -300, 2**24 + 1, 2**31 + 5, 2**53 + 1, -70001,
    -(2**24) - 1, 2**62 + 3, -(2**53) - 1,
)  # fmt: skip
_REALS = (
    0.1, 1 / 3, 2.5, -1.5, 300.0, 1e-4, -0.3, 2049.0, 1e6, 70001.0, -7.0, 2.0**24 + 1, 1e30, 1e39,
    2.0**31 + 5, 1e-30, -70001.0, 1e300, 1e-42, 6e-8, 0.7,
)  # fmt: skip
_COMPLEX = (
    1 + 2j, 0.1 + 1 / 3 * 1j, -2.5 - 1e-4j, 1.5, 300 - 7j, 70001 + 16777217j, 1e-4 + 1e6j, 1e30j,
    1e39 + 1j, -0.3 + 0.7j,
)  # fmt: skip
_SMALL = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149, "float64": 5e-324}
_SPECIAL = (0.0, inf, -0.0, nan, -inf, 1.0, -2.5)
_SPECIAL_COMPLEX = (0j, complex(inf, 1.0), complex(nan, 1.0), complex(1.0, -inf), -0.0 + 1j, 1 + 2j)


@functools.cache
def telling(dtype: str) -> tuple[Scalar, ...]:
    """Finite values of a dtype, none of them zero but False.

    >>> telling("uint8")
    (1, 2, 3, 7, 100, 255, 254)
    """
    if dtype == "bool":
        return (True, False, True)
    if "int" in dtype:
        low, high = integer_limits(dtype)
        ends = (high, high - 1, *((low, low + 1) if low else ()))
        return tuple(dict.fromkeys(v for v in (*_INTEGERS, *ends) if low <= v <= high))
    wished: tuple[Scalar, ...] = _COMPLEX if "complex" in dtype else (*_REALS, _SMALL.get(dtype, 1))
    return tuple(v for v in dict.fromkeys(_held(dtype, wished)) if v and _is_finite(v))


@functools.cache
def special(dtype: str) -> tuple[Scalar, ...]:
    """Zeros, and what is not finite, with a few others."""
    if dtype == "bool":
        return (False, True)
    if "int" in dtype:
        return (0, 1, 3, 0, integer_limits(dtype)[1])
    return _held(dtype, _SPECIAL_COMPLEX if "complex" in dtype else _SPECIAL)


def _held(dtype: str, values: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """The values as the dtype holds them."""
    import ml_dtypes  # noqa: F401  (registers bfloat16 and the small floats)
    import numpy as np

    if dtype == "complex32":
        parts = [_held("float16", (v.real, v.imag)) for v in values]
        return tuple(complex(*part) for part in parts)
    with np.errstate(all="ignore"):
        array: Any = np.array(values).astype(dtype)
    return tuple(array.astype(complex if "complex" in dtype else float).tolist())


def _is_finite(value: Scalar) -> bool:
    return math.isfinite(value.real) and math.isfinite(value.imag)


# Python numbers in the place of the grid's plain ones; others stand for themselves.
_NUMBERS: dict[str, tuple[Scalar, ...]] = {
    "True": (True, False),
    "1": (1, 3, 70001, -1, 2**24 + 1, 300, 2**53 + 1, 2),
    "1.5": (1.5, 0.1, 70001.0, 1e-4, 1e6, 1 / 3, 1e39, 2.5, 16777217.0),
    "1+1j": (1 + 1j, 0.1 + 1 / 3 * 1j, 1.5 + 2j, 70001 + 1e-4j, 1e39 + 1j),
}
_EXPONENTS: dict[str, tuple[Scalar, ...]] = {
    "1": (3, 2, 5, 1), "1.5": (1.5, 0.1, 1 / 3, 2.5), "1+1j": (1 + 1j, 0.1 + 1 / 3 * 1j),
}  # fmt: skip
_COUNTS: dict[str, tuple[Scalar, ...]] = {"1": (1, 3, 7)}

_POWERS = words("pow float_power")
_SHIFTS = words("bitwise_left_shift bitwise_right_shift")
_DIVISIONS = words("div floor_divide remainder fmod")
_TAME_INTEGERS = (3, 2, 5, 1, 4)
_TAME_REALS = (0.5, 2.0, 1 / 3, 0.1, 2.5, 3.0)
_TAME_COMPLEX = (1 + 1j, 0.1 + 1 / 3 * 1j, 2.0 + 0j)


@functools.cache
def _second(op: str, dtype: str) -> tuple[Scalar, ...]:
    """What stands on the right of an op: exponents and counts are small."""
    if op in _DIVISIONS and "int" in dtype:
        return tuple(v for v in telling(dtype) if v != -1)  # the least integer divided by it traps
    if op not in (*_POWERS, *_SHIFTS, "ldexp") or dtype == "bool":
        return telling(dtype)
    if "int" in dtype:
        return _TAME_INTEGERS
    return _held(dtype, _TAME_COMPLEX if "complex" in dtype else _TAME_REALS)


# The cases of a question.

_NOT_REPLAYED = (*DTYPES_ONLY, "result_type", "allclose")  # they compute no array
_NOT_WHOLE = "where"  # with this by name, what is left out holds anything, but in a reduction
_ALL_WITH_ALL, _CROSSED = words("outer kron"), 8
_FEW_LENGTHS = 32  # lengths are a multiple of it: some frameworks compile anew for each
_PRODUCTS = words("dot inner vecdot matmul")
_OF_THREE = words("cross")  # they take vectors of this length
_ROUNDS = 3  # of single values, from one to the next


def replayed_questions(
    scope: Scope, dtypes: Sequence[str], ops: Iterable[str] | None = None
) -> Iterator[GridQuestion]:
    """The questions of the grid that can be replayed: all but those about lists, bare dtypes and
    dtypes of which no values are held."""
    known = frozenset({None, *dtypes})
    for question in questions(scope, ops):
        if question.op not in _NOT_REPLAYED and _is_replayed(question, known):
            yield question


def _is_replayed(question: GridQuestion, known: frozenset[str | None]) -> bool:
    out, is_partly = _by_name(question.form)
    if out not in known or (is_partly and question.op not in REDUCTIONS):
        return False
    return all(_is_held(operand, known) for operand in question.operands)


@functools.cache
def _by_name(form: str) -> tuple[str | None, bool]:
    """The dtype of what is written into, and whether only a part of it is."""
    named = given_by_name(form)
    return named.get("out"), _NOT_WHOLE in named


@functools.lru_cache(maxsize=1 << 14)
def _is_held(operand: str, known: frozenset[str | None]) -> bool:
    if operand.startswith("["):
        return False
    spec = read_operand(operand)
    return spec.is_array and spec.dtype in known


def cases_of(question: GridQuestion, seed: int = 0) -> ReplayedQuestion:
    """The question with the operands of each case. The seed tells which single values are first."""
    specs = [read_operand(operand) for operand in question.operands]
    chance = random.Random(f"{seed}/{question}")
    if question.op in LAYERS:
        return ReplayedQuestion(question, (_layer(question, specs),))
    if question.op in REDUCTIONS:
        return ReplayedQuestion(question, tuple(_reductions(question, specs[0])))
    start = chance.randrange(1 << 16)
    has_single = any(not spec.shape for spec in specs) or _is_short(question)
    rounds = range(start, start + (_ROUNDS if has_single else 1))
    cases = [_case(question, specs, place) for place in rounds]
    if any(spec.shape and spec.dtype != "bool" for spec in specs):
        cases.append(_case(question, specs, start, is_special=True))
    if question.op in _PRODUCTS and all(len(spec.shape) == 1 for spec in specs):
        cases += _products(specs)
    return ReplayedQuestion(question, tuple(dict.fromkeys(cases)))


def _products(specs: Sequence[Spec]) -> Iterator[Case]:
    """Products of numbers with ones, whose sum shows in which dtype it is kept."""
    first, second = specs
    if "float" in str(first.dtype):
        for values in accumulated(str(first.dtype), "sum"):
            ones = (_as_held(str(second.dtype), 1),) * len(values)
            yield _given(first, (4,), values), _given(second, (4,), ones)


def _case(
    question: GridQuestion, specs: Sequence[Spec], turn: int, *, is_special: bool = False
) -> Case:
    """One case: arrays hold all values of their dtypes, paired; the others hold one."""
    op, places = question.op, [at for at, spec in enumerate(specs) if spec.shape]
    is_short = _is_short(question)
    columns = iter(_columns(op, [specs[at] for at in places], places, turn, is_special=is_special))
    given = []
    for at, spec in enumerate(specs):
        if spec.shape:
            values = next(columns)
            is_vector = len(spec.shape) == 1
            count = math.prod(spec.shape) if is_short or not is_vector else len(values)
            values = tuple(islice(cycle(values), count))
            given.append(_given(spec, (count,) if is_vector else spec.shape, values))
        else:
            given.append(_given(spec, (), (_single(op, at, spec, question.operands[at], turn),)))
    return tuple(given)


def _is_short(question: GridQuestion) -> bool:
    """Whether arrays have three elements, as the grid's have: what is given by name has a shape."""
    named = given_by_name(question.form)
    return question.op in _OF_THREE or "where" in named or "out" in named


def _columns(
    op: str, specs: Sequence[Spec], places: Sequence[int], turn: int, *, is_special: bool
) -> list[tuple[Scalar, ...]]:
    """What the arrays of a case hold, all of them equally many values."""
    lists = []
    for at, spec in zip(places, specs, strict=True):
        dtype = str(spec.dtype)
        if op in SELECTIONS and at == 0:
            values: tuple[Scalar, ...] = (1, 0, 1) if dtype != "bool" else (True, False, True)
        elif is_special and not (at and op in (*_POWERS, *_SHIFTS, "ldexp")):
            values = special(dtype)
        else:
            values = _second(op, dtype) if at else telling(dtype)
        lists.append(values)
    if len(lists) == 2 and op not in SELECTIONS:
        first, second = (_turned(values, turn) for values in lists)
        dtype = str(specs[1].dtype)
        is_tame = op in (*_POWERS, *_SHIFTS, "ldexp")
        near = () if is_tame or is_special else tuple(_near(first, dtype))
        lists = list(paired(first, second, *near))
        longest = len(lists[0])
    else:
        lists = [_turned(values, at * 2 + turn) for at, values in enumerate(lists)]
        longest = 3 * max(map(len, lists), default=1)
    length = _CROSSED if op in _ALL_WITH_ALL else _FEW_LENGTHS * -(-longest // _FEW_LENGTHS)
    return [tuple(islice(cycle(values), length)) for values in lists]


def _turned(values: tuple[Scalar, ...], by: int) -> tuple[Scalar, ...]:
    by %= len(values)
    return values[by:] + values[:by]


def _near(values: Iterable[Scalar], dtype: str) -> Iterator[tuple[Scalar, Scalar]]:
    """Each value beside itself as another dtype holds it, where it can be held."""
    for value in values:
        if isinstance(value, complex) != ("complex" in dtype):
            continue
        if "int" in dtype:
            low, high = integer_limits(dtype)
            if value == int(value.real) and low <= value.real <= high:
                yield value, int(value.real)
        elif dtype != "bool":
            (held,) = _held(dtype, (value,))
            if _is_finite(held) and held:
                yield value, held


def _single(op: str, place: int, spec: Spec, notation: str, turn: int) -> Scalar:
    """The value of a number, a scalar or a 0-d array: the grid's own where it chose one."""
    is_right = place > 0 and op not in SELECTIONS
    if spec.dtype is None:
        by_op = _EXPONENTS if op in _POWERS else _COUNTS if op in (*_SHIFTS, "ldexp") else {}
        instead = {**_NUMBERS, **by_op} if is_right else _NUMBERS
        found: Scalar = spec.value
        return _at(instead.get(notation, (found,)), turn)
    if "=" in notation or (spec.is_scalar and "(1)" not in notation):
        return _as_held(spec.dtype, spec.value)
    values = _second(op, spec.dtype) if is_right else telling(spec.dtype)
    return _at(values, turn)


def _as_held(dtype: str, value: Scalar) -> Scalar:
    if dtype == "bool":
        return bool(value)
    return int(value.real) if "int" in dtype else _held(dtype, (value,))[0]


def _at(values: Sequence[Scalar], turn: int) -> Scalar:
    return values[turn % len(values)]


def _given(spec: Spec, shape: tuple[int, ...], values: tuple[Scalar, ...]) -> Given:
    is_numpy_scalar = spec.is_scalar and spec.dtype is not None
    return Given(Held(spec.dtype, shape, values), spec.is_numpy, is_numpy_scalar, spec.is_weak)


# Reductions: values that show in which dtype a sum or a product is kept.


def accumulated(dtype: str, op: str) -> tuple[tuple[Scalar, ...], ...]:
    """Arrays of four whose sum or product is exact in a wider dtype, and not in a narrower one,
    whatever the order; in every order of the first three.

    >>> accumulated("float16", "sum")[0]
    (60000.0, 60000.0, -60000.0, 0.0)
    """
    triples: list[tuple[float, float, float]] = []
    is_product = op in ("prod", "cumprod")
    for name, greatest, digits in _ACCUMULATORS:
        if is_product:
            half = 2.0 ** math.ceil(math.log2(greatest) / 2)
            triples.append((half, half, 1 / half))
        else:
            triples += [(greatest, greatest, -greatest), (2.0**digits, 1.0, 1.0)]
        if name == dtype:
            break
    orders = ((0, 1, 2), (0, 2, 1), (2, 0, 1))
    last = 1.0 if is_product else 0.0
    wished = [(*[some[at] for at in order], last) for some in triples for order in orders]
    held = [_held(dtype, some) for some in wished]
    kept = [some for some, wish in zip(held, wished, strict=True) if some == wish]
    return tuple(dict.fromkeys(kept))


# Narrow to wide: a large number, the double of which overflows, and the digits.
_ACCUMULATORS = (
    ("float16", 60000.0, 11), ("bfloat16", 3.0 * 2.0**126, 8), ("float32", 3.0 * 2.0**126, 24),
    ("float64", 1.5 * 2.0**1023, 53),
)  # fmt: skip


def _reductions(question: GridQuestion, spec: Spec) -> Iterator[Case]:
    dtype = str(spec.dtype)
    if not spec.shape:
        for turn in range(2):
            yield (_given(spec, (), (_at(telling(dtype), turn),)),)
        return
    arrays = [telling(dtype), special(dtype)]
    if "float" in dtype:
        ordinary = _held(dtype, _TAME_REALS * 4)
        arrays += [ordinary, *accumulated(dtype, question.op)]
    elif "complex" in dtype:
        part = {"complex32": "float16", "complex64": "float32"}.get(dtype, "float64")
        arrays += [tuple(map(complex, some)) for some in accumulated(part, question.op)]
    elif "int" in dtype:
        arrays += [_TAME_INTEGERS, (integer_limits(dtype)[1],) * 3]
    if _is_short(question):
        arrays = [tuple(islice(cycle(values), 3)) for values in arrays]
    for values in dict.fromkeys(arrays):
        yield (_given(spec, (len(values),), tuple(values)),)


def _layer(question: GridQuestion, specs: Sequence[Spec]) -> Case:
    """Plain values: a layer sums many products. What may be an index is 0, 1 or 2."""
    row = known_op(question.op)
    index = row.index if row else None
    given = []
    for at, spec in enumerate(specs):
        dtype, is_index = str(spec.dtype), at == index or question.op == "one_hot"
        tame: Iterable[Scalar] = (True, False, True)
        if "int" in dtype or is_index:
            tame = _TAME_INTEGERS if not is_index else (0, 1, 2)
        elif dtype != "bool":
            tame = _held(dtype, _TAME_COMPLEX if "complex" in dtype else _TAME_REALS)
        if is_index and "int" not in dtype:
            tame = _held(dtype, (0.0, 1.0, 2.0)) if dtype != "bool" else (True, False)
        given.append(_given(spec, spec.shape, tuple(islice(cycle(tame), math.prod(spec.shape)))))
    return tuple(given)
