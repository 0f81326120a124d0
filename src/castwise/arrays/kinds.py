"""Kind: everything about a tensor that a decision depends on; and TensorData: an array with it.

The functions of this room take and make arrays with their kinds. `Tensor`, which stands above them,
adds the methods and operators.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from castwise.arrays.backend import Backend, TakesConstants
from castwise.catalog import DEFAULT, chosen_here, dialect_named
from castwise.errors import NoNumberError, from_library
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, array_operand

if TYPE_CHECKING:
    from castwise.arrays.tensor import Tensor


@dataclass(frozen=True, eq=False, slots=True)
class Kind:
    """A backend, a dtype, whether it is 0-d or weak, and the dialect it carries."""

    backend: Backend
    dtype: DType
    is_zero_d: bool
    is_weak: bool = False
    dialect: Dialect | None = None  # its own; None: that of the context
    home: str = DEFAULT  # the dialect's name if neither the tensor nor the context has one
    # 0-d, and a scalar in the dialect's framework: nothing is written into it.
    is_scalar: bool = False

    @property
    def current_dialect(self) -> Dialect:
        """The dialect it currently computes under."""
        return self.dialect or chosen_here() or dialect_named(self.home)

    @property
    def operand(self) -> Operand:
        """The operand that the engine sees."""
        shape = () if self.is_zero_d else None
        return array_operand(self.dtype, shape, is_weak=self.is_weak)

    def shaped(self, shape: Any) -> Kind:
        """The kind of an array like this one with another shape."""
        if self.is_zero_d == (not shape) and not self.is_scalar:
            return self
        return _shaped(self, not shape, False)

    def of_result(self, shape: Any) -> Kind:
        """The kind of what an op or one element gives: a scalar if it has no dimensions, in a
        dialect whose framework has scalars."""
        if shape or not self.has_scalars:
            return self.shaped(shape)
        return self if self.is_scalar else _shaped(self, True, True)

    @property
    def has_scalars(self) -> bool:
        """Whether results without dimensions are scalars in the dialect it computes under."""
        return self.current_dialect.values.memory.elements == "scalars"

    def with_(self, **changes: Any) -> Kind:
        """This kind with some parts changed."""
        return interned(replace(self, **changes))


_MOST_KINDS = 1 << 14
_kinds: dict[tuple[object, ...], Kind] = {}


def interned(kind: Kind) -> Kind:
    """The single object for a kind. The table is cleared when it gets very large, as with many new
    dialects; whatever is cached by kind is then computed again."""
    if len(_kinds) >= _MOST_KINDS:
        _kinds.clear()
    key = (kind.backend, kind.dtype, kind.is_zero_d, kind.is_weak, kind.dialect, kind.home,
           kind.is_scalar)  # fmt: skip
    return _kinds.setdefault(key, kind)


@functools.lru_cache(maxsize=1 << 12)
def _shaped(kind: Kind, is_zero_d: bool, is_scalar: bool) -> Kind:
    return kind.with_(is_zero_d=is_zero_d, is_scalar=is_scalar)


def truncated_dtype(dtype: DType, dialect: Dialect) -> DType:
    """The actual dtype of an array in a dialect, which may truncate it to fewer bits."""
    return dialect.truncations.get(dtype, dtype)


class TensorData:
    """The array and the kind of a tensor, and the facts that follow from them.

    The functions behind a tensor's methods are written for this class, and make their results with
    the `_of` of an operand that is a tensor. A plain object of this class is only ever an operand:
    the array that a dialect makes of a list of numbers.
    """

    __slots__ = ("__weakref__", "_array", "_kind")
    _array: Any
    _kind: Kind
    _keeps_dtype = False  # True: the dtype never changes when it is written to

    def __init__(self, array: Any, kind: Kind) -> None:
        self._array, self._kind = array, kind

    if TYPE_CHECKING:

        @classmethod
        def _of(cls, array: Any, kind: Kind) -> Tensor: ...

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

    def numpy(self) -> Any:
        """The values as a NumPy array."""
        return self._kind.backend.to_numpy(self._array)

    def item(self, *index: int) -> Any:
        """The one element as a Python number, or the one at an index.

        Raises NoNumberError if it does not have exactly one element, and no index is given.
        """
        if index:
            tensor: Any = self.ravel() if len(index) == 1 else self  # type: ignore[attr-defined]
            return tensor[index].item()
        if self.size != 1:
            raise NoNumberError(
                f"item needs one element, but shape {self.shape} has {self.size}: take one, x[0], "
                "or use tolist() for all."
            )
        found = self.numpy().item()
        kind = {"bool": bool, "int": int, "float": float, "complex": complex}[self.dtype.kind]
        return kind(found)  # ml_dtypes' scalars are not Python numbers


def refusal(error: Exception, name: str, operands: Iterable[Any], library: str) -> Exception:
    """castwise's error for one of the library that computed, which says what was called with
    what."""
    return from_library(error, f"{name}({', '.join(map(_told, operands))})", library)


def _told(operand: Any) -> str:
    """An operand in the notation of questions, or the name of its type."""
    if isinstance(operand, TensorData):
        return f"{operand.dtype}{list(operand.shape)}"
    is_short = isinstance(operand, (bool, int, float, complex, str)) and len(str(operand)) < 30
    return repr(operand) if is_short else f"a {type(operand).__name__}"


def raw_array(thing: Any) -> Any:
    """The array of a tensor; anything else is unchanged."""
    return thing._array if isinstance(thing, TensorData) else thing


def fitted(array: Any, kind: Kind) -> tuple[Any, Kind]:
    """What a backend returned, an array or a scalar, as an array, and its kind: like the given one
    except for its dtype and shape."""
    backend = kind.backend
    if not backend.owns(array):
        array = backend.make(array, None, copy=None, device=None)
    dtype = backend.dtype_of(array)
    like = kind if dtype is kind.dtype else kind.with_(dtype=dtype)
    return array, like.shaped(array.shape)


def as_constant_with(tensor: TensorData, others: Iterable[Any]) -> TensorData:
    """The tensor, as a constant of the backend of the first other that takes constants, if any."""
    kind = tensor._kind
    for other in others:
        if isinstance(other, TensorData) and other._kind.backend is not kind.backend:
            taking = other._kind.backend
            if isinstance(taking, TakesConstants) and not isinstance(kind.backend, TakesConstants):
                like = other._kind.with_(dtype=kind.dtype, is_weak=kind.is_weak)
                return tensor._of(*fitted(made_constant(tensor, taking), like))
    return tensor


def made_constant(tensor: TensorData, backend: Backend) -> Any:
    """An array of a backend, with the values of a tensor on another one."""
    return backend.make(tensor.numpy(), tensor.dtype, copy=None, device=None)
