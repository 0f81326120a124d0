"""Which values a dialect tells apart: 300 and 301 are the same to every rule, 255 and 256 are not.

The engine knows bounds between which no dialect looks closer. Most dialects look at few of them.
Here each is asked with a value from every interval, and intervals with the same answers become one
class. Rules about values are shared by many ops, so one op is asked for each set of such rules.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple

from castwise.engine.decide import decide
from castwise.engine.decision import Refusal
from castwise.engine.plan import plan_of
from castwise.errors import UsageError
from castwise.report.explorer.groups import Asked, marked
from castwise.report.explorer.kinds import every_value
from castwise.report.explorer.sentences import Templates
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import (
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
    scalars: Numbers  # of NumPy's scalars, which are never looked at more closely


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
    return abs(abs(value) - 50)


def _probes(dialect: Dialect, asked: Iterable[Asked]) -> list[Asked]:
    """One op in a form for each set of rules about values."""
    found: dict[Hashable, Asked] = {}
    for one in asked:
        if one.op.arity[0] <= 2 <= one.op.arity[1]:
            found.setdefault(_value_rules(dialect, one), one)
    return [Asked(marked(one.op), one.form) for one in found.values()]


def _value_rules(dialect: Dialect, asked: Asked) -> Hashable:
    """The rules of an op that may look at a value."""
    plan = plan_of(asked.op, dialect, asked.form)
    rules = (plan.range, plan.exponent, plan.numbers.conversion, plan.composes, plan.joins.unless)
    return plan.scalars, plan.borrows, plan.joins.by, repr(rules)


class _Asker:
    """Asks a dialect about values beside an array."""

    def __init__(self, dialect: Dialect, probes: Sequence[Asked], dtype: DType) -> None:
        self._dialect, self._probes = dialect, probes
        self._array = array_operand(dtype, ("n",))

    def classes(self) -> Classes:
        """The classes of numbers, and of NumPy scalars, which are looked for among those."""
        numbers = {kind: self._merged(every_value(kind), [scalar_operand]) for kind in KINDS}
        scalars: Numbers = {}
        for kind, found in numbers.items():
            merged = self._merged(representatives(kind, found), _numpy_scalars(kind))
            scalars[kind] = {place: merged[number] for place, number in found.items()}
        return Classes(numbers, scalars)

    def _merged(self, values: dict[int, Scalar], makers: Sequence[_Made]) -> dict[int, int]:
        """The class of each value."""
        found: dict[Hashable, int] = {}
        return {
            place: found.setdefault(self._all_about(value, makers), len(found))
            for place, value in values.items()
        }

    def _all_about(self, value: Scalar, makers: Sequence[_Made]) -> Hashable:
        """All answers about a value; None for an operand that does not hold it."""
        return tuple([self._beside(_made(maker, value)) for maker in makers])

    def _beside(self, operand: Operand | None) -> Hashable:
        """All answers about an operand and the array, in both orders."""
        if operand is None:
            return None
        orders = ((self._array, operand), (operand, self._array))
        return tuple([self._answer(one, given) for one in self._probes for given in orders])

    def _answer(self, asked: Asked, operands: tuple[Operand, ...]) -> Hashable:
        templates = Templates(operands)
        try:
            found = decide(asked.question(self._dialect, operands))
        except (Refusal, UsageError) as error:
            fix = error.fix if isinstance(error, Refusal) else ""
            return templates.of(str(error)), templates.of(fix)
        notes = tuple([templates.of(note) for note in found.notes])
        return found.result, found.compute, found.casts, found.result_cast, found.is_weak, notes


def _made(maker: _Made, value: Scalar) -> Operand | None:
    try:
        return maker(value)
    except UsageError:
        return None
