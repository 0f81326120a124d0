"""The question that an op on tensors, numbers and arrays asks the engine, and its decision."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from castwise.engine.ask import answer
from castwise.engine.decision import NOTHING, Decision, Named, Question
from castwise.engine.op_names import find_op
from castwise.engine.plan import looks_at_values
from castwise.errors import PromotionError
from castwise.execute.calling.lists import has_lists, made_tensors
from castwise.execute.calling.operands import common_dialect, described
from castwise.execute.functions.alike import LIKE
from castwise.execute.numbers import TracedNumber
from castwise.execute.tensor import Tensor
from castwise.rules.default import DEFAULT
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Scalar


def asked(
    name: str,
    operands: tuple[Any, ...],
    form: str,
    *,
    home: str = DEFAULT,
    inplace: bool = False,
    out: DType | None = None,
    alpha: Scalar | None = None,
    named: Named = NOTHING,
) -> Question:
    """The question for an op on operands like these."""
    dialect = common_dialect([o._kind for o in operands if isinstance(o, Tensor)], home)
    row = find_op(LIKE.get(name, name), dialect)
    sees_values = looks_at_values(dialect, row, form)
    seen = tuple([
        o.operand if type(o) is TracedNumber else described(o, dialect, sees_values=sees_values)
        for o in operands
    ])  # fmt: skip
    shapes = row.shapes
    if shapes.counts_dimensions or (shapes.counts_elements and any(map(_is_empty, operands))):
        seen = tuple([replace(d, shape=o.shape) if isinstance(o, Tensor) else d
                      for o, d in zip(operands, seen, strict=True)])  # fmt: skip
    return Question(row, seen, dialect, form, inplace, out, alpha, named)


def without_lists(
    name: str, operands: tuple[Any, ...], form: str, home: str = DEFAULT, *, inplace: bool = False
) -> tuple[Any, ...]:
    """The operands, with lists replaced by the tensors that the dialect converts them to.

    Raises PromotionError if the dialect does not accept lists.
    """
    if not has_lists(operands):
        return operands
    question = asked(name, operands, form, home=home, inplace=inplace)
    decided(name, question)
    return made_tensors(question, operands, home)


def _is_empty(operand: Any) -> bool:
    return isinstance(operand, Tensor) and 0 in operand._array.shape


def decided(name: str, question: Question) -> Decision:
    """The decision; a refusal for a function without its own op names the op it is decided as."""
    try:
        return answer(question)
    except PromotionError as error:
        if name not in LIKE:
            raise
        raise type(error)(f"{name} is decided as {question.op.name}: {error}") from None
