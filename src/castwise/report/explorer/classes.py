"""Which values a dialect tells apart: 300 and 301 are the same to every rule, 255 and 256 are not.

The engine knows bounds between which no dialect looks closer. Most dialects look at few of them.
Here each is asked with a value from every interval, and intervals with the same answers become one
class. Rules about values are shared by many ops, so one op is asked for each set of such rules.
"""

from __future__ import annotations

import cmath
import functools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

from castwise.engine.plan import Plan, looks_at_values, plan_of
from castwise.errors import UsageError
from castwise.report.explorer.asking import Answers
from castwise.report.explorer.groups import Asked, forms_behind, marked
from castwise.report.explorer.kinds import SIZES, every_value, real_of
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import (
    VALUE_BOUNDS,
    Operand,
    Scalar,
    array_operand,
    numpy_scalar_operand,
    scalar_operand,
)

# The NumPy scalars that hold most values of each kind.
_WIDEST = {"bool": "bool", "int": "int64 uint64", "float": "float64", "complex": "complex128"}
_Made = Callable[[Scalar], Operand]
Numbers = dict[str, dict[int, int]]  # kind -> the place of a value among the bounds -> its class


class Classes(NamedTuple):
    """The classes of values beside an array of some dtype, numbered from 0 on."""

    numbers: Numbers  # of Python's numbers
    scalars: Numbers  # of NumPy's scalars


def classes_of(dialect: Dialect, asked: Iterable[Asked]) -> dict[DType, Classes]:
    """The classes beside each dtype of a dialect."""
    probes = _probes(dialect, asked)
    return {d: _Asker(dialect, probes, d).classes() for d in dialect.dtypes}


def representatives(kind: str, classes: dict[int, int]) -> dict[int, Scalar]:
    """The value that stands for each class: one between two bounds, if there is one, which no
    message mentions by chance."""
    values = every_value(kind)
    found: dict[int, Scalar] = {}
    for place in sorted(classes, key=lambda place: (_is_bound(place), _oddity(values[place]))):
        found.setdefault(classes[place], values[place])
    return dict(sorted(found.items()))


def _numpy_scalars(kind: str) -> list[_Made]:
    return [_numpy_scalar(name) for name in _WIDEST[kind].split()]


def _numpy_scalar(name: str) -> _Made:
    return lambda value: numpy_scalar_operand(dtype(name), value)


def _is_bound(place: int) -> bool:
    return place < 0 or place % 2 == 1


def _oddity(value: Scalar) -> float:
    """Numbers of two digits read best."""
    return abs(abs(real_of(value)) - 50)


def _probes(dialect: Dialect, asked: Iterable[Asked]) -> list[Asked]:
    """One op in a form for each set of rules about values."""
    found: dict[Hashable, Asked] = {}
    for one in asked:
        if one.op.arity[0] <= 2 <= one.op.arity[1]:
            found.setdefault(_value_rules(dialect, one), one)
    return [Asked(marked(one.op), one.form) for one in found.values()]


def _value_rules(dialect: Dialect, asked: Asked) -> Hashable:
    """The rules of an op that may look at a value, and the dtypes that it is cast to."""
    plans = [plan_of(asked.op, dialect, form) for form in forms_behind(asked.form)]
    return tuple([_value_rules_of(plan) for plan in plans])


def _value_rules_of(plan: Plan) -> Hashable:
    joins, python = plan.joins, tuple(plan.python.items())
    words = (plan.scalars, plan.borrows, joins.by, joins.unless, joins.typed_by)
    rules = (plan.range, plan.exponent, plan.numbers, plan.composes, plan.numpy.scalars)
    dtypes = (plan.loops.mask, tuple(plan.loops.converts.items()), plan.accepts.same_dtype)
    return words, plan.arrays.makes_arrays, python, dtypes, repr(rules)


class _Asker:
    """Asks a dialect about values beside an array."""

    def __init__(self, dialect: Dialect, probes: Sequence[Asked], dtype: DType) -> None:
        self._probes, self._answers = probes, Answers(dialect)
        self._array, self._zero_d = array_operand(dtype, (SIZES[0],)), array_operand(dtype, ())

    def classes(self) -> Classes:
        """The classes of numbers, and of NumPy scalars."""
        numbers = {kind: self._merged(kind, [scalar_operand]) for kind in KINDS}
        scalars = {kind: self._merged(kind, _numpy_scalars(kind)) for kind in KINDS}
        return Classes(numbers, scalars)

    def _merged(self, kind: str, makers: Sequence[_Made]) -> dict[int, int]:
        """The class of each interval of values."""
        values = every_value(kind)

        @functools.cache
        def about(place: int) -> Hashable:
            return tuple([self._beside(_made(maker, values[place])) for maker in makers])

        found: dict[Hashable, int] = {}
        alone = [place for place, value in values.items() if place < 0 or _is_infinite(value)]
        answers = {place: about(place) for place in alone}
        for of_sign in _by_sign([place for place in values if place not in alone]):
            answers |= _filled_in(of_sign, about)
        return {place: found.setdefault(answers[place], len(found)) for place in values}

    def _beside(self, operand: Operand | None) -> Hashable:
        """All answers about an operand and the array, in both orders; none where there is no such
        operand."""
        if operand is None:
            return None
        return tuple(
            [
                self._answers.number(one, given, (str(operand), place))
                for one in self._probes
                for place, given in enumerate(self._orders(one, operand))
            ]
        )

    def _orders(self, asked: Asked, operand: Operand) -> list[tuple[Operand, Operand]]:
        """The operand with the array, and with a 0-d array where a value may count there."""
        looks = looks_at_values(self._answers.dialect, asked.op, asked.form)
        arrays = [self._array, self._zero_d] if looks else [self._array]
        return [order for array in arrays for order in ((array, operand), (operand, array))]


def _is_infinite(value: Scalar) -> bool:
    return not isinstance(value, int) and cmath.isinf(value)


def _by_sign(places: list[int]) -> list[list[int]]:
    """Intervals below and above zero, each in the order of their values."""
    below = [place for place in places if VALUE_BOUNDS[(place - 1) // 2] < 0]
    return [below, [place for place in places if place not in below]]


def _filled_in(places: list[int], about: Callable[[int], Hashable]) -> dict[int, Hashable]:
    """What is answered about intervals that follow each other.

    The farther a finite number is from zero, the fewer dtypes hold it, and that never turns back:
    where the answers at two places are the same, so are those between.
    """
    if len(places) <= 2:
        return {place: about(place) for place in places}
    if about(places[0]) == about(places[-1]):
        return dict.fromkeys(places, about(places[0]))
    middle = len(places) // 2
    return _filled_in(places[: middle + 1], about) | _filled_in(places[middle:], about)


def _made(maker: _Made, value: Scalar) -> Operand | None:
    try:
        return maker(value)
    except UsageError:
        return None
