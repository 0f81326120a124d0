"""What stands on either side of x[key] = value, as a dialect's rules look at it."""

from __future__ import annotations

from typing import Any

from castwise.errors import UsageError
from castwise.execute.backend import Backend, TakesConstants, two_backends
from castwise.execute.casting import own_values
from castwise.execute.kinds import Kind
from castwise.frameworks.value_rules import Values


def is_whole(key: Any) -> bool:
    """Whether an index alone names the whole array: x[...], x[None]."""
    return key is None or key is ...


def spreads(key: Any, value: Any) -> bool:
    """Whether elements are written one by one, at the places that an array in the index names.

    One value under a mask alone fills the mask.
    """
    parts = key if isinstance(key, tuple) else (key,)
    arrays = [part for part in parts if isinstance(part, list) or _is_array(part)]
    is_mask = len(parts) == 1 and bool(getattr(key, "shape", ())) and _is_bool(key)
    return bool(arrays) and not (is_mask and getattr(value, "size", 1) == 1)


def _is_array(part: Any) -> bool:
    """Whether it is no single place: an array of places or of truth, of which one may be 0-d."""
    shape = getattr(part, "shape", None)
    return bool(shape) or (shape is not None and _is_bool(part))


def _is_bool(array: Any) -> bool:
    return str(array.dtype).rpartition(".")[2] == "bool"


def fitted(array: Any, backend: Backend, values: Values) -> Any:
    """An array to be broadcast into a place, without the dimensions in front that it can spare."""
    if values.assigned_shapes == "leading ones dropped" and backend.owns(array):
        while array.shape and array.shape[0] == 1:
            array = array[0]
    return array


def is_read_first(kind: Kind) -> bool:
    """Whether an array may be assigned to a part of itself, which the backend would refuse."""
    is_refused = own_values(kind.backend).overlaps == "refused"
    return is_refused and kind.in_force.values.overlaps == "allowed"


def not_assigned(given: Backend, backend: Backend) -> UsageError:
    """What is wrong about a value of one backend that is assigned to a tensor of another."""
    if isinstance(given, TakesConstants):
        return UsageError(
            "a value of a graph is not assigned outside of the traced function, since it is known "
            "only when the graph runs: return it, and assign what the graph gives."
        )
    return two_backends(backend.name, given.name)
