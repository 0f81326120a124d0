"""What is written into an array: a result in place or into out=, and what `x[i] = value` takes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from castwise.engine.decision import (
    HARMLESS,
    Question,
    Refusal,
    cast_between,
    cast_text,
    is_unconvertible,
)
from castwise.engine.operands import is_native
from castwise.engine.plan import Plan, Reach, dialect_reach, op_plan
from castwise.errors import PromotionError, ScalarRangeError, UsageError
from castwise.rules.dialect import Dialect
from castwise.rules.rule import CASTINGS, OUTPUTS
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import Operand, Role, Scalar, scalar_operand

# Whether a result may be written, by the dialect's named rule.


def takes_any(plan: Plan) -> bool:
    """Whether the destination takes the result's dtype, whatever its own was."""
    return plan.writes.into in ("rebinds", "becomes")


def written_dtype(plan: Plan, result: DType, destination: DType) -> DType:
    """The dtype the destination has afterwards.

    Raises Refusal where the dialect does not write the result there.
    """
    if not can_write(plan, result, destination):
        raise Refusal(
            f"the {result} result cannot be written into {destination}"
            f" ({OUTPUTS[plan.writes.into]})",
            f"Cast the result yourself, or write it into {result}.",
        )
    return result if takes_any(plan) else destination


def can_write(plan: Plan, result: DType, destination: DType, by: str = "") -> bool:
    """Whether an output rule, the dialect's own if none is named, lets a result dtype into a
    destination dtype."""
    pair = (result, destination)
    if result is destination or pair in plan.writes.also:
        return True
    rule = _RULES[by or plan.writes.into]
    return pair not in plan.writes.never and rule(plan.reach, result, destination)


def can_become(reach: Reach, rule: str, source: DType, target: DType) -> bool:
    """Whether a dialect's can_cast, by the name of its rule, lets one dtype become another."""
    return source is target or _RULES[rule](reach, source, target)


def _same_kind(reach: Reach, result: DType, destination: DType) -> bool:
    if destination.kind == "bool":
        return False
    is_narrower = _signed_rank(result) <= _signed_rank(destination)
    return is_narrower or reach.reaches(result, destination)


def _signed_rank(dtype: DType) -> int:
    """NumPy's order of kinds: bool, unsigned, signed, float, complex."""
    return 2 * dtype.rank - (dtype.kind == "int" and not dtype.is_signed)


_RULES: dict[str, Callable[[Reach, DType, DType], bool]] = {
    "category": lambda reach, result, destination: result.rank <= destination.rank,
    "same kind": _same_kind,
    "same dtype": lambda reach, result, destination: False,
    "safe": Reach.reaches,
    "safe within kind": lambda reach, result, destination: (
        result.kind == destination.kind and reach.reaches(result, destination)
    ),
    "no complex to real": lambda reach, result, destination: (
        result.kind != "complex" or destination.kind == "complex"
    ),
    **dict.fromkeys(("any", "rebinds", "becomes"), lambda reach, result, destination: True),
}


def check_casting(source: DType, target: DType, casting: str, dialect: Dialect) -> None:
    """Raises PromotionError where the word in casting= does not allow an explicit cast, UsageError
    for an unknown word."""
    if casting not in CASTINGS:
        raise UsageError(f"casting= is one of {', '.join(CASTINGS)}, not {casting!r}.")
    rule = CASTINGS[casting]
    if not can_become(dialect_reach(dialect), rule, source, target):
        raise PromotionError(
            f"{source} cannot be cast to {target} with casting={casting!r} in {dialect.name}"
            f" ({OUTPUTS[rule]}). Leave out casting=, which allows any cast."
        )


# The form of an op: what `x += y` means in a dialect, and what is written into x.


def deciding_form(question: Question) -> str:
    """The form whose rules decide: one of FORMS, or "rebinding" where `x += y` is `x = x + y`."""
    if question.inplace:
        return "inplace"
    if question.out:
        return "out"
    return "rebinding" if _is_the_operator(question) else question.form


def _is_the_operator(question: Question) -> bool:
    """Whether the question is about `x += y`, and that is `x = x + y`."""
    if question.form != "augmented":
        return False
    first, second = question.operands
    plan = op_plan(question.op, question.dialect, "augmented")
    is_own = first.dtype is not None and (is_native(plan) or not first.is_numpy)
    if not is_own or first.role is Role.NUMPY_SCALAR:
        return True  # a number never changes, and NumPy's arrays follow the operator's rules
    if plan.writes.rebinds == "with NumPy arrays":
        return second.role.native is not second.role
    return plan.writes.rebinds == "always"


def rebinds(question: Question) -> bool:
    """Whether `x += y` binds the name to a new array and leaves the old one unchanged."""
    if question.form != "augmented":
        return False
    if _is_the_operator(question):
        return not is_numpy_writing(question)
    return op_plan(question.op, question.dialect, "augmented").writes.into == "rebinds"


def is_numpy_writing(question: Question) -> bool:
    """Whether `x += y` is about a NumPy array x that NumPy itself writes into, by its own rules."""
    first = question.operands[0]
    if question.form != "augmented" or not first.is_numpy or first.role is Role.NUMPY_SCALAR:
        return False
    return bool(op_plan(question.op, question.dialect, "rebinding").numpy.left_decider)


def is_written(question: Question) -> bool:
    """Whether the result is written into the first operand, or replaces it."""
    return question.inplace or (question.form == "augmented" and not _is_the_operator(question))


def takes_result(question: Question) -> bool:
    """Whether the destination takes the result's dtype and shape, whatever its own were."""
    plan = op_plan(question.op, question.dialect, deciding_form(question))
    return takes_any(plan)


