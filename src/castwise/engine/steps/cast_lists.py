"""Lists that are cast to the dtype of an array beside them: which numbers the cast takes."""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.engine.refusals import conversion_out_of_range
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, scalar_operand

_INT64, _UINT64, _FLOAT64 = dtype("int64"), dtype("uint64"), dtype("float64")


def check_cast(plan: Plan, operand: Operand, beside: DType) -> None:
    """Raises Refusal for a list that is not cast to the dtype of what stands beside it, or with a
    number that is out of range for that."""
    if plan.numbers.lists == "cast":
        _check_real(operand, beside)
    elif _is_one_array(operand):
        _check_ints(operand, beside, _INT64.min, _UINT64.max)
    else:
        _check_each(operand, beside)


def _check_real(operand: Operand, beside: DType) -> None:
    """Of a list that takes no complex numbers, nor stands beside them."""
    if beside.kind == "complex" or (operand.kind == "complex" and beside.kind != "bool"):
        raise not_cast(operand, beside)
    for item in operand.items if beside.kind == "int" else ():
        if not _INT64.min <= item.real <= _INT64.max:
            raise conversion_out_of_range(scalar_operand(item), beside)


def _is_one_array(operand: Operand) -> bool:
    """Whether a list is made one array, and that is cast: a nested one is, a flat one of one type,
    and one with a complex number in front."""
    types = [type(item) for item in operand.items]
    return len(operand.shape or ()) > 1 or len(set(types)) < 2 or types[0] is complex


def _check_each(operand: Operand, beside: DType) -> None:
    """Of a list of which each number is cast alone: a C integer or a double holds it."""
    if operand.kind == "complex":
        raise not_cast(operand, beside)
    if beside.kind == "int":
        _check_ints(operand, beside, _INT64.min, max(_INT64.max, beside.max))
    else:
        _check_ints(operand, beside, _FLOAT64.min, _FLOAT64.max)


def _check_ints(operand: Operand, beside: DType, lowest: float, highest: float) -> None:
    for item in operand.items:
        if type(item) is int and not lowest <= item <= highest:
            raise conversion_out_of_range(scalar_operand(item), beside)


def not_cast(operand: Operand, beside: DType) -> Refusal:
    """The refusal of a list that does not become an array of a dtype."""
    return Refusal(f"{operand} is not cast to {beside}", "Make an array of it first.")
