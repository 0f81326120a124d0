"""What operands count as before they are joined: Python numbers, arrays, NumPy's and weak ones."""

from __future__ import annotations

import cmath
from collections.abc import Iterable, Mapping
from dataclasses import replace

from castwise.engine.decision import Note, Refusal, conversion_out_of_range
from castwise.engine.plan import Plan
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import (
    Operand,
    Role,
    Scalar,
    array_operand,
    scalar_operand,
    scalar_text,
)

_UINT64 = dtype("uint64")

# Python numbers: which operands they may be, and which dtype they have.


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
    raise no_integer_dtype(value)


def no_integer_dtype(value: Scalar | None) -> Refusal:
    """The refusal of an int that no dtype holds."""
    why = f"no integer dtype holds {scalar_text(value)}"
    return Refusal(why, "Write it as a float.", by_value=True)


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
            f"this dialect takes no Python {kind}", "Make it an array, or a number of another kind."
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


# What arrays count as before they are joined, where that is not the dtype they are given with.


def as_joined(plan: Plan, operands: tuple[Operand, ...], note: Note) -> tuple[Operand, ...]:
    """The operands as the join takes them."""
    if note and plan.op.switches.has_lowest and not plan.lowest:
        note(f"{plan.op.name} promotes its operands, so its lowest dtypes do not count.")
    return adapted(plan, raised(plan, _lifted(plan, operands, note)))


def _truncated(plan: Plan, operand: Operand, note: Note) -> Operand:
    """An operand as the array it really is."""
    is_kept = plan.arrays.keeps_dtypes and operand.shape is None
    target = plan.truncates.get(operand.dtype) if operand.dtype and not is_kept else None
    if note and target:
        note(f"There are no {operand.dtype} arrays here: it is truncated to {target}.")
    return replace(operand, dtype=target, value=None) if target else operand


def _lifted(plan: Plan, operands: tuple[Operand, ...], note: Note) -> tuple[Operand, ...]:
    """The operands with integers made floats, where one of them is a Python float."""
    lifts = plan.lifts
    if not lifts or not any([o.is_scalar and o.kind == "float" for o in operands]):
        return operands
    lifted = [replace(o, dtype=lifts.get(o.dtype, o.dtype)) if o.dtype else o for o in operands]
    if note:
        for given, raised_to in zip(operands, lifted, strict=True):
            if raised_to.dtype is not given.dtype:
                note(f"With a Python float, {given} counts as {raised_to}.")
    return tuple(lifted)


