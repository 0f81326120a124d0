"""New tensors, whose default dtypes are the dialect's for Python numbers; the dtypes that tensors
have; and what the namespace says of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from castwise.array_api.functions import Number
from castwise.arrays import fast_path
from castwise.arrays.backends import DEFAULT_BACKEND, array_backend, backend_named
from castwise.arrays.calls import common_dialect
from castwise.arrays.data import default_dtype
from castwise.arrays.elements import backend_result, check_tensor, result_dtype
from castwise.arrays.kinds import Kind, interned, raw_array, truncated_dtype
from castwise.arrays.tensor import Tensor, wrapped
from castwise.arrays.tensor import asarray as tensor_of_any_home
from castwise.catalog import STANDARD, chosen_here, dialect_named, to_dialect
from castwise.engine import ask
from castwise.errors import UsageError
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import STANDARD_KINDS, DType, dtypes_named
from castwise.vocab.dtypes import dtype as dtype_named
from castwise.vocab.live import to_dtype

__all__ = [
    "__array_namespace_info__", "arange", "asarray", "astype", "can_cast", "empty", "empty_like",
    "eye", "finfo", "from_dlpack", "full", "full_like", "iinfo", "isdtype", "linspace", "ones",
    "ones_like", "result_type", "zeros", "zeros_like",
]  # fmt: skip

Shape: TypeAlias = int | tuple[int, ...]
DialectLike: TypeAlias = str | Dialect | None
DTypeLike: TypeAlias = DType | str | None
_UNKNOWN = dtype_named("bool")  # a placeholder until the dialect gives one
STANDARD_DTYPES = dtypes_named(
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
)


def asarray(
    obj: Any, /, *, dtype: DTypeLike = None, device: Any = None, copy: bool | None = None,
    dialect: DialectLike = None, backend: str | None = None,
) -> Tensor:  # fmt: skip
    """A tensor of numbers, nested lists, an array of any backend or another tensor.

    >>> asarray([1, 2])
    Tensor([1, 2], dtype=int64, dialect=array-api, backend=numpy)
    >>> asarray([1, 2], dialect="torch") + 0.5
    Tensor([1.5, 2.5], dtype=float32, dialect=torch, backend=numpy)
    """
    return tensor_of_any_home(
        obj, dtype=dtype, dialect=dialect, backend=backend, copy=copy, device=device, home=STANDARD
    )


def zeros(
    shape: Shape, *, dtype: DTypeLike = None, device: Any = None, dialect: DialectLike = None,
    backend: str | None = None,
) -> Tensor:  # fmt: skip
    """A tensor of zeros."""
    return _new("zeros", _kind(dtype, 0.0, dialect, backend), shape, device=device)


def ones(
    shape: Shape, *, dtype: DTypeLike = None, device: Any = None, dialect: DialectLike = None,
    backend: str | None = None,
) -> Tensor:  # fmt: skip
    """A tensor of ones."""
    return _new("ones", _kind(dtype, 0.0, dialect, backend), shape, device=device)


def empty(
    shape: Shape, *, dtype: DTypeLike = None, device: Any = None, dialect: DialectLike = None,
    backend: str | None = None,
) -> Tensor:  # fmt: skip
    """A tensor of uninitialized values."""
    return _new("empty", _kind(dtype, 0.0, dialect, backend), shape, device=device)


def full(
    shape: Shape, fill_value: Number, *, dtype: DTypeLike = None, device: Any = None,
    dialect: DialectLike = None, backend: str | None = None,
) -> Tensor:  # fmt: skip
    """A tensor filled with one value."""
    kind = _kind(dtype, fill_value, dialect, backend)
    return _new("full", kind, shape, fill_value, device=device)


def eye(
    n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: DTypeLike = None,
    device: Any = None, dialect: DialectLike = None, backend: str | None = None,
) -> Tensor:  # fmt: skip
    """A matrix of zeros with ones on a diagonal."""
    return _new("eye", _kind(dtype, 0.0, dialect, backend), n_rows, n_cols, k=k, device=device)


def arange(
    start: float, /, stop: float | None = None, step: float = 1, *, dtype: DTypeLike = None,
    device: Any = None, dialect: DialectLike = None, backend: str | None = None,
) -> Tensor:  # fmt: skip
    """Evenly spaced numbers from start up to stop, without stop."""
    first, last = (0, start) if stop is None else (start, stop)
    kind = _kind(dtype, [0 if _is_open(n) else n for n in (first, last, step)], dialect, backend)
    return _new("arange", kind, first, last, step, device=device)


def linspace(
    start: complex, stop: complex, /, num: int, *, dtype: DTypeLike = None, device: Any = None,
    endpoint: bool = True, dialect: DialectLike = None, backend: str | None = None,
) -> Tensor:  # fmt: skip
    """A given number of evenly spaced numbers from start to stop."""
    kind = _kind(dtype, [start, stop, 0.0], dialect, backend)
    return _new("linspace", kind, start, stop, num, endpoint=endpoint, device=device)


def zeros_like(x: Tensor, /, *, dtype: DTypeLike = None, device: Any = None) -> Tensor:
    """Zeros in the shape of another tensor."""
    return _alike("zeros_like", x, dtype=dtype, device=device)


def ones_like(x: Tensor, /, *, dtype: DTypeLike = None, device: Any = None) -> Tensor:
    """Ones in the shape of another tensor."""
    return _alike("ones_like", x, dtype=dtype, device=device)


def empty_like(x: Tensor, /, *, dtype: DTypeLike = None, device: Any = None) -> Tensor:
    """Uninitialized values in the shape of another tensor."""
    return _alike("empty_like", x, dtype=dtype, device=device)


def full_like(
    x: Tensor, /, fill_value: Number, *, dtype: DTypeLike = None, device: Any = None
) -> Tensor:
    """One value, in the shape of another tensor."""
    return _alike("full_like", x, fill_value, dtype=dtype, device=device)


def from_dlpack(
    x: Any, /, *, device: Any = None, copy: bool | None = None, dialect: DialectLike = None,
    backend: str | None = None,
) -> Tensor:  # fmt: skip
    """A tensor of an array that another library shares by DLPack."""
    held = raw_array(x)
    own = None if dialect is None else to_dialect(dialect)
    holder = (
        backend_named(backend) if backend else array_backend(held) or backend_named(DEFAULT_BACKEND)
    )
    if not hasattr(holder.namespace, "from_dlpack"):
        raise UsageError(f"the backend {holder.name} does not accept DLPack arrays: use asarray.")
    asked = {"device": device, "copy": copy}
    options = {name: value for name, value in asked.items() if value is not None}
    array = holder.namespace.from_dlpack(held, **options)
    kind = Kind(holder, holder.dtype_of(array), not array.shape, False, own, STANDARD)
    return Tensor._of(array, interned(kind))


def _kind(dtype: DTypeLike, numbers: Any, dialect: DialectLike, backend: str | None) -> Kind:
    """The kind of a new array: in the requested dtype, or the dialect's for Python numbers."""
    own = None if dialect is None else to_dialect(dialect)
    holder = backend_named(backend or DEFAULT_BACKEND)
    kind = Kind(holder, _UNKNOWN, False, False, own, STANDARD)
    current = kind.current_dialect
    wanted = to_dtype(dtype) if dtype is not None else default_dtype(numbers, current)
    return kind.with_(dtype=truncated_dtype(wanted or _UNKNOWN, current))


