"""Whether an op takes these operands at all, before their dtypes are brought together."""

from __future__ import annotations

from castwise.engine.decision import Question, Refusal
from castwise.engine.joining import not_computed
from castwise.engine.plan import Plan
from castwise.errors import UsageError
from castwise.vocab.dtypes import weak_nodes_of
from castwise.vocab.operands import UNDEFINED, Operand, Role


def check_count(question: Question) -> None:
    """Raises UsageError for too many operands, too few, or none where the first should be."""
    (low, high), given = question.op.arity, question.operands
    count = sum([operand is not UNDEFINED for operand in given])
    if count < low or len(given) > high:
        takes = str(low) if low == high else f"{low} to {high}"
        plural = "s" if high > 1 else ""
        told = count if count < low else len(given)
        raise UsageError(f"{question.op.name} takes {takes} operand{plural}, not {told}.")
    if given[0] is UNDEFINED and question.op.family != "questions":
        raise UsageError(f"{question.op.name} needs its first operand, which is None here.")


def check_operands(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for what the dialect or the op does not take, each alone or together."""
    check_accepted(plan, operands)
    for operand in operands:
        found = operand.dtype or plan.python[operand.kind]
        if found not in plan.reach.bits or operand.is_weak:
            check_known(plan, operand)
        if found in plan.accepts.refuses or operand.dtype in plan.accepts.refuses_arrays:
            raise not_computed(plan, found)
        if operand.is_zero_d and plan.accepts.refuses_zero_d:
            raise Refusal(
                f"{plan.op.name} goes along an axis, and a 0-d array has none",
                "Give it a dimension.",
            )
    _check_end(plan, operands)
    if plan.accepts.same_dtype and len({o.dtype for o in _compared(plan, operands)}) > 1:
        why = plan.because or f"{plan.op.name} needs operands of one dtype"
        raise Refusal(why, "Cast one to the other.")


def _check_end(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for what may not stand at the end."""
    last = operands[-1].dtype or plan.python[operands[-1].kind]
    if last in plan.accepts.refuses_last:
        raise Refusal(f"{plan.op.name} takes no {last} at the end", "Cast it to int32.")
    together = operands[len(operands) - plan.accepts.one_inexact_of_last :]
    if together and all([o.kind in ("bool", "int") for o in together]):
        why = plan.because or f"{plan.op.name} takes no integers alone at the end"
        raise Refusal(why, "Make one a float.")


def check_known(plan: Plan, operand: Operand) -> None:
    """Raises where the dialect has no such array."""
    # By category, what is NumPy's is typed anew beside the arrays; elsewhere it is one of them.
    is_typed_anew = operand.is_numpy and plan.scalars == "by category"
    if operand.dtype and operand.dtype not in plan.reach.bits and not is_typed_anew:
        raise Refusal(f"it has no dtype {operand.dtype}", "Cast it to one it has.")
    if operand.is_weak and not plan.dialect.has_weak_arrays:
        raise UsageError(f"{operand}: {plan.dialect.name} has no weakly typed arrays.")
    nodes = weak_nodes_of(operand.dtype) if operand.dtype and operand.is_weak else None
    if nodes is not None and plan.reach.bits.keys().isdisjoint(nodes):
        told = f"{plan.dialect.name} has no weakly typed {operand.dtype} arrays"
        raise UsageError(f"{operand}: {told}.")


def check_accepted(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for Python scalars that the op does not take, or not there, or not beside
    these arrays; and where no operand has as many dimensions as the op needs."""
    for place, operand in enumerate(operands):
        if operand.is_scalar:
            is_there = is_place(plan.numbers.places, place, len(operands))
            _check_scalar(plan, operand, is_there=is_there)
            _check_company(plan, operand, operands)
    if plan.numbers.last_is_number and not operands[-1].is_scalar:
        raise Refusal(f"{operands[-1]} is no Python scalar", "Write a Python number.")
    if plan.accepts.needs_rank and all(
        operand.rank < plan.accepts.needs_rank for operand in operands
    ):
        raise Refusal(
            f"{plan.op.name} needs an array of {plan.accepts.needs_rank} dimensions",
            "Give one more dimensions.",
        )


def is_place(word: str, place: int, count: int) -> bool:
    """Whether one of PLACES speaks of a place among so many operands."""
    return {"first": place == 0, "last": place == count - 1, "none": False}.get(word, True)


def _check_scalar(plan: Plan, scalar: Operand, *, is_there: bool) -> None:
    kind = scalar.kind
    if kind not in plan.python:
        raise Refusal(f"it takes no Python {kind}", "Make it an array, or another kind.")
    if kind in plan.numbers.refuses or (plan.numbers.adapts and kind not in plan.numbers.adapts):
        raise Refusal(
            plan.because or f"{plan.op.name} takes no Python {kind}",
            "Make it an array of the dtype you want.",
        )
    if not is_there:
        there = "" if plan.numbers.places == "none" else " there"
        raise Refusal(f"{plan.op.name} takes no Python scalar{there}", "Make it an array.")


def _check_company(plan: Plan, scalar: Operand, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal where an operand is of a dtype beside which no scalar is taken."""
    given = [o.dtype or plan.python.get(o.kind) for o in operands]
    beside = next((d for d in given if d in plan.numbers.refused_beside), None)
    if beside:
        raise Refusal(
            plan.because or f"{plan.op.name} takes no Python {scalar.kind} beside {beside}",
            "Make it an array of the dtype you want.",
        )


def _compared(plan: Plan, operands: tuple[Operand, ...]) -> list[Operand]:
    """The operands that must be of one dtype."""
    last_adapts = plan.scalars == "last adapts" and operands[-1].role is not Role.ARRAY
    compared = operands[:-1] if last_adapts else operands[: plan.accepts.compared]
    return [o for o in compared if o.dtype]
