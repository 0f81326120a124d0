"""The switches of a declared op that check everything passed to it: operands, numbers and outputs.

They are those of torch's TensorIterator, in every dialect.
"""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.engine.steps.arrays import held_dtype, unpromoted
from castwise.engine.steps.numbers import own_dtype
from castwise.engine.steps.writes import takes_any
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand


def check_same_dtype(plan: Plan, operands: tuple[Operand, ...], out: DType | None) -> None:
    """Raises Refusal where the op needs one dtype, and a Python number or out= has another.

    A number counts as the dtype it is wrapped in, before anything is promoted.
    """
    if not plan.op.switches.same_dtype:
        return
    dtypes = [_wrapped(plan, operand) for operand in operands]
    # The first array determines which one.
    wanted = next((o.dtype for o in operands if o.dtype), dtypes[0])
    what = f"{plan.op.name} needs operands and out= of the same dtype"
    for operand, found in zip(operands, dtypes, strict=True):
        if found is not wanted:
            fix = f"Make it an array of {wanted}."
            raise Refusal(f"{what}: {operand} counts as {found}, not {wanted}", fix)
    if out and held_dtype(plan, out) is not wanted:
        raise Refusal(f"{what}: out is {out}, not {wanted}", f"Give it an out= of {wanted}.")


def _wrapped(plan: Plan, operand: Operand) -> DType:
    """The dtype an operand has before anything is promoted."""
    held = plan.python.get(f"wrapped {operand.kind}") if operand.is_scalar else None
    return held or own_dtype(plan, operand)


def is_unpromoted_mix(plan: Plan, operands: tuple[Operand, ...]) -> bool:
    """Whether an op that promotes nothing writes the result of operands of two dtypes: then nothing
    is cast, and the destination determines the result's dtype.

    Raises Refusal where the op would cast the result to the destination, or check that cast: the
    result has no single dtype.
    """
    switches = plan.op.switches
    if switches.promotes or takes_any(plan):
        return False
    dtypes = dict.fromkeys(unpromoted(plan, operands))
    if len(dtypes) == 1:
        return False
    if switches.casts_to_output or switches.safe_output:
        listed = " and ".join(d.name for d in dtypes)
        raise Refusal(
            f"{plan.op.name} does not promote {listed}, so there is no single dtype to cast to the"
            " output",
            "Cast them to one dtype, or declare it with casts_to_output=False and"
            " safe_output=False.",
        )
    return True
