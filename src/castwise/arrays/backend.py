"""What a backend is, and which one an array belongs to.

castwise casts every operand before the backend computes, so a backend's own promotion never shows.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable
from weakref import WeakKeyDictionary

from castwise.errors import UsageError, did_you_mean
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Scalar

_BACKENDS = "castwise.arrays.backends"
_FOLDER = Path(__file__).with_name("backends")


class Backend(Protocol):
    """A library that holds arrays and computes with them in one dtype at a time."""

    name: str
    speaks: str  # the dialect whose value rules this library follows

    @property
    def dtypes(self) -> Collection[DType]:
        """The dtypes that its arrays can currently have."""

    @property
    def namespace(self) -> Any:
        """The functions of the Array API standard on its arrays."""

    def __hash__(self) -> int:
        """There is one object per backend."""

    def owns(self, thing: Any) -> bool:
        """Whether something is an array of this library."""

    def is_concrete(self, array: Any) -> bool:
        """Whether the values can be read without computing or tracing anything."""

    def dtype_of(self, array: Any) -> DType:
        """The dtype of an array."""

    def native(self, dtype: DType) -> Any:
        """The library's own dtype object.

        Raises UsageError if it has none.
        """

    def make(self, data: Any, dtype: DType | None, *, copy: bool | None, device: Any) -> Any:
        """An array of numbers, nested lists, a NumPy array, or an array of its own."""

    def cast(self, array: Any, dtype: DType) -> Any:
        """The array in another dtype."""

    def number(self, value: Scalar, dtype: DType) -> Any:
        """A Python number for the library to compute with; integers out of range wrap."""

    def function(self, op: str, dtype: DType) -> Callable[..., Any] | None:
        """The function for an op on arrays of this dtype, which rounds once; None if it has
        none."""

    def read(self, array: Any, key: Any) -> Any:
        """The elements of an array at an index."""

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """Writes values of the array's dtype into it and returns it, or a new array with them."""

    def to_numpy(self, array: Any) -> Any:
        """The values as a NumPy array."""


@runtime_checkable
class TakesConstants(Protocol):
    """A backend that also takes tensors of other backends, as a graph takes constants."""

    takes_constants: bool

    def constant_number(self, array: Any) -> Scalar | None:
        """The number in a 0-d constant; None for any other array."""


@runtime_checkable
class TracesAlone(Protocol):
    """A backend whose tracers accept only arrays made while they trace."""

    plain: type  # the type of arrays that have values


def constant(backend: Backend, value: Scalar, dtype: DType) -> Callable[[Any], Any]:
    """A function that returns the number to compute with an array: made once, except while tracing,
    when each call makes a new one."""
    if not isinstance(backend, TracesAlone):
        number = backend.number(value, dtype)
        return lambda array: number
    plain: type = backend.plain
    made: list[Any] = []

    def number_for(array: Any) -> Any:
        if made and type(array) is plain:
            return made[0]
        number = backend.number(value, dtype)
        if backend.is_concrete(number):
            made[:] = [number]
        return number

    return number_for


def known_number(operand: Any, backend: Backend) -> float | None:
    """A Python number or the value of a 0-d array; None if it cannot be read."""
    if not backend.owns(operand) or backend.is_concrete(operand):
        return float(operand)
    known = backend.constant_number(operand) if isinstance(backend, TakesConstants) else None
    return None if known is None else float(known)  # type: ignore[arg-type]


@functools.cache
def backend_named(name: str) -> Backend:
    """The backend of a name such as "numpy".

    Raises UsageError for an unknown name or a library that is not installed.
    """
    known = backend_names()
    if name not in known:
        raise UsageError(f"unknown backend {str(name)[:40]!r}.{did_you_mean(str(name), known)}")
    try:
        module = importlib.import_module(f"{_BACKENDS}.{name}")
        found: Backend = module.backend()
    except ImportError as error:
        raise UsageError(
            f"the backend {name} needs {error.name}: pip install castwise[{name}]."
        ) from None
    return found


@functools.cache
def backend_names() -> tuple[str, ...]:
    """The names of all backends, installed or not."""
    files = [file.name for file in pkgutil.iter_modules([str(_FOLDER)])]
    return tuple(name for name in files if "_" not in name)  # numpy_reductions is a part of numpy


def introduce_tensors() -> None:
    """Registers tensors with the libraries that need it and are already loaded."""
    for file in pkgutil.iter_modules([str(_FOLDER)]):
        library, _, part = file.name.partition("_")
        if part == "compiled" and library in sys.modules:
            importlib.import_module(f"{_BACKENDS}.{file.name}").introduce()


def array_backend(thing: Any) -> Backend | None:
    """The backend that an array belongs to, or None."""
    name = _name_by_type(type(thing))
    backend = backend_named(name) if name else None
    return backend if backend and backend.owns(thing) else None


def _name_by_type(kind: type) -> str | None:
    """The backend a type may belong to, found without importing any library."""
    if kind not in _names:
        roots = {base.__module__.partition(".")[0] for base in kind.__mro__}
        found = (name for name in backend_names() if roots & {name, f"{name}lib"})
        _names[kind] = next(found, None)
    return _names[kind]


_names: WeakKeyDictionary[type, str | None] = WeakKeyDictionary()


def two_backends(one: str, other: str) -> UsageError:
    """The error for mixing arrays of two libraries."""
    return UsageError(
        f"arrays of the backends {one} and {other} do not mix: convert one first, "
        f"cw.asarray(x, backend={one!r})."
    )


def lacking(dtype: DType, backend: Backend, hint: str = "") -> UsageError:
    """The error for a dtype that a backend lacks; it names the backends that have it.

    `hint` is other advice, if there is any.
    """
    others = [name for name in backend_names() if dtype in _dtypes_of(name)]
    have = f"of those installed {', '.join(others)} do" if others else "no installed one does"
    message = f"the backend {backend.name} has no {dtype} arrays; {have}."
    return UsageError(f"{message} {hint}" if hint else message)


def _dtypes_of(name: str) -> Collection[DType]:
    try:
        return backend_named(name).dtypes
    except UsageError:  # not installed: its dtypes are unknown
        return ()


# Regions: stretches of a program that a backend runs at once, instead of node by node.


class Computes(Protocol):
    """Computes the results of a region node by node, on arrays of any backend."""

    def __call__(self, backend: Backend, arrays: Sequence[Any]) -> list[Any]: ...


@dataclass(frozen=True, eq=False)
class Region:
    """Elementwise nodes that follow each other. It is plain data, so another process can run it."""

    compute: Computes
    dtypes: tuple[DType, ...]  # of its results, which all have one shape
    text: str  # what it computes; equal for two regions only if they compute the same


@runtime_checkable
class RunsRegions(Protocol):
    """A backend that runs a region at once, with the same bits as node by node."""

    def takes(self, op: str, compute: DType | None, dtypes: Sequence[DType]) -> bool:
        """Whether a region may contain an elementwise op, or a cast, which computes in no dtype.
        `dtypes` are those of its result and its inputs, in this order."""

    def whole_region(self, region: Region) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """A function that computes the results of a region from its arrays. Numbers may be among
        them."""
