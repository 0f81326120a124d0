"""How elements are moved, picked, sorted, searched, read and assigned, which computes nothing.

The backend's own functions run on the arrays, and the dtype stays the same; indices and counts have
the dialect's dtype for them. Methods of tensors and the namespace of the standard share this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from castwise.arrays import fast_path
from castwise.arrays.apply import apply_op
from castwise.arrays.backend import Backend, TakesConstants, two_backends
from castwise.arrays.backends import DEFAULT_BACKEND, backend_named
from castwise.arrays.calls import common_dialect, described
from castwise.arrays.casting import cast_under, own_values
from castwise.arrays.data import array_and_kind, held_array
from castwise.arrays.kinds import (
    Kind,
    TensorData,
    as_constant_with,
    fitted,
    raw_array,
    refusal,
)
from castwise.catalog import DEFAULT
from castwise.engine.ask import answer
from castwise.engine.decision import Question
from castwise.engine.plan import looks_at_values
from castwise.engine.writes import assigned_as, check_assignment, sees_scalar, whole_dtype
from castwise.errors import (
    ArgumentError,
    AxisError,
    PromotionError,
    UsageError,
    from_library,
    is_raw,
)
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.notation import describe
from castwise.vocab.operands import Operand, numpy_scalar_operand
from castwise.vocab.ops import op

if TYPE_CHECKING:
    from castwise.arrays.tensor import Tensor

Axes: TypeAlias = int | tuple[int, ...] | None
_RESULT_TYPE = op("result_type")


def check_tensor(x: Any, name: str) -> Any:
    """The argument itself, which must be a tensor.

    Raises UsageError for anything else.
    """
    if isinstance(x, TensorData):
        return x
    raise UsageError(
        f"{name} takes a tensor, not a {type(x).__name__}: make one, castwise.array_api.asarray(x)."
    )


def backend_result(name: str, x: TensorData, *arguments: Any, **options: Any) -> Any:
    """What the backend's own function of a name gives for raw arrays."""
    first = check_tensor(x, name)
    try:
        function = attrgetter(name)(first._kind.backend.namespace)  # such as fft.fftshift
    except AttributeError:
        raise UsageError(f"the backend {first.backend} has no {name}.") from None
    given = [_raw(argument, first) for argument in arguments]
    try:
        return function(first._array, *given, **options)
    except Exception as error:
        if not is_raw(error):
            raise
        raise refusal(error, name, (x, *arguments), first.backend) from error


def _raw(argument: Any, first: TensorData) -> Any:
    """An argument in the form that the backend takes.

    Raises UsageError for a tensor of another backend.
    """
    if not isinstance(argument, TensorData):
        return argument
    if argument.backend != first.backend:
        raise two_backends(first.backend, argument.backend)
    return argument._array


def with_array(x: TensorData, array: Any, kind: Kind | None = None) -> Tensor:
    """A tensor like another one, or of a kind, with what a backend returned."""
    return x._of(*fitted(array, kind or x._kind))


def moved(name: str, x: TensorData, *arguments: Any, **options: Any) -> Tensor:
    """The result of a function that moves elements, so that the dtype stays the same."""
    return with_array(x, backend_result(name, x, *arguments, **options))


def as_index(array: Any, x: TensorData) -> Tensor:
    """A backend's array of indices or counts, in the dialect's dtype for them."""
    kind = x._kind
    target = dtype(kind.current_dialect.becomes.index)
    found = with_array(x, array, kind.with_(is_weak=False))
    return found if found.dtype is target else found.astype(target)


def constants_together(*tensors: Any) -> tuple[Any, ...]:
    """The tensors unchanged; inside a graph, tensors from outside become constants."""
    return tuple([as_constant_with(tensor, tensors) for tensor in tensors])


def result_dtype(operands: Sequence[Any], home: str) -> DType:
    """The dtype that the dialect promotes arrays, dtypes and Python numbers to."""
    kinds = [x._kind for x in operands if isinstance(x, TensorData)]
    dialect = common_dialect(kinds, home)
    sees_values = looks_at_values(dialect, _RESULT_TYPE, "function")
    seen = tuple([described(x, dialect, sees_values=sees_values) for x in operands])
    return answer(Question(_RESULT_TYPE, seen, dialect)).result


