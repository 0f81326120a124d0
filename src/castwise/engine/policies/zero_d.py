"""The policies in which a 0-d array loosens the rules for arrays: any kinds mix with it."""

from __future__ import annotations

from castwise.engine.plan import Plan
from castwise.engine.policies.as_arrays import as_arrays
from castwise.engine.policies.weak import weak
from castwise.engine.saying import Say
from castwise.engine.steps.numbers import own_dtype
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, Role


def zero_d_adapts(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """As 0-d mixes, but with an array of its own kind a 0-d array takes the array's dtype."""
    arrays = [o.dtype for o in operands if o.role is Role.ARRAY and o.dtype]
    adapting = [
        o for o in operands if o.is_zero_d and o.dtype and _is_of_kind(plan, o.dtype, arrays)
    ]
    if say:
        for operand in adapting:
            say(f"{operand} takes the dtype of the array, which is of the same kind.")
    return zero_d_mixes(plan, tuple([o for o in operands if o not in adapting]), say)


def zero_d_adapts_to_complex(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """As 0-d adapts, but a Python complex counts as an array, whose dtype a 0-d array takes."""
    has_complex = any(o.is_scalar and o.kind == "complex" for o in operands)
    own = plan.python["complex"]
    if not has_complex or not all(o.is_scalar or _joins(plan, o, own) for o in operands):
        return zero_d_adapts(plan, operands, say)
    if say:
        say(f"A Python complex counts as an array of {own}, whose dtype the 0-d array takes.")
    return [plan.reach.masks[own]]


def _joins(plan: Plan, operand: Operand, other: DType) -> bool:
    """Whether an operand is a 0-d array and has any dtype in common with another."""
    masks = plan.reach.masks
    return (
        operand.is_zero_d
        and operand.dtype is not None
        and bool(masks[operand.dtype] & masks[other])
    )


def _is_of_kind(plan: Plan, zero_d: DType, arrays: list[DType]) -> bool:
    """Whether an array has the kind of a 0-d one, and any dtype in common with it."""
    masks = plan.reach.masks
    return any(
        array.kind == zero_d.kind and plan.reach.common((masks[array], masks[zero_d]))
        for array in arrays
    )


def zero_d_mixes(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What each operand reaches: a 0-d array is as strong as an array, and any kinds mix with it;
    Python numbers are weak."""
    if any(o.is_scalar for o in operands):
        # A Python bool, which weak takes for a bool array, is of no higher kind than any array.
        numbers = [o for o in operands if not o.is_scalar or o.kind != "bool"]
        return weak(plan, tuple(numbers) or operands, say)
    return singles_mix(plan, operands, say)


def singles_mix(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What each operand's own dtype reaches; any kinds mix with a 0-d array or a Python scalar."""
    if all(o.role is Role.ARRAY for o in operands):
        return as_arrays(plan, operands, say)
    if say and plan.joins.mixes is not None:
        say("One of them is a 0-d array or a scalar, so any kinds mix.")
    return [plan.reach.masks[own_dtype(plan, o)] for o in operands]
