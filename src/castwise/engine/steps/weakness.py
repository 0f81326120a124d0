"""Weakly typed operands, and whether their result is strong."""

from __future__ import annotations

from castwise.engine.plan import Plan
from castwise.vocab.operands import Operand, Role


def is_weakly_typed(operand: Operand) -> bool:
    """Whether an operand is a weak array or a Python number; a Python bool is as strong as any."""
    return operand.is_weak or (operand.is_scalar and operand.kind != "bool")


def makes_strong(plan: Plan, operands: tuple[Operand, ...]) -> bool:
    """Whether the result is strong even if its operands are weak."""
    weakness = plan.weakness
    looked_at = operands[:1] if weakness.arrays_make_strong == "first" else operands
    has_array = any([o.role.native is Role.ARRAY for o in looked_at])
    return weakness.makes_strong or (weakness.arrays_make_strong != "" and has_array)


def stays_weak(plan: Plan, destination: Operand) -> bool:
    """Whether a weak destination counts as strong during the op and stays weak afterwards."""
    return destination.is_weak and not plan.weakness.makes_strong


def is_converted_strong(plan: Plan) -> bool:
    """Whether a dtype that the op converted from another is strong."""
    return plan.weakness.converted_is_strong