def raised(plan: Plan, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands at the op's lowest dtypes, where their own come before these in the order."""
    if not any(plan.lowest):
        return operands
    bits = plan.reach.bits
    return tuple(
        replace(o, dtype=low) if low and o.dtype and bits[o.dtype] < bits.get(low, 0) else o
        for o, low in zip(operands, plan.lowest, strict=False)
    )


def made_arrays(plan: Plan, operands: tuple[Operand, ...], note: Note) -> tuple[Operand, ...]:
    """The operands, of which the dialect first makes the first or all arrays."""
    count = {"first": 1, "all": len(operands)}.get(plan.arrays.makes_arrays, 0)
    made = [made_array(plan, o, note) for o in operands[:count]]
    return (*made, *operands[count:])


def made_array(plan: Plan, operand: Operand, note: Note = None) -> Operand:
    """The array an operand becomes on its own, never a weak one: a Python number or a NumPy operand
    has its own dtype.

    Raises Refusal for a Python number its own dtype does not hold.
    """
    if not (operand.is_scalar or operand.is_numpy):
        return replace(operand, is_weak=False) if operand.is_weak else operand
    own = own_dtype(plan, operand)
    is_finite = operand.value is not None and cmath.isfinite(operand.value)
    if operand.is_scalar and is_finite and not is_in_range(own, operand):
        raise conversion_out_of_range(operand, own)
    if note:
        note(f"{operand} first becomes an array of {own}.")
    return array_operand(own, () if operand.is_scalar else operand.shape)


def is_in_range(target: DType, scalar: Operand) -> bool:
    """Whether the real part of a number lies in the range of a dtype."""
    value = (scalar.value or 0).real
    return target.min <= value <= target.max


def unpromoted(plan: Plan, operands: tuple[Operand, ...]) -> list[DType]:
    """The dtype each operand has where nothing is promoted."""
    return [own_dtype(plan, o) for o in raised(plan, operands)]


def truncated_dtype(plan: Plan, dtype: DType) -> DType:
    """The dtype that an array of a dtype really has."""
    return plan.truncates.get(dtype, dtype)


def truncated_operands(
    plan: Plan, operands: tuple[Operand, ...], note: Note
) -> tuple[Operand, ...]:
    """The operands as the arrays they really are."""
    if not plan.truncates:
        return operands
    return tuple([_truncated(plan, o, note) for o in operands])


def check_width(plan: Plan, operands: tuple[Operand, ...], compute: DType) -> None:
    """Raises Refusal where the widest operand of the highest kind would be narrowed."""
    if not plan.arrays.keeps_width:
        return
    owns = [o.dtype or plan.python[o.kind] for o in operands]
    widest = max(owns, key=lambda d: (d.rank, d.bits))
    if widest in plan.arrays.keeps_width and widest.bits > compute.bits:
        raise Refusal(f"{plan.op.name} does not narrow {widest} to {compute}", "Cast it yourself.")


# NumPy arrays and scalars in another framework's op.

_PYTHON = {"bool": bool, "int": int, "float": float, "complex": complex}


def native_operands(
    plan: Plan, operands: tuple[Operand, ...], note: Note = None
) -> tuple[Operand, ...]:
    """The operands as the dialect takes them: each on its own or, where it adapts, with an array's
    dtype.

    Raises Refusal where it does not take one.
    """
    # NumPy operands that adapt are cast to the dtype of the first array of the framework itself.
    own_dtype = next((o.dtype for o in operands if o.dtype and not o.is_numpy), None)
    owned = tuple([_as_own(plan, o, own_dtype, is_left=not i) for i, o in enumerate(operands)])
    if note:
        for given, native in zip(operands, owned, strict=True):
            if native.dtype is not given.dtype:
                note(f"{given} counts as {native.dtype or native} here.")
    return owned


def _as_own(plan: Plan, operand: Operand, own_dtype: DType | None, *, is_left: bool) -> Operand:
    """An operand as the dialect takes it; a NumPy one as the framework's array or a Python number.

    Raises Refusal where it does not take it.
    """
    if not operand.is_numpy or operand.dtype is None or plan.numpy.arrays == "as scalars":
        return operand
    kind = _kind(plan, operand, is_left)
    if kind in _PYTHON:
        value = operand.value if kind == "complex" else (operand.value or 0).real
        return scalar_operand(_PYTHON[kind](value))
    native = operand.role.native
    numpy = plan.numpy.arrays_left if is_left and native is not operand.role else plan.numpy.arrays
    if own_dtype is not None and (kind == "array" or numpy == "adapts"):
        return replace(operand, dtype=own_dtype, role=native, value=None)
    if numpy != "refused" and kind != "refused":
        read = plan.numpy.reads.get(operand.dtype)
        operand = replace(operand, dtype=read, value=None) if read else operand
        return operand if native is operand.role else replace(operand, role=native)
    raise Refusal(
        f"{plan.op.name} does not accept {operand} here",
        "Make it an array of this framework first.",
    )


def _kind(plan: Plan, operand: Operand, is_left: bool) -> str | None:
    """What a NumPy scalar counts as, where the dialect has a rule for its dtype."""
    if operand.role is not Role.NUMPY_SCALAR or operand.dtype is None:
        return None
    return (plan.numpy.scalars_left if is_left else plan.numpy.scalars).get(operand.dtype)


def as_seen(plan: Plan, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands as NumPy sees them, where it takes an array of one dtype for another.

    Raises Refusal for an array of a dtype that cannot be mixed with NumPy arrays.
    """
    for operand in operands:
        if operand.dtype in plan.numpy.refuses:
            raise Refusal(
                f"an array of {operand.dtype} cannot be mixed with NumPy arrays",
                "Make the NumPy array an array of this framework first.",
            )
    seen = plan.numpy.sees
    return tuple([replace(o, dtype=seen[o.dtype]) if o.dtype in seen else o for o in operands])


def is_native(plan: Plan) -> bool:
    """Whether NumPy's arrays are those of the framework itself."""
    return plan.numpy.arrays == "native"


def numpy_decider(plan: Plan, operands: tuple[Operand, ...]) -> str:
    """The dialect that decides with a NumPy array on the right, or any NumPy operand on the left;
    "" where this one does."""
    if plan.numpy.decider and operands[-1].role.native is not operands[-1].role:
        return plan.numpy.decider
    return plan.numpy.left_decider if operands[0].is_numpy else ""


# Weakly typed operands, and whether their result is strong.


def is_weakly_typed(operand: Operand) -> bool:
    """Whether an operand is a weak array or a Python number; a Python bool is as strong as any."""
    return operand.is_weak or (operand.is_scalar and operand.kind != "bool")


def makes_strong(plan: Plan, operands: tuple[Operand, ...]) -> bool:
    """Whether the result is strong even if its operands are weak."""
    weakness = plan.weakness
    looked_at = operands[:1] if weakness.arrays_make_strong == "first" else operands
    has_array = any([o.role.native is Role.ARRAY for o in looked_at])
    return weakness.makes_strong or (weakness.arrays_make_strong != "" and has_array)
