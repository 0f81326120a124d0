"""What tensors are made of: Python numbers, nested lists of them, and arrays of any library."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from castwise.arrays.backend import Backend
from castwise.arrays.backends import DEFAULT_BACKEND, array_backend, backend_named
from castwise.arrays.kinds import Kind, TensorData, interned, truncated_dtype
from castwise.catalog import DEFAULT, to_dialect
from castwise.engine.ask import array_dialect
from castwise.errors import ArgumentError, PromotionError, ScalarRangeError, UsageError
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype, dtypes_named
from castwise.vocab.live import check_dense, to_dtype
from castwise.vocab.spellings import out_of_scope

_ANY = dtype("bool")  # the dtype of a kind that is only asked for its dialect


def array_and_kind(
    data: Any, *, dtype: object = None, dialect: str | Dialect | None = None,
    backend: str | None = None, copy: bool | None = None, device: Any = None, home: str = DEFAULT,
) -> tuple[Any, Kind]:  # fmt: skip
    """The array of a backend, and the kind, of the tensor that `asarray` makes of data."""
    is_weak = bool(getattr(data, "weak_type", False))
    of_data = None
    if isinstance(data, TensorData):
        dialect = data._kind.dialect if dialect is None else dialect
        home = data._kind.home if home == DEFAULT else home
        of_data = data._kind.backend if backend in (None, data.backend) else None
        is_held = of_data or array_backend(data._array)
        data = data._array if is_held else data.numpy()
    elif dialect is None and home == DEFAULT:
        framework = array_dialect(data)
        home = framework.name if framework else DEFAULT
    own = None if dialect is None else to_dialect(dialect)
    of_data = of_data or (None if backend else array_backend(data))
    holder = of_data or backend_named(backend or DEFAULT_BACKEND)
    current_dialect = Kind(holder, _ANY, False, False, own, home).current_dialect
    wanted = None if dtype is None else to_dtype(dtype)
    is_weak = is_weak and wanted is None and current_dialect.has_weak_arrays
    array = held_array(data, wanted, current_dialect, holder, copy=copy, device=device)
    kind = Kind(holder, holder.dtype_of(array), not array.shape, is_weak, own, home)
    return array, interned(kind)


def held_array(
    data: Any, dtype: DType | None, dialect: Dialect, holder: Backend, **options: Any
) -> Any:
    """The data as an array of the backend, in a dtype of the dialect."""
    check_dense(data)
    wanted = dtype
    try:
        if not holder.owns(data):
            data, wanted = _read(_plain(data), dtype, dialect)
        wanted = wanted and truncated_dtype(wanted, dialect)
        array = holder.make(data, wanted, **options)
        held = holder.dtype_of(array)
    except OverflowError:
        raise beyond(data, wanted) from None
    except (TypeError, ValueError, NotImplementedError) as error:
        if wanted is not None and isinstance(error, UsageError):
            raise  # a dtype that the backend lacks
        raise _unreadable(data, wanted) or error from None
    cut = truncated_dtype(held, dialect)
    return array if cut is held else holder.cast(array, cut)


def _read(data: Any, dtype: DType | None, dialect: Dialect) -> tuple[Any, DType | None]:
    """Numbers, or an array of another backend as a NumPy array, and the dtype of the new array."""
    other = array_backend(data)
    if other is None:
        return data, dtype or default_dtype(data, dialect)
    return other.to_numpy(data), dtype or other.dtype_of(data)


def _plain(data: Any) -> Any:
    """Nested lists whose tensors are replaced by Python numbers and lists."""
    if isinstance(data, TensorData):
        return data.numpy().tolist()
    return [_plain(part) for part in data] if isinstance(data, (list, tuple)) else data


# Python numbers and nested lists of them: their dtype in a dialect, errors, and how they print.

_KINDS = (bool, int, float, complex)  # a bool is an int, so it comes first
_LEAST, _BEYOND = -(1 << 63), 1 << 64  # the range of int64 and uint64


def default_dtype(data: Any, dialect: Dialect) -> DType | None:
    """The dtype a dialect gives to Python numbers or nested lists of them.

    None if an element has its own dtype, or is not a number. An empty list counts as floats, as in
    every framework.
    """
    numbers = list(_leaves(data))
    kinds = {_number_type(number) for number in numbers} or {float}
    if None in kinds:
        return None
    highest = next(kind for kind in reversed(_KINDS) if kind in kinds)
    name = dialect.python.get(highest.__name__)
    if name is None:
        raise PromotionError(
            f"{dialect.name} has no dtype for a Python {highest.__name__}: give one, dtype=..."
        )
    return _holding(numbers, dtype(name), dialect) if highest is int else dtype(name)


def _holding(numbers: list[int], own: DType, dialect: Dialect) -> DType:
    """The dtype of Python ints: the default, or the one that the framework uses for large ints.

    A dtype that is not wider, such as uint64 for int64, is used only if no int fits the default.
    If no dtype can hold them, it is the default, which refuses them.
    """
    ints = [number for number in numbers if type(number) is not bool]
    least, greatest = min(ints), max(ints)
    if (own.min <= least and greatest <= own.max) or least < _LEAST or greatest >= _BEYOND:
        return own
    for other in dtypes_named(dialect.becomes.reads_ints):
        is_wider = other.min <= own.min
        if other.min <= least and greatest <= other.max and (is_wider or least > own.max):
            return other
    return own


def _leaves(data: Any) -> Iterator[Any]:
    """The elements of nested lists, from left to right."""
    if isinstance(data, (list, tuple)):
        for part in data:
            yield from _leaves(part)
    else:
        yield data


def _number_type(thing: Any) -> type | None:
    """The type of a Python number; None for anything that has a dtype or is not a number."""
    if hasattr(thing, "dtype"):
        return None
    return next((kind for kind in _KINDS if isinstance(thing, kind)), None)


def beyond(data: Any, wanted: DType | None) -> ScalarRangeError:
    """The error for an int that is out of range for a dtype."""
    numbers = [number for number in _leaves(data) if _number_type(number) is int]
    number = max(numbers, key=abs, default=0)
    wider = [d for d in map(dtype, ("int64", "uint64")) if d.min <= number <= d.max]
    way = f"give a wider dtype, dtype='{wider[0]}'" if wider else "write it as a float"
    return ScalarRangeError(f"{_short(number)} is out of range for {wanted}: {way}.")


def _unreadable(data: Any, wanted: DType | None) -> UsageError | None:
    """The error for data that cannot become an array; None if the data is not the cause."""
    if hasattr(data, "dtype"):
        return None if known_dtype(data.dtype) else out_of_scope(str(data.dtype)) or UsageError(
            f"castwise has no dtype for {data.dtype}: cast the array to one it has, such as "
            "x.astype('float64')."
        )  # fmt: skip
    for leaf in _leaves(data):
        if _number_type(leaf) is None and not hasattr(leaf, "dtype"):
            return ArgumentError(f"a tensor holds numbers, not {_short(leaf)}: {_way(leaf)}")
        if wanted is not None and _is_out_of_place(leaf, wanted):
            return UsageError(
                f"{wanted} cannot hold {leaf}: make the tensor without dtype=, and cast it, "
                f"x.astype('{wanted}')."
            )
    uneven = _uneven(data)
    return uneven and UsageError(
        f"lists of lengths {uneven[0]} and {uneven[1]} do not form an array: pad the shorter ones, "
        "or make one tensor per list."
    )


def known_dtype(thing: Any) -> DType | None:
    """The dtype that a thing names, if any."""
    try:
        return to_dtype(thing)
    except UsageError:
        return None


def _is_out_of_place(number: Any, wanted: DType) -> bool:
    """Whether a dtype has no number close to this one, which is complex, infinite or NaN."""
    if _number_type(number) is complex:
        return wanted.kind in ("int", "float")
    return _number_type(number) is float and wanted.kind == "int" and not math.isfinite(number)


def _short(thing: Any) -> str:
    """An object as Python writes it, cut if it is long."""
    text = repr(thing) if not isinstance(thing, int) or thing.bit_length() < 200 else "the number"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _way(thing: Any) -> str:
    """What to do with something that is not a number."""
    if thing is None:
        return "use a number instead, such as float('nan') for a missing one."
    is_many = hasattr(thing, "__iter__") and not isinstance(thing, (str, bytes))
    return "convert it to a list, list(x)." if is_many else "convert it, such as float(x)."


def _uneven(data: Any) -> tuple[int, int] | None:
    """The lengths of two lists on one level that differ; a number has the length 0."""
    level = [data]
    while level:
        lengths = [len(part) if isinstance(part, (list, tuple)) else 0 for part in level]
        other = next((length for length in lengths if length != lengths[0]), None)
        if other is not None:
            return lengths[0], other
        level = [p for part in level if isinstance(part, (list, tuple)) for p in part]
    return None
