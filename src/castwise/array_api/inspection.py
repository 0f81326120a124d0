"""Questions about dtypes, which the engine answers, the explicit cast, and what the namespace says
of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from castwise.array_api.constants import STANDARD_DTYPES
from castwise.arrays.backend import Backend, backend_named
from castwise.arrays.backends import DEFAULT_BACKEND
from castwise.arrays.calls import common_dialect
from castwise.arrays.elements import check_tensor, result_dtype
from castwise.arrays.kinds import truncated_dtype
from castwise.arrays.tensor import Tensor
from castwise.catalog.dialects import STANDARD, chosen_here, dialect_named
from castwise.engine import ask
from castwise.errors import UsageError
from castwise.vocab.dtypes import STANDARD_KINDS, DType
from castwise.vocab.dtypes import dtype as dtype_named
from castwise.vocab.live import to_dtype

__all__ = [
    "__array_namespace_info__", "astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"
]  # fmt: skip


def astype(x: Tensor, dtype: DType | str, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """The values in another dtype, by an explicit cast."""
    found: Tensor = check_tensor(x, "astype").astype(dtype, copy=copy)
    return found if device is None else found.to_device(device)


def can_cast(from_: DType | Tensor, to: DType, /) -> bool:
    """Whether the dialect casts one dtype to another implicitly."""
    kinds = [from_._kind] if isinstance(from_, Tensor) else []
    source = from_.dtype if isinstance(from_, Tensor) else from_
    return ask.can_cast(source, to, dialect=common_dialect(kinds, STANDARD))


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype that the dialect promotes arrays, dtypes and Python numbers to."""
    if not arrays_and_dtypes:
        raise UsageError("result_type takes at least one array, dtype or number.")
    return result_dtype(arrays_and_dtypes, STANDARD)


def isdtype(dtype: DType, kind: DType | str | tuple[DType | str, ...]) -> bool:
    """Whether a dtype equals one of the given dtypes or belongs to one of the standard's kinds."""
    asked = to_dtype(dtype)
    wanted = kind if isinstance(kind, tuple) else (kind,)
    return any([_is_among(asked, one) for one in wanted])


def _is_among(dtype: DType, kind: DType | str) -> bool:
    if isinstance(kind, str) and not isinstance(kind, DType):
        if kind not in STANDARD_KINDS:
            raise UsageError(f"unknown kind {kind[:40]!r}: use one of {', '.join(STANDARD_KINDS)}.")
        return STANDARD_KINDS[kind](dtype)
    return dtype is to_dtype(kind)


@dataclass(frozen=True)
class FloatFacts:
    """The limits of a float dtype, or of the parts of a complex one."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


@dataclass(frozen=True)
class IntegerFacts:
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: DType | Tensor, /) -> FloatFacts:
    """The limits of a float or complex dtype."""
    dtype = _dtype(type)
    if dtype.kind not in ("float", "complex"):
        raise UsageError(f"finfo takes float and complex dtypes, not {dtype}: use iinfo.")
    part = dtype.part
    normal = float(part.smallest) * 2.0**part.mantissa_bits
    eps = 2.0**-part.mantissa_bits
    return FloatFacts(part.bits, eps, float(part.max), float(part.min), normal, part)


def iinfo(type: DType | Tensor, /) -> IntegerFacts:
    """The limits of an integer dtype."""
    dtype = _dtype(type)
    if dtype.kind != "int":
        raise UsageError(f"iinfo takes integer dtypes, not {dtype}.")
    return IntegerFacts(dtype.bits, int(dtype.max), int(dtype.min), dtype)


def _dtype(thing: DType | Tensor) -> DType:
    return thing.dtype if isinstance(thing, Tensor) else to_dtype(thing)


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
