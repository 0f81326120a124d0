"""What Python numbers are to an op: where they may stand, and which dtype they have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, scalar_text

_UINT64 = dtype("uint64")


def own_dtype(plan: Plan, operand: Operand) -> DType:
    """The dtype an operand has of itself. A Python int beyond int64 is uint64.

    Raises Refusal for an int that no such dtype holds.
    """
    if operand.dtype is not None:
        return operand.dtype
    own = plan.python[operand.kind]
    value = operand.value
    if type(value) is not int or own.min <= value <= own.max:
        return own
    wide = plan.python.get("wide int") or (_UINT64 if own.bits == 64 else own)
    if wide in plan.reach.bits and wide.min <= value <= wide.max:
        return wide
    if plan.range.limit == "none" and plan.range.beyond == "wraps":
        return wide
    if plan.range.limit == "none":
        return _UINT64 if value > 0 else own
    raise Refusal(
        f"{scalar_text(value)} fits no integer dtype", "Write it as a float.", by_value=True
    )


def number_dtypes(plan: Plan, dtypes: Iterable[DType | None]) -> Mapping[str, DType] | None:
    """What numbers of some kinds count as beside the first of these dtypes that is a case of its
    own; None where no dtype is."""
    beside = plan.numbers.dtypes_by_array
    return next((beside[d] for d in dtypes if d in beside), None)


def check_numbers(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for Python numbers that the op does not take, or not there, or not beside
    these arrays."""
    for place, operand in enumerate(operands):
        if operand.is_scalar:
            is_there = is_place(plan.numbers.places, place, len(operands))
            _check_number(plan, operand, is_there=is_there)
            _check_company(plan, operand, operands)
    if plan.numbers.last_is_number and not operands[-1].is_scalar:
        raise Refusal(f"{operands[-1]} is no Python scalar", "Write a Python number.")


def adapted(plan: Plan, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands, Python numbers as arrays of the dtype they are cast to where they adapt."""
    array = next((o for o in operands if o.dtype), None) if plan.numbers.adapts else None
    return tuple([array if array and o.is_scalar else o for o in operands])


def is_place(word: str, place: int, count: int) -> bool:
    """Whether one of PLACES speaks of a place among so many operands."""
    return {"first": place == 0, "last": place == count - 1, "none": False}.get(word, True)


def _check_number(plan: Plan, scalar: Operand, *, is_there: bool) -> None:
    kind = scalar.kind
    if kind not in plan.python:
        raise Refusal(f"it takes no Python {kind}", "Make it an array, or another kind.")
    if kind in plan.numbers.refuses or (plan.numbers.adapts and kind not in plan.numbers.adapts):
        raise Refusal(
            plan.because or f"{plan.op.name} takes no Python {kind}",
            "Make it an array of the dtype you want.",
        )
    if not is_there:
        there = "" if plan.numbers.places == "none" else " there"
        raise Refusal(f"{plan.op.name} takes no Python scalar{there}", "Make it an array.")


def _check_company(plan: Plan, scalar: Operand, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal where an operand is of a dtype beside which no scalar is taken."""
    given = [o.dtype or plan.python.get(o.kind) for o in operands]
    beside = next((d for d in given if d in plan.numbers.refused_with), None)
    if beside:
        raise Refusal(
            plan.because or f"{plan.op.name} takes no Python {scalar.kind} beside {beside}",
            "Make it an array of the dtype you want.",
        )
