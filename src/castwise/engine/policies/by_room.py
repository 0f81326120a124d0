"""Python numbers that count by their value: where the arrays' dtype cannot hold one, a dtype that
can.

Only the values of numbers count. Arrays and 0-d arrays promote by the dialect's other rules.
"""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.join import join
from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.engine.steps.arrays import is_held
from castwise.engine.steps.beyond import is_beyond
from castwise.vocab.dtypes import KINDS, DType, dtypes_of, strong_twin
from castwise.vocab.operands import Operand, scalar_text

# What a number may count as; of one width the unsigned first.
_CANDIDATES = dtypes_of(
    "uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 float32 float64 complex64 complex128"
)


def by_room(plan: Plan, numbers: list[Operand], entered: list[DType], say: Say) -> list[int]:
    """What the numbers reach with arrays that entered with these dtypes. A number that the arrays'
    dtype holds reaches what the arrays do, and is left out."""
    common = join(plan, entered)
    arrays = (strong_twin(common) or plan.python[common.kind]) if common.is_weak else common
    masks = []
    for number in numbers:
        found = None if _takes(arrays, number) else _smallest(plan, number, common)
        if found:
            masks.append(plan.reach.masks[found])
        if say:
            say(f"{number} counts by value: {_reason(number, arrays, found)}.")
    return masks


def _takes(arrays: DType, number: Operand) -> bool:
    """Whether a number's kind is lower than the arrays', or the same and the number is in range."""
    if number.kind == arrays.kind:
        return not is_beyond(number.value, arrays)
    return KINDS.index(number.kind) < arrays.rank


def _smallest(plan: Plan, number: Operand, common: DType) -> DType:
    """The smallest dtype of the number's kind that holds it and joins with the arrays; a float
    beyond the dtype of Python's floats counts as that, and overflows.

    Raises Refusal for an int that no dtype holds.
    """
    own = plan.python[number.kind]
    fitting = [
        d
        for d in _CANDIDATES
        if d.kind == number.kind
        and d in plan.reach.bits
        and is_held(plan, d)
        and (d.kind == "int" or d.bits <= own.bits)
        and not is_beyond(number.value, d)
    ]
    if not fitting and number.kind == "int":
        raise Refusal(
            f"no integer dtype holds {scalar_text(number.value)}",
            "Write it as a float.",
            by_value=True,
        )
    met = {d: _common(plan, common, d) for d in fitting}
    joining = [(d.bits, m.rank, m.bits, place, d) for place, (d, m) in enumerate(met.items()) if m]
    return min(joining)[-1] if joining else next(iter(fitting), own)


def _common(plan: Plan, common: DType, candidate: DType) -> DType | None:
    """The common dtype of the arrays and a candidate, or None."""
    try:
        return join(plan, (common, candidate))
    except Refusal:
        return None


def _reason(number: Operand, arrays: DType, found: DType | None) -> str:
    is_same_kind = number.kind == arrays.kind
    if found is None:
        lower = f"its kind is lower than that of {arrays}, so it takes that dtype"
        return f"{arrays} holds it" if is_same_kind else lower
    if is_beyond(number.value, found):
        return f"it overflows {found}, the widest dtype of a Python {number.kind} here"
    why = f"{arrays} does not hold it" if is_same_kind else "its kind is higher"
    return f"{why}, and {found} is the smallest dtype that holds it"
