"""x[key] and x[key] = value on a backend's arrays, as a dialect's framework does them."""

from __future__ import annotations

from typing import Any

from castwise.arrays import fast_path
from castwise.arrays.backend import Backend, TakesConstants, backend_named, two_backends
from castwise.arrays.backends import DEFAULT_BACKEND
from castwise.arrays.casting import cast_under, own_values
from castwise.arrays.data import array_and_kind, held_array
from castwise.arrays.kinds import Kind, TensorData, as_constant_with
from castwise.engine.writes import assigned_as, check_assignment, whole_dtype
from castwise.errors import UsageError
from castwise.vocab.dtypes import dtype
from castwise.vocab.notation import describe
from castwise.vocab.operands import Operand

_FLOAT32, _FLOAT64 = dtype("float32"), dtype("float64")


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


def raw_key(key: Any) -> Any:
    """An index whose tensors are replaced by their arrays."""
    if isinstance(key, TensorData):
        return key._array
    return tuple([raw_key(part) for part in key]) if isinstance(key, tuple) else key


def assign(target: TensorData, key: Any, value: Any, *, is_filling: bool = False) -> None:
    """Writes a value into the elements at an index, as `target[key] = value` does.

    `is_filling` means that `fill_` does it.
    """
    if fast_path.running:
        fast_path.writing(target, value, *(key if isinstance(key, tuple) else (key,)))
    kind = target._kind
    if value is None or isinstance(value, (list, tuple, str)):  # this also refuses text
        value = array_and_kind(value, dialect=kind.current_dialect)[0]
    if isinstance(value, TensorData):
        value = as_constant_with(value, (target,))
        if value._kind.backend is not kind.backend:
            raise _not_assigned(value._kind.backend, kind.backend)
    seen = value._kind.operand if isinstance(value, TensorData) else describe(value)
    if not is_filling:
        _check_0d(kind, seen)
    rules, keeps = kind.current_dialect, is_filling or target._keeps_dtype
    takes_any = not keeps and _is_whole(key, is_zero_d=kind.is_zero_d)
    wanted = whole_dtype(seen, kind.dtype, rules) if takes_any else kind.dtype
    seen = assigned_as(seen, wanted, rules)
    check_assignment(seen, wanted, rules, is_filling=is_filling, by_places=_spreads(key, value))
    if wanted is not kind.dtype:
        kind = target._kind = kind.with_(dtype=wanted)
        target._array = kind.backend.cast(target._array, wanted)
    element = _element(value, seen, kind)
    if isinstance(value, TensorData) and element is value._array and _is_read_first(kind):
        element = kind.backend.make(element, None, copy=True, device=None)
    target._array = _write_at(target._array, raw_key(key), element, kind)


def _element(value: Any, seen: Operand, kind: Kind) -> Any:
    """The assigned value in the dtype of its target, cast as the dialect casts; a graph
    records that cast itself."""
    backend, values = kind.backend, kind.current_dialect.values
    number = seen.value if seen.is_scalar else None
    if isinstance(number, float) and kind.dtype.kind == "int":
        widest = _FLOAT64 if _FLOAT64 in backend.dtypes else _FLOAT32
        array = backend.make(number, widest, copy=None, device=None)
        return cast_under(values, backend, array, kind.dtype)
    if number is not None:
        return backend.number(number, kind.dtype)
    # A NumPy array of a dtype that the backend lacks is cast on NumPy first.
    is_held = isinstance(value, TensorData) or seen.dtype in backend.dtypes
    holder = backend if is_held else backend_named(DEFAULT_BACKEND)
    array = value._array if isinstance(value, TensorData) else held_array(
        value, None, kind.current_dialect, holder, copy=None, device=None
    )  # fmt: skip
    is_own_cast = values.casting.float_to_int == own_values(backend).casting.float_to_int
    if isinstance(backend, TakesConstants) and is_own_cast:
        return array
    is_right = holder.dtype_of(array) is kind.dtype
    element = array if is_right else cast_under(values, holder, array, kind.dtype)
    return element if is_held else backend.make(element, kind.dtype, copy=None, device=None)


def _is_whole(key: Any, *, is_zero_d: bool = True) -> bool:
    """Whether an index selects the whole array: x[...], x[None], and x[()] of a 0-d one."""
    return key is None or key is ... or (is_zero_d and isinstance(key, tuple) and not key)


def _spreads(key: Any, value: Any) -> bool:
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


def _write_at(array: Any, key: Any, given: Any, kind: Kind) -> Any:
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
    least = len(shape) + (key is None) if _is_whole(key) else 0
    if rule == "leading ones dropped" or _is_whole(key):
        while len(array.shape) > least and array.shape[0] == 1:
            array = array[0]
    return array


def _is_element(key: Any, shape: tuple[Any, ...]) -> bool:
    """Whether an index selects one element, with one number per dimension."""
    parts = key if isinstance(key, tuple) else (key,)
    are_numbers = all(isinstance(part, int) and not isinstance(part, bool) for part in parts)
    return are_numbers and len(parts) == len(shape)


def _is_read_first(kind: Kind) -> bool:
    """Whether the dialect can assign an array to a part of itself, and the backend cannot."""
    is_refused = own_values(kind.backend).memory.overlaps == "refused"
    return is_refused and kind.current_dialect.values.memory.overlaps == "allowed"


def _check_0d(kind: Kind, value: Operand) -> None:
    """Raises UsageError if the dialect cannot assign the value to a 0-d array."""
    is_refusing = kind.is_zero_d and kind.current_dialect.values.memory.assigned_0d == "refused"
    if is_refusing and not (value.is_scalar and kind.dtype.name == "float32"):
        raise UsageError(
            "a 0-d array cannot be assigned to in this dialect: bind the name to a new one."
        )


def _not_assigned(given: Backend, backend: Backend) -> UsageError:
    """The error for a value of one backend that is assigned to a tensor of another."""
    if isinstance(given, TakesConstants):
        return UsageError(
            "a value of a graph cannot be assigned outside of the traced function, because it is "
            "known only when the graph runs: return it, and assign the graph's result."
        )
    return two_backends(backend.name, given.name)
