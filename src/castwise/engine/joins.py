"""The named joins: how the operands' dtypes become one, and what Python numbers may become then."""

from __future__ import annotations

from collections.abc import Callable

from castwise.engine.accepts import check_exponent, is_integer_power
from castwise.engine.decision import (
    Note,
    Refusal,
    conversion_out_of_range,
    no_common_dtype,
    not_computed,
)
from castwise.engine.operands import is_in_range, is_weakly_typed, own_dtype
from castwise.engine.plan import Plan
from castwise.engine.scalars import (
    as_nodes,
    category_dtype,
    check_mix,
    fits_kind,
    is_allowed,
    join,
    reached,
)
from castwise.rules.rule import Conversion, join_text
from castwise.vocab.dtypes import KINDS, DType, dtype, weak_node
from castwise.vocab.operands import Operand, Role, array_operand

# The C++ types that hold a number before its use is known.
_WIDEST = {"bool": dtype("bool"), "int": dtype("int64"), "float": dtype("float64")}

# The policies in which a 0-d array counts as any other array.
_ZERO_D_AS_ARRAYS = (
    "as arrays", "as nodes", "weak", "within kind", "fits arrays", "converted", "by category",
)  # fmt: skip


def joined(plan: Plan, operands: tuple[Operand, ...], note: Note) -> DType:
    """The dtype the operands are joined to.

    Raises Refusal where they have none.
    """
    joins = plan.joins
    if joins.by in _OF_OPERANDS:
        chosen = _OF_OPERANDS[joins.by](plan, operands)
        if chosen:
            if note:
                reason = join_text(joins.by, joins.others, joins.unless)
                note(f"{plan.op.name} computes in {chosen}: {reason}.")
            return chosen
    common = _OF_MASKS[joins.by](plan, reached(plan, operands, note))
    if common is None:
        dtypes = {own_dtype(plan, o) for o in operands}
        is_one = len(dtypes) == 1
        raise not_computed(plan, dtypes.pop()) if is_one else no_common_dtype(plan, dtypes)
    if note:
        _note_join(plan, operands, common, note)
    return common


def _common_dtype(plan: Plan, masks: list[int]) -> DType | None:
    """The first dtype of the dialect that every operand reaches."""
    # The order is topological, so the lowest bit of a mask is the dtype the operand entered as.
    if len(set(masks)) == 1:
        return plan.reach.lowest(masks[0])
    entered = [plan.reach.lowest(mask) for mask in masks]
    given = set(entered)
    if plan.dialect.joining.folds and len(given) > 1:
        return join(plan, entered)
    common = plan.reach.common(masks)
    return common if common and is_allowed(plan, common, given) else None


def _first_loop(plan: Plan, masks: list[int]) -> DType | None:
    """The first of the op's own dtypes that every operand reaches."""
    return plan.reach.common(masks, plan.loops)


def _common_dtype_or_first_loop(plan: Plan, masks: list[int]) -> DType | None:
    common = _common_dtype(plan, masks)
    return common if common in plan.computes else _first_loop(plan, masks)


_OF_MASKS: dict[str, Callable[[Plan, list[int]], DType | None]] = {
    "common dtype": _common_dtype, "integer power": _common_dtype, "first loop": _first_loop,
    "common dtype or first loop": _common_dtype_or_first_loop,
}  # fmt: skip


