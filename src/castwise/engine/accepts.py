"""Whether an op takes operands of these sorts at all, before their dtypes are brought together."""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.vocab.operands import Operand


def check_accepted(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for Python scalars that the op does not take, or not there, or not beside
    these arrays; and where no operand has as many dimensions as the op needs."""
    for place, operand in enumerate(operands):
        if operand.is_scalar:
            _check_scalar(plan, operand, is_last=place == len(operands) - 1)
            _check_company(plan, operand, operands)
    if plan.last_is_scalar and not operands[-1].is_scalar:
        raise Refusal(f"{operands[-1]} is no Python scalar", "Write a Python number.")
    if plan.needs_rank and all(operand.rank < plan.needs_rank for operand in operands):
        raise Refusal(
            f"{plan.op.name} needs an array of {plan.needs_rank} dimensions",
            "Give one more dimensions.",
        )


def _check_scalar(plan: Plan, scalar: Operand, *, is_last: bool) -> None:
    kind = scalar.kind
    if kind not in plan.python:
        raise Refusal(f"it takes no Python {kind}", "Make it an array, or another kind.")
    if kind in plan.refuses_numbers or (plan.adapts and kind not in plan.adapts):
        raise Refusal(
            plan.because or f"{plan.op.name} takes no Python {kind}",
            "Make it an array of the dtype you want.",
        )
    if plan.takes_scalars == "none" or (plan.takes_scalars == "last" and not is_last):
        there = " there" if plan.takes_scalars == "last" else ""
        raise Refusal(f"{plan.op.name} takes no Python scalar{there}", "Make it an array.")


def _check_company(plan: Plan, scalar: Operand, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal where an operand is of a dtype beside which no scalar is taken."""
    given = [o.dtype or plan.python.get(o.kind) for o in operands]
    beside = next((d for d in given if d in plan.refuses_scalars), None)
    if beside:
        raise Refusal(
            plan.because or f"{plan.op.name} takes no Python {scalar.kind} beside {beside}",
            "Make it an array of the dtype you want.",
        )
