"""The policy of the Array API standard: weak scalars, of no higher kind than the arrays."""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.join import join
from castwise.engine.plan import Plan
from castwise.engine.policies.weak import weak
from castwise.engine.saying import Say
from castwise.engine.steps.numbers import own_dtype
from castwise.vocab.dtypes import KINDS
from castwise.vocab.operands import Operand


def within_kind(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """As weak, but a scalar may not be of a higher kind than the arrays (the Array API standard);
    only a complex scalar with floating-point arrays may."""
    arrays = [o for o in operands if not o.is_scalar]
    if not arrays:
        raise Refusal("at least one operand must be an array", "Make one an array.")
    common = join(plan, [own_dtype(plan, o) for o in arrays])
    for operand in operands:
        if operand.is_scalar and not fits_kind(operand.kind, common.kind):
            raise Refusal(
                f"a Python {operand.kind} cannot be mixed with {common}",
                "Make it an array of the dtype you want.",
            )
    return weak(plan, operands, say)


def fits_kind(scalar: str, array: str) -> bool:
    """Whether a scalar's kind is within an array's, as the Array API standard has it."""
    if "bool" in (scalar, array):
        return scalar == array
    return KINDS.index(scalar) <= KINDS.index(array) or (scalar, array) == ("complex", "float")
