"""The policy of weak scalars: a Python number takes the arrays' dtype if its kind is no higher."""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.join import check_mix, complex_of, join
from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.engine.steps.numbers import number_dtypes, own_dtype
from castwise.vocab.dtypes import KINDS, DType
from castwise.vocab.operands import Operand


def weak(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What each operand reaches: a Python number what the arrays do, or, of a higher kind, the
    dtype of that kind (NEP 50). A Python bool is an ordinary bool."""
    scalars = [o for o in operands if o.is_scalar and o.kind != "bool"]
    strong = [own_dtype(plan, o) for o in operands if not o.is_scalar or o.kind == "bool"]
    check_mix(plan, [o.dtype for o in operands if o.dtype])
    entered = list(strong)
    if scalars:
        common = join(plan, strong) if strong else None
        adopted = adopted_dtype(plan, max(scalars, key=lambda o: KINDS.index(o.kind)), common)
        entered.append(adopted)
        if say:
            for scalar in scalars:
                say(adoption_text(scalar, common, adopted))
    return [plan.reach.masks[d] for d in entered]


def adopted_dtype(plan: Plan, scalar: Operand, common: DType | None) -> DType:
    """The dtype a weak scalar takes, given the common dtype of the strong operands."""
    kind = scalar.kind
    if common is None:
        return plan.python[kind]
    counts = number_dtypes(plan, [common])
    if counts and kind in counts:
        # An int beyond the Python int's own dtype counts as no dtype that joins with the array's.
        if kind == "int" and own_dtype(plan, scalar) is not plan.python["int"]:
            raise Refusal(
                f"{scalar} has no common dtype with {common}", "Write it as a float.", by_value=True
            )
        return counts[kind]
    if common.rank >= KINDS.index(kind):
        return common
    return complex_of(plan, common) if common.kind == "float" else plan.python[kind]


def adoption_text(scalar: Operand, common: DType | None, adopted: DType) -> str:
    """What a scalar becomes with the strong operands, in words."""
    if common is None:
        return f"There is no array, so {scalar} is {adopted}."
    if adopted is common:
        return f"{scalar} is weak: it takes the arrays' {common}."
    if common.rank >= KINDS.index(scalar.kind):
        return f"With {common}, {scalar} counts as {adopted}."
    return f"{scalar} has a higher kind than {common}, so it counts as {adopted}."
