"""Lists that are cast to the dtype of another operand: which numbers the cast takes."""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.engine.refusals import conversion_out_of_range
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, scalar_operand

_INT64, _UINT64, _FLOAT64 = dtype("int64"), dtype("uint64"), dtype("float64")


def check_cast(plan: Plan, operand: Operand, target: DType) -> None:
    """Raises Refusal for a list that cannot be cast to the dtype, or that has a number out of range
    for it."""
    if plan.numbers.lists == "cast":
        _check_real(operand, target)
    elif _is_one_array(operand):
        _check_ints(operand, target, _INT64.min, _UINT64.max)
    else:
        _check_each(operand, target)


def _check_real(operand: Operand, target: DType) -> None:
    """For a cast that works neither on complex numbers nor to a complex dtype."""
    if target.kind == "complex" or (operand.kind == "complex" and target.kind != "bool"):
        raise not_cast(operand, target)
    for item in operand.items if target.kind == "int" else ():
        if not _INT64.min <= item.real <= _INT64.max:
            raise conversion_out_of_range(scalar_operand(item), target)


def _is_one_array(operand: Operand) -> bool:
    """Whether the list becomes one array first, which is then cast. A nested list does, a flat one
    of one type, and one that starts with a complex number."""
    types = [type(item) for item in operand.items]
    return len(operand.shape or ()) > 1 or len(set(types)) < 2 or types[0] is complex


def _check_each(operand: Operand, target: DType) -> None:
    """For a list whose numbers are cast one by one: a C integer or a double must hold each."""
    if operand.kind == "complex":
        raise not_cast(operand, target)
    if target.kind == "int":
        _check_ints(operand, target, _INT64.min, max(_INT64.max, target.max))
    else:
        _check_ints(operand, target, _FLOAT64.min, _FLOAT64.max)


def _check_ints(operand: Operand, target: DType, lowest: float, highest: float) -> None:
    for item in operand.items:
        if type(item) is int and not lowest <= item <= highest:
            raise conversion_out_of_range(scalar_operand(item), target)


def not_cast(operand: Operand, target: DType) -> Refusal:
    """The refusal of a list that does not become an array of a dtype."""
    return Refusal(f"{operand} is not cast to {target}", "Make an array of it first.")
