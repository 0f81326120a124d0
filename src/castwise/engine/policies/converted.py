"""The policy of conversion: Python numbers are converted to the arrays' dtype."""

from __future__ import annotations

from castwise.engine.join import join
from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.engine.steps.numbers import own_dtype
from castwise.vocab.operands import Operand


def converted(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What all operands reach together: the arrays decide, Python numbers are converted to their
    dtype. Where there is no array, the first number decides (TensorFlow)."""
    deciding = [o for o in operands if not o.is_scalar] or operands[:1]
    common = join(plan, [own_dtype(plan, o) for o in deciding])
    if say:
        for operand in operands:
            if operand.is_scalar:
                say(f"{operand} is converted to {common}.")
    return [plan.reach.masks[common]] * len(operands)
