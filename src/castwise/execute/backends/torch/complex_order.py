"""The order of complex numbers, by real part and then imaginary part, which torch itself lacks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import array_api_compat.torch as standard
import torch


def _less(x: Any, y: Any) -> Any:
    is_number = ~(torch.isnan(x) | torch.isnan(y))
    return is_number & ((x.real < y.real) | ((x.real == y.real) & (x.imag < y.imag)))


def _less_equal(x: Any, y: Any) -> Any:
    return _less(x, y) | (x == y)


def _greater(x: Any, y: Any) -> Any:
    return _less(y, x)


def _greater_equal(x: Any, y: Any) -> Any:
    return _less_equal(y, x)


def _maximum(x: Any, y: Any) -> Any:
    return torch.where(torch.isnan(x) | _greater_equal(x, y), x, y)


def _minimum(x: Any, y: Any) -> Any:
    return torch.where(torch.isnan(x) | _less_equal(x, y), x, y)


def _fmax(x: Any, y: Any) -> Any:
    """The larger one; if one is NaN, the other."""
    return torch.where(torch.isnan(y) | _greater_equal(x, y), x, y)


def _fmin(x: Any, y: Any) -> Any:
    """The smaller one; if one is NaN, the other."""
    return torch.where(torch.isnan(y) | _less_equal(x, y), x, y)


def _clamp(x: Any, *bounds: Any) -> Any:
    low, high = (*bounds, None, None)[:2]
    x = x.clone() if low is None else _maximum(x, low)
    return x if high is None else _minimum(x, high)


def _relu(x: Any) -> Any:
    return _maximum(x, torch.zeros_like(x))


def _places(x: Any, axis: int) -> Any:
    """The indices that sort the elements along an axis, NaN last."""
    last = torch.isnan(x).to(torch.int8)
    places = torch.argsort(x.imag, dim=axis, stable=True)
    for key in (x.real, last):
        again = torch.argsort(torch.gather(key, axis, places), dim=axis, stable=True)
        places = torch.gather(places, axis, again)
    return places


def _flat(x: Any, axis: Any) -> Any:
    """The array with the reduced axes merged into one, the last."""
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    gone = sorted(n % x.ndim for n in axes)
    kept = [n for n in range(x.ndim) if n not in gone]
    together = math.prod([x.shape[n] for n in gone])  # without elements, -1 could be any length
    return x.permute([*kept, *gone]).reshape(*[x.shape[n] for n in kept], together)


def _shaped(found: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """A result without the reduced axes, or with length 1 for each."""
    if not keepdims:
        return found
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    gone = {n % x.ndim for n in axes}
    return found.reshape([1 if n in gone else size for n, size in enumerate(x.shape)])


def _place_of_first(x: Any, *, is_largest: bool) -> Any:
    """The first index of the extreme element along the last axis; NaN counts as extreme."""
    key = x.real
    inf = torch.full_like(key, -torch.inf if is_largest else torch.inf)
    extreme = torch.amax if is_largest else torch.amin
    has_nan = torch.isnan(x)
    is_candidate = key == extreme(key, -1, keepdim=True)
    imaginary = torch.where(is_candidate, x.imag, inf)
    is_candidate &= imaginary == extreme(imaginary, -1, keepdim=True)
    is_found = torch.where(has_nan.any(-1, keepdim=True), has_nan, is_candidate)
    return torch.argmax(is_found.to(torch.int8), dim=-1)


def _argument(is_largest: bool) -> Callable[..., Any]:
    def place(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
        found = _place_of_first(_flat(x, axis), is_largest=is_largest)
        return _shaped(found, x, axis, keepdims)

    return place


def _extreme(is_largest: bool) -> Callable[..., Any]:
    def extreme(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
        flat = _flat(x, axis)
        place = _place_of_first(flat, is_largest=is_largest)
        found = torch.gather(flat, -1, place[..., None])[..., 0]
        return _shaped(found, x, axis, keepdims)

    return extreme


def _median(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The middle one, or the mean of the middle two; NaN if there is a NaN."""
    flat = _flat(x, axis)
    ordered, count = torch.gather(flat, -1, _places(flat, -1)), flat.shape[-1]
    low, high, last = (ordered[..., n] for n in ((count - 1) // 2, count // 2, -1))
    found = torch.where(torch.isnan(last), last, low if count % 2 else (low + high) / 2)
    return _shaped(found, x, axis, keepdims)


def _softmax(x: Any, *, axis: int = -1) -> Any:
    powers = torch.exp(x - torch.amax(x.real, axis, keepdim=True))
    return powers / torch.sum(powers, axis, keepdim=True)


def _log_softmax(x: Any, *, axis: int = -1) -> Any:
    # Relative to the largest one itself: with another number the logarithm may change its branch.
    away = x - (_extreme(is_largest=True)(x, axis=axis, keepdims=True) if x.numel() else 0)
    return away - torch.log(torch.sum(torch.exp(away), axis, keepdim=True))


ON_COMPLEX: dict[str, Callable[..., Any]] = {
    "lt": _less,
    "le": _less_equal,
    "gt": _greater,
    "ge": _greater_equal,
    "maximum": _maximum,
    "minimum": _minimum,
    "fmax": _fmax,
    "fmin": _fmin,
    "clamp": _clamp,
    "relu": _relu,
    "max": _extreme(is_largest=True),
    "min": _extreme(is_largest=False),
    "argmax": _argument(is_largest=True),
    "argmin": _argument(is_largest=False),
    "median": _median,
    "softmax": _softmax,
    "log_softmax": _log_softmax,
    "sign": torch.sgn,
    "round": standard.round,
}
