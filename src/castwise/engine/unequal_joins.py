"""Joins in which the operands do not count alike: by their place, or arrays and numbers apart."""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.joining import join, own_dtype
from castwise.engine.plan import Plan
from castwise.engine.scalars import reached
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand

# What C++ holds a number in that it does not yet know the use of.
_WIDEST = {"bool": dtype("bool"), "int": dtype("int64"), "float": dtype("float64")}


def keeps_first(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first operand's dtype, whatever the others are."""
    return own_dtype(plan, operands[0])


def first_array(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first operand's dtype beside arrays, the common one beside a Python number."""
    if any(o.is_scalar for o in operands):
        return common_dtype(plan, operands)
    return own_dtype(plan, operands[0])


def integers_take_any(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first operand's dtype; where it is no integer, the others must have it too."""
    first, *others = [own_dtype(plan, o) for o in operands]
    if first.kind != "int" and any(other is not first for other in others):
        raise Refusal(f"{first} goes with {first} alone", "Cast one to the other.")
    return first


def float_for_integers(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The default float where arrays meet in an integer, 0-d ones counted or not; else the common
    dtype."""
    common = common_dtype(plan, operands)
    if any(o.is_scalar for o in operands):
        return common
    met = join(plan, [own_dtype(plan, o) for o in operands])
    return plan.python["float"] if "int" in (met.kind, common.kind) else common


def one_dtype(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The dtype all operands have, a Python number the widest of its kind; beside a Python float
    any array takes float64."""
    if all(o.is_scalar for o in operands):
        given = {plan.python[o.kind] for o in operands}
    else:
        given = {o.dtype or _WIDEST[o.kind] for o in operands}
        if any(o.is_scalar and o.kind == "float" for o in operands):
            return _WIDEST["float"]
    if len(given) > 1:
        listed = " and ".join(sorted(d.name for d in given))
        raise Refusal(f"{listed} are not one dtype", "Cast one to the other.")
    return given.pop()


def common_dtype(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The common dtype by the dialect's policy for scalars and 0-d arrays."""
    common = plan.reach.common(reached(plan, operands, None))
    assert common is not None
    return common
