"""The named policies for scalars and 0-d arrays; which one a dialect uses is in its record.

A policy returns masks (see reach.py): what each operand reaches, given its role and the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from castwise.engine.plan import Plan
from castwise.engine.policies.arrays_alone import arrays_alone
from castwise.engine.policies.as_arrays import as_arrays
from castwise.engine.policies.as_nodes import as_nodes
from castwise.engine.policies.by_category import by_category
from castwise.engine.policies.by_room import by_room
from castwise.engine.policies.by_value import by_value
from castwise.engine.policies.converted import converted
from castwise.engine.policies.fits_arrays import fits_arrays
from castwise.engine.policies.kinds_first import kinds_first
from castwise.engine.policies.tiers import last_adapts, tiers
from castwise.engine.policies.weak import weak
from castwise.engine.policies.within_kind import within_kind
from castwise.engine.policies.zero_d import (
    singles_mix,
    zero_d_adapts,
    zero_d_adapts_to_complex,
    zero_d_mixes,
)
from castwise.engine.saying import Say
from castwise.engine.steps.numbers import own_dtype
from castwise.vocab.operands import Operand, Role, array_operand

POLICIES: dict[str, Callable[[Plan, tuple[Operand, ...], Say], list[int]]] = {
    "tiers": tiers,
    "kinds first": kinds_first,
    "last adapts": last_adapts,
    "arrays alone": arrays_alone,
    "weak": weak,
    "within kind": within_kind,
    "fits arrays": fits_arrays,
    "as nodes": as_nodes,
    "as arrays": as_arrays,
    "converted": converted,
    "by value": by_value,
    "by category": by_category,
    "0-d adapts": zero_d_adapts,
    "0-d adapts to complex": zero_d_adapts_to_complex,
    "0-d mixes": zero_d_mixes,
    "singles mix": singles_mix,
}


def reached(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What the operands reach, by the dialect's policy and by what numbers and 0-d arrays count as
    before it sees them."""
    policy = POLICIES[plan.scalars]
    seen = tuple([_seen(plan, operand) for operand in operands])
    arrays = tuple([o for o in seen if not o.is_scalar])
    if plan.numbers.count_as != "values" or not arrays:
        return policy(plan, seen, say)
    masks = policy(plan, arrays, say)
    numbers = [o for o in seen if o.is_scalar]
    return masks + by_room(plan, numbers, [plan.reach.lowest(mask) for mask in masks], say)


def _seen(plan: Plan, operand: Operand) -> Operand:
    """An operand as the policy sees it."""
    if operand.is_scalar and plan.numbers.count_as == "0-d arrays":
        operand = array_operand(own_dtype(plan, operand), ())
    is_raised = plan.arrays.zero_d_as_arrays and operand.role is Role.ZERO_D
    return replace(operand, role=Role.ARRAY, shape=None) if is_raised else operand