def _is_open(size: Any) -> bool:
    """Whether a size, or one in a shape, is symbolic, so that only a running graph knows it."""
    return isinstance(size, str) or (isinstance(size, tuple) and any(map(_is_open, size)))


def _new(name: str, kind: Kind, *arguments: Any, **options: Any) -> Tensor:
    if _is_open(arguments):
        kind = kind.with_(backend=fast_path.backend_here() or kind.backend)
    backend = kind.backend
    function = getattr(backend.namespace, name)
    return wrapped(function(*arguments, dtype=backend.native(kind.dtype), **options), kind)


def _alike(name: str, x: Tensor, *arguments: Any, dtype: DTypeLike, device: Any) -> Tensor:
    kind = check_tensor(x, name)._kind
    wanted = kind.dtype if dtype is None else truncated_dtype(to_dtype(dtype), kind.current_dialect)
    native = kind.backend.native(wanted)
    found = backend_result(name, x, *arguments, dtype=native, device=device)
    return wrapped(found, kind if dtype is None else kind.with_(is_weak=False))


# The dtypes of tensors, and what the namespace says of itself.


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
    if isinstance(kind, str):
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
        return dict(_own_info().capabilities())

    def default_device(self) -> Any:
        """The device of new arrays."""
        return _own_info().default_device()

    def devices(self) -> tuple[Any, ...]:
        """The devices that arrays can be on."""
        return tuple(_own_info().devices())

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The default dtypes of new arrays: the dialect's for Python numbers."""
        dialect = chosen_here() or dialect_named(STANDARD)
        names = {kind: dialect.python.get(number) for kind, number in _DEFAULTS.items()}
        names["indexing"] = dialect.becomes.index
        dtypes = {kind: dtype_named(name) for kind, name in names.items() if name}
        return {kind: truncated_dtype(dtype, dialect) for kind, dtype in dtypes.items()}

    def dtypes(
        self, *, device: Any = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """The dtypes of the standard, or those of one kind."""
        held = backend_named(DEFAULT_BACKEND).dtypes
        return {
            dtype.name: dtype
            for dtype in STANDARD_DTYPES
            if dtype in held and (kind is None or isdtype(dtype, kind))
        }


def __array_namespace_info__() -> Info:  # noqa: N807 -- the standard's name
    """Information about the namespace."""
    return Info()


def _own_info() -> Any:
    """What the backend's namespace says of itself."""
    return backend_named(DEFAULT_BACKEND).namespace.__array_namespace_info__()
