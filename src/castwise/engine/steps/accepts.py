"""Whether an op takes these operands at all, before their dtypes are joined."""

from __future__ import annotations

from castwise.engine.decision import Question, Refusal
from castwise.engine.plan import Plan
from castwise.engine.refusals import not_computed
from castwise.engine.steps.exponents import is_integer_power
from castwise.engine.steps.numbers import check_numbers
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType, weak_nodes_of
from castwise.vocab.operands import UNDEFINED, Operand, Role

_DIMENSIONS = {1: "one dimension", 2: "two dimensions"}


def check_count(question: Question) -> None:
    """Raises UsageError for too many operands, too few, or none where the first should be."""
    (low, high), given = question.op.arity, question.operands
    count = sum([operand is not UNDEFINED for operand in given])
    if count < low or len(given) > high:
        takes = str(low) if low == high else f"{low} to {high}"
        plural = "s" if high > 1 else ""
        number = count if count < low else len(given)
        raise UsageError(f"{question.op.name} takes {takes} operand{plural}, not {number}.")
    if given[0] is UNDEFINED and question.op.family != "questions":
        raise UsageError(f"{question.op.name} needs its first operand, which is None here.")


def check_operands(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for operands that the dialect or the op does not take, one by one or
    together."""
    check_accepted(plan, operands)
    for operand in operands:
        found = operand.dtype or plan.python[operand.kind]
        if found not in plan.reach.bits or operand.is_weak:
            check_known(plan, operand)
        if found in plan.accepts.refuses or operand.dtype in plan.accepts.refuses_arrays:
            raise not_computed(plan, found)
        if operand.is_zero_d and plan.accepts.refuses_zero_d:
            raise Refusal(
                f"{plan.op.name} works along an axis, and a 0-d array has none",
                "Give it a dimension.",
            )
    _check_end(plan, operands)
    compared = {o.dtype for o in _compared(plan, operands)}
    if plan.accepts.same_dtype and len(compared) > 1 and not _has_wider_others(plan, operands):
        why = plan.because or f"{plan.op.name} needs operands of the same dtype"
        raise Refusal(why, "Cast one to the other.")


def _check_end(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for what the last operands may not be."""
    if len(operands) < 2:
        return
    last = operands[-1].dtype or plan.python[operands[-1].kind]
    if last in plan.accepts.refuses_last:
        raise Refusal(f"the last operand of {plan.op.name} cannot be {last}", "Cast it to int32.")
    together = operands[len(operands) - plan.accepts.one_inexact_of_last :]
    if together and all([o.kind in ("bool", "int") for o in together]):
        why = plan.because or f"the last operands of {plan.op.name} cannot all be integers"
        raise Refusal(why, "Make one a float.")


def check_known(plan: Plan, operand: Operand) -> None:
    """Raises where the dialect has no such array."""
    # The policy by category gives a NumPy operand a new dtype; elsewhere it counts as an array.
    is_retyped = operand.is_numpy and plan.scalars == "by category"
    if operand.dtype and operand.dtype not in plan.reach.bits and not is_retyped:
        raise Refusal(f"this dialect has no dtype {operand.dtype}", "Cast it to one it has.")
    if operand.is_weak and not plan.dialect.has_weak_arrays:
        raise UsageError(f"{operand}: {plan.dialect.name} has no weakly typed arrays.")
    nodes = weak_nodes_of(operand.dtype) if operand.dtype and operand.is_weak else None
    if nodes is not None and plan.reach.bits.keys().isdisjoint(nodes):
        why = f"{plan.dialect.name} has no weakly typed {operand.dtype} arrays"
        raise UsageError(f"{operand}: {why}.")


def check_accepted(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for Python numbers that the op does not take, and where no operand has as
    many dimensions as it needs."""
    check_numbers(plan, operands)
    if plan.op.family == "layers" and any([operand.is_scalar for operand in operands]):
        raise Refusal(f"{plan.op.name} takes no Python numbers", "Make the number an array.")
    needed = plan.accepts.needs_rank
    if needed and all(operand.rank < needed for operand in operands):
        raise Refusal(
            f"{plan.op.name} needs an array of {_DIMENSIONS[needed]}", "Give one more dimensions."
        )


def check_compute(plan: Plan, operands: tuple[Operand, ...], compute: DType) -> None:
    """Raises Refusal for a compute dtype that the op refuses, or does not compute in."""
    # A base that decides on its own was not joined with anything.
    is_refused = is_refused_compute(plan, compute) and not is_integer_power(plan, operands)
    if is_refused or (plan.loops.is_refusing and compute not in plan.loops.computes):
        raise not_computed(plan, compute)


def is_refused_compute(plan: Plan, compute: DType) -> bool:
    """Whether the op refuses a dtype that its operands have reached."""
    return compute in plan.accepts.refuses_compute


def _has_wider_others(plan: Plan, operands: tuple[Operand, ...]) -> bool:
    """Whether all operands but the first have the one other dtype that they may have."""
    first, others = operands[0].dtype, {o.dtype for o in operands[1:]}
    return first is not None and others == {plan.accepts.wider_others.get(first)}


def _compared(plan: Plan, operands: tuple[Operand, ...]) -> list[Operand]:
    """The operands that must have the same dtype."""
    last_adapts = plan.scalars == "last adapts" and operands[-1].role is not Role.ARRAY
    compared = operands[:-1] if last_adapts else operands[: plan.accepts.compared]
    return [o for o in compared if o.dtype]
