"""What a backend is, and what all backends share.

castwise casts every operand before the backend computes, so a backend's own promotion never shows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from castwise.errors import UsageError
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Scalar


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


@runtime_checkable
class SharesMemory(Protocol):
    """A backend that writes into arrays, and whose views share the memory of what they show."""

    def lies_in_rows(self, array: Any) -> bool:
        """Whether the elements follow each other in memory, row by row."""

    def extent(self, array: Any) -> tuple[int, int]:
        """The address of its first byte, and that after its last; two arrays whose extents do not
        overlap share no memory."""


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


def two_backends(one: str, other: str) -> UsageError:
    """The error for mixing arrays of two libraries."""
    return UsageError(
        f"arrays of the backends {one} and {other} do not mix: convert one first, "
        f"cw.asarray(x, backend={one!r})."
    )


def lacking(dtype: DType, backend: str, hint: str = "") -> UsageError:
    """The error for a dtype that a backend lacks; it names the backends that have it.

    `hint` is other advice, if there is any.
    """
    installed = [other for find in _finders for other in find()]
    others = [other.name for other in installed if dtype in other.dtypes]
    have = f"of those installed {', '.join(others)} do" if others else "no installed one does"
    message = f"the backend {backend} has no {dtype} arrays; {have}."
    return UsageError(f"{message} {hint}" if hint else message)


Finder = Callable[[], Iterable[Backend]]
_finders: list[Finder] = []


def finds_installed(find: Finder) -> Finder:
    """Marks the function that finds the installed backends. It stands above them all, and their
    error for a missing dtype asks it."""
    _finders.append(find)
    return find


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
