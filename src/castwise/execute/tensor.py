"""Tensor: an array of any backend that computes under a dialect's rules."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from castwise.engine.assigning import assigned_as, check_assignment, dtype_of_whole
from castwise.engine.chosen import dialect_of_array
from castwise.errors import UsageError
from castwise.execute import tracing
from castwise.execute.array_object import ArrayObject
from castwise.execute.backend import Backend, TakesConstants, backend_named, backend_of
from castwise.execute.backends import DEFAULT as DEFAULT_BACKEND
from castwise.execute.gradients import Gradients
from castwise.execute.indexing import (
    check_0d,
    is_read_first,
    is_whole,
    not_assigned,
    read_at,
    spreads,
    write_at,
)
from castwise.execute.kinds import Kind, held_dtype, interned
from castwise.execute.methods.absent import OpsAreNoMethods
from castwise.execute.methods.every import Methods
from castwise.execute.operators import InPlace, Operators
from castwise.execute.python_data import beyond, default_dtype, shown, unreadable
from castwise.execute.values.casting import cast_under, own_values
from castwise.rules.default import DEFAULT, to_dialect
from castwise.rules.dialect import Dialect
from castwise.vocab.describing import describe
from castwise.vocab.dtypes import DType
from castwise.vocab.dtypes import dtype as dtype_named
from castwise.vocab.live import check_dense, to_dtype
from castwise.vocab.operands import Operand

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
        if tracing.running:
            tracing.made(tensor)
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
        if tracing.running:
            tracing.writing(self, value, *(key if isinstance(key, tuple) else (key,)))
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
