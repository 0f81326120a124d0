"""The last operand of a power: whether it is accepted, and where only the base decides."""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.engine.refusals import scalar_out_of_range
from castwise.engine.steps.beyond import is_beyond
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, Role


def is_integer_power(plan: Plan, operands: tuple[Operand, ...]) -> bool:
    """Whether the exponent is one integer, and the dialect then lets the base decide.

    One integer is what Python takes as an index (PEP 357): a Python bool too, but no array of
    bool or of a dtype below a byte.
    """
    exponent = operands[-1]
    if plan.joins.by != "integer power":
        return False
    if exponent.is_scalar:
        return exponent.kind in ("bool", "int")
    dtype = exponent.dtype
    is_index = dtype is not None and dtype.kind == "int" and dtype.bits >= 8
    return is_index and exponent.role.native is not Role.ARRAY


def check_exponent(plan: Plan, exponent: Operand) -> None:
    """Raises Refusal where a number does not fit what the dialect takes for an exponent."""
    if plan.exponent.fits and exponent.is_scalar and is_beyond(exponent.value, plan.exponent.fits):
        raise scalar_out_of_range(exponent, plan.exponent.fits)


def check_power(plan: Plan, operands: tuple[Operand, ...], compute: DType) -> None:
    """Raises Refusal where an integer power has a negative exponent, or a base that is treated the
    same."""
    if not plan.exponent.negative or compute.kind != "int":
        return
    base, exponent = operands
    if plan.exponent.negative == "elements raise" and (base.is_empty or exponent.is_empty):
        return
    why = ""
    looks = exponent.is_scalar or plan.exponent.negative != "number raises"
    if looks and isinstance(exponent.value, int) and exponent.value < 0:
        why = "an integer to a negative integer power is not an integer"
    elif plan.exponent.negative == "raises on either side" and base.is_scalar:
        is_negative = isinstance(base.value, int) and base.value < 0
        why = "a negative Python int has no integer powers" if is_negative else ""
    if why:
        raise Refusal(why, "Make the base a float.", by_value=True)


def looks_at_last(plan: Plan) -> bool:
    """Whether only the exponent's value is checked."""
    return plan.exponent.fits is not None


def also_fits(plan: Plan, compute: DType) -> DType | None:
    """The dtype that an exponent of integers must fit as well as the compute dtype."""
    return plan.exponent.fits if compute.kind == "int" else None


def is_free_power(plan: Plan, operands: tuple[Operand, ...]) -> bool:
    """Whether the exponent is one integer, of any size."""
    return plan.exponent.is_free and is_integer_power(plan, operands)