def permuted(x: TensorData, axes: Sequence[int]) -> Tensor:
    """The array with its dimensions in another order."""
    ndim = check_tensor(x, "permute_dims").ndim
    return moved("permute_dims", x, tuple([n + ndim if n < 0 else n for n in axes]))


def expanded(x: TensorData, axis: int | tuple[int, ...]) -> Tensor:
    """The array with new dimensions of length 1, at the given positions in the result."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = check_tensor(x, "expand_dims").ndim + len(axes)
    places = sorted({place % ndim for place in axes if -ndim <= place < ndim})
    if len(places) != len(axes):
        raise AxisError(
            f"expand_dims to {ndim} dimensions needs distinct axes from {-ndim} to {ndim - 1}, "
            f"not {axis}."
        )
    for place in places:
        x = moved("expand_dims", x, axis=place)
    return x  # type: ignore[return-value]


def slices(x: TensorData, axis: int) -> tuple[Tensor, ...]:
    """The slices of an array along a dimension."""
    if not x.ndim:
        raise AxisError("a 0-d array has no dimension along which there are slices: use x[None].")
    return tuple([with_array(x, array) for array in backend_result("unstack", x, axis=axis)])


def picked(name: str, x: TensorData, indices: Any, axis: int | None) -> Tensor:
    """The elements at some indices, by `take` or `take_along_axis`."""
    x, indices = constants_together(check_tensor(x, name), indices)
    return moved(name, x, indices, axis=axis)


def sorting_indices(x: TensorData, axis: int, descending: bool, stable: bool) -> Tensor:
    """The indices that sort the elements."""
    found = backend_result("argsort", x, axis=axis, descending=descending, stable=stable)
    return as_index(found, x)


def nonzero_indices(x: TensorData) -> tuple[Tensor, ...]:
    """The indices of all nonzero elements, one array per dimension."""
    return tuple([as_index(array, x) for array in backend_result("nonzero", x)])


def insertion_places(
    x1: TensorData, x2: Any, side: Literal["left", "right"], sorter: Tensor | None,
    home: str = DEFAULT,
) -> Tensor:  # fmt: skip
    """The result of `searchsorted`, which compares in the dtype that the dialect promotes to."""
    first, is_tensor = check_tensor(x1, "searchsorted"), isinstance(x2, TensorData)
    if is_tensor:
        first, x2 = constants_together(first, x2)
    joined = result_dtype((first, x2), home)
    first = first.astype(joined, copy=False)
    if is_tensor:
        second = x2.astype(joined, copy=False)
    else:
        number = first._kind.backend.make(x2, first.dtype, copy=None, device=first.device)
        second = with_array(first, number)
    order = None if sorter is None else sorter._array
    sought = second if second.ndim else second.reshape((1,))  # every backend accepts this shape
    found = backend_result("searchsorted", first, sought, side=side, sorter=order)
    places = as_index(found, first)
    return places if second.ndim else places.reshape(())


def differences(
    x: TensorData, axis: int, n: int, prepend: Tensor | None, append: Tensor | None,
    home: str = DEFAULT,
) -> Tensor:  # fmt: skip
    """The result of `diff`: each element less the one before it, n times."""
    found = check_tensor(x, "diff")
    if prepend is not None or append is not None:
        parts = [part for part in (prepend, x, append) if part is not None]
        found = apply_op("concat", *parts, home=home, axis=axis)
    if not found.ndim:
        raise AxisError(
            "diff needs a dimension, along which elements have neighbours: use x[None]."
        )
    before = [slice(None)] * found.ndim
    for _ in range(n):
        later, earlier = [*before], [*before]
        later[axis], earlier[axis] = slice(1, None), slice(None, -1)
        # Every framework has a difference of booleans here, also where it refuses minus.
        op = "ne" if found.dtype.kind == "bool" else "sub"
        found = apply_op(op, found[tuple(later)], found[tuple(earlier)], home=home)
    return found  # type: ignore[no-any-return]


# x[key] and x[key] = value on a backend's arrays, as a dialect's framework does them.

_FLOAT32, _FLOAT64 = dtype("float32"), dtype("float64")


def read_at(array: Any, key: Any, kind: Kind) -> Any:
    """The elements at an index, as a view or as a copy."""
    backend, elements = kind.backend, kind.current_dialect.values.memory.elements
    if kind.is_scalar and kind.has_scalars:  # its elements are those of a new array
        array = backend.make(array, None, copy=True, device=None)
    try:
        found = backend.read(array, key)
    except Exception as error:
        if not is_raw(error):
            raise
        raise _at(error, array, kind) from error
    parts = key if isinstance(key, tuple) else (key,)
    if found.shape or any(part is ... for part in parts):
        is_own = kind.current_dialect.values.memory.slices == own_values(backend).memory.slices
        return found if is_own else backend.make(found, None, copy=True, device=None)
    if elements == own_values(backend).memory.elements:
        return found
    if elements == "views":
        kept = (*parts, ...)  # a view instead of a scalar
        is_view = backend.owns(found) and not isinstance(backend, TakesConstants)
        return found if is_view else array[kept]
    return backend.make(found, None, copy=True, device=None)


def _at(error: Exception, array: Any, kind: Kind) -> Exception:
    """castwise's error for an index that the library refuses."""
    what = f"this index of {kind.dtype}{list(array.shape)}"
    return from_library(error, what, kind.backend.name)


