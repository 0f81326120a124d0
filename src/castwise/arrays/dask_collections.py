"""Tensors of Dask arrays as Dask collections: for `dask.compute(t)`, `dask.persist(t)` and the
arguments of `dask.delayed`. Tensors of other libraries are not collections."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.array.optimization import optimize
from dask.base import normalize_token

from castwise.arrays.backends import backend_named
from castwise.arrays.backends.dask_chunks import sendable
from castwise.arrays.kinds import Kind, interned
from castwise.arrays.tensor import Tensor
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType


class _Like(NamedTuple):
    """What a computed or persisted tensor keeps of the original; it is sent between processes."""

    dtype: DType
    is_weak: bool
    dialect: Dialect | None
    home: str

    def holding(self, array: Any, backend: str) -> Tensor:
        """A tensor like the original, with another array."""
        return Tensor._of(array, interned(Kind(
            backend_named(backend), self.dtype, not array.shape, self.is_weak, self.dialect,
            self.home,
        )))  # fmt: skip


def introduce() -> None:
    """Registers tensors with Dask, through the methods of its protocol."""
    for name, method in {
        "__dask_graph__": _graph,
        "__dask_keys__": _keys,
        "__dask_layers__": _layers,
        "__dask_tokenize__": _token,
        "__dask_postcompute__": _postcompute,
        "__dask_postpersist__": _postpersist,
        "__dask_optimize__": staticmethod(optimize),
        "__dask_scheduler__": staticmethod(da.Array.__dask_scheduler__),
    }.items():
        setattr(Tensor, name, method)


def _graph(tensor: Tensor) -> Mapping[Hashable, Any] | None:
    """The tasks; None for a tensor that is not a collection."""
    is_lazy = isinstance(tensor._array, da.Array)
    return sendable(tensor._array).__dask_graph__() if is_lazy else None


def _keys(tensor: Tensor) -> list[Any]:
    return sendable(tensor._array).__dask_keys__()  # type: ignore[no-any-return]


def _layers(tensor: Tensor) -> tuple[str, ...]:
    return sendable(tensor._array).__dask_layers__()  # type: ignore[no-any-return]


def _token(tensor: Tensor) -> Any:
    """The token of a tensor of any library: everything that its results depend on."""
    like = _like(tensor)
    return type(tensor).__name__, like.dtype.name, normalize_token((tensor._array, like[1:]))


def _postcompute(tensor: Tensor) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    finish, given = sendable(tensor._array).__dask_postcompute__()
    return _computed, (finish, given, _like(tensor))


def _computed(results: Any, finish: Callable[..., Any], given: Any, like: _Like) -> Tensor:
    return like.holding(np.asarray(finish(results, *given)), "numpy")


def _postpersist(tensor: Tensor) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    rebuild, given = sendable(tensor._array).__dask_postpersist__()
    return _persisted, (rebuild, given, _like(tensor))


def _persisted(
    graph: Any, rebuild: Callable[..., Any], given: Any, like: _Like, **options: Any
) -> Tensor:
    return like.holding(rebuild(graph, *given, **options), "dask")


def _like(tensor: Tensor) -> _Like:
    kind = tensor._kind
    return _Like(kind.dtype, kind.is_weak, kind.dialect, kind.home)
