"""The policy of values: scalars and 0-d arrays count as the smallest dtype that holds them."""

from __future__ import annotations

from collections.abc import Mapping

from castwise.engine.join import is_allowed
from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.engine.steps.beyond import is_beyond
from castwise.engine.steps.numbers import number_dtypes, own_dtype
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, Role, Scalar

_UNSIGNED = [(dtype(f"uint{bits}"), dtype(f"int{bits}")) for bits in (8, 16, 32, 64)]
# NumPy 1's own constants, tighter than the formats' limits of 65504 and 3.4028e38.
_FLOAT16_LIMIT, _FLOAT32_LIMIT = 65000.0, 3.4e38


def by_value(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What each operand reaches: a scalar or 0-d array what its value needs, unless the arrays have
    a lower kind; else what its dtype does (NumPy before 2.0)."""
    counts = number_dtypes(plan, [o.dtype for o in operands])
    dtypes = [_counted(plan, o, counts) for o in operands]
    if not _looks_at_values(operands, dtypes, say):
        return [plan.reach.masks[d] for d in dtypes]
    has_signed = any(
        d.is_signed for o, d in zip(operands, dtypes, strict=True) if o.role is Role.ARRAY
    )
    masks = []
    for operand, found in zip(operands, dtypes, strict=True):
        # With a foreign dtype, result_type and the like leave integers unchanged.
        is_left = counts is not None and plan.joins.by == "common dtype" and found.kind == "int"
        if operand.role is Role.ARRAY or is_left:
            masks.append(plan.reach.masks[found])
        else:
            masks.append(_of_value(plan, operand, found, has_signed, say))
    return masks


def _counted(plan: Plan, operand: Operand, counts: Mapping[str, DType] | None) -> DType:
    """The operand's dtype, or what a Python scalar counts as with a foreign dtype."""
    counted = counts.get(operand.kind) if counts and operand.is_scalar else None
    return counted or own_dtype(plan, operand)


def _looks_at_values(operands: tuple[Operand, ...], dtypes: list[DType], say: Say) -> bool:
    """Whether there are both arrays and scalars or 0-d arrays, and the arrays' category is at least
    as high."""
    arrays: list[int] = []
    singles: list[int] = []
    for operand, found in zip(operands, dtypes, strict=True):
        category = min(found.rank, 2)  # float and complex are one category
        (arrays if operand.role is Role.ARRAY else singles).append(category)
    if not singles:
        return False
    if arrays and max(arrays) >= max(singles):
        return True
    if say:
        why = "a scalar has a higher kind" if arrays else "there is no array"
        say(f"Values are ignored, since {why}.")
    return False


def _of_value(plan: Plan, operand: Operand, found: DType, has_signed: bool, say: Say) -> int:
    """The mask of what a value needs."""
    value = 1 if operand.value is None else operand.value
    smallest, signed = smallest_dtype(found, value)
    if not _is_joinable(plan, smallest):
        smallest, signed = _next_wider(plan, found, value), None
    mask = plan.reach.masks[smallest]
    if signed and plan.joins.by == "first loop":
        mask |= plan.reach.masks[signed]  # 127 counts as both int8 and uint8
    elif signed and has_signed:
        smallest, mask = signed, plan.reach.masks[signed]
    if say:
        room = "it is beyond" if is_beyond(value, smallest) else "it fits"
        say(f"{operand} counts by value: {room} {smallest}.")
    return mask


def _is_joinable(plan: Plan, smallest: DType) -> bool:
    """Whether the dialect has the dtype and mixes it with Python's integers."""
    if smallest not in plan.reach.bits or smallest.kind != "int":
        return smallest in plan.reach.bits
    both = {smallest, plan.python["int"]}
    common = plan.reach.common(plan.reach.masks[d] for d in both)
    return common is not None and is_allowed(plan, common, both)


def _next_wider(plan: Plan, found: DType, value: Scalar) -> DType:
    """The smallest dtype of the operand's kind that the dialect mixes and that holds the value."""
    alike = [d for d in plan.reach.order if d.kind == found.kind and _is_joinable(plan, d)]
    holding = [d for d in alike if d.min <= value.real <= d.max]
    return min(holding, key=lambda d: d.bits, default=found)


def smallest_dtype(found: DType, value: Scalar) -> tuple[DType, DType | None]:
    """NumPy 1's min_scalar_type of a value, and the signed dtype of that width if it fits too.

    >>> smallest_dtype(dtype("int64"), 127), smallest_dtype(dtype("float64"), 1.5)
    ((uint8, int8), (float16, None))
    """
    if found.kind == "int":
        return _smallest_int(int(value.real))
    if found.name in ("float32", "float64"):
        size = abs(value.real)
        if size < _FLOAT16_LIMIT or not size < float("inf"):
            return dtype("float16"), None
        return (dtype("float32") if size < _FLOAT32_LIMIT else found), None
    if found.name == "complex128":
        fits = abs(value.real) < _FLOAT32_LIMIT and abs(value.imag) < _FLOAT32_LIMIT
        return (dtype("complex64") if fits else found), None
    return found, None


def _smallest_int(value: int) -> tuple[DType, DType | None]:
    for unsigned, signed in _UNSIGNED:
        if signed.min <= value < 0:
            return signed, None
        if 0 <= value <= unsigned.max:
            return unsigned, signed if value <= signed.max else None
    widest_unsigned, widest_signed = _UNSIGNED[-1]
    return (widest_signed if value < 0 else widest_unsigned), None  # compared as an object
