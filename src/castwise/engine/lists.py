"""Lists of Python numbers as operands: refused, made arrays, or read as each number would be."""

from __future__ import annotations

from dataclasses import replace

from castwise.engine.accepts import must_fit_default_int
from castwise.engine.decision import (
    HAZARDS,
    Cast,
    Decide,
    Decision,
    Note,
    Question,
    Refusal,
    conversion_out_of_range,
)
from castwise.engine.operands import is_in_range, is_place, made_array, own_dtype
from castwise.engine.plan import Plan, op_plan
from castwise.engine.scalars import join
from castwise.engine.writes import deciding_form
from castwise.errors import UsageError
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import Operand, Role, array_operand, scalar_operand, value_class

# Lists that are cast to the dtype of another operand: which numbers the cast takes.

_INT64, _UINT64, _FLOAT64 = dtype("int64"), dtype("uint64"), dtype("float64")


def _check_cast(plan: Plan, operand: Operand, target: DType) -> None:
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
        raise _not_cast(operand, target)
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
        raise _not_cast(operand, target)
    if target.kind == "int":
        _check_ints(operand, target, _INT64.min, max(_INT64.max, target.max))
    else:
        _check_ints(operand, target, _FLOAT64.min, _FLOAT64.max)


def _check_ints(operand: Operand, target: DType, lowest: float, highest: float) -> None:
    for item in operand.items:
        if type(item) is int and not lowest <= item <= highest:
            raise conversion_out_of_range(scalar_operand(item), target)


def _not_cast(operand: Operand, target: DType) -> Refusal:
    """The refusal of a list that does not become an array of a dtype."""
    return Refusal(f"{operand} is not cast to {target}", "Make an array of it first.")


def has_lists(question: Question) -> bool:
    """Whether one of the operands is a list."""
    return any([o.role is Role.LIST for o in question.operands])


def list_decision(plan: Plan, question: Question, decide: Decide, note: Note) -> Decision:
    """The decision about operands of which some are lists.

    Raises Refusal where the dialect does not take them.
    """
    first = question.operands[0]
    if question.is_assignment and first.role is Role.LIST:
        raise UsageError("a list cannot be changed in place: make an array of it first.")
    if not all([_takes(plan, question.operands, place) for place in range(len(question.operands))]):
        raise Refusal(f"{plan.op.name} does not accept this list", "Make an array of it first.")
    made = _lists_made_arrays(plan, question.operands, note)
    asked = replace(question, operands=made)
    if plan.numbers.lists == "cast for the function":
        asked = replace(asked, form="function")
    decision = _as_numbers(plan, asked, decide, note) if has_lists(asked) else decide(asked, note)
    return decision.about(question)


def is_left_to_python(question: Question) -> bool:
    """Whether the framework leaves `x == [1, 2]` to Python, which then compares the objects."""
    plan = op_plan(question.op, question.dialect, deciding_form(question))
    return plan.numbers.lists == "left to Python"


def as_arrays(question: Question) -> tuple[Operand, ...]:
    """The operands of a question that is not refused, where each list is replaced by the array it
    becomes."""
    plan = op_plan(question.op, question.dialect, deciding_form(question))
    if plan.numbers.lists == "as weak numbers" and plan.scalars != "converted":
        return tuple([_made(plan, o, None) for o in question.operands])
    made = _lists_made_arrays(plan, question.operands, None)
    # A condition has a dtype, but it is not the one of the numbers.
    target = next(o.dtype for o in made[question.op.is_condition_first :] if o.dtype)
    return tuple([array_operand(target, o.shape) if o.role is Role.LIST else o for o in made])


def _takes(plan: Plan, operands: tuple[Operand, ...], place: int) -> bool:
    """Whether the operand in a place may be a list there; true if it is none."""
    operand = operands[place]
    if operand.role is not Role.LIST:
        return True
    if not is_place(plan.numbers.list_places, place, len(operands)):
        return False
    if plan.numbers.lists == "bools as arrays":
        return bool(operand.items) and all([type(item) is bool for item in operand.items])
    return plan.numbers.lists not in ("refused", "left to Python")


def _reads_numbers(plan: Plan) -> bool:
    return plan.numbers.lists in ("as numbers", "as weak numbers")


def _lists_made_arrays(
    plan: Plan, operands: tuple[Operand, ...], note: Note
) -> tuple[Operand, ...]:
    """The operands, with arrays for those lists that become arrays on their own: all of them, or
    those that the plan makes arrays of, and the first list where no operand is an array."""
    if plan.numbers.lists.startswith("cast"):
        return tuple([_cast(plan, o, operands, note) for o in operands])
    if not _reads_numbers(plan) or plan.arrays.makes_arrays == "all":
        return tuple([_made(plan, o, note) for o in operands])
    if plan.arrays.makes_arrays == "first":
        count = 1
    elif any([o.dtype for o in operands]):
        count = 0
    else:
        count = next(place for place, o in enumerate(operands, 1) if o.role is Role.LIST)
    return (*[_made(plan, o, note) for o in operands[:count]], *operands[count:])


