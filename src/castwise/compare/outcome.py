"""Asking the engine for whole grids: an answer is a decision or a refusal, never an exception."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from castwise.engine.ask import answer
from castwise.engine.decision import Decision, Question
from castwise.errors import PromotionError
from castwise.rules.dialect import Dialect
from castwise.vocab.notation import parse_operand
from castwise.vocab.operands import Operand
from castwise.vocab.ops import Op

Outcome: TypeAlias = "Decision | PromotionError"
T = TypeVar("T")

CONDITION = parse_operand("bool[3]")  # the condition that `where` is given
# One Python scalar of each kind; its value is held by every dtype of that kind.
SCALARS = tuple(map(parse_operand, ("True", "1", "1.5", "1j")))


def outcome_of(question: Question) -> Outcome:
    """The decision, or the refusal where the dialect refuses.

    Raises UsageError where the question makes no sense.
    """
    try:
        return answer(question)
    except PromotionError as refusal:
        return refusal


def arranged(row: Op, condition: T, left: T, right: T) -> tuple[T, ...]:
    """A pair as the operands of an op: only the left where the op takes one operand, the right
    twice where it takes three, after the condition where it has one."""
    if row.is_condition_first:
        return condition, left, right
    return (left, right, right)[: max(2, row.arity[0])][: row.arity[1]]


def pair_question(row: Op, left: Operand, right: Operand, dialect: Dialect, form: str) -> Question:
    """The question an op is asked with a pair of operands."""
    return Question(row, arranged(row, CONDITION, left, right), dialect, form)


def default_form(row: Op) -> str:
    """The operator where there is one, as in resolve."""
    return "operator" if row.symbol else "function"
