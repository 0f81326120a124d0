"""Tensors as JAX pytrees: jit, grad, vmap, scan and others accept and return them."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import jax

from castwise.arrays.backend import Backend
from castwise.arrays.backends import array_backend, backend_named
from castwise.arrays.kinds import Kind, interned
from castwise.arrays.tensor import Tensor, Variable
from castwise.catalog import chosen_here
from castwise.errors import UsageError
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.live import to_dtype


class _Carried(NamedTuple):
    """Everything about a tensor except its array, compared whenever JAX compares two pytrees.

    It contains the context's dialect, so that code compiled under one does not run under another.
    """

    dialect: Dialect | None
    context: Dialect | None
    home: str
    is_weak: bool


def introduce() -> None:
    """Registers tensors as pytrees."""
    for cls in (Tensor, Variable):
        jax.tree_util.register_pytree_with_keys(
            cls, _flattened_with_keys, functools.partial(_unflattened, cls), _flattened
        )


def _flattened(tensor: Tensor) -> tuple[tuple[Any], _Carried]:
    kind = tensor._kind
    context = None if kind.dialect else chosen_here()
    return (tensor._array,), _Carried(kind.dialect, context, kind.home, kind.is_weak)


def _flattened_with_keys(tensor: Tensor) -> tuple[tuple[tuple[Any, Any]], _Carried]:
    (array,), carried = _flattened(tensor)
    return ((jax.tree_util.GetAttrKey("array"), array),), carried


def _unflattened(cls: type[Tensor], carried: _Carried, children: Iterable[Any]) -> Tensor:
    """A tensor with whatever JAX puts into it, which need not be an array."""
    (child,) = children
    tensor = object.__new__(cls)
    tensor._array = child
    tensor._kind = _kind(child, array_backend(child) or backend_named("jax"), carried)
    return tensor


def _kind(child: Any, backend: Backend, carried: _Carried) -> Kind:
    try:
        dtype, is_zero_d = to_dtype(child.dtype), not child.shape
    except (AttributeError, UsageError):  # a placeholder of JAX, which has no dtype
        dtype, is_zero_d = cast(DType, None), False
    kind = Kind(backend, dtype, is_zero_d, carried.is_weak, carried.dialect, carried.home)
    return interned(kind)
