"""The policy of categories: numbers and NumPy operands get their dtype before the join.

They all get one dtype: that of the Python numbers where these have a higher category than the
arrays, else the join, by another dialect, of the arrays of the highest category. Only then are the
framework's own dtypes joined (MegEngine's py_apply, then its dtype_promotion).
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
    """What all operands reach together, once numbers and NumPy operands have their dtype."""
    dtypes = [o.dtype for o in operands if o.dtype and not o.is_numpy]
    guests = [o for o in operands if _is_guest(o)]
    if guests:
        target = category_dtype(plan, operands)
        for guest in guests:
            _check_cast(plan, guest, target)
            if say:
                say(f"{guest} becomes an array of {target}, the dtype of the highest category.")
        dtypes.append(target)
    return [plan.reach.masks[join(plan, dtypes)]] * len(operands)


def category_dtype(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The dtype of the highest category, which numbers and NumPy operands get.

    Where no operand has a category, it is the common dtype of the arrays. Raises Refusal if one of
    the operands is then a number or a NumPy operand.
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
    """The dtype of the highest category, where arrays go before Python numbers; None where no
    operand has a category."""
    arrays = [o.dtype for o in operands if o.dtype]
    highest = max([_category(plan, d) for d in arrays], default=0)
    numbers = [o.kind for o in operands if o.is_scalar and _CATEGORIES.get(o.kind, 0) > highest]
    if numbers:
        return plan.python[max(numbers, key=_CATEGORIES.__getitem__)]
    reach = reach_of(_typing(plan))
    deciding = [d for d in arrays if highest and _category(plan, d) == highest]
    return reach.common([reach.masks[d] for d in deciding]) if deciding else None


def _typing(plan: Plan) -> Dialect:
    """The dialect whose join gives numbers and NumPy operands their dtype."""
    return dialect_named(plan.joins.typed_by) if plan.joins.typed_by else plan.dialect


def _category(plan: Plan, dtype: DType) -> int:
    """bool < integer < float. Complex dtypes, and those that the typing dialect lacks or only
    absorbs, have no category."""
    typing = _typing(plan)
    is_own = dtype in typing.dtypes and dtype.name not in typing.joining.only_absorbed.split()
    return _CATEGORIES.get(dtype.kind, 0) if is_own else 0


def _check_cast(plan: Plan, guest: Operand, target: DType) -> None:
    """Raises Refusal where a number or NumPy operand cannot become an array of the target dtype."""
    if target not in plan.reach.bits:
        raise Refusal(f"{guest} would become {target}, which it does not have", "Cast it first.")
    if not guest.is_scalar:
        return
    if guest.kind == "complex" and target.kind != "bool":
        raise Refusal(f"{guest} cannot be converted to {target}", "Make it an array.")
    if target.kind != "float" and not _fits_int64(guest.value):
        raise Refusal(
            f"no integer dtype holds {scalar_text(guest.value)}",
            "Write it as a float.",
            by_value=True,
        )


def _fits_int64(value: Scalar | None) -> bool:
    return not isinstance(value, int) or -(2**63) <= value < 2**63
