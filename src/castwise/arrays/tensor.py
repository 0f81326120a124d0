"""Tensor: an array of any backend that computes under a dialect's rules."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from castwise.arrays import fast_path
from castwise.arrays.backend import (
    Backend,
    Kind,
    TakesConstants,
    backend_named,
    backend_of,
    held_dtype,
    interned,
    two_backends,
)
from castwise.arrays.backends import DEFAULT_BACKEND
from castwise.arrays.casting import cast_under, own_values
from castwise.arrays.methods import Methods, OpsAreNoMethods
from castwise.arrays.operators import ArrayObject, Gradients, InPlace, Operators
from castwise.catalog.dialects import DEFAULT, to_dialect
from castwise.engine.ask import dialect_of_array
from castwise.engine.writes import assigned_as, check_assignment, dtype_of_whole
from castwise.errors import PromotionError, ScalarRangeError, UsageError
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype, dtypes_named
from castwise.vocab.dtypes import dtype as dtype_named
from castwise.vocab.live import check_dense, to_dtype
from castwise.vocab.notation import describe
from castwise.vocab.operands import Operand
from castwise.vocab.spellings import out_of_scope

# x[key] and x[key] = value on a backend's arrays, as a dialect's framework does them.


def read_at(array: Any, key: Any, kind: Kind) -> Any:
    """The elements at an index, as a view or as a copy."""
    backend, elements = kind.backend, kind.current_dialect.values.memory.elements
    found = backend.read(array, key)
    parts = key if isinstance(key, tuple) else (key,)
    if found.shape or any(part is ... for part in parts):
        is_own = kind.current_dialect.values.memory.slices == own_values(backend).memory.slices
        is_own = is_own or isinstance(backend, TakesConstants)  # a graph has no memory to share
        return found if is_own else backend.make(found, None, copy=True, device=None)
    if elements == own_values(backend).memory.elements:
        return found
    if elements == "views":
        kept = (*parts, ...)  # a view instead of a scalar
        return found if backend.owns(found) else array[kept]
    return backend.make(found, None, copy=True, device=None)


def is_whole(key: Any, *, is_zero_d: bool = True) -> bool:
    """Whether an index selects the whole array: x[...], x[None], and x[()] of a 0-d one."""
    return key is None or key is ... or (is_zero_d and isinstance(key, tuple) and not key)


def spreads(key: Any, value: Any) -> bool:
    """Whether elements are written one by one, at the positions in an index array.

    A single value under a single mask fills the mask.
    """
    parts = key if isinstance(key, tuple) else (key,)
    arrays = [part for part in parts if isinstance(part, list) or _is_array(part)]
    is_mask = len(parts) == 1 and bool(getattr(key, "shape", ())) and _is_bool(key)
    return bool(arrays) and not (is_mask and getattr(value, "size", 1) == 1)


def _is_array(part: Any) -> bool:
    """Whether a part of an index is an array of positions or a mask, which may be 0-d."""
    shape = getattr(part, "shape", None)
    return bool(shape) or (shape is not None and _is_bool(part))


def _is_bool(array: Any) -> bool:
    return str(array.dtype).rpartition(".")[2] == "bool"


def write_at(array: Any, key: Any, given: Any, kind: Kind) -> Any:
    """The array after array[key] = given; the dialect decides what None in the key means."""
    backend, rule = kind.backend, kind.current_dialect.values.memory.new_axes
    if key is not None or rule == "broadcast":
        return backend.write(array, key, _fitted(given, key, array.shape, kind))
    if rule == "copied":
        copy = backend.make(array, None, copy=True, device=None)
        backend.write(copy, key, _fitted(given, key, array.shape, kind))
        return array
    dimensions = len(getattr(given, "shape", ()))
    if dimensions > len(array.shape):
        raise UsageError(
            f"None in the index adds no axis to an assignment in this dialect: a value of "
            f"{dimensions} dimensions does not fit into {len(array.shape)}."
        )
    return backend.write(array, ..., given)


def _fitted(array: Any, key: Any, shape: tuple[Any, ...], kind: Kind) -> Any:
    """A value to broadcast into a part of an array, without leading dimensions of length 1 that it
    does not need."""
    rule = kind.current_dialect.values.memory.assigned_shapes
    if not kind.backend.owns(array):
        return array
    if rule == "broadcast" and array.shape and _is_element(key, shape):
        raise UsageError(
            f"only a number or a 0-d array can be assigned to one element in this dialect, not an "
            f"array of shape {tuple(array.shape)}: value[0] is its first element."
        )
    least = len(shape) + (key is None) if is_whole(key) else 0
    if rule == "leading ones dropped" or is_whole(key):
        while len(array.shape) > least and array.shape[0] == 1:
            array = array[0]
    return array


def _is_element(key: Any, shape: tuple[Any, ...]) -> bool:
    """Whether an index selects one element, with one number per dimension."""
    parts = key if isinstance(key, tuple) else (key,)
    are_numbers = all(isinstance(part, int) and not isinstance(part, bool) for part in parts)
    return are_numbers and len(parts) == len(shape)


def is_read_first(kind: Kind) -> bool:
    """Whether the dialect can assign an array to a part of itself, and the backend cannot."""
    is_refused = own_values(kind.backend).memory.overlaps == "refused"
    return is_refused and kind.current_dialect.values.memory.overlaps == "allowed"


def check_0d(kind: Kind, value: Operand) -> None:
    """Raises UsageError if the dialect cannot assign the value to a 0-d array."""
    is_refusing = kind.is_zero_d and kind.current_dialect.values.memory.assigned_0d == "refused"
    if is_refusing and not (value.is_scalar and kind.dtype.name == "float32"):
        raise UsageError(
            "a 0-d array cannot be assigned to in this dialect: bind the name to a new one."
        )


def not_assigned(given: Backend, backend: Backend) -> UsageError:
    """The error for a value of one backend that is assigned to a tensor of another."""
    if isinstance(given, TakesConstants):
        return UsageError(
            "a value of a graph cannot be assigned outside of the traced function, because it is "
            "known only when the graph runs: return it, and assign the graph's result."
        )
    return two_backends(backend.name, given.name)


# Python numbers and nested lists of them: their dtype in a dialect, errors, and how they print.

_KINDS = (bool, int, float, complex)  # a bool is an int, so it comes first
_LEAST, _BEYOND = -(1 << 63), 1 << 64  # the range of int64 and uint64


def default_dtype(data: Any, dialect: Dialect) -> DType | None:
    """The dtype a dialect gives to Python numbers or nested lists of them.

    None if an element has its own dtype, or is not a number. An empty list counts as floats, as in
    every framework.
    """
    numbers = list(_leaves(data))
    kinds = {_kind_of(number) for number in numbers} or {float}
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


def _kind_of(thing: Any) -> type | None:
    """The type of a Python number; None for anything that has a dtype or is not a number."""
    if hasattr(thing, "dtype"):
        return None
    return next((kind for kind in _KINDS if isinstance(thing, kind)), None)


def beyond(data: Any, wanted: DType | None) -> ScalarRangeError:
    """The error for an int that is out of range for a dtype."""
    numbers = [number for number in _leaves(data) if _kind_of(number) is int]
    number = max(numbers, key=abs, default=0)
    wider = [d for d in map(dtype, ("int64", "uint64")) if d.min <= number <= d.max]
    way = f"give a wider dtype, dtype='{wider[0]}'" if wider else "write it as a float"
    return ScalarRangeError(f"{_short(number)} is out of range for {wanted}: {way}.")


def unreadable(data: Any, wanted: DType | None) -> UsageError | None:
    """The error for data that cannot become an array; None if the data is not the cause."""
    if hasattr(data, "dtype"):
        return None if _has_dtype(data) else out_of_scope(str(data.dtype)) or UsageError(
            f"castwise has no dtype for {data.dtype}: cast the array to one it has, such as "
            "x.astype('float64')."
        )  # fmt: skip
    for leaf in _leaves(data):
        if _kind_of(leaf) is None and not hasattr(leaf, "dtype"):
            return UsageError(f"a tensor holds numbers, not {_short(leaf)}: {_way(leaf)}")
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


def _has_dtype(array: Any) -> bool:
    """Whether castwise has the dtype of an array."""
    try:
        return to_dtype(array.dtype) is not None
    except UsageError:
        return False


def _is_out_of_place(number: Any, wanted: DType) -> bool:
    """Whether a dtype has no number close to this one, which is complex, infinite or NaN."""
    if _kind_of(number) is complex:
        return wanted.kind in ("int", "float")
    return _kind_of(number) is float and wanted.kind == "int" and not math.isfinite(number)


def _short(thing: Any) -> str:
    """An object as Python writes it, cut if it is long."""
    text = repr(thing) if not isinstance(thing, int) or thing.bit_length() < 200 else "the number"
    return text if len(text) <= 60 else f"{text[:57]}..."


def _way(thing: Any) -> str:
    """What to do with something that is not a number."""
    if thing is None:
        return "use a number instead, such as float('nan') for a missing one."
    if isinstance(thing, (str, bytes)):
        return "convert it, such as float(x)."
    is_many = hasattr(thing, "__iter__")
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


def shown(values: Any, indent: int) -> str:
    """The values as NumPy prints them, with the shape if they do not show it."""
    inner = repr(values).partition("(")[2].rpartition(")")[0]
    text = re.split(r",\s+(?:shape|dtype)=", inner)[0] or str(values)
    is_cut = "..." in text or (values.size == 0 and values.ndim != 1)
    shape = f", shape={values.shape}" if is_cut else ""
    return text.replace("\n" + " " * 6, "\n" + " " * (indent + 1)) + shape


_BOOL, _FLOAT32, _FLOAT64 = map(dtype_named, ("bool", "float32", "float64"))


class Tensor(Operators, InPlace, ArrayObject, Methods, Gradients, OpsAreNoMethods):
    """An array that computes under a dialect's rules.

    >>> t = asarray([1, 2, 3], dtype="int32", dialect="torch")
    >>> t + 5.5
    Tensor([6.5, 7.5, 8.5], dtype=float32, dialect=torch, backend=numpy)
    """

    __slots__ = ("__weakref__", "_array", "_kind")
    _array: Any
    _kind: Kind
    _keeps_dtype = False  # True: the dtype never changes when it is written to

    def __init__(self, *arguments: object, **keywords: object) -> None:
        raise UsageError("make a tensor with cw.asarray(data, dtype=...).")

    @classmethod
    def _of(cls, array: Any, kind: Kind) -> Tensor:
        tensor = object.__new__(Tensor)
        tensor._array, tensor._kind = array, kind
        if fast_path.running:
            fast_path.made(tensor)
        return tensor

    @property
    def dtype(self) -> DType:
        """The dtype of its elements."""
        return self._kind.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension."""
        return tuple(self._array.shape)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self._array.shape)

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self._array.shape)

    @property
    def nbytes(self) -> int:
        """The size of its elements in bytes."""
        return self.size * self.dtype.itemsize

    @property
    def weak_type(self) -> bool:
        """Whether it is weakly typed: it then takes the dtype of the other operand."""
        return self._kind.is_weak

    @property
    def dialect(self) -> Dialect:
        """The dialect it currently computes under."""
        return self._kind.current_dialect

    @property
    def backend(self) -> str:
        """The name of the library that holds it."""
        return self._kind.backend.name

    @property
    def array(self) -> Any:
        """The backend's own array."""
        return self._array

    def __repr__(self) -> str:
        kind, name = self._kind, type(self).__name__
        if kind.dtype is None:  # a library's placeholder for an array in a tree
            return f"{name}({self._array!r})"
        is_shown = kind.backend.is_concrete(self._array)
        values = shown(self.numpy(), len(name)) if is_shown else f"shape={self.shape}"
        weak = ", weak" if kind.is_weak else ""
        return (
            f"{name}({values}, dtype={kind.dtype}{weak}, dialect={kind.current_dialect.name}, "
            f"backend={kind.backend.name})"
        )

    def numpy(self) -> Any:
        """The values as a NumPy array."""
        return self._kind.backend.to_numpy(self._array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        made = self.numpy()
        if dtype is not None and made.dtype != dtype:
            if copy is False:
                raise ValueError(f"{self.dtype} can only become {dtype} by a copy.")
            return made.astype(dtype)
        return made.copy() if copy else made

    def item(self, *index: int) -> Any:
        """The one element as a Python number, or the one at an index.

        Raises UsageError if it does not have exactly one element, and no index is given.
        """
        if index:
            return (self.ravel() if len(index) == 1 else self)[index].item()
        if self.size != 1:
            raise UsageError(
                f"item needs one element, but shape {self.shape} has {self.size}: take one, x[0], "
                "or use tolist() for all."
            )
        found = self.numpy().item()
        kind = {"bool": bool, "int": int, "float": float, "complex": complex}[self.dtype.kind]
        return kind(found)  # ml_dtypes' scalars are not Python numbers

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self.numpy().tolist()

    def astype(self, dtype: object, *, copy: bool = True) -> Tensor:
        """The values in another dtype, by an explicit cast.

        Raises UsageError if the backend has no such dtype.
        """
        kind = self._kind
        target = held_dtype(to_dtype(dtype), kind.current_dialect)
        if target is kind.dtype and not copy:
            return self
        rules = kind.current_dialect.values
        array = cast_under(rules, kind.backend, self._array, target, is_asked=True)
        return Tensor._of(array, kind.with_(dtype=target, is_weak=False))

    cast = astype

    def under(self, dialect: str | Dialect | None) -> Tensor:
        """The same array under another dialect; None: that of the context."""
        chosen = None if dialect is None else to_dialect(dialect)
        is_weak = self._kind.is_weak and (chosen is None or chosen.has_weak_arrays)
        return Tensor._of(self._array, self._kind.with_(dialect=chosen, is_weak=is_weak))

    def __getitem__(self, key: Any) -> Tensor:
        found = as_constant_with(self, key if isinstance(key, tuple) else (key,))
        return wrapped(read_at(found._array, _plain_key(key), found._kind), found._kind)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._assign(key, value)

    def fill_(self, value: Any) -> Tensor:
        """The tensor itself, with every element set to a number or to the value of a 0-d tensor.

        Raises ScalarRangeError if the number is out of range for its dtype.
        """
        if getattr(value, "shape", ()):
            raise UsageError("fill_ takes a number or a 0-d tensor: use x[...] = array for arrays.")
        self._assign(..., value, is_filling=True)
        return self

    def _assign(self, key: Any, value: Any, *, is_filling: bool = False) -> None:
        if fast_path.running:
            fast_path.writing(self, value, *(key if isinstance(key, tuple) else (key,)))
        kind = self._kind
        if value is None or isinstance(value, (list, tuple, str)):  # this also refuses text
            value = asarray(value, dialect=kind.current_dialect)._array
        if isinstance(value, Tensor):
            value = as_constant_with(value, (self,))
            if value._kind.backend is not kind.backend:
                raise not_assigned(value._kind.backend, kind.backend)
        seen = value._kind.operand if isinstance(value, Tensor) else describe(value)
        if not is_filling:
            check_0d(kind, seen)
        rules, keeps = kind.current_dialect, is_filling or self._keeps_dtype
        takes_any = not keeps and is_whole(key, is_zero_d=kind.is_zero_d)
        target = dtype_of_whole(seen, kind.dtype, rules) if takes_any else kind.dtype
        seen = assigned_as(seen, target, rules)
        check_assignment(seen, target, rules, is_filling=is_filling, by_places=spreads(key, value))
        if target is not kind.dtype:
            kind = self._kind = kind.with_(dtype=target)
            self._array = kind.backend.cast(self._array, target)
        element = _element(value, seen, kind)
        if isinstance(value, Tensor) and element is value._array and is_read_first(kind):
            element = kind.backend.make(element, None, copy=True, device=None)
        self._array = write_at(self._array, _plain_key(key), element, kind)

    def __reduce__(self) -> tuple[Any, ...]:
        kind = self._kind
        return _restored, (type(self), kind.backend.name, self._array, kind.dtype, kind.is_weak,
                           kind.dialect, kind.home)  # fmt: skip


def _restored(
    cls: type[Tensor], backend: str, array: Any, dtype: DType, is_weak: bool,
    dialect: Dialect | None, home: str,
) -> Tensor:  # fmt: skip
    """The unpickled tensor."""
    tensor = object.__new__(cls)
    tensor._array = array
    kind = Kind(backend_named(backend), dtype, not array.shape, is_weak, dialect, home)
    tensor._kind = interned(kind)
    return tensor


def wrapped(array: Any, kind: Kind) -> Tensor:
    """What a backend returned, an array or a scalar, as a tensor of a kind."""
    backend = kind.backend
    if not backend.owns(array):
        array = backend.make(array, None, copy=None, device=None)
    dtype = backend.dtype_of(array)
    like = kind if dtype is kind.dtype else kind.with_(dtype=dtype)
    return Tensor._of(array, like.shaped(array.shape))


def _element(value: Any, seen: Operand, kind: Kind) -> Any:
    """The assigned value in the dtype of its target, cast as the dialect casts; a graph
    records that cast itself."""
    backend, values = kind.backend, kind.current_dialect.values
    number = seen.value if seen.is_scalar else None
    if isinstance(number, float) and kind.dtype.kind == "int":
        widest = _FLOAT64 if _FLOAT64 in backend.dtypes else _FLOAT32
        array = backend.make(number, widest, copy=None, device=None)
        return cast_under(values, backend, array, kind.dtype)
    if number is not None:
        return backend.number(number, kind.dtype)
    # A NumPy array of a dtype that the backend lacks is cast on NumPy first.
    is_held = isinstance(value, Tensor) or seen.dtype in backend.dtypes
    holder = backend if is_held else backend_named(DEFAULT_BACKEND)
    array = value._array if isinstance(value, Tensor) else _held(
        value, None, kind.current_dialect, holder, copy=None, device=None
    )  # fmt: skip
    is_own_cast = values.casting.float_to_int == own_values(backend).casting.float_to_int
    if isinstance(backend, TakesConstants) and is_own_cast:
        return array
    is_right = holder.dtype_of(array) is kind.dtype
    element = array if is_right else cast_under(values, holder, array, kind.dtype)
    return element if is_held else backend.make(element, kind.dtype, copy=None, device=None)


def as_constant_with(tensor: Tensor, others: Iterable[Any]) -> Tensor:
    """The tensor, as a constant of the backend of the first other that takes constants, if any."""
    kind = tensor._kind
    for other in others:
        if isinstance(other, Tensor) and other._kind.backend is not kind.backend:
            taking = other._kind.backend
            if isinstance(taking, TakesConstants) and not isinstance(kind.backend, TakesConstants):
                like = other._kind.with_(dtype=kind.dtype, is_weak=kind.is_weak)
                return wrapped(made_constant(tensor, taking), like)
    return tensor


def tensor_like(data: Any, like: Tensor) -> Tensor:
    """Data as a tensor to use together with another one."""
    if isinstance(data, Tensor):
        return data
    kind = like._kind
    backend = None if isinstance(kind.backend, TakesConstants) else kind.backend.name
    return asarray(data, dialect=kind.dialect, backend=backend, home=kind.home)


def made_constant(tensor: Tensor, backend: Backend) -> Any:
    """An array of a backend, with the values of a tensor on another one."""
    return backend.make(tensor.numpy(), tensor.dtype, copy=None, device=None)


def _plain_key(key: Any) -> Any:
    """An index whose tensors are replaced by their arrays."""
    if isinstance(key, Tensor):
        return key._array
    return tuple([_plain_key(part) for part in key]) if isinstance(key, tuple) else key


def asarray(
    data: Any,
    *,
    dtype: object = None,
    dialect: str | Dialect | None = None,
    backend: str | None = None,
    copy: bool | None = None,
    device: Any = None,
    home: str = DEFAULT,
) -> Tensor:
    """A tensor of numbers, nested lists, an array of any backend or another tensor.

    `backend` defaults to that of the data, or NumPy. With `dialect` the tensor always computes
    under that dialect. Without it, the tensor follows `cw.use` and, outside of that, `home`, which
    is the dialect of the data's framework if the data is an array.

    >>> asarray([1, 2, 3], dtype="int8").dtype
    int8
    >>> asarray([1.5], dialect="torch").dtype
    float32

    Raises UsageError if the backend has no such dtype.
    """
    is_weak = bool(getattr(data, "weak_type", False))
    of_data = None
    if isinstance(data, Tensor):
        dialect = data._kind.dialect if dialect is None else dialect
        home = data._kind.home if home == DEFAULT else home
        of_data = data._kind.backend if backend in (None, data.backend) else None
        is_held = of_data or backend_of(data._array)
        data = data._array if is_held else data.numpy()
    elif dialect is None and home == DEFAULT:
        home = home_of(data)
    own = None if dialect is None else to_dialect(dialect)
    of_data = of_data or (None if backend else backend_of(data))
    holder = of_data or backend_named(backend or DEFAULT_BACKEND)
    current_dialect = Kind(holder, _BOOL, False, False, own, home).current_dialect
    wanted = None if dtype is None else to_dtype(dtype)
    is_weak = is_weak and wanted is None and current_dialect.has_weak_arrays
    array = _held(data, wanted, current_dialect, holder, copy=copy, device=device)
    kind = Kind(holder, holder.dtype_of(array), not array.shape, is_weak, own, home)
    return Tensor._of(array, interned(kind))


def home_of(data: Any) -> str:
    """The name of the dialect that an array's framework follows; the default for other data."""
    found = dialect_of_array(data)
    return found.name if found else DEFAULT


def _held(data: Any, dtype: DType | None, dialect: Dialect, holder: Backend, **options: Any) -> Any:
    """The data as an array of the backend, in a dtype of the dialect."""
    check_dense(data)
    wanted = dtype
    try:
        if not holder.owns(data):
            data, wanted = _read(_plain(data), dtype, dialect)
        wanted = wanted and held_dtype(wanted, dialect)
        array = holder.make(data, wanted, **options)
        held = holder.dtype_of(array)
    except OverflowError:
        raise beyond(data, wanted) from None
    except (TypeError, ValueError, NotImplementedError) as error:
        if wanted is not None and isinstance(error, UsageError):
            raise  # a dtype that the backend lacks
        raise unreadable(data, wanted) or error from None
    cut = held_dtype(held, dialect)
    return array if cut is held else holder.cast(array, cut)


def _read(data: Any, dtype: DType | None, dialect: Dialect) -> tuple[Any, DType | None]:
    """Numbers, or an array of another backend as a NumPy array, and the dtype of the new array."""
    other = backend_of(data)
    if other is None:
        return data, dtype or default_dtype(data, dialect)
    return other.to_numpy(data), dtype or other.dtype_of(data)


def _plain(data: Any) -> Any:
    """Nested lists whose tensors are replaced by Python numbers and lists."""
    if isinstance(data, Tensor):
        return data.tolist()
    return [_plain(part) for part in data] if isinstance(data, (list, tuple)) else data
