"""What arrays count as before they are joined, where that is not the dtype they are given with."""

from __future__ import annotations

import cmath
from dataclasses import replace

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.engine.refusals import conversion_out_of_range
from castwise.engine.saying import Say
from castwise.engine.steps.numbers import adapted, own_dtype
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, array_operand


def counted(plan: Plan, operands: tuple[Operand, ...], say: Say) -> tuple[Operand, ...]:
    """The operands as the join takes them."""
    if say and plan.op.switches.has_lowest and not plan.arrays.lowest:
        say(f"{plan.op.name} promotes its operands, so its lowest dtypes do not count.")
    return adapted(plan, raised(plan, _lifted(plan, operands, say)))


def _truncated(plan: Plan, operand: Operand, say: Say) -> Operand:
    """An operand as the array it really is."""
    is_kept = plan.arrays.keeps_dtypes and operand.shape is None
    target = plan.arrays.truncates.get(operand.dtype) if operand.dtype and not is_kept else None
    if say and target:
        say(f"There are no {operand.dtype} arrays here: it is truncated to {target}.")
    return replace(operand, dtype=target, value=None) if target else operand


def _lifted(plan: Plan, operands: tuple[Operand, ...], say: Say) -> tuple[Operand, ...]:
    """The operands with integers made floats, where one of them is a Python float."""
    lifts = plan.arrays.floats_lift
    if not lifts or not any([o.is_scalar and o.kind == "float" for o in operands]):
        return operands
    lifted = tuple(
        [replace(o, dtype=lifts.get(o.dtype, o.dtype)) if o.dtype else o for o in operands]
    )
    if say:
        for given, lifted_operand in zip(operands, lifted, strict=True):
            if lifted_operand.dtype is not given.dtype:
                say(f"With a Python float, {given} counts as {lifted_operand}.")
    return lifted


def raised(plan: Plan, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands at the op's lowest dtypes, where their own come before these in the order."""
    if not any(plan.arrays.lowest):
        return operands
    bits = plan.reach.bits
    return tuple(
        replace(o, dtype=low) if low and o.dtype and bits[o.dtype] < bits.get(low, 0) else o
        for o, low in zip(operands, plan.arrays.lowest, strict=False)
    )


def own_arrays(plan: Plan, operands: tuple[Operand, ...], say: Say) -> tuple[Operand, ...]:
    """The operands, of which the dialect first makes the first or all arrays."""
    count = {"first": 1, "all": len(operands)}.get(plan.arrays.makes_arrays, 0)
    made = [own_array(plan, o, say) for o in operands[:count]]
    return (*made, *operands[count:])


def own_array(plan: Plan, operand: Operand, say: Say = None) -> Operand:
    """The array an operand becomes on its own, never a weak one: a Python number or a NumPy operand
    has its own dtype.

    Raises Refusal for a Python number its own dtype does not hold.
    """
    if not (operand.is_scalar or operand.is_numpy):
        return replace(operand, is_weak=False) if operand.is_weak else operand
    own = own_dtype(plan, operand)
    is_finite = operand.value is not None and cmath.isfinite(operand.value)
    if operand.is_scalar and is_finite and not _holds(own, operand):
        raise conversion_out_of_range(operand, own)
    if say:
        say(f"{operand} first becomes an array of {own}.")
    return array_operand(own, () if operand.is_scalar else operand.shape)


def _holds(target: DType, scalar: Operand) -> bool:
    value = (scalar.value or 0).real
    return target.min <= value <= target.max


def promotes(plan: Plan) -> bool:
    """Whether the op brings its operands to one dtype."""
    return plan.arrays.promotes


def unpromoted(plan: Plan, operands: tuple[Operand, ...]) -> list[DType]:
    """The dtype each operand has where nothing is promoted."""
    return [own_dtype(plan, o) for o in raised(plan, operands)]


def held_dtype(plan: Plan, dtype: DType) -> DType:
    """The dtype that an array of a dtype really has."""
    return plan.arrays.truncates.get(dtype, dtype)


def is_held(plan: Plan, dtype: DType) -> bool:
    """Whether there are arrays of a dtype."""
    return dtype not in plan.arrays.truncates


def all_held(plan: Plan, operands: tuple[Operand, ...], say: Say) -> tuple[Operand, ...]:
    """The operands as the arrays they really are."""
    if not plan.arrays.truncates:
        return operands
    return tuple([_truncated(plan, o, say) for o in operands])


def check_width(plan: Plan, operands: tuple[Operand, ...], compute: DType) -> None:
    """Raises Refusal where the widest operand of the highest kind would be narrowed."""
    if not plan.arrays.keeps_width:
        return
    owns = [o.dtype or plan.python[o.kind] for o in operands]
    widest = max(owns, key=lambda d: (d.rank, d.bits))
    if widest in plan.arrays.keeps_width and widest.bits > compute.bits:
        raise Refusal(f"{plan.op.name} does not narrow {widest} to {compute}", "Cast it yourself.")
