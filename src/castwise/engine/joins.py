"""The named joins: how the operands' dtypes become one, before the op looks at it."""

from __future__ import annotations

from collections.abc import Callable

from castwise.engine.decision import Refusal
from castwise.engine.joining import (
    check_mix,
    is_allowed,
    is_integer_power,
    join,
    no_common_dtype,
    not_computed,
    own_dtype,
)
from castwise.engine.plan import Plan
from castwise.engine.policies.by_category import category_dtype
from castwise.engine.policies.weak import fits_kind, is_weakly_typed
from castwise.engine.saying import Say
from castwise.engine.scalars import reached
from castwise.engine.unequal_joins import (
    first_array,
    float_for_integers,
    integers_take_any,
    keeps_first,
    one_dtype,
)
from castwise.engine.values import check_exponent
from castwise.rules.policies import JOINS
from castwise.vocab.dtypes import DType, weak_node
from castwise.vocab.operands import Operand, Role


def joined(plan: Plan, operands: tuple[Operand, ...], say: Say) -> DType:
    """The dtype the operands have together.

    Raises Refusal where they have none.
    """
    if plan.joins in _OF_OPERANDS:
        chosen = _OF_OPERANDS[plan.joins](plan, operands)
        if say and chosen:
            say(f"{plan.op.name} computes in {chosen}: {JOINS[plan.joins]}.")
        if chosen:
            return chosen
    common = _JOINS[plan.joins](plan, reached(plan, operands, say))
    if common is None:
        raise _no_join(plan, operands)
    if say:
        _tell(plan, operands, common, say)
    return common


def _common_dtype(plan: Plan, masks: list[int]) -> DType | None:
    """The first dtype of the dialect that every operand reaches."""
    # The order is topological, so the lowest bit of a mask is the dtype the operand entered as.
    entered = [plan.reach.lowest(mask) for mask in masks]
    given = set(entered)
    if plan.dialect.folds and len(given) > 1:
        return join(plan, entered)
    common = plan.reach.common(masks)
    return common if common and is_allowed(plan, common, given) else None


def _first_loop(plan: Plan, masks: list[int]) -> DType | None:
    """The first of the op's own dtypes that every operand reaches."""
    return plan.reach.common(masks, plan.loops)


def _common_dtype_or_first_loop(plan: Plan, masks: list[int]) -> DType | None:
    common = _common_dtype(plan, masks)
    return common if common in plan.computes else _first_loop(plan, masks)


_JOINS: dict[str, Callable[[Plan, list[int]], DType | None]] = {
    "common dtype": _common_dtype,
    "integer power": _common_dtype,
    "first loop": _first_loop,
    "common dtype or first loop": _common_dtype_or_first_loop,
}


