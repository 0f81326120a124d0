"""How the functions of the namespace run: by the engine's ops, or on raw arrays."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, TypeAlias

from castwise.arrays.apply import apply_op, apply_several
from castwise.arrays.backend import held_dtype, two_backends
from castwise.arrays.tensor import Tensor, as_constant_with, wrapped
from castwise.catalog.dialects import STANDARD
from castwise.errors import UsageError
from castwise.vocab.dtypes import dtype as dtype_named
from castwise.vocab.live import to_dtype

Number: TypeAlias = bool | int | float | complex
Operand: TypeAlias = Tensor | Number
Bound: TypeAlias = Tensor | int | float | None
Axes: TypeAlias = int | tuple[int, ...] | None


def op(name: str, *operands: Any, **options: Any) -> Tensor:
    """An op of the engine, under the standard's dialect if no other is chosen."""
    return apply_op(name, *operands, home=STANDARD, **options)


def several(name: str, *operands: Any, **options: Any) -> tuple[Tensor, ...]:
    """A function with several results, or with one whose dtype is not the compute dtype."""
    return apply_several(name, *operands, home=STANDARD, **options)


def one(name: str, *operands: Any, **options: Any) -> Tensor:
    """A function with one result whose dtype is not the compute dtype."""
    return several(name, *operands, **options)[0]


def laid_out(name: str, x: Tensor, *arguments: Any, **options: Any) -> Tensor:
    """A function that moves elements and computes nothing, so that the dtype stays the same."""
    return wrapped(called(name, x, *arguments, **options), tensor(x, name)._kind)


def called(name: str, x: Tensor, *arguments: Any, **options: Any) -> Any:
    """The result of the backend's own function of a name for raw arrays."""
    first = tensor(x, name)
    try:
        function = attrgetter(name)(first._kind.backend.namespace)  # such as fft.fftshift
    except AttributeError:
        raise UsageError(f"the backend {first.backend} has no {name}.") from None
    return function(first._array, *[_raw(argument, first) for argument in arguments], **options)


def together(*tensors: Tensor) -> tuple[Tensor, ...]:
    """The tensors unchanged; inside a graph, tensors from outside become constants."""
    return tuple([as_constant_with(tensor, tensors) for tensor in tensors])


def _raw(argument: Any, first: Tensor) -> Any:
    """An argument in the form that the backend takes.

    Raises UsageError for a tensor of another backend.
    """
    if not isinstance(argument, Tensor):
        return argument
    if argument.backend != first.backend:
        raise two_backends(first.backend, argument.backend)
    return argument._array


def tensor(x: Any, name: str) -> Tensor:
    """The argument itself, which must be a tensor.

    Raises UsageError for anything else.
    """
    if isinstance(x, Tensor):
        return x
    raise UsageError(
        f"{name} takes a tensor, not a {type(x).__name__}: make one, castwise.array_api.asarray(x)."
    )


def alone(number: Number, x: Tensor) -> Tensor:
    """A Python number as a 0-d tensor, with the dtype and device of another tensor."""
    array = x._kind.backend.make(number, x.dtype, copy=None, device=x.device)
    return wrapped(array, x._kind)


def as_index(array: Any, x: Tensor) -> Tensor:
    """A backend's array of indices or counts, in the dialect's dtype for them."""
    kind = x._kind
    target = dtype_named(kind.current_dialect.becomes.index)
    found = wrapped(array, kind.with_(is_weak=False))
    return found if found.dtype is target else found.astype(target)


def reduced(name: str, x: Tensor, dtype: object, **options: Any) -> Tensor:
    """A sum or product, in the dialect's accumulator dtype or in the requested one."""
    if dtype is None:
        return op(name, x, **options)
    target = held_dtype(to_dtype(dtype), tensor(x, name)._kind.current_dialect)
    return op(name, x.astype(target, copy=False), **options).astype(target, copy=False)
