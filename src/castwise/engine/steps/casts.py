"""The cast each operand gets, once the dtype the op computes in is known."""

from __future__ import annotations

from dataclasses import replace

from castwise.engine.decision import Cast, cast_between
from castwise.engine.plan import Plan
from castwise.engine.steps.arrays import promotes, unpromoted
from castwise.engine.steps.composed import composition
from castwise.engine.steps.exponents import is_integer_power
from castwise.engine.steps.ranges import scalar_hazard
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, Scalar


def targets_of(
    plan: Plan, operands: tuple[Operand, ...], compute: DType, is_own: bool
) -> list[DType]:
    """The dtype each operand is cast to."""
    if not promotes(plan) and is_own:
        return [plan.loops.converts.get(own, own) for own in unpromoted(plan, operands)]
    targets = [compute] * len(operands)
    is_apart = plan.joins.by == "exponent apart" and composition(plan, operands) is None
    if is_apart or is_integer_power(plan, operands):  # the exponent takes no part
        targets[-1] = operands[-1].dtype or compute
    return targets


def cast_to(plan: Plan, operand: Operand, target: DType) -> Cast | None:
    """The cast of an operand from the dtype it was given with, or None where there is none."""
    if operand.dtype is None:
        hazard = scalar_hazard(plan, operand, target)
        return Cast(None, target, (hazard,)) if hazard else None
    cast = cast_between(operand.dtype, target)
    if cast and operand.value is not None and _is_within(target, operand.value):
        cast = replace(cast, hazards=tuple([h for h in cast.hazards if h != "loses-range"]))
    return cast


def _is_within(target: DType, value: Scalar) -> bool:
    """Whether a value lies in the range of a dtype."""
    return all(target.min <= part <= target.max for part in (value.real, value.imag))