def _exponent_apart(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first loop of the first operand, where the last is an integer."""
    first, exponent = operands
    if exponent.kind not in ("bool", "int"):
        raise Refusal(f"{exponent} is no integer exponent", "Cast it to int32.")
    check_exponent(plan, exponent)
    # Where values count, they do so beside an array alone.
    company = operands if plan.scalars == "by value" else (first,)
    found = _first_loop(plan, reached(plan, company, None)[:1])
    if found is None:
        raise not_computed(plan, own_dtype(plan, first))
    return found


def _highest_kind(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first of the op's own dtypes whose kind is as high as the operands' highest."""
    rank = max(own_dtype(plan, o).rank for o in operands)
    return next(d for d in plan.reach.order if d in plan.computes and d.rank >= rank)


def _first_operand(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first operand's dtype, where the others are of its kind."""
    own = own_dtype(plan, operands[0])
    for other in operands[1:]:
        is_fit = fits_kind(other.kind, own.kind) if other.is_scalar else other.kind == own.kind
        if not is_fit or (other.kind == "complex" and own.kind != "complex"):
            raise Refusal(f"{other} does not go with {own}", f"Cast it to {own}.")
    return own


def _onto_first(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first operand's dtype, where the dialect casts the others to it."""
    first, *others = [own_dtype(plan, o) for o in operands]
    for other in others:
        if other is not first and (
            plan.arrays.mixes is None or (other, first) not in plan.arrays.mixes
        ):
            raise Refusal(f"{other} is not cast to {first}", f"Cast it: x.astype('{first}').")
    return first


def _onto_real_first(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first operand's dtype, where the dialect casts the others to it; among complex ones, the
    common dtype."""
    dtypes = [own_dtype(plan, o) for o in operands]
    if all(d.kind != "complex" for d in dtypes):
        return _onto_first(plan, operands)
    check_mix(plan, dtypes)
    return join(plan, dtypes)


def _first_or_default_float(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first operand's dtype, which an integer leaves beside floats."""
    first = own_dtype(plan, operands[0])
    has_float = any(o.kind == "float" for o in operands[1:])
    return plan.python["float"] if first.kind == "int" and has_float else first


def _integer_power(plan: Plan, operands: tuple[Operand, ...]) -> DType | None:
    """The base's dtype where the exponent is one integer, whose own dtype then is forgotten, or
    where weak integers are the exponents of a weak float."""
    base, exponent = operands[0], operands[-1]
    is_of_weak_float = base.is_weak and exponent.is_weak and _is_float_to_int(base, exponent)
    if not is_of_weak_float and not is_integer_power(plan, operands):
        return None
    own = base.dtype or plan.python[base.kind]
    return weak_node(own.name) if is_weakly_typed(base) else own


def is_strong_power(plan: Plan, operands: tuple[Operand, ...], common: DType) -> bool:
    """Whether a power is strong, weak as its operands may be: one of integers, or one of floats
    with an array of integers as its exponent."""
    if plan.joins != "integer power" or is_integer_power(plan, operands):
        return False
    base, exponent = operands[0], operands[-1]
    is_of_floats = _is_float_to_int(base, exponent)
    return common.kind == "int" or (is_of_floats and not is_weakly_typed(exponent))


def _is_float_to_int(base: Operand, exponent: Operand) -> bool:
    return base.kind in ("float", "complex") and exponent.kind == "int"


_OF_OPERANDS: dict[str, Callable[[Plan, tuple[Operand, ...]], DType | None]] = {
    "exponent apart": _exponent_apart,
    "highest kind": _highest_kind,
    "first operand": _first_operand,
    "onto first": _onto_first,
    "onto real first": _onto_real_first,
    "first or default float": _first_or_default_float,
    "integer power": _integer_power,
    "keeps first": keeps_first,
    "first array": first_array,
    "integers take any": integers_take_any,
    "float for integers": float_for_integers,
    "one dtype": one_dtype,
    "by category": category_dtype,
}


def _no_join(plan: Plan, operands: tuple[Operand, ...]) -> Refusal:
    dtypes = {own_dtype(plan, o) for o in operands}
    if len(dtypes) == 1:
        return not_computed(plan, dtypes.pop())
    return no_common_dtype(plan, dtypes)


def _tell(
    plan: Plan, operands: tuple[Operand, ...], common: DType, say: Callable[[str], None]
) -> None:
    """Says where operands of several dtypes meet; the tiers have said so already."""
    given = list(dict.fromkeys(o.dtype.name for o in operands if o.dtype))
    is_told = plan.scalars in ("tiers", "kinds first") and plan.numbers.count_as != "values"
    if is_told or given == [common.name]:
        return
    is_choosy = plan.joins == "first loop" and len(plan.computes) < len(plan.reach.order)
    among = f"Of the dtypes {plan.op.name} computes in, " if is_choosy else ""
    if any(o.role is not Role.ARRAY for o in operands):
        say(f"{among or 'Together '}they first meet in {common}.")
    elif len(given) > 1:
        say(f"{among}{' and '.join(given)} first meet in {common}.")
    else:
        say(f"{among}{given[0]} first reaches {common}.")
