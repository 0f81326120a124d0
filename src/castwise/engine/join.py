"""The join: the common dtype of some dtypes."""

from __future__ import annotations

import functools
from collections.abc import Iterable

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.engine.refusals import no_common_dtype
from castwise.vocab.dtypes import DType


def join(plan: Plan, dtypes: Iterable[DType]) -> DType:
    """The dialect's common dtype of some dtypes: all at once, or pair by pair where it folds.

    Raises Refusal where there is none.
    """
    if plan.joins.folds:
        return functools.reduce(lambda a, b: _join_all(plan, {a, b}), dtypes)
    return _join_all(plan, set(dtypes))


def _join_all(plan: Plan, given: set[DType]) -> DType:
    if len(given) == 1:
        return next(iter(given))
    exception = plan.joins.pairs.get(frozenset(given))
    if exception is not None:
        return exception
    common = plan.reach.common(plan.reach.masks[d] for d in given)
    if common is None or not is_allowed(plan, common, given):
        raise no_common_dtype(plan, given)
    return common


def is_allowed(plan: Plan, common: DType, given: set[DType]) -> bool:
    """Whether the dialect allows this dtype as the join of some dtypes."""
    if plan.joins.keeps_kind and common.rank > max([d.rank for d in given]):
        return False
    if len(plan.joins.apart) > 1 and not any(side.isdisjoint(given) for side in plan.joins.apart):
        return False
    reaches = plan.reach.reaches
    return plan.joins.only_absorbed.isdisjoint(given) or all(
        reaches(foreign, other) or reaches(other, foreign)
        for foreign in plan.joins.only_absorbed & given
        for other in given
    )


def check_mix(plan: Plan, dtypes: Iterable[DType]) -> None:
    """Raises Refusal where arrays of these dtypes have a common dtype, but the dialect does not
    cast them to it."""
    if plan.joins.mixes is None:
        return
    given = set(dtypes)
    common = plan.reach.common(plan.reach.masks[d] for d in given)
    if common and any((d, common) not in plan.joins.mixes for d in given - {common}):
        why = plan.joins.refusal or f"arrays of {common} and another dtype do not mix"
        raise Refusal(why, f"Cast one: x.astype('{common}').")


def complex_of(plan: Plan, real: DType) -> DType:
    """The complex dtype a float dtype becomes.

    Raises Refusal where it reaches none.
    """
    found = plan.reach.common([plan.reach.masks[real]], plan.reach.complex_mask)
    if found is None:
        raise Refusal(f"{real} has no matching complex dtype", "Cast it to float32 first.")
    return found
