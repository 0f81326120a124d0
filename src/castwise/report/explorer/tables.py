"""Which combinations of operands an op is asked with, in tables."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterator, Sequence
from itertools import product

from castwise.engine.plan import Plan, plan_of
from castwise.errors import UsageError
from castwise.report.explorer.asking import Answers, Table
from castwise.report.explorer.classes import Classes, representatives
from castwise.report.explorer.groups import Asked, forms_behind
from castwise.report.explorer.kinds import (
    COMMON_DTYPES,
    NUMPY_SCALARS,
    Kind,
    array_kinds,
    every_value,
    number_kind,
    numpy_array_kinds,
    numpy_scalar_kind,
    real_of,
    zero_d_kinds,
)
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import KINDS, DType
from castwise.vocab.operands import Role, Scalar, held_value, real_class

# Numbers of each kind that common dtypes hold, one for each place: a sentence names only one.
PLAIN: dict[str, Sequence[Scalar]] = {
    "bool": (True, True, True),
    "int": (67, 68, 69),
    "float": (73.5, 74.5, 75.5),
    "complex": (81 + 81j, 82 + 82j, 83 + 83j),
}
_MOST_OPERANDS = 3
_WITH_GUESTS = ("arithmetic", "comparison")  # families that are asked with arrays of NumPy


class Tables:
    """Makes the tables of ops in a dialect."""

    def __init__(self, dialect: Dialect, classes: dict[DType, Classes]) -> None:
        self._dialect, self._classes = dialect, classes
        self._zero_d_counts: dict[Hashable, bool] = {}

    def of(self, asked: Asked, answers: Answers) -> list[Table]:
        """All tables of an op in a form, with numbers of answers."""
        low, high = asked.op.arity
        own = self._own_kinds(asked)
        return [
            answers.table(asked, axes)
            for count in range(max(low, 1), min(high, _MOST_OPERANDS) + 1)
            for axes in self._axes(asked, count, own)
        ]

    def _axes(
        self, asked: Asked, count: int, own: list[Kind]
    ) -> Iterator[tuple[Sequence[Kind], ...]]:
        """The kinds in each place, for each table of an op with so many operands."""
        if count == 1:
            yield (own,)
        if count == _MOST_OPERANDS:
            yield tuple([self._common_kinds(own, place) for place in range(count)])
        if asked.op.is_condition_first:
            condition = [kind for kind in own if kind.key == "array bool"]
            yield from ((condition, *pair) for pair in self._pairs(asked, own))
        elif count == 2:
            yield from self._pairs(asked, own)

    def _pairs(
        self, asked: Asked, own: list[Kind]
    ) -> Iterator[tuple[Sequence[Kind], Sequence[Kind]]]:
        """Arrays with arrays, with numbers and, in common ops, with NumPy's; in both orders."""
        yield own, own
        for dtype in self._dialect.dtypes:
            arrays = [kind for kind in own if kind.dtype is dtype]
            numbers = self._numbers(dtype)
            yield arrays, numbers
            yield numbers, arrays
            if asked.op.family in _WITH_GUESTS and asked.form in ("operator", "function"):
                usual = [k for k in arrays if k.role is Role.ARRAY and not k.is_weak]
                guests = [*numpy_array_kinds(), *self._numpy_scalars(dtype)]
                yield usual, guests
                yield guests, usual

    def _numbers(self, beside: DType) -> list[Kind]:
        """Python's numbers, one for each class beside a dtype."""
        return [
            number_kind(kind, number, value)
            for kind, classes in self._classes[beside].numbers.items()
            for number, value in representatives(kind, classes).items()
        ]

    def _numpy_scalars(self, beside: DType) -> list[Kind]:
        """NumPy's scalars, one of each dtype for each class beside a dtype."""
        found = []
        for dtype in NUMPY_SCALARS:
            classes = self._classes[beside].scalars[dtype.kind]
            held = {p: c for p, c in classes.items() if holds_class(dtype, p)}
            for number, value in representatives(dtype.kind, held).items():
                found.append(numpy_scalar_kind(dtype, number, value))
        return found

    def _common_kinds(self, own: list[Kind], place: int) -> list[Kind]:
        """Arrays of common dtypes, and numbers that none of these tells from others."""
        keys = [f"array {dtype}" for dtype in COMMON_DTYPES]
        arrays = [kind for kind in own if kind.key in keys]
        return [*arrays, *[number_kind(kind, "plain", PLAIN[kind][place]) for kind in KINDS]]

    def _own_kinds(self, asked: Asked) -> list[Kind]:
        """The dialect's own arrays; 0-d ones only where they are answered differently."""
        arrays = array_kinds(self._dialect, asked.op)
        return [*arrays, *zero_d_kinds(self._dialect)] if self.tells_zero_d(asked) else arrays

    def tells_zero_d(self, asked: Asked) -> bool:
        """Whether 0-d arrays are answered differently.

        That is a matter of few rules, which many ops share: one is asked for all.
        """
        rules = _role_rules(self._dialect, asked)
        if rules not in self._zero_d_counts:
            arrays = array_kinds(self._dialect, asked.op)
            zero_d = zero_d_kinds(self._dialect)
            self._zero_d_counts[rules] = self._is_told_apart(asked, arrays, zero_d)
        return self._zero_d_counts[rules]

    def _is_told_apart(self, asked: Asked, arrays: list[Kind], zero_d: list[Kind]) -> bool:
        """Whether any answer changes where an array becomes a 0-d array."""
        places = min(asked.op.arity[1], _MOST_OPERANDS)
        if len(arrays) != len(zero_d) or places == _MOST_OPERANDS:
            return True
        answers = Answers(self._dialect)
        plain = answers.without_sizes(answers.table(asked, [arrays] * places))
        return any(
            answers.without_sizes(answers.table(asked, axes)) != plain
            for axes in list(product((arrays, zero_d), repeat=places))[1:]
        )


@functools.cache
def holds_class(dtype: DType, place: int) -> bool:
    """Whether a dtype has values of a class, which its place among the bounds names."""
    value = every_value(dtype.kind)[place]
    try:
        held = held_value(dtype, value)
    except UsageError:
        return False
    return real_class(real_of(held)) == place


def _role_rules(dialect: Dialect, asked: Asked) -> Hashable:
    """The rules of an op that may look at what an operand is, besides its dtype."""
    plans = [plan_of(asked.op, dialect, form) for form in forms_behind(asked.form)]
    row = (asked.op.arity, asked.op.index, asked.op.shapes, asked.op.family == "layers")
    return asked.form, row, tuple([_role_rules_of(plan) for plan in plans])


def _role_rules_of(plan: Plan) -> Hashable:
    accepts, joins = plan.accepts, plan.joins
    words = (plan.scalars, plan.borrows, joins.by, joins.unless, joins.others, joins.typed_by)
    flags = (accepts.refuses_zero_d, accepts.needs_rank, accepts.same_dtype, plan.result)
    parts = (plan.arrays, plan.weakness, plan.exponent, plan.composes, joins.mixes)
    return words, flags, repr(parts), plan.writes.into
