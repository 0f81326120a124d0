"""Information about the namespace: devices, dtypes and capabilities."""

from __future__ import annotations

from typing import Any

from castwise.array_api.data_type_functions import isdtype
from castwise.array_api.data_types import STANDARD_DTYPES
from castwise.arrays.backend import Backend, backend_named
from castwise.arrays.backends import DEFAULT_BACKEND
from castwise.arrays.kinds import truncated_dtype
from castwise.catalog.dialects import STANDARD, chosen_here, dialect_named
from castwise.vocab.dtypes import DType
from castwise.vocab.dtypes import dtype as dtype_named

__all__ = ["__array_namespace_info__"]

# kind of the standard -> the Python number whose dtype is its default
_DEFAULTS = {"real floating": "float", "complex floating": "complex", "integral": "int"}


class Info:
    """What the default backend supports under the current dialect."""

    def capabilities(self) -> dict[str, Any]:
        """What the backend can do with shapes."""
        return dict(_backend().namespace.__array_namespace_info__().capabilities())

    def default_device(self) -> Any:
        """The device of new arrays."""
        return _backend().namespace.__array_namespace_info__().default_device()

    def devices(self) -> tuple[Any, ...]:
        """The devices that arrays can be on."""
        return tuple(_backend().namespace.__array_namespace_info__().devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The default dtypes of new arrays: the dialect's for Python numbers."""
        dialect = chosen_here() or dialect_named(STANDARD)
        found = {
            kind: dialect.python[number]
            for kind, number in _DEFAULTS.items()
            if number in dialect.python
        }
        named = {
            kind: dtype_named(name)
            for kind, name in (*found.items(), ("indexing", dialect.becomes.index))
        }
        return {kind: truncated_dtype(dtype, dialect) for kind, dtype in named.items()}

    def dtypes(
        self, *, device: Any = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """The dtypes of the standard, or those of one kind."""
        held = _backend().dtypes
        return {
            dtype.name: dtype
            for dtype in STANDARD_DTYPES
            if dtype in held and (kind is None or isdtype(dtype, kind))
        }


def __array_namespace_info__() -> Info:  # noqa: N807 -- the standard's name
    """Information about the namespace."""
    return Info()


def _backend() -> Backend:
    return backend_named(DEFAULT_BACKEND)
