"""Indices that Dask lacks: 0-d masks, and new axes in assignments."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np

from castwise.errors import UsageError


def read(array: Any, key: Any) -> Any:
    """The elements at an index."""
    mask = _zero_d_mask(key)
    if mask is None:
        return array[key]
    whole = array[None]  # the mask selects all of it or nothing
    return whole[mask.reshape((1,))] if isinstance(mask, da.Array) else whole[: int(mask)]


def write_at(array: Any, key: Any, values: Any) -> Any:
    """A new array with values of its dtype at an index."""
    mask = _zero_d_mask(key)
    if isinstance(mask, da.Array):
        return da.where(mask, _filling(values, array.shape), array)
    if mask is not None:
        return write_at(array, None, values) if mask else array
    if key is Ellipsis and isinstance(values, da.Array) and values.shape == array.shape:
        return values
    parts = key if isinstance(key, tuple) else (key,)
    if any(part is None for part in parts):
        values = _without_axes(values, _new_axes(parts, array.ndim), array[key].ndim)
        key = tuple([part for part in parts if part is not None])
    new = array.copy()
    new[key] = values
    return new


def _zero_d_mask(key: Any) -> Any:
    """The key if it is a 0-d mask, which Dask would treat as the index 1 or 0.

    Raises UsageError if there are other indices.
    """
    parts = key if isinstance(key, tuple) else (key,)
    for part in parts:
        if isinstance(part, bool) or (_is_mask(part) and part.ndim == 0):
            if len(parts) > 1:
                raise UsageError(
                    "on Dask a 0-d mask must be the only index: apply it first, x[mask][:, ...]."
                )
            return part
    return None


def _is_mask(part: Any) -> bool:
    return isinstance(part, (da.Array, np.ndarray, np.generic)) and part.dtype == np.bool_


def _filling(values: Any, shape: tuple[int, ...]) -> Any:
    """Values for all elements of a shape; they may have extra dimensions of length 1."""
    fitted = _without_axes(values, range(np.ndim(values) - len(shape)), np.ndim(values))
    if np.broadcast_shapes(np.shape(fitted), shape) != shape:
        raise ValueError(f"values of shape {np.shape(values)} do not fit shape {shape}.")
    return fitted


def _new_axes(parts: tuple[Any, ...], ndim: int) -> list[int]:
    """The positions of an index's new axes in its result."""
    consumed = sum(_consumes(part) for part in parts)
    axes, place = [], 0
    for part in parts:
        if part is None:
            axes.append(place)
            place += 1
        elif part is Ellipsis:
            place += ndim - consumed
        else:
            place += 1 if isinstance(part, slice) or _is_mask(part) else np.ndim(part)
    return axes


def _consumes(part: Any) -> int:
    """How many dimensions of an array a part of an index applies to."""
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if _is_mask(part) else 1


def _without_axes(values: Any, axes: Any, ndim: int) -> Any:
    """Values that broadcast to `ndim` dimensions, without some of these axes.

    Raises ValueError if they have several elements along one of them.
    """
    missing = ndim - np.ndim(values)
    return np.squeeze(values, tuple([axis - missing for axis in axes if axis >= missing]))
