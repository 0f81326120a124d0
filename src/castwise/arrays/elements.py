"""How elements are moved, picked, sorted and searched, which computes nothing.

The backend's own functions run on the arrays, and the dtype stays the same; indices and counts have
the dialect's dtype for them. Methods of tensors and the namespace of the standard share this.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from castwise.arrays.apply import apply_op
from castwise.arrays.backend import two_backends
from castwise.arrays.calls import common_dialect, described
from castwise.arrays.kinds import Kind, TensorData, as_constant_with, fitted
from castwise.catalog.dialects import DEFAULT
from castwise.engine.ask import answer
from castwise.engine.decision import Question
from castwise.engine.plan import looks_at_values
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType, dtype
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
    return function(first._array, *[_raw(argument, first) for argument in arguments], **options)


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
        raise IndexError(
            f"expand_dims to {ndim} dimensions needs distinct axes from {-ndim} to {ndim - 1}, "
            f"not {axis}."
        )
    for place in places:
        x = moved("expand_dims", x, axis=place)
    return x  # type: ignore[return-value]


def slices(x: TensorData, axis: int) -> tuple[Tensor, ...]:
    """The slices of an array along a dimension."""
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
    x1: TensorData,
    x2: Any,
    side: Literal["left", "right"],
    sorter: Tensor | None,
    home: str = DEFAULT,
) -> Tensor:
    """The result of `searchsorted`, which compares in the dtype that the dialect promotes to."""
    if isinstance(x2, TensorData):
        x1, x2 = constants_together(check_tensor(x1, "searchsorted"), x2)
    joined = result_dtype((check_tensor(x1, "searchsorted"), x2), home)
    first: Any = x1
    first = first.astype(joined, copy=False)
    if isinstance(x2, TensorData):
        second: Any = x2
        second = second.astype(joined, copy=False)
    else:
        number = first._kind.backend.make(x2, first.dtype, copy=None, device=first.device)
        second = with_array(first, number)
    order = None if sorter is None else sorter._array
    sought = second if second.ndim else second.reshape((1,))  # every backend accepts this shape
    found = backend_result("searchsorted", first, sought, side=side, sorter=order)
    places = as_index(found, x1)
    return places if second.ndim else places.reshape(())


def differences(
    x: TensorData,
    axis: int,
    n: int,
    prepend: Tensor | None,
    append: Tensor | None,
    home: str = DEFAULT,
) -> Tensor:
    """The result of `diff`: each element less the one before it, n times."""
    found = check_tensor(x, "diff")
    if prepend is not None or append is not None:
        parts = [part for part in (prepend, x, append) if part is not None]
        found = apply_op("concat", *parts, home=home, axis=axis)
    before = [slice(None)] * found.ndim
    for _ in range(n):
        later, earlier = [*before], [*before]
        later[axis], earlier[axis] = slice(1, None), slice(None, -1)
        found = apply_op("sub", found[tuple(later)], found[tuple(earlier)], home=home)
    return found  # type: ignore[no-any-return]