def as_computed(question: Question) -> Question:
    """What is computed for `x += y`: the operator, or the operator in place."""
    if question.form != "augmented":
        return question
    return replace(question, form="operator", inplace=not _is_the_operator(question))


# Whether a value may be assigned to elements of an array: x[i] = value, x.fill_(value).

_INT64, _UINT64 = dtype("int64"), dtype("uint64")


def assigned_as(value: Operand, target: DType, dialect: Dialect) -> Operand:
    """The value, or its real part for a complex number without an imaginary part, where the dialect
    checks that it fits."""
    number = value.value if value.dtype is None else None
    if not isinstance(number, complex) or number.imag or dialect.assigns.limit != "magnitude":
        return value
    return scalar_operand(number.real) if target.kind in ("int", "float") else value


def check_assignment(
    value: Operand,
    target: DType,
    dialect: Dialect,
    *,
    is_filling: bool = False,
    by_places: bool = False,
) -> None:
    """Raises PromotionError where the dialect does not cast the value to the array's dtype,
    ScalarRangeError where that dtype does not hold a number; `by_places`: an array in the index
    selects the elements one by one."""
    refusal = assignment_refusal(value, target, dialect, is_filling=is_filling, by_places=by_places)
    if refusal:
        kind = ScalarRangeError if refusal.by_value else PromotionError
        what = f"{target}[...] = {value} is not defined in {dialect.name}"
        raise kind(f"{what}: {refusal.why}. {refusal.fix}")


def assignment_refusal(
    value: Operand, target: DType, dialect: Dialect, *, is_filling: bool, by_places: bool = False
) -> Refusal | None:
    """Why the dialect does not assign a value to elements of a dtype, or fill an array with it."""
    if why := _objection(value, target, dialect, by_places):
        cast = f"Cast the value: x.astype('{target}')."
        return Refusal(why, f"Write a number of {target}." if value.is_scalar else cast)
    is_checked = value.is_scalar or sees_scalar(dialect, target)
    number = value.value if is_checked and value.role in _NUMBERS else None
    if number is None or not _is_beyond(number, target, dialect, is_filling):
        return None
    return Refusal(
        "the number is out of range",
        f"Use a value from {target.min} to {target.max}, or cast the array.",
        by_value=True,
    )


_NUMBERS = (Role.SCALAR, Role.NUMPY_SCALAR)


def sees_scalar(dialect: Dialect, target: DType) -> bool:
    """Whether the dialect refuses to assign a scalar with a dtype for its value."""
    is_signed = target.kind == "int" and target.min < 0
    return is_signed and dialect.assigns.scalars == "fit signed"


def whole_dtype(value: Operand, held: DType, dialect: Dialect) -> DType:
    """The dtype an array has after x[...] = value: its own, or that of the value."""
    if dialect.assigns.whole != "takes the value's dtype":
        return held
    if value.dtype is not None:
        return value.dtype
    is_higher = KINDS.index(value.kind) > held.rank
    is_real_part = value.kind == "float" and held.kind == "complex"
    return dtype(dialect.python[value.kind]) if is_higher or is_real_part else held


def _objection(value: Operand, target: DType, dialect: Dialect, by_places: bool) -> str:
    """Why the dialect does not cast a value to the dtype of the elements; "" if it does."""
    if value.dtype is None and value.kind == "complex" and target.kind in ("int", "float"):
        return "a complex number cannot be assigned to real elements"
    if value.dtype is None:
        is_lower = KINDS.index(value.kind) > target.rank
        is_refused = is_lower and dialect.assigns.values != "any"
        return OUTPUTS[dialect.assigns.values] if is_refused else ""
    if not can_become(dialect_reach(dialect), dialect.assigns.values, value.dtype, target):
        return OUTPUTS[dialect.assigns.values]
    cast = cast_between(value.dtype, target)
    if cast is None:
        return ""
    rule, guards = dialect.assigns.by_places, dialect.joining.guards
    is_fitting = value.is_weak and value.dtype.rank <= target.rank
    is_free = value.is_scalar or is_fitting  # a NumPy scalar counts as a Python number
    if not is_free and by_places and rule == "same dtype":
        return "values assigned through an index array must have the dtype of the elements"
    if not is_free and rule == "always same dtype":
        return "an assigned array must have the dtype of the array it is written into"
    if "no implicit cast" in guards:
        return f"the implicit cast {cast} is not allowed"
    if "no lossy cast" in guards and not HARMLESS.issuperset(cast.hazards):
        return f"{cast_text(cast)}, and no implicit cast may change a value"
    return ""


def _is_beyond(value: Scalar, target: DType, dialect: Dialect, is_filling: bool) -> bool:
    """Whether the dialect refuses a number for its size. For an integer dtype, only the integer
    part of a float counts."""
    limit = dialect.assigns.limit
    if limit in ("default int", "array dtype"):
        is_narrow = target.kind == "int" and target.bits < _INT64.bits
        holder = target if is_narrow else _INT64
        own = holder if limit == "array dtype" else dtype(dialect.python["int"])
        return type(value) is int and not own.min <= value <= own.max
    if limit == "magnitude":
        widest = _UINT64 if is_filling else _INT64
        is_wide = type(value) is int and not _INT64.min <= value <= widest.max
        # Assigned to an element, it is infinity.
        is_infinite = target.kind == "float" and target.bits < 32 and not is_filling
        return is_wide or (not is_infinite and is_unconvertible(value, target))
    if limit == "none" or target.kind != "int" or isinstance(value, complex):
        return False
    holder = target if limit == "dtype" else _INT64
    return not math.isfinite(value) or not holder.min <= int(value) <= holder.max
