"""The policy of kinds: the highest kind decides, and within it the tiers do."""

from __future__ import annotations

from castwise.engine.plan import Plan
from castwise.engine.policies.tiers import joined_tiers, tell_tiers, tier_of
from castwise.engine.saying import Say
from castwise.engine.steps.numbers import own_dtype
from castwise.vocab.dtypes import KINDS, DType
from castwise.vocab.operands import Operand


def kinds_first(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What all operands reach together: the highest kind decides, and within it arrays come before
    0-d arrays, whose dtype is used unchanged. A Python scalar counts only where its kind is higher,
    and then as a 0-d array (MindSpore's implicit promotion of Mul)."""
    groups: tuple[list[DType], list[DType], list[DType]] = ([], [], [])
    scalars = []
    for operand in operands:
        if operand.is_scalar:
            scalars.append(operand)
        else:
            groups[tier_of(operand)].append(own_dtype(plan, operand))
    common = _of_highest_kind(plan, groups)
    for scalar in scalars:
        if common is None or KINDS.index(scalar.kind) > common.rank:
            groups[1].append(own_dtype(plan, scalar))
        elif say:
            say(f"{scalar} is weak: it takes the arrays' {common}.")
    common = _of_highest_kind(plan, groups)
    assert common is not None
    if say:
        tell_tiers(groups, tuple(joined_tiers(plan, groups)), common, say)
    return [plan.reach.masks[common]] * len(operands)


def _of_highest_kind(plan: Plan, groups: tuple[list[DType], ...]) -> DType | None:
    """The dtype of the highest kind among the tiers', the highest tier's where several are."""
    found = [dtype for dtype in joined_tiers(plan, groups) if dtype]
    return max(found, key=lambda d: d.rank) if found else None
