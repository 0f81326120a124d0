"""The policy of arrays only: 0-d arrays count only where there is no array."""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.join import join
from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.engine.steps.numbers import number_dtypes, own_dtype
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand


def arrays_alone(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What all operands reach together: the join of the arrays, or of the 0-d arrays where there
    are none; a Python number of a higher kind replaces it (OneFlow's TensorProcessor)."""
    arrays = [o for o in operands if o.dtype and not o.is_zero_d]
    deciding = arrays or [o for o in operands if o.dtype]
    if not deciding:
        raise Refusal("at least one operand must be an array", "Make one an array.")
    common = join(plan, [own_dtype(plan, o) for o in deciding])
    if say:
        for ignored in [o for o in operands if o.dtype and o not in deciding]:
            say(f"{ignored} is 0-d and mixed with an array, so its dtype does not count.")
    for scalar in [o for o in operands if o.is_scalar]:
        common = _with_number(plan, scalar, common, say)
    return [plan.reach.masks[common]] * len(operands)


def _with_number(plan: Plan, scalar: Operand, common: DType, say: Say) -> DType:
    """The common dtype of the arrays' dtype and a Python number; a bool counts as an int."""
    kind = "int" if scalar.kind == "bool" else scalar.kind
    counted = (number_dtypes(plan, [common]) or {}).get(kind, plan.python[kind])
    found = counted if counted.rank > common.rank else common
    if say and found is common:
        say(f"{scalar} has no higher kind than {common}, so it takes that dtype.")
    elif say:
        say(f"{scalar} has a higher kind than {common}, so it counts as {found}.")
    return found
