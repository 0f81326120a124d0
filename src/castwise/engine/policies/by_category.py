"""The policy of categories: what is no array of the framework takes its dtype before the join.

Numbers and NumPy operands get one dtype: that of the Python numbers where they are of a higher
category than the arrays, else what another dialect makes of the arrays of the highest one. Only
then do the framework's own dtypes meet (MegEngine's py_apply, then its dtype_promotion).
"""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.join import join
from castwise.engine.plan import Plan, reach_of
from castwise.engine.saying import Say
from castwise.rules.catalog import dialect_named
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, Scalar, scalar_text

_CATEGORIES = {"bool": 1, "int": 2, "float": 3}


def by_category(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What all operands reach together, once those that are no arrays are given their dtype."""
    dtypes = [o.dtype for o in operands if o.dtype and not o.is_numpy]
    guests = [o for o in operands if _is_guest(o)]
    if guests:
        target = category_dtype(plan, operands)
        for guest in guests:
            _check_cast(plan, guest, target)
            if say:
                say(f"{guest} is made an array of {target}, by the highest category among them.")
        dtypes.append(target)
    return [plan.reach.masks[join(plan, dtypes)]] * len(operands)


def category_dtype(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The dtype of the highest category, which what is no array is given.

    Arrays that have no category have their common dtype. Raises Refusal where one of the operands
    is no array.
    """
    target = _highest(plan, operands)
    if target is not None:
        return target
    if any(_is_guest(o) for o in operands):
        raise Refusal("no operand is a bool, an integer or a float", "Cast one of them.")
    return join(plan, [o.dtype for o in operands if o.dtype])


def _is_guest(operand: Operand) -> bool:
    return operand.is_scalar or operand.is_numpy


def _highest(plan: Plan, operands: tuple[Operand, ...]) -> DType | None:
    """The dtype of the highest category, of arrays before Python numbers; None where there is no
    category."""
    arrays = [o.dtype for o in operands if o.dtype]
    highest = max([_category(plan, d) for d in arrays], default=0)
    numbers = [o.kind for o in operands if o.is_scalar and _CATEGORIES.get(o.kind, 0) > highest]
    if numbers:
        return plan.python[max(numbers, key=_CATEGORIES.__getitem__)]
    reach = reach_of(_typing(plan))
    deciding = [d for d in arrays if highest and _category(plan, d) == highest]
    return reach.common([reach.masks[d] for d in deciding]) if deciding else None


def _typing(plan: Plan) -> Dialect:
    """The dialect whose join types what is no array."""
    return dialect_named(plan.joins.typed_by) if plan.joins.typed_by else plan.dialect


def _category(plan: Plan, dtype: DType) -> int:
    """bool < integer < float; complex, and what the typing dialect lacks or only absorbs, have
    none."""
    typing = _typing(plan)
    is_own = dtype in typing.dtypes and dtype.name not in typing.joining.only_absorbed.split()
    return _CATEGORIES.get(dtype.kind, 0) if is_own else 0


def _check_cast(plan: Plan, guest: Operand, target: DType) -> None:
    """Raises Refusal where a number or NumPy operand cannot become an array of the target dtype."""
    if target not in plan.reach.bits:
        raise Refusal(f"{guest} would be {target}, which it does not have", "Cast it first.")
    if not guest.is_scalar:
        return
    if guest.kind == "complex" and target.kind != "bool":
        raise Refusal(f"{guest} does not convert to {target}", "Make it an array.")
    if target.kind != "float" and not _fits_int64(guest.value):
        raise Refusal(
            f"{scalar_text(guest.value)} fits no integer dtype",
            "Write it as a float.",
            by_value=True,
        )


def _fits_int64(value: Scalar | None) -> bool:
    return not isinstance(value, int) or -(2**63) <= value < 2**63
