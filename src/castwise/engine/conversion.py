"""Python numbers that are converted to the arrays' dtype, within the limits of the conversion."""

from __future__ import annotations

import cmath
from dataclasses import replace

from castwise.engine.compiled import Conversion
from castwise.engine.decision import Refusal
from castwise.engine.joining import join, own_dtype
from castwise.engine.plan import Plan
from castwise.engine.policies.weak import as_nodes
from castwise.engine.saying import Say
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import Operand, Role, array_operand

_INT64, _FLOAT64 = dtype("int64"), dtype("float64")


def converted(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What all operands reach together: the arrays decide, Python numbers are converted to their
    dtype. Where there is no array, the first number decides (TensorFlow)."""
    deciding = [o for o in operands if not o.is_scalar] or operands[:1]
    common = join(plan, [own_dtype(plan, o) for o in deciding])
    if say:
        for operand in operands:
            if operand.is_scalar:
                say(f"{operand} is converted to {common}.")
    return [plan.reach.masks[common]] * len(operands)


def check_conversion(limits: Conversion, operands: tuple[Operand, ...], target: DType) -> None:
    """Raises Refusal where a Python number does not become the dtype the operands meet in."""
    for operand in operands:
        if not operand.is_scalar:
            continue
        is_lower = KINDS.index(operand.kind) > target.rank
        if is_lower or (operand.kind == "bool" and target not in limits.bools):
            raise Refusal(
                f"a Python {operand.kind} is not converted to {target}", "Cast one of them."
            )
        if operand.kind == "int" and not _takes(limits, operand, target):
            raise out_of_range(operand, target)


def check_joins(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal where a NumPy scalar, or anything that is converted beside a weak array, has
    no common dtype with the array's and the conversion asks for one."""
    if not plan.numbers.conversion or not plan.numbers.conversion.joins_too:
        return
    known = [o for o in operands if o.dtype in plan.reach.bits or o.is_scalar]
    targets = [array_operand(o.dtype) for o in known if o.dtype and not o.is_numpy]
    is_beside_weak = any(o.is_weak for o in operands)
    for operand in known if targets else ():
        # A NumPy float64 is a Python float by inheritance, and is read as one.
        is_typed = operand.role is Role.NUMPY_SCALAR and operand.dtype is not _FLOAT64
        if is_typed or (is_beside_weak and (operand.is_scalar or operand.is_numpy)):
            own = plan.python["int"]
            if operand.is_scalar and operand.kind == "int" and not _holds(own, operand):
                raise out_of_range(operand, own)
            masks = as_nodes(plan, (operand, targets[0]), None)
            join(plan, [plan.reach.lowest(mask) for mask in masks])


def _takes(limits: Conversion, scalar: Operand, target: DType) -> bool:
    """Whether an int is read as a number of the dtype, wrapped or not."""
    first = limits.every_int_fits
    if first and not _holds(first, scalar):
        return False
    if target not in limits.wide_ints:
        return _holds(_INT64, scalar)
    return _holds(target if target.kind == "int" else _FLOAT64, scalar)


def _holds(target: DType, scalar: Operand) -> bool:
    value = (scalar.value or 0).real
    return target.min <= value <= target.max


def out_of_range(scalar: Operand, target: DType) -> Refusal:
    """The refusal of a number that a dtype does not hold."""
    return Refusal(
        f"{scalar} is out of range for the conversion to {target}",
        "Make it an array of a dtype that holds it.",
        by_value=True,
    )


def own_arrays(plan: Plan, operands: tuple[Operand, ...], say: Say) -> tuple[Operand, ...]:
    """The operands, of which the dialect makes the first or all arrays by themselves."""
    count = 1 if plan.arrays.makes_arrays == "first" else len(operands)
    made = [own_array(plan, o, say) for o in operands[:count]]
    return (*made, *operands[count:])


def own_array(plan: Plan, operand: Operand, say: Say = None) -> Operand:
    """The array an operand is by itself, never a weak one: a Python number or a NumPy operand is
    of its own dtype.

    Raises Refusal for a Python number its own dtype does not hold.
    """
    if not (operand.is_scalar or operand.is_numpy):
        return replace(operand, is_weak=False) if operand.is_weak else operand
    own = own_dtype(plan, operand)
    is_finite = operand.value is not None and cmath.isfinite(operand.value)
    if operand.is_scalar and is_finite and not _holds(own, operand):
        raise out_of_range(operand, own)
    if say:
        say(f"{operand} is made an array of {own} by itself.")
    return array_operand(own, () if operand.is_scalar else operand.shape)
