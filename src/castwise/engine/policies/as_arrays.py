"""The policy of equals: a Python scalar is as strong as an array."""

from __future__ import annotations

from castwise.engine.join import check_mix
from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.engine.steps.numbers import own_dtype
from castwise.vocab.operands import Operand


def as_arrays(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What each operand's own dtype reaches: a Python scalar is as strong as an array."""
    dtypes = [own_dtype(plan, o) for o in operands]
    check_mix(plan, dtypes)
    return [plan.reach.masks[d] for d in dtypes]
