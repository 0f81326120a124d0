"""The ops of an expression in the order in which they run, each a question of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from castwise.engine.ask import answer, question_for
from castwise.engine.decision import Decision, Question
from castwise.engine.explaining.python_numbers import computed, numbers_text
from castwise.engine.explaining.shapes import OF_SHAPES, result_shape, takes_axis
from castwise.engine.op_names import find_op, spoken
from castwise.errors import PromotionError, UsageError
from castwise.rules.default import DEFAULT, to_dialect
from castwise.rules.dialect import Dialect
from castwise.vocab.expressions import Expression, parse_expression
from castwise.vocab.operands import (
    UNDEFINED,
    Operand,
    array_operand,
    numpy_scalar_operand,
    scalar_operand,
)
from castwise.vocab.ops import op_of_symbol


@dataclass(frozen=True, slots=True)
class Part:
    """One op of an expression."""

    text: str  # the op with its operands: "int8[3] + int16[3]"
    question: Question | None  # None: Python computes it
    result: Operand | None = None  # as an operand of the next; None for the last one


@dataclass(frozen=True, slots=True)
class Taken:
    """An expression taken apart. The last part is the whole, or the one that fails."""

    text: str
    dialect: Dialect
    parts: tuple[Part, ...]
    is_whole: bool = True  # False: an inner op is refused or fails to run

    @property
    def last(self) -> Question:
        question = self.parts[-1].question
        assert question is not None  # Python computes inner parts alone
        return question

    @property
    def is_nested(self) -> bool:
        return len(self.parts) > 1 or not self.is_whole


def taken_apart(text: str, dialect: str | Dialect | None = None) -> Taken:
    """The parts of an expression such as "(int8[3] + 1).mean() * 2".

    Raises UsageError where it makes no sense.
    """
    chosen = to_dialect(dialect)
    parsed = parse_expression(text)
    asking = _Asking(chosen)
    try:
        asking.ask(parsed)
        is_whole = True
    except _FailedInside:
        is_whole = False
    parts = tuple(asking.parts)
    if is_whole and len(parts) == 1 and parts[0].question:
        return of_question(parts[0].question)
    return Taken(" ".join(text.split()), chosen, parts, is_whole)


def of_question(question: Question) -> Taken:
    """A question that was asked as such, as an expression of one part."""
    return Taken(str(question), question.dialect, (Part(str(question), question),))


class _FailedInside(Exception):  # noqa: N818 -- ends the asking, and is no error
    """An inner op is refused or has no kernel, so that there is no operand for the next."""


class _Asking:
    """Asks about the ops of an expression, the inner ones first."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self.parts: list[Part] = []

    def ask(self, parsed: Expression) -> None:
        """Asks about a whole expression."""
        question, _ = self._question(parsed)
        self.parts.append(Part(str(question), question))

    def _operand(self, given: Operand | Expression) -> Operand:
        """An operand as it is, or the result of an inner op."""
        if isinstance(given, Operand):
            return given
        if not given.symbol:
            return self._result(*self._question(given))
        operands = tuple(map(self._operand, given.operands))
        if all(operand.is_scalar for operand in operands):
            return self._of_python(given.symbol, operands)
        dialect = to_dialect(DEFAULT) if _is_numpy_alone(operands) else self._dialect
        row = op_of_symbol(given.symbol, len(operands))
        return self._result(Question(row, operands, dialect, "operator"), {})

    def _of_python(self, symbol: str, operands: tuple[Operand, ...]) -> Operand:
        numbers = tuple([o.value for o in operands if o.value is not None])
        found = scalar_operand(computed(symbol, numbers))
        self.parts.append(Part(numbers_text(symbol, numbers), None, found))
        return found

    def _question(self, given: Expression) -> tuple[Question, dict[str, Any]]:
        """The question of an op, and what its shape depends on."""
        operands = tuple(map(self._operand, given.operands))
        named: dict[str, Any] = {
            name: value if isinstance(value, str) else self._operand(value)
            for name, value in given.named
        }
        options: dict[str, Any] = {}
        if given.op:
            row = find_op(spoken(given.op).name, self._dialect)
            if takes_axis(row):
                options = {name: named.pop(name).value for name in OF_SHAPES if name in named}
                if row.arity == (1, 1) and len(operands) == 2 and operands[1].is_scalar:
                    options, operands = {"axis": operands[1].value, **options}, operands[:1]
        if given.is_method and operands[0].dtype is None:
            raise UsageError(f"{operands[0]} is no array, and has no method {given.op}.")
        is_numpy_method = given.is_method and operands[0].is_numpy
        dialect = to_dialect(DEFAULT) if is_numpy_method else self._dialect
        return question_for(given, operands, named, dialect), options

    def _result(self, question: Question, options: dict[str, Any]) -> Operand:
        """What an inner op gives, as an operand."""
        if question.op.family == "questions":
            raise UsageError(f"{question.op.name} gives a dtype, and no array for another op.")
        try:
            decision = answer(question)
        except PromotionError:
            decision = None
        if decision is None or not decision.has_kernel:
            self.parts.append(Part(str(question), question))
            raise _FailedInside
        found = _as_operand(decision, self._dialect, options)
        self.parts.append(Part(str(question), question, found))
        return found


def _as_operand(decision: Decision, dialect: Dialect, options: dict[str, Any]) -> Operand:
    """The result of an op as an operand of the next. Its values are not known."""
    question = decision.question
    given = [_shape(o) for o in question.operands if o is not UNDEFINED]
    shape = given[0] if question.inplace else result_shape(question.op, given, options)
    is_numpy = dialect.framework != DEFAULT and question.dialect is not dialect
    if is_numpy and shape == ():
        return numpy_scalar_operand(decision.result, 1)
    return array_operand(decision.result, shape, is_weak=decision.is_weak, is_numpy=is_numpy)


def _is_numpy_alone(operands: tuple[Operand, ...]) -> bool:
    """Whether NumPy itself computes with these operands, and no other framework sees them."""
    arrays = [operand for operand in operands if operand.dtype is not None]
    return bool(arrays) and all(operand.is_numpy for operand in arrays)


def _shape(operand: Operand) -> tuple[int | str, ...] | None:
    return () if operand.is_scalar else operand.shape
