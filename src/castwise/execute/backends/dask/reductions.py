"""Sums, products, extrema, moments and losses over chunks."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from castwise.execute.backends.dask.chunks import (
    aligned,
    broadcast_indices,
    elementwise,
)
from castwise.execute.backends.dask.trees import (
    Axes,
    How,
    Reduction,
    State,
    flat,
    function,
    over_axes,
    tree,
)
from castwise.execute.steps.steps import Steps

# op -> the op that folds the states of chunks into one
FOLDS = {
    "sum": "sum", "prod": "prod", "max": "max", "min": "min", "any": "any", "all": "all",
    "count_nonzero": "sum",
}  # fmt: skip
MOMENTS = ("mean", "var", "std", "norm")
LOSSES = ("mse_loss", "l1_loss", "huber_loss", "poisson_nll_loss")
_NO_IDENTITY = ("max", "min", "logsumexp")  # not defined for no elements


def _fold(op: str, states: list[Any]) -> Any:
    """Combines states of one shape by an op in their own dtype."""
    stacked = np.stack(states)
    options = {"dtype": stacked.dtype} if op in ("sum", "prod") else {}
    return np.asarray(getattr(np, op)(stacked, axis=0, **options))


def _is_empty(reduction: Reduction, x: Any) -> bool:
    return any(x.shape[n] == 0 for n in reduction.axes)


def _as_it_is(reduction: Reduction, state: State) -> Any:
    return state


def _fold_first(reduction: Reduction, x: Any) -> State:
    op = reduction.steps.op
    if op in _NO_IDENTITY and _is_empty(reduction, x):
        return None
    compute = function(op, reduction.wide)
    return np.asarray(compute(x, axis=reduction.axes, keepdims=True))


def _fold_merge(reduction: Reduction, nested: Any) -> State:
    known = [state for state in flat(nested) if state is not None]
    return _fold(FOLDS[reduction.steps.op], known) if known else None


def _fold_last(reduction: Reduction, state: State) -> Any:
    if state is None:
        raise ValueError(f"{reduction.steps.op} of no elements: there is nothing to choose.")
    return state


def folded(steps: Steps, x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """A reduction whose states are its own results on parts."""
    return over_axes(How(_fold_first, _fold_merge, _fold_last), steps, x, axis, keepdims)


def _sum(x: Any, axes: tuple[int, ...]) -> Any:
    return np.sum(x, axis=axes, keepdims=True, dtype=x.dtype)


def _count(x: Any, axes: tuple[int, ...]) -> int:
    count = 1
    for n in axes:
        count *= x.shape[n]
    return count


def _mean_first(reduction: Reduction, x: Any) -> State:
    return _sum(x, reduction.axes), _count(x, reduction.axes)


def _mean_merge(reduction: Reduction, nested: Any) -> State:
    sums, counts = zip(*flat(nested), strict=True)
    return _fold("sum", list(sums)), sum(counts)


def _mean_last(reduction: Reduction, state: State) -> Any:
    total, count = state
    with np.errstate(all="ignore"):
        return total / np.asarray(count, total.real.dtype)


def _spread_first(reduction: Reduction, x: Any) -> State:
    """The number of elements, their mean, and the sum of squared distances from it."""
    axes, count = reduction.axes, _count(x, reduction.axes)
    mean = _sum(x, axes) / np.asarray(max(count, 1), x.real.dtype)
    away = np.abs(x - mean)
    return count, mean, _sum(away * away, axes)


def _spread_merge(reduction: Reduction, nested: Any) -> State:
    return functools.reduce(_spread_of_two, flat(nested))


def _spread_of_two(one: State, other: State) -> State:
    """Two states as one, by the method of Chan, Golub and LeVeque, which subtracts nothing
    large."""
    total = one[0] + other[0]
    if total == 0:
        return one
    away = other[1] - one[1]
    kind = one[2].dtype
    mean = one[1] + away * np.asarray(other[0] / total, kind)
    between = np.abs(away) ** 2 * np.asarray(one[0] * other[0] / total, kind)
    return total, mean, one[2] + other[2] + between


def _var_last(reduction: Reduction, state: State) -> Any:
    count, _, squares = state
    rest = max(count - reduction.options["correction"], 0)
    with np.errstate(all="ignore"):
        return squares / np.asarray(rest, squares.dtype)


def _std_last(reduction: Reduction, state: State) -> Any:
    return np.sqrt(_var_last(reduction, state))


def _norm_first(reduction: Reduction, x: Any) -> State:
    away = np.abs(x)
    return _sum(away * away, reduction.axes)


def _sum_merge(reduction: Reduction, nested: Any) -> State:
    return _fold("sum", flat(nested))


def _norm_last(reduction: Reduction, state: State) -> Any:
    return np.sqrt(state)


_MOMENTS = {
    "mean": How(_mean_first, _mean_merge, _mean_last),
    "var": How(_spread_first, _spread_merge, _var_last),
    "std": How(_spread_first, _spread_merge, _std_last),
    "norm": How(_norm_first, _sum_merge, _norm_last),
}


def moment(
    steps: Steps, x: Any, *, axis: Axes = None, keepdims: bool = False, correction: float = 0
) -> Any:
    """Mean, variance, standard deviation or norm."""
    return over_axes(_MOMENTS[steps.op], steps, x, axis, keepdims, correction=correction)


def _logsumexp_first(reduction: Reduction, x: Any) -> State:
    """The largest element, and the sum of exponentials of the distances from it."""
    if _is_empty(reduction, x):
        return None
    highest = np.max(x, axis=reduction.axes, keepdims=True)
    return highest, _sum(np.exp(x - _finite(highest)), reduction.axes)


def _logsumexp_merge(reduction: Reduction, nested: Any) -> State:
    known = [state for state in flat(nested) if state is not None]
    if not known:
        return None
    highest = _fold("max", [state[0] for state in known])
    return highest, _fold("sum", [s * np.exp(_finite(h) - _finite(highest)) for h, s in known])


def _logsumexp_last(reduction: Reduction, state: State) -> Any:
    highest, total = _fold_last(reduction, state)
    with np.errstate(all="ignore"):
        return _finite(highest) + np.log(total)


def _finite(highest: Any) -> Any:
    return np.where(np.isfinite(highest), highest, np.zeros_like(highest))


def logsumexp(steps: Steps, x: Any, *, axis: Axes = None, keepdims: bool = False) -> Any:
    """The logarithm of the sum of exponentials."""
    how = How(_logsumexp_first, _logsumexp_merge, _logsumexp_last)
    return over_axes(how, steps, x, axis, keepdims)


def _loss_first(reduction: Reduction, x: Any, y: Any) -> State:
    compute = function(reduction.steps.op, reduction.wide)
    losses = compute(x, y, reduction="none", **reduction.options)
    return _sum(losses, reduction.axes), _count(losses, reduction.axes)


def _total_last(reduction: Reduction, state: State) -> Any:
    return state[0]


def loss(steps: Steps, x: Any, y: Any, *, reduction: str = "mean", **options: Any) -> Any:
    """A loss as its mean, its sum, or per element."""
    if reduction == "none":
        return elementwise(steps, x, y, reduction="none", **options)
    last = _mean_last if reduction == "mean" else _total_last
    return _over_all(How(_loss_first, _mean_merge, last), steps, x, y, options)


def _allclose_first(reduction: Reduction, x: Any, y: Any) -> State:
    is_near = function("allclose", reduction.wide)(x, y, **reduction.options)
    return np.asarray(is_near).reshape((1,) * max(np.ndim(x), np.ndim(y)))


def _all_merge(reduction: Reduction, nested: Any) -> State:
    return _fold("all", flat(nested))


def allclose(steps: Steps, x: Any, y: Any, **options: Any) -> Any:
    """Whether all elements are within the tolerance of one another."""
    return _over_all(How(_allclose_first, _all_merge, _as_it_is), steps, x, y, options)


def _over_all(how: How, steps: Steps, x: Any, y: Any, options: dict[str, Any]) -> Any:
    """A reduction of two operands, broadcast, over everything."""
    indices = broadcast_indices(x, y)
    reduction = Reduction(how, steps, tuple(range(len(indices))), options)
    return tree(reduction, [aligned(x), aligned(y)], indices)
