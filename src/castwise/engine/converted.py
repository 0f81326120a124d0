"""Explicit conversions: a cast to a named dtype, an array filled with a value."""

from __future__ import annotations

from castwise.engine.assigning import refusal_of
from castwise.engine.decision import Decision, Question
from castwise.engine.plan import plan_of
from castwise.engine.saying import Say
from castwise.engine.steps.arrays import held_dtype
from castwise.engine.steps.casts import cast_to
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, Role


def converted(question: Question, say: Say) -> Decision:
    """The decision about `cast` or `fill`, in which nothing is promoted."""
    array, other = question.operands
    if array.dtype is None or array.role is Role.NUMPY_SCALAR:
        raise UsageError(f"the first operand of {question.op.name} must be an array, not {array}.")
    if question.op.name == "fill":
        return _filled(question, array.dtype, other, say)
    if other.dtype is None or other.shape is not None:
        raise UsageError(f"cast takes a dtype, such as 'float32', not {other}.")
    plan = plan_of(question.op, question.dialect, question.form)
    target = held_dtype(plan, other.dtype)
    if target not in plan.reach.bits:
        raise UsageError(f"{question.dialect.name} has no dtype {target}.")
    if say:
        say(f"The cast to {target} is explicit.")
        say(f"The result is {target}.")
    return Decision(question, target, target, (None, None))


def _filled(question: Question, held: DType, value: Operand, say: Say) -> Decision:
    """The array keeps its dtype, and the value is converted as in `x[...] = value`."""
    refusal = refusal_of(value, held, question.dialect, is_filling=True)
    if refusal:
        raise refusal
    plan = plan_of(question.op, question.dialect, question.form)
    if say:
        say(f"Filling an array keeps its dtype, {held}.")
        say(f"The result is {held}.")
    return Decision(question, held, held, (None, cast_to(plan, value, held)))