def raw_key(key: Any) -> Any:
    """An index whose tensors are replaced by their arrays."""
    return tuple(map(raw_key, key)) if isinstance(key, tuple) else raw_array(key)


def assign(target: TensorData, key: Any, value: Any, *, is_filling: bool = False) -> None:
    """Writes a value into the elements at an index, as `target[key] = value` does.

    `is_filling` means that `fill_` does it.
    """
    try:
        _assign(target, key, value, is_filling)
    except (PromotionError, ArgumentError):
        read_at(target._array, raw_key(key), target._kind)  # an index that is not there comes first
        raise


def _assign(target: TensorData, key: Any, value: Any, is_filling: bool) -> None:
    if fast_path.running:
        fast_path.writing(target, value, *(key if isinstance(key, tuple) else (key,)))
    kind = target._kind
    if value is None or isinstance(value, (list, tuple, str)):  # this also refuses text
        value = array_and_kind(value, dialect=kind.current_dialect)[0]
    if isinstance(value, TensorData):
        value = as_constant_with(value, (target,))
        if value._kind.backend is not kind.backend:
            raise _not_assigned(value._kind.backend, kind.backend)
    seen = _seen(value, kind)
    if not is_filling:
        _check_0d(kind, seen)
    rules, keeps = kind.current_dialect, is_filling or target._keeps_dtype
    takes_any = not keeps and _is_whole(key, is_zero_d=kind.is_zero_d)
    wanted = whole_dtype(seen, kind.dtype, rules) if takes_any else kind.dtype
    seen = assigned_as(seen, wanted, rules)
    # What is written at the positions in an index array is cast, whatever it holds.
    checked = replace(seen, value=None) if seen.dtype and _index_arrays(key) else seen
    check_assignment(checked, wanted, rules, is_filling=is_filling, by_places=_spreads(key, value))
    if wanted is not kind.dtype:
        kind = target._kind = kind.with_(dtype=wanted)
        target._array = kind.backend.cast(target._array, wanted)
    element = _element(value, seen, kind)
    if isinstance(value, TensorData) and element is value._array and _is_read_first(kind):
        element = kind.backend.make(element, None, copy=True, device=None)
    try:
        target._array = _write_at(target._array, raw_key(key), element, kind)
    except Exception as error:
        if not is_raw(error):
            raise
        raise _at(error, target._array, kind) from error


def _seen(value: Any, kind: Kind) -> Operand:
    """An assigned value as the engine sees it; of a scalar also what it holds, if that counts."""
    if not isinstance(value, TensorData):
        return describe(value)
    own = value._kind
    is_seen = own.is_scalar and own.has_scalars and sees_scalar(kind.current_dialect, kind.dtype)
    if is_seen and own.backend.is_concrete(value._array):
        return numpy_scalar_operand(own.dtype, value.item())
    return own.operand


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
    arrays = _index_arrays(key)
    is_mask = not isinstance(key, tuple) and bool(getattr(key, "shape", ())) and _is_bool(key)
    return bool(arrays) and not (is_mask and getattr(value, "size", 1) == 1)


def _index_arrays(key: Any) -> list[Any]:
    """The parts of an index that are arrays, or lists of positions."""
    parts = key if isinstance(key, tuple) else (key,)
    return [part for part in parts if isinstance(part, list) or _is_array(part)]


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
        raise ArgumentError(
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
