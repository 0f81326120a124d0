"""The common dtype of some dtypes, and the dtype a Python scalar has of itself."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.engine.way_out import way_out
from castwise.vocab.dtypes import DType, dtype, strong_twin
from castwise.vocab.operands import Operand, Role, scalar_text

_UINT64 = dtype("uint64")


def join(plan: Plan, dtypes: Iterable[DType]) -> DType:
    """The dialect's common dtype of some dtypes: all at once, or pair by pair where it folds.

    Raises Refusal where there is none.
    """
    if plan.dialect.folds:
        return functools.reduce(lambda a, b: _join_all(plan, {a, b}), dtypes)
    return _join_all(plan, set(dtypes))


def _join_all(plan: Plan, given: set[DType]) -> DType:
    if len(given) == 1:
        return next(iter(given))
    exception = plan.arrays.meets.get(frozenset(given))
    if exception is not None:
        return exception
    common = plan.reach.common(plan.reach.masks[d] for d in given)
    if common is None or not is_allowed(plan, common, given):
        raise no_common_dtype(plan, given)
    return common


def is_allowed(plan: Plan, common: DType, given: set[DType]) -> bool:
    """Whether the dialect lets the join of some dtypes be this one."""
    if plan.dialect.keeps_kind and common.rank > max([d.rank for d in given]):
        return False
    if len(plan.apart) > 1 and not any(side.isdisjoint(given) for side in plan.apart):
        return False
    reaches = plan.reach.reaches
    return plan.only_absorbed.isdisjoint(given) or all(
        reaches(foreign, other) or reaches(other, foreign)
        for foreign in plan.only_absorbed & given
        for other in given
    )


def check_mix(plan: Plan, dtypes: Iterable[DType]) -> None:
    """Raises Refusal where arrays of these dtypes have a common one that the dialect does not cast
    them to."""
    if plan.arrays.mixes is None:
        return
    given = set(dtypes)
    common = plan.reach.common(plan.reach.masks[d] for d in given)
    if common and any((d, common) not in plan.arrays.mixes for d in given - {common}):
        why = plan.dialect.refusal or f"arrays of {common} and another dtype do not mix"
        raise Refusal(why, f"Cast one: x.astype('{common}').")


def no_common_dtype(plan: Plan, dtypes: Iterable[DType]) -> Refusal:
    """The refusal for dtypes that nothing holds together."""
    given = sorted(set(dtypes), key=lambda d: (d.rank, d.bits, d.name))
    listed = " and ".join([", ".join(d.name for d in given[:-1]), given[-1].name])
    reason = plan.because or plan.dialect.refusal
    why = f"{listed} have no common dtype" + (f": {reason}" if reason else "")
    return Refusal(why, _way_out(plan, given))


def _way_out(plan: Plan, given: list[DType]) -> str:
    """What to cast, of arrays and weakly typed operands; these are of any width."""
    computed = [
        d for d in plan.dialect.dtypes if d in plan.computes and d not in plan.accepts.refuses
    ]
    arrays = [d for d in given if not d.is_weak]
    rank = max([d.rank for d in given])
    if all(d.rank < rank for d in computed):
        return not_computed(plan, given[-1]).fix
    return way_out(arrays or [_strong(plan, d) for d in given], computed, rank)


def _strong(plan: Plan, node: DType) -> DType:
    """The dtype a weak node stands for."""
    return strong_twin(node) or plan.python[node.kind]


def not_computed(plan: Plan, found: DType) -> Refusal:
    """The refusal for a dtype the op does not compute in."""
    taken = [d for d in plan.reach.order if d in plan.computes and d not in plan.accepts.refuses]
    kinds = list(dict.fromkeys(d.kind for d in taken if d not in plan.accepts.refuses_compute))
    listed = " or ".join([*filter(None, [", ".join(kinds[:-1])]), *kinds[-1:]]) or "no"
    return Refusal(
        plan.because or f"{plan.op.name} is not defined for {found}",
        f"It takes {listed} dtypes: cast to one of them.",
    )


def complex_of(plan: Plan, real: DType) -> DType:
    """The complex dtype a float dtype becomes.

    Raises Refusal where it reaches none.
    """
    found = plan.reach.common([plan.reach.masks[real]], plan.complex_mask)
    if found is None:
        raise Refusal(f"{real} has no complex dtype", "Cast it to float32 first.")
    return found


def is_integer_power(plan: Plan, operands: tuple[Operand, ...]) -> bool:
    """Whether the exponent is one integer, and the dialect lets the base decide beside it.

    One integer is what Python takes as an index (PEP 357): a Python bool too, but no array of
    bool or of a dtype below a byte.
    """
    exponent = operands[-1]
    if plan.joins != "integer power":
        return False
    if exponent.is_scalar:
        return exponent.kind in ("bool", "int")
    dtype = exponent.dtype
    is_index = dtype is not None and dtype.kind == "int" and dtype.bits >= 8
    return is_index and exponent.role.native is not Role.ARRAY


def own_dtype(plan: Plan, operand: Operand) -> DType:
    """The dtype an operand has of itself. A Python int beyond int64 is uint64.

    Raises Refusal for an int that no such dtype holds.
    """
    if operand.dtype is not None:
        return operand.dtype
    own = plan.python[operand.kind]
    value = operand.value
    if type(value) is not int or own.min <= value <= own.max:
        return own
    wide = plan.python.get("wide int") or (_UINT64 if own.bits == 64 else own)
    if wide in plan.reach.bits and wide.min <= value <= wide.max:
        return wide
    if plan.range.limit == "none" and plan.range.beyond == "wraps":
        return wide
    if plan.range.limit == "none":
        return _UINT64 if value > 0 else own
    raise Refusal(
        f"{scalar_text(value)} fits no integer dtype", "Write it as a float.", by_value=True
    )