def _first_operand(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first operand's dtype, where the others are what they may be."""
    if plan.joins.unless and _UNLESS[plan.joins.unless](operands):
        if plan.joins.unless == "floats with an integer":
            return plan.python["float"]
        if plan.joins.others == "mixing":
            dtypes = [own_dtype(plan, o) for o in operands]
            check_mix(plan, dtypes)
            return join(plan, dtypes)
        return _by_policy(plan, operands)
    first = own_dtype(plan, operands[0])
    for other in operands[1:]:
        _OTHERS[plan.joins.others](plan, first, other)
    return first


_UNLESS: dict[str, Callable[[tuple[Operand, ...]], bool]] = {
    "complex": lambda operands: any(o.kind == "complex" for o in operands),
    "a number": lambda operands: any(o.is_scalar for o in operands),
    "floats with an integer": lambda operands: (
        operands[0].kind == "int" and any(o.kind == "float" for o in operands[1:])
    ),
}


def _check_same_kind(plan: Plan, first: DType, other: Operand) -> None:
    """Raises Refusal for an operand that is not of the first one's kind."""
    is_fit = fits_kind(other.kind, first.kind) if other.is_scalar else other.kind == first.kind
    if not is_fit or (other.kind == "complex" and first.kind != "complex"):
        raise Refusal(f"{other} cannot be mixed with {first}", f"Cast it to {first}.", target=first)


def _check_mixing(plan: Plan, first: DType, other: Operand) -> None:
    """Raises Refusal for an operand that the dialect does not cast to the first one's dtype."""
    own, mixes = own_dtype(plan, other), plan.joins.mixes
    if own is not first and (mixes is None or (own, first) not in mixes):
        why = f"{own} is not cast to {first} implicitly"
        raise Refusal(why, f"Cast it: x.astype('{first}').", target=first)


def _check_with_integer(plan: Plan, first: DType, other: Operand) -> None:
    """Raises Refusal for an operand of another dtype, unless the first one is an integer."""
    if first.kind != "int" and own_dtype(plan, other) is not first:
        raise Refusal(f"{first} mixes only with {first}", "Cast one to the other.")


_OTHERS: dict[str, Callable[[Plan, DType, Operand], None]] = {
    "any": lambda plan, first, other: None,  # a number that no dtype holds is taken, too
    "same kind": _check_same_kind,
    "mixing": _check_mixing,
    "any with an integer": _check_with_integer,
}


def _by_policy(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The common dtype by the dialect's policy for scalars and 0-d arrays."""
    common = plan.reach.common(reached(plan, operands, None))
    assert common is not None
    return common


def _exponent_apart(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first loop of the first operand, where the last is an integer."""
    first, exponent = operands
    if exponent.kind not in ("bool", "int"):
        fix = "Write an integer." if exponent.is_scalar else "Cast it to int32."
        raise Refusal(f"the exponent {exponent} is not an integer", fix)
    check_exponent(plan, first, exponent)
    # Where values count, they count only with an array.
    looked_at = operands if plan.scalars == "by value" else (first,)
    found = _first_loop(plan, reached(plan, looked_at, None)[:1])
    if found is None:
        raise not_computed(plan, own_dtype(plan, first))
    return found


def _highest_kind(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first of the op's own dtypes whose kind is as high as the operands' highest."""
    rank = max(own_dtype(plan, o).rank for o in operands)
    return next(d for d in plan.reach.order if d in plan.computes and d.rank >= rank)


def _float_for_integers(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The default float where arrays promote to an integer, with or without the 0-d ones; else the
    common dtype."""
    common = _by_policy(plan, operands)
    if any(o.is_scalar for o in operands):
        return common
    of_all = join(plan, [own_dtype(plan, o) for o in operands])
    return plan.python["float"] if "int" in (of_all.kind, common.kind) else common


def _one_dtype(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The dtype that all operands have, where a Python number has the widest of its kind; with a
    Python float any array becomes float64."""
    if all(o.is_scalar for o in operands):
        given = {plan.python[o.kind] for o in operands}
    else:
        given = {o.dtype or _WIDEST[o.kind] for o in operands}
        if any(o.is_scalar and o.kind == "float" for o in operands):
            return _WIDEST["float"]
    if len(given) > 1:
        listed = " and ".join(sorted(d.name for d in given))
        raise Refusal(f"{listed} are not the same dtype", "Cast one to the other.")
    return given.pop()


def _integer_power(plan: Plan, operands: tuple[Operand, ...]) -> DType | None:
    """The base's dtype where the exponent is one integer, whose own dtype does not count, or where
    the base is a weak float and the exponents are weak integers."""
    base, exponent = operands[0], operands[-1]
    is_of_weak_float = base.is_weak and exponent.is_weak and _is_float_to_int(base, exponent)
    if not is_of_weak_float and not is_integer_power(plan, operands):
        return None
    own = base.dtype or plan.python[base.kind]
    return weak_node(own.name) if is_weakly_typed(base) else own


def is_strong_power(plan: Plan, operands: tuple[Operand, ...], common: DType) -> bool:
    """Whether a power is strong even if its operands are weak: a power of integers is, or one of
    floats with an array of integers as exponents."""
    if plan.joins.by != "integer power" or is_integer_power(plan, operands):
        return False
    base, exponent = operands[0], operands[-1]
    is_of_floats = _is_float_to_int(base, exponent)
    return common.kind == "int" or (is_of_floats and not is_weakly_typed(exponent))


def _is_float_to_int(base: Operand, exponent: Operand) -> bool:
    return base.kind in ("float", "complex") and exponent.kind == "int"


_OF_OPERANDS: dict[str, Callable[[Plan, tuple[Operand, ...]], DType | None]] = {
    "first operand": _first_operand, "exponent apart": _exponent_apart,
    "highest kind": _highest_kind, "integer power": _integer_power,
    "float for integers": _float_for_integers, "one dtype": _one_dtype,
    "by category": category_dtype,
}  # fmt: skip


def _note_join(
    plan: Plan, operands: tuple[Operand, ...], common: DType, note: Callable[[str], None]
) -> None:
    """Says what operands of several dtypes promote to, unless the tiers have said it already."""
    given = list(dict.fromkeys(o.dtype.name for o in operands if o.dtype))
    is_noted = plan.scalars in ("tiers", "kinds first") and plan.numbers.count_as != "values"
    if is_noted or given == [common.name]:
        return
    # Roles of operands that count as their dtype says.
    by_dtype = {Role.ARRAY, Role.ZERO_D} if plan.scalars in _ZERO_D_AS_ARRAYS else {Role.ARRAY}
    promote, reach = f"{' and '.join(given)} promote", "all of them reach"
    if not by_dtype.issuperset(o.role for o in operands):
        promote = "Together they promote"
    elif len(given) == 1:
        promote, reach = f"{given[0]} promotes", "it reaches"
    is_choosy = plan.joins.by == "first loop" and len(plan.computes) < len(plan.reach.order)
    first = f", the first dtype {plan.op.name} computes in that {reach}" if is_choosy else ""
    note(f"{promote} to {common}{first}.")


# The limits of a conversion of Python numbers to the arrays' dtype.

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
            if operand.is_scalar and operand.kind == "int" and not is_in_range(own, operand):
                raise conversion_out_of_range(operand, own)
            masks = as_nodes(plan, (operand, targets[0]), None)
            join(plan, [plan.reach.lowest(mask) for mask in masks])


def _takes(limits: Conversion, scalar: Operand, target: DType) -> bool:
    """Whether an int is read as a number of the dtype, wrapped or not."""
    first = limits.every_int_fits
    if first and not is_in_range(first, scalar):
        return False
    if target not in limits.wide_ints:
        return is_in_range(_INT64, scalar)
    return is_in_range(target if target.kind == "int" else _FLOAT64, scalar)
