"""What Python numbers are to an op: which operands they may be, and which dtype they have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, scalar_text

_UINT64 = dtype("uint64")


def own_dtype(plan: Plan, operand: Operand) -> DType:
    """The dtype an operand has on its own. A Python int beyond int64 is uint64.

    Raises Refusal for a number of a kind that the dialect does not take, and for an int that no
    such dtype holds.
    """
    if operand.dtype is not None:
        return operand.dtype
    _check_kind(plan, operand.kind)
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
        f"no integer dtype holds {scalar_text(value)}", "Write it as a float.", by_value=True
    )


def number_dtypes(plan: Plan, arrays: Iterable[DType | None]) -> Mapping[str, DType] | None:
    """What Python numbers count as, by kind, with the first of these array dtypes that the rule
    lists; None where it lists none of them."""
    by_array = plan.numbers.dtypes_by_array
    return next((by_array[d] for d in arrays if d in by_array), None)


def check_numbers(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for Python numbers that the op does not take, at all, in that place or with
    these arrays."""
    for place, operand in enumerate(operands):
        if operand.is_scalar:
            is_there = is_place(plan.numbers.places, place, len(operands))
            _check_number(plan, operand, is_there=is_there)
            _check_company(plan, operand, operands)
    if plan.numbers.last_is_number and not operands[-1].is_scalar:
        raise Refusal(f"{operands[-1]} is not a Python scalar", "Write a Python number.")


def adapted(plan: Plan, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands, Python numbers as arrays of the dtype they are cast to where they adapt."""
    array = next((o for o in operands if o.dtype), None) if plan.numbers.adapts else None
    return tuple([array if array and o.is_scalar else o for o in operands])


def is_place(word: str, place: int, count: int) -> bool:
    """Whether one of PLACES includes a place among so many operands."""
    return {"first": place == 0, "last": place == count - 1, "none": False}.get(word, True)


def _check_kind(plan: Plan, kind: str) -> None:
    if kind not in plan.python:
        raise Refusal(
            f"this dialect takes no Python {kind}",
            "Make it an array, or a number of another kind.",
        )


def _check_number(plan: Plan, scalar: Operand, *, is_there: bool) -> None:
    kind = scalar.kind
    _check_kind(plan, kind)
    if kind in plan.numbers.refuses or (plan.numbers.adapts and kind not in plan.numbers.adapts):
        raise Refusal(
            plan.because or f"{plan.op.name} takes no Python {kind}",
            "Make it an array of the dtype you want.",
        )
    if not is_there:
        there = "" if plan.numbers.places == "none" else " in this place"
        raise Refusal(f"{plan.op.name} takes no Python scalar{there}", "Make it an array.")


def _check_company(plan: Plan, scalar: Operand, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal where an operand has a dtype with which no Python scalar is accepted."""
    given = [o.dtype or plan.python.get(o.kind) for o in operands]
    refusing = next((d for d in given if d in plan.numbers.refused_with), None)
    if refusing:
        raise Refusal(
            plan.because or f"{plan.op.name} takes no Python {scalar.kind} with {refusing}",
            "Make it an array of the dtype you want.",
        )
