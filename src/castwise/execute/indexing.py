"""x[key] and x[key] = value on a backend's arrays, as a dialect's framework does them."""

from __future__ import annotations

from typing import Any

from castwise.errors import UsageError
from castwise.execute.backend import Backend, TakesConstants, two_backends
from castwise.execute.kinds import Kind
from castwise.execute.values.casting import own_values
from castwise.vocab.operands import Operand


def read_at(array: Any, key: Any, kind: Kind) -> Any:
    """The elements at an index, as a view or as a copy."""
    backend, elements = kind.backend, kind.current_dialect.values.memory.elements
    found = backend.read(array, key)
    parts = key if isinstance(key, tuple) else (key,)
    if found.shape or any(part is ... for part in parts):
        is_own = kind.current_dialect.values.memory.slices == own_values(backend).memory.slices
        is_own = is_own or isinstance(backend, TakesConstants)  # a graph has no memory to share
        return found if is_own else backend.make(found, None, copy=True, device=None)
    if elements == own_values(backend).memory.elements:
        return found
    if elements == "views":
        kept = (*parts, ...)  # a view instead of a scalar
        return found if backend.owns(found) else array[kept]
    return backend.make(found, None, copy=True, device=None)


def is_whole(key: Any, *, is_zero_d: bool = True) -> bool:
    """Whether an index selects the whole array: x[...], x[None], and x[()] of a 0-d one."""
    return key is None or key is ... or (is_zero_d and isinstance(key, tuple) and not key)


def spreads(key: Any, value: Any) -> bool:
    """Whether elements are written one by one, at the positions in an index array.

    A single value under a single mask fills the mask.
    """
    parts = key if isinstance(key, tuple) else (key,)
    arrays = [part for part in parts if isinstance(part, list) or _is_array(part)]
    is_mask = len(parts) == 1 and bool(getattr(key, "shape", ())) and _is_bool(key)
    return bool(arrays) and not (is_mask and getattr(value, "size", 1) == 1)


def _is_array(part: Any) -> bool:
    """Whether a part of an index is an array of positions or a mask, which may be 0-d."""
    shape = getattr(part, "shape", None)
    return bool(shape) or (shape is not None and _is_bool(part))


def _is_bool(array: Any) -> bool:
    return str(array.dtype).rpartition(".")[2] == "bool"


def write_at(array: Any, key: Any, given: Any, kind: Kind) -> Any:
    """The array after array[key] = given; the dialect decides what None in the key means."""
    backend, rule = kind.backend, kind.current_dialect.values.memory.new_axes
    if key is not None or rule == "broadcast":
        return backend.write(array, key, _fitted(given, key, array.shape, kind))
    if rule == "copied":
        copy = backend.make(array, None, copy=True, device=None)
        backend.write(copy, key, _fitted(given, key, array.shape, kind))
        return array
    dimensions = len(getattr(given, "shape", ()))
    if dimensions > len(array.shape):
        raise UsageError(
            f"None in the index adds no axis to an assignment in this dialect: a value of "
            f"{dimensions} dimensions does not fit into {len(array.shape)}."
        )
    return backend.write(array, ..., given)


def _fitted(array: Any, key: Any, shape: tuple[Any, ...], kind: Kind) -> Any:
    """A value to broadcast into a part of an array, without leading dimensions of length 1 that it
    does not need."""
    rule = kind.current_dialect.values.memory.assigned_shapes
    if not kind.backend.owns(array):
        return array
    if rule == "broadcast" and array.shape and _is_element(key, shape):
        raise UsageError(
            f"only a number or a 0-d array can be assigned to one element in this dialect, not an "
            f"array of shape {tuple(array.shape)}: value[0] is its first element."
        )
    least = len(shape) + (key is None) if is_whole(key) else 0
    if rule == "leading ones dropped" or is_whole(key):
        while len(array.shape) > least and array.shape[0] == 1:
            array = array[0]
    return array


def _is_element(key: Any, shape: tuple[Any, ...]) -> bool:
    """Whether an index selects one element, with one number per dimension."""
    parts = key if isinstance(key, tuple) else (key,)
    are_numbers = all(isinstance(part, int) and not isinstance(part, bool) for part in parts)
    return are_numbers and len(parts) == len(shape)


def is_read_first(kind: Kind) -> bool:
    """Whether the dialect can assign an array to a part of itself, and the backend cannot."""
    is_refused = own_values(kind.backend).memory.overlaps == "refused"
    return is_refused and kind.current_dialect.values.memory.overlaps == "allowed"


def check_0d(kind: Kind, value: Operand) -> None:
    """Raises UsageError if the dialect cannot assign the value to a 0-d array."""
    is_refusing = kind.is_zero_d and kind.current_dialect.values.memory.assigned_0d == "refused"
    if is_refusing and not (value.is_scalar and kind.dtype.name == "float32"):
        raise UsageError(
            "a 0-d array cannot be assigned to in this dialect: bind the name to a new one."
        )


def not_assigned(given: Backend, backend: Backend) -> UsageError:
    """The error for a value of one backend that is assigned to a tensor of another."""
    if isinstance(given, TakesConstants):
        return UsageError(
            "a value of a graph cannot be assigned outside of the traced function, because it is "
            "known only when the graph runs: return it, and assign the graph's result."
        )
    return two_backends(backend.name, given.name)
