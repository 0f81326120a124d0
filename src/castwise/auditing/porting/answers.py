"""How a dialect answers an operation that was seen in another."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace

from castwise.auditing.records.events import SeenArray, SeenList, SeenOperand
from castwise.auditing.records.findings import Operation
from castwise.engine.ask import answer
from castwise.engine.decision import Decision, Question
from castwise.errors import PromotionError
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import (
    Operand,
    Role,
    array_operand,
    numpy_scalar_operand,
    scalar_operand,
)

_MOST_VARIED = 4  # up to this many operands, all combinations of extreme values are asked


@dataclass(frozen=True, slots=True)
class DialectAnswer:
    """A decision, or the reason for a refusal."""

    question: Question
    decision: Decision | None
    refusal: PromotionError | None = None

    @property
    def result(self) -> DType | None:
        """The result dtype; None if it is refused or has no kernel."""
        return self.decision.result if self.decision and self.decision.has_kernel else None

    @property
    def why(self) -> str:
        """Why there is no result."""
        if self.refusal is not None:
            return self.refusal.why
        return f"{self.question.op.name} has no kernel for these dtypes"

    @property
    def text(self) -> str:
        """The result, or "refused"."""
        return str(self.result) if self.result else "refused"


def answer_to(question: Question) -> DialectAnswer:
    """The answer of a dialect to a question.

    Raises UsageError if the question makes no sense in its dialect.
    """
    try:
        return DialectAnswer(question, answer(question))
    except PromotionError as refusal:
        return DialectAnswer(question, None, refusal)


def questions_in(operation: Operation, dialect: Dialect) -> Iterator[Question]:
    """The questions for a dialect about an operation, one for each extreme value of its scalars."""
    framework = operation.question.dialect.framework
    choices = []
    varied = 0
    for seen, operand in zip(operation.operands, operation.question.operands, strict=True):
        known = _extremes(seen)
        if len(known) > 1:
            varied += 1
        values = known if varied <= _MOST_VARIED else known[:1]
        alike = [_with_value(operand, value) for value in values] or [operand]
        choices.append([_operand_in(dialect, framework, seen, o) for o in alike])
    for operands in itertools.product(*choices):
        yield replace(operation.question, operands=operands, dialect=dialect)


def _extremes(seen: SeenOperand) -> list[bool | int | float]:
    """The lowest and highest value of an operand."""
    if isinstance(seen, SeenList):
        return []
    known = [value for value in (seen.low, seen.high) if value is not None]
    return known[:1] if len(known) == 2 and known[0] == known[1] else known


def _with_value(operand: Operand, value: bool | int | float) -> Operand:
    if operand.dtype is None:
        return scalar_operand(value)
    if operand.role is Role.NUMPY_SCALAR:
        return numpy_scalar_operand(operand.dtype, value)
    return array_operand(operand.dtype, operand.shape, value=value, is_weak=operand.is_weak,
                         is_numpy=operand.is_numpy)  # fmt: skip


def _operand_in(dialect: Dialect, framework: str, seen: SeenOperand, operand: Operand) -> Operand:
    """An operand of one framework, as seen by a dialect of another."""
    is_own = isinstance(seen, SeenArray) and seen.framework == framework
    if operand.role is Role.NUMPY_SCALAR and is_own and dialect.framework != framework:
        # A scalar from indexing or a reduction is a 0-d array in other frameworks.
        return Operand(operand.dtype, Role.ZERO_D, operand.value, ())
    if operand.is_weak and not dialect.has_weak_arrays:
        return replace(operand, is_weak=False)
    return operand
