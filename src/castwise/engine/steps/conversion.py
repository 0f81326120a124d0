"""The limits of a conversion of Python numbers to the arrays' dtype."""

from __future__ import annotations

from castwise.engine.compiled import ConversionPlan
from castwise.engine.decision import Refusal
from castwise.engine.join import join
from castwise.engine.plan import Plan
from castwise.engine.policies.as_nodes import as_nodes
from castwise.engine.refusals import conversion_out_of_range
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import Operand, Role, array_operand

_INT64, _FLOAT64 = dtype("int64"), dtype("float64")


def check_conversion(plan: Plan, operands: tuple[Operand, ...], target: DType) -> None:
    """Raises Refusal where a Python number cannot become the operands' common dtype."""
    limits = plan.numbers.conversion
    if limits is None:
        return
    for operand in operands:
        if not operand.is_scalar:
            continue
        is_lower = KINDS.index(operand.kind) > target.rank
        if is_lower or (operand.kind == "bool" and target not in limits.bools):
            raise Refusal(
                f"a Python {operand.kind} cannot be converted to {target}", "Cast one of them."
            )
        if operand.kind == "int" and not _takes(limits, operand, target):
            raise conversion_out_of_range(operand, target)


def check_joins(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal where the conversion needs a common dtype with the array's, and a NumPy
    scalar, or anything that is converted for a weak array, has none."""
    if not plan.numbers.conversion or not plan.numbers.conversion.joins_too:
        return
    known = [o for o in operands if o.dtype in plan.reach.bits or o.is_scalar]
    targets = [array_operand(o.dtype) for o in known if o.dtype and not o.is_numpy]
    has_weak = any(o.is_weak for o in operands)
    for operand in known if targets else ():
        # A NumPy float64 is a Python float by inheritance, and is read as one.
        is_typed = operand.role is Role.NUMPY_SCALAR and operand.dtype is not _FLOAT64
        if is_typed or (has_weak and (operand.is_scalar or operand.is_numpy)):
            own = plan.python["int"]
            if operand.is_scalar and operand.kind == "int" and not _holds(own, operand):
                raise conversion_out_of_range(operand, own)
            masks = as_nodes(plan, (operand, targets[0]), None)
            join(plan, [plan.reach.lowest(mask) for mask in masks])


def _takes(limits: ConversionPlan, scalar: Operand, target: DType) -> bool:
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
