"""Python numbers that are out of range: refused, wrapped or compared exactly."""

from __future__ import annotations

import math
import sys

from castwise.engine.decision import Question, Refusal
from castwise.engine.plan import Plan
from castwise.engine.refusals import named_out_of_range, scalar_out_of_range
from castwise.engine.steps.beyond import is_beyond, is_unconvertible
from castwise.engine.steps.exponents import also_fits, check_power, is_free_power, looks_at_last
from castwise.engine.steps.numbers import number_dtypes
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import Operand, Scalar, scalar_text

_HIGHEST = {"int64": 2**63, "64 bits": 2**64}
_DEFAULT_INT = ("default int", "dtype or default int")
# An int that passes one of these may still not fit the compute dtype: then it wraps.
_LET_IN = ("int64", "64 bits", "array dtype", *_DEFAULT_INT)
# The rules under which a number is never made a float before it is looked at.
_NEVER_MADE_FLOAT = (("magnitude", "raises"), ("none", "compares"))
_INT64 = dtype("int64")


def check_values(
    plan: Plan, operands: tuple[Operand, ...], compute: DType, question: Question
) -> None:
    """Raises Refusal where the dialect refuses the op for the value of a scalar."""
    checked = operands[-1:] if looks_at_last(plan) else operands
    for operand in checked if compute in plan.range.looks_at else ():
        if operand.is_scalar and _is_out(plan, operand, operands, compute, question):
            raise scalar_out_of_range(operand, _holder(plan, operands, compute))
    check_power(plan, operands, compute)
    if question.alpha is not None:
        _check_alpha(question.alpha, compute)


def check_fit(plan: Plan, operands: tuple[Operand, ...], common: DType) -> None:
    """Raises Refusal where scalars must fit into the operands' common dtype and one does not."""
    if plan.range.limit != "common dtype" or plan.range.beyond == "wraps":
        return
    for operand in operands:
        if operand.is_scalar and is_beyond(operand.value, common):
            raise scalar_out_of_range(operand, common)


def compares_exactly(plan: Plan) -> bool:
    """Whether an int that the compute dtype does not hold is compared exactly."""
    return (plan.range.limit, plan.range.beyond) == ("dtype", "compares")


def must_fit_default_int(plan: Plan) -> bool:
    """Whether an int is refused that the dtype of Python's ints does not hold."""
    return plan.range.limit in _DEFAULT_INT


def is_out_of_range(operand: Operand, compute: DType) -> bool:
    """Whether an integer compute dtype cannot hold a Python int."""
    value = operand.value
    if type(value) is not int or compute.kind != "int" or not operand.is_scalar:
        return False
    return not compute.min <= value <= compute.max


def scalar_hazard(plan: Plan, scalar: Operand, compute: DType) -> str | None:
    """What becomes of a Python scalar beyond the compute dtype that the dialect lets in."""
    limit, beyond = plan.range.limit, plan.range.beyond
    is_let_in = beyond == "wraps" or (beyond == "raises" and limit in _LET_IN)
    if is_let_in and is_out_of_range(scalar, compute):
        return "wraps"
    return "loses-range" if overflows(scalar, compute) else None


def overflows(scalar: Operand, compute: DType) -> bool:
    """Whether a Python number is infinite as a float, and was not before."""
    value = scalar.value
    if compute.rank < 2 or value is None or scalar.kind == "bool":
        return False
    return any([compute.max < abs(p) < math.inf for p in (value.real, value.imag)])


def _is_out(
    plan: Plan,
    scalar: Operand,
    operands: tuple[Operand, ...],
    compute: DType,
    question: Question,
) -> bool:
    limit, beyond = plan.range.limit, plan.range.beyond
    if limit == "common dtype":  # looked at before, see check_fit
        return False
    if beyond == "wraps" and limit not in ("64 bits", "none"):
        return False
    if limit in _DEFAULT_INT:
        return type(scalar.value) is int and _is_beyond_default_int(plan, scalar, operands, compute)
    if _is_beyond_floats(scalar.value, compute):
        return (limit, beyond) not in _NEVER_MADE_FLOAT
    if limit == "array dtype":
        return is_out_of_range(scalar, _holder(plan, operands, compute))
    if limit == "magnitude":
        also = also_fits(plan, compute)
        return any(is_unconvertible(scalar.value, d) for d in (compute, also) if d)
    is_counted = number_dtypes(plan, [compute]) is not None
    is_looked_at = compute.kind == "int" or is_counted or beyond != "wraps"
    if limit in _HIGHEST and is_looked_at:
        value = scalar.value
        return isinstance(value, int) and not -(2**63) <= value < _HIGHEST[limit]
    return limit == "dtype" and _is_beyond_dtype(plan, scalar, operands, compute, question)


def _is_beyond_dtype(
    plan: Plan, scalar: Operand, operands: tuple[Operand, ...], compute: DType, question: Question
) -> bool:
    """Whether a Python int is refused because the compute dtype does not hold it."""
    if plan.range.beyond == "raises if no value is left":
        return compute.kind == "int" and _is_empty_bound(scalar, question.operands, compute)
    if not is_out_of_range(scalar, compute):
        return False
    if plan.range.beyond == "compares":  # a bool array has no exact comparison with an int
        return all(o.is_scalar or o.kind == "bool" for o in operands)
    return True


def _is_beyond_default_int(
    plan: Plan, scalar: Operand, operands: tuple[Operand, ...], compute: DType
) -> bool:
    """Whether a Python int is refused because it is too wide for the dtype of Python ints."""
    value = scalar.value
    assert isinstance(value, int)
    if is_free_power(plan, operands):
        return scalar is operands[0] and not -(2**63) <= value < 2**64
    is_held = plan.range.limit == "dtype or default int" and compute.kind == "int"
    own = plan.python["int"]
    return not any(d.min <= value <= d.max for d in ((own, compute) if is_held else (own,)))


def _is_beyond_floats(value: Scalar | None, compute: DType) -> bool:
    """Whether a Python int is converted to a float and no float is that large."""
    return type(value) is int and compute.rank > 1 and abs(value) > sys.float_info.max


def _holder(plan: Plan, operands: tuple[Operand, ...], compute: DType) -> DType:
    """The dtype whose range a scalar must fit: that of the computation, that of Python's ints, or
    the first array's own where the scalar is converted before anything is computed."""
    if plan.range.limit in _DEFAULT_INT:
        return plan.python["int"]
    if plan.range.limit != "array dtype":
        return compute
    array = next((o.dtype for o in operands if o.dtype), None)
    is_narrow = array is not None and array.kind == "int" and array.bits < _INT64.bits
    return array if array and is_narrow else _INT64


def _is_empty_bound(scalar: Operand, operands: tuple[Operand, ...], compute: DType) -> bool:
    """Whether a bound of clamp leaves no value of the dtype."""
    if type(scalar.value) is not int:
        return False
    is_too_high = scalar in operands[1:2] and scalar.value > compute.max
    return is_too_high or (scalar in operands[2:] and scalar.value < compute.min)


def _check_alpha(alpha: Scalar, compute: DType) -> None:
    """torch's alpha_check: no higher kind than the result, and no bool for a number."""
    kind = type(alpha).__name__
    is_too_high = KINDS.index(kind) > max(compute.rank, 1)
    if is_too_high or (kind == "bool" and compute.kind != "bool"):
        raise Refusal(
            f"alpha is a {kind} and the result is {compute}", "Give alpha the kind of the result."
        )
    if is_unconvertible(alpha, compute):
        raise named_out_of_range(f"alpha {scalar_text(alpha)}", compute)
