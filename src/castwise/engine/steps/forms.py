"""The form of an op: what `x += y` means in a dialect, and what is written into x."""

from __future__ import annotations

from dataclasses import replace

from castwise.engine.decision import Question
from castwise.engine.plan import plan_of
from castwise.engine.steps.numpy_operands import is_native
from castwise.engine.steps.writes import binds_anew, takes_any
from castwise.vocab.operands import Role


def form_of(question: Question) -> str:
    """The form whose rules decide: one of FORMS, or "rebinding" where `x += y` is `x = x + y`."""
    if question.inplace:
        return "inplace"
    if question.out:
        return "out"
    return "rebinding" if is_the_operator(question) else question.form


def is_the_operator(question: Question) -> bool:
    """Whether the question is about `x += y`, and that is `x = x + y`."""
    if question.form != "augmented":
        return False
    first, second = question.operands
    plan = plan_of(question.op, question.dialect, "augmented")
    is_own = first.dtype is not None and (is_native(plan) or not first.is_numpy)
    if not is_own or first.role is Role.NUMPY_SCALAR:
        return True  # a number never changes, and NumPy's arrays follow the operator's rules
    if plan.writes.rebinds == "with NumPy arrays":
        return second.role.native is not second.role
    return plan.writes.rebinds == "always"


def rebinds(question: Question) -> bool:
    """Whether `x += y` binds the name to a new array and leaves the old one unchanged."""
    if question.form != "augmented":
        return False
    if is_the_operator(question):
        return not is_numpy_writing(question)
    return binds_anew(plan_of(question.op, question.dialect, "augmented"))


def is_numpy_writing(question: Question) -> bool:
    """Whether `x += y` is about a NumPy array x that NumPy itself writes into, by its own rules."""
    first = question.operands[0]
    if question.form != "augmented" or not first.is_numpy or first.role is Role.NUMPY_SCALAR:
        return False
    return bool(plan_of(question.op, question.dialect, "rebinding").numpy.left_decider)


def is_written(question: Question) -> bool:
    """Whether the result is written into the first operand, or replaces it."""
    return question.inplace or (question.form == "augmented" and not is_the_operator(question))


def takes_result(question: Question) -> bool:
    """Whether the destination takes the result's dtype and shape, whatever its own were."""
    plan = plan_of(question.op, question.dialect, form_of(question))
    return takes_any(plan)


def as_computed(question: Question) -> Question:
    """What is computed for `x += y`: the operator, or the operator in place."""
    if question.form != "augmented":
        return question
    return replace(question, form="operator", inplace=not is_the_operator(question))
