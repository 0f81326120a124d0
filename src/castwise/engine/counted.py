"""Operands as the join counts them, where that is not as they are written."""

from __future__ import annotations

from dataclasses import replace

from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.vocab.operands import Operand


def counted(plan: Plan, operands: tuple[Operand, ...], say: Say) -> tuple[Operand, ...]:
    """The operands as the join takes them."""
    if say and (plan.op.lowest or plan.op.lowest_per_input) and not plan.arrays.lowest:
        say(f"{plan.op.name} promotes its operands, so its lowest dtypes do not count.")
    return _adapted(plan, raised(plan, _lifted(plan, operands, say)))


def truncated(plan: Plan, operand: Operand, say: Say) -> Operand:
    """An operand as the array it really is."""
    is_kept = plan.arrays.keeps_dtypes and operand.shape is None
    target = plan.arrays.truncates.get(operand.dtype) if operand.dtype and not is_kept else None
    if say and target:
        say(f"There are no {operand.dtype} arrays here: it is truncated to {target}.")
    return replace(operand, dtype=target, value=None) if target else operand


def _lifted(plan: Plan, operands: tuple[Operand, ...], say: Say) -> tuple[Operand, ...]:
    """The operands with integers made floats, where a Python float stands beside them."""
    lifts = plan.arrays.floats_lift
    if not lifts or not any([o.is_scalar and o.kind == "float" for o in operands]):
        return operands
    lifted = tuple(
        [replace(o, dtype=lifts.get(o.dtype, o.dtype)) if o.dtype else o for o in operands]
    )
    if say:
        for given, taken in zip(operands, lifted, strict=True):
            if taken.dtype is not given.dtype:
                say(f"Beside a Python float {given} counts as {taken}.")
    return lifted


def raised(plan: Plan, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands at the op's lowest dtypes, where their own stand before them in the order."""
    if not any(plan.arrays.lowest):
        return operands
    bits = plan.reach.bits
    return tuple(
        replace(o, dtype=low) if low and o.dtype and bits[o.dtype] < bits.get(low, 0) else o
        for o, low in zip(operands, plan.arrays.lowest, strict=False)
    )


def _adapted(plan: Plan, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands, Python scalars as arrays of the dtype they are cast to where they adapt."""
    array = next((o for o in operands if o.dtype), None) if plan.numbers.adapts else None
    return tuple([array if array and o.is_scalar else o for o in operands])