def _cast(plan: Plan, operand: Operand, operands: tuple[Operand, ...], note: Note) -> Operand:
    """The array that a list is cast to: it has the dtype of another operand, or the list's own
    where there is no other. Every operand that is no list stays unchanged."""
    if operand.role is not Role.LIST:
        return operand
    others = [o for o in operands if o.role is not Role.LIST]
    if not others and len(operands) > 1:
        raise Refusal("no operand has a dtype to cast a list to", "Make an array of one first.")
    deciding = next((o for o in others if o.dtype), others[0] if others else None)
    target = own_dtype(plan, deciding) if deciding else _listed_dtype(plan, operand)
    if not (operand.items or others):
        raise _not_cast(operand, target)
    _check_cast(plan, operand, target)
    if note:
        note(f"{operand} is a list, which is cast to {target}.")
    return array_operand(target, operand.shape)


def _made(plan: Plan, operand: Operand, note: Note) -> Operand:
    """The array that a list becomes on its own; every other operand unchanged."""
    if operand.role is not Role.LIST:
        return operand
    own = _listed_dtype(plan, operand)
    is_weak = plan.numbers.lists == "as weak numbers" and own.kind != "bool"
    if note:
        note(f"{operand} is a list, which becomes a{' weak' * is_weak or 'n'} array of {own}.")
    return array_operand(own, operand.shape, is_weak=is_weak)


def _listed_dtype(plan: Plan, operand: Operand) -> DType:
    """The dtype of the array that a list becomes.

    Raises Refusal where none holds its numbers.
    """
    if _reads_numbers(plan):
        _check_numbers(plan, operand)
    else:  # it becomes an array before the op sees it, so the op's own dtypes do not matter
        plan = replace(plan, python={k: dtype(name) for k, name in plan.dialect.python.items()})
        if operand.kind == "int" and must_fit_default_int(plan):
            _check_listed_ints(plan, operand)
    items = [item for item in _distinct_numbers(operand) if item.kind == operand.kind]
    found = list(dict.fromkeys([own_dtype(plan, item) for item in items]))
    if not found:  # an empty list
        return plan.python[operand.kind]
    return max(found, key=lambda d: d.bits) if _reads_numbers(plan) else join(plan, found)


def _check_numbers(plan: Plan, operand: Operand) -> None:
    """Raises Refusal for a list with a number that cannot be read, or with bools among others."""
    if plan.numbers.lists == "as weak numbers":
        _check_listed_ints(plan, operand)
        return
    items = _distinct_numbers(operand)
    kinds = {item.kind for item in items}
    if "bool" in kinds and len(kinds) > 1:
        raise Refusal(
            "a list cannot mix bools with other numbers", "Write all of them as one type."
        )
    for item in items:
        made_array(plan, item)  # raises where its dtype does not hold it


def _check_listed_ints(plan: Plan, operand: Operand) -> None:
    """Raises Refusal for a list with an int that the dtype of Python's ints does not hold."""
    own = plan.python["int"]
    for item in _distinct_numbers(operand):
        if item.kind == "int" and not is_in_range(own, item):
            raise conversion_out_of_range(item, own)


def _as_numbers(plan: Plan, question: Question, decide: Decide, note: Note) -> Decision:
    """What each number of each list gives with the other operands: the same dtypes for all, and
    every hazard that one of them has."""
    if note:
        for operand in question.operands:
            if operand.role is Role.LIST:
                note(f"{operand} is a list, and each of its numbers is read like a Python number.")
    target = next(o.dtype for o in question.operands if o.dtype)
    strongest = tuple([_strongest(o, target) for o in question.operands])
    main = decide(replace(question, operands=strongest), note)
    casts = list(main.casts)
    for place, operand in enumerate(question.operands):
        for item in _converted_one_by_one(plan, operand):
            others = (*strongest[:place], item, *strongest[place + 1 :])
            found = decide(replace(question, operands=others), None)
            casts[place] = _merged_cast(casts[place], found.casts[place])
    return replace(main, casts=tuple(casts))


def _converted_one_by_one(plan: Plan, operand: Operand) -> list[Operand]:
    """The numbers of a list that are converted one by one: all, except bools in a weak array of a
    higher kind."""
    items = _distinct_numbers(operand)
    if plan.numbers.lists == "as numbers" or operand.kind == "bool":
        return items
    _check_numbers(plan, operand)
    return [item for item in items if item.kind != "bool"]


def _strongest(operand: Operand, target: DType) -> Operand:
    """The number of a list that decides: one of the highest kind."""
    if operand.role is not Role.LIST:
        return operand
    items = _distinct_numbers(operand)
    if not items:
        return array_operand(target, operand.shape)
    return max(items, key=lambda item: KINDS.index(item.kind))


def _distinct_numbers(operand: Operand) -> list[Operand]:
    """The numbers of a list, one of each class that no rule tells apart."""
    return [scalar_operand(item) for item in {value_class(i): i for i in operand.items}.values()]


def _merged_cast(first: Cast | None, second: Cast | None) -> Cast | None:
    """One cast with the hazards of two."""
    if first is None or second is None:
        return first or second
    found = {*first.hazards, *second.hazards}
    return replace(first, hazards=tuple([hazard for hazard in HAZARDS if hazard in found]))
