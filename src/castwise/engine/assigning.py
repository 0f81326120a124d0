"""Whether a value may be assigned to elements of an array: x[i] = value, x.fill_(value)."""

from __future__ import annotations

import math

from castwise.engine.decision import Refusal, cast_between, cast_text
from castwise.engine.plan import reach_of
from castwise.engine.steps.beyond import is_unconvertible
from castwise.engine.steps.guards import HARMLESS
from castwise.engine.steps.writes import can_become
from castwise.errors import PromotionError, ScalarRangeError
from castwise.rules.dialect import Dialect
from castwise.rules.policies import OUTPUTS
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import Operand, Scalar, scalar_operand

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
    refusal = refusal_of(value, target, dialect, is_filling=is_filling, by_places=by_places)
    if refusal:
        kind = ScalarRangeError if refusal.by_value else PromotionError
        what = f"{target}[...] = {value} is not defined in {dialect.name}"
        raise kind(f"{what}: {refusal.why}. {refusal.fix}")


def refusal_of(
    value: Operand,
    target: DType,
    dialect: Dialect,
    *,
    is_filling: bool = False,
    by_places: bool = False,
) -> Refusal | None:
    """Why the dialect does not assign a value to elements of a dtype, or fill an array with it."""
    why = _objection(value, target, dialect, by_places)
    if why:
        cast = f"Cast the value: x.astype('{target}')."
        return Refusal(why, f"Write a number of {target}." if value.is_scalar else cast)
    number = value.value if value.is_scalar else None
    if number is None or not _is_beyond(number, target, dialect, is_filling):
        return None
    return Refusal(
        "the number is out of range",
        f"Use a value from {target.min} to {target.max}, or cast the array.",
        by_value=True,
    )


def dtype_of_whole(value: Operand, held: DType, dialect: Dialect) -> DType:
    """The dtype an array has after x[...] = value: its own, or that of the value."""
    if dialect.assigns.whole != "takes the value's dtype":
        return held
    if value.dtype is not None:
        return value.dtype
    is_higher = KINDS.index(value.kind) > held.rank
    is_real_part = value.kind == "float" and held.kind == "complex"
    return dtype(dialect.python[value.kind]) if is_higher or is_real_part else held


def _objection(value: Operand, target: DType, dialect: Dialect, by_places: bool) -> str:
    if value.dtype is None and value.kind == "complex" and target.kind in ("int", "float"):
        return "a complex number cannot be assigned to real elements"
    if value.dtype is None:
        is_lower = KINDS.index(value.kind) > target.rank
        return (
            OUTPUTS[dialect.assigns.values] if is_lower and dialect.assigns.values != "any" else ""
        )
    if not can_become(reach_of(dialect), dialect.assigns.values, value.dtype, target):
        return OUTPUTS[dialect.assigns.values]
    cast = cast_between(value.dtype, target)
    rule = dialect.assigns.by_places
    is_fitting = value.is_weak and value.dtype.rank <= target.rank
    is_free = value.is_scalar or is_fitting  # a NumPy scalar counts as a Python number
    if cast and not is_free and by_places and rule == "same dtype":
        return "values assigned through an index array must have the dtype of the elements"
    if cast and not is_free and rule == "always same dtype":
        return "an assigned array must have the dtype of the array it is written into"
    if cast and "no implicit cast" in dialect.joining.guards:
        return f"the implicit cast {cast} is not allowed"
    if cast and "no lossy cast" in dialect.joining.guards and not HARMLESS.issuperset(cast.hazards):
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
