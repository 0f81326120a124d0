"""The policy of RFC 431's SAFE and NONE: weak scalars that may not change the arrays' dtype."""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.join import join
from castwise.engine.plan import Plan
from castwise.engine.policies.weak import adopted_dtype, adoption_text, weak
from castwise.engine.refusals import way_out
from castwise.engine.saying import Say
from castwise.engine.steps.beyond import is_beyond
from castwise.engine.steps.numbers import own_dtype
from castwise.vocab.dtypes import KINDS, DType
from castwise.vocab.operands import Operand


def fits_arrays(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """As weak, but a scalar may not change the arrays' dtype, except an int with bool arrays
    (RFC 431's SAFE and NONE). A Python bool is a scalar like the others, and fits any dtype."""
    scalars = [o for o in operands if o.is_scalar or o.is_weak]
    strong = [own_dtype(plan, o) for o in operands if not (o.is_scalar or o.is_weak)]
    if not scalars or not strong:
        return weak(plan, operands, say)
    common = join(plan, strong)
    highest = max(scalars, key=lambda o: KINDS.index(o.kind))
    adopted = adopted_dtype(plan, highest, common)
    if adopted is not common and highest.kind != "int":
        raise Refusal(
            f"a Python {highest.kind} does not fit into {common}",
            _way_out(plan, common, scalars),
        )
    if say:
        for scalar in scalars:
            say(adoption_text(scalar, common, adopted))
    return [plan.reach.masks[adopted]]


def _way_out(plan: Plan, common: DType, scalars: list[Operand]) -> str:
    """What to cast the arrays to, so that the scalars fit."""
    rank = max([KINDS.index(o.kind) for o in scalars])
    roomy = [d for d in plan.dialect.dtypes if not any(is_beyond(o.value, d) for o in scalars)]
    return way_out([common], roomy, rank)
