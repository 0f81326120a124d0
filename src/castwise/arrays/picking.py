"""Methods that pick elements of a tensor, or replace them, by places and masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from castwise.arrays.apply import apply_op, apply_several
from castwise.arrays.data import array_and_kind
from castwise.arrays.elements import assign, moved, picked, sorting_indices
from castwise.arrays.kinds import TensorData
from castwise.arrays.own_functions import run_by_itself, runs_itself
from castwise.errors import ArgumentError, AxisError, ShapeError

if TYPE_CHECKING:
    from castwise.arrays.tensor import Tensor


class TopValues(NamedTuple):
    """The largest or smallest elements, and their places."""

    values: Tensor
    indices: Tensor


def _given(thing: Any, like: TensorData, name: str) -> Any:
    """An argument as a tensor.

    Raises ArgumentError for anything but a tensor or an array.
    """
    if isinstance(thing, TensorData):
        return thing
    if not hasattr(thing, "dtype") or not hasattr(thing, "shape"):
        raise ArgumentError(f"{name} takes a tensor, not a {type(thing).__name__}: cw.asarray(x).")
    kind = like._kind
    return like._of(*array_and_kind(thing, dialect=kind.dialect, backend=kind.backend.name))


def _dimension(dim: int, rank: int) -> int:
    """A dimension counted from the first; a number has one, to count by."""
    most = max(rank, 1)
    if not -most <= dim < most:
        raise AxisError(f"dimension {dim} is out of range for {rank} dimensions.")
    return dim % most


class Picking(TensorData):
    """What tensors pick and replace. A library's own tensor does it itself, under its dialect."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def ndim(self) -> int: ...
        @property
        def mT(self) -> Tensor: ...  # noqa: N802
        def clone(self) -> Tensor: ...
        def fill_(self, value: Any) -> Tensor: ...
        def conj(self) -> Tensor: ...
        def __getitem__(self, key: Any) -> Tensor: ...

    def topk(self, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> TopValues:
        """The largest elements along a dimension, or the smallest, and their places."""
        if self._does_it():
            return TopValues(*self._itself("topk", k, dim, largest, sorted))
        along = _dimension(dim, self.ndim)
        if largest or not self.ndim:
            return TopValues(*apply_several("topk", self, k=k, axis=along))
        if not 0 <= k <= self.shape[along]:
            raise ShapeError(f"topk of {self.shape[along]} elements cannot give {k}.")
        first = (*[slice(None)] * along, slice(k))
        places = sorting_indices(self, along, descending=False, stable=True)[first]
        return TopValues(picked("take_along_axis", self, places, along), places)

    def narrow(self, dim: int, start: Any, length: int) -> Tensor:
        """A part of one dimension, from a start on."""
        if not self.ndim:
            raise ShapeError("narrow takes a part of a dimension, and a number has none.")
        along, first = _dimension(dim, self.ndim), int(start)
        size = self.shape[along]
        if not -size <= first <= size:
            raise AxisError(f"start {first} is out of range for a dimension of {size}.")
        first = first + size if first < 0 else first
        if length < 0 or first + length > size:
            raise ShapeError(f"{length} elements from {first} on are not in a dimension of {size}.")
        key = (*[slice(None)] * along, slice(first, first + length))
        return self[key]

    def gather(self, dim: int, index: Tensor) -> Tensor:
        """For each place in the index the element at it, along a dimension."""
        index = _given(index, self, "gather")
        if self._does_it(index):
            return self._itself("gather", dim, index)  # type: ignore[no-any-return]
        along, one = _dimension(dim, self.ndim), (1,)
        if index.dtype.name not in ("int32", "int64"):
            raise ShapeError(f"gather takes an index of int32 or int64, not of {index.dtype}.")
        shape, wanted = self.shape or one, index.shape or one
        is_longer = any(n > m for d, (n, m) in enumerate(zip(wanted, shape, strict=False))
                        if d != along)  # fmt: skip
        if len(shape) != len(wanted) or is_longer:
            raise ShapeError(f"an index of shape {index.shape} does not fit into {self.shape}.")
        if any(not 0 <= place < shape[along] for place in index.numpy().reshape(-1).tolist()):
            raise ShapeError(f"a place in the index is not in a dimension of {shape[along]}.")
        parts = tuple([slice(None) if d == along else slice(n) for d, n in enumerate(wanted)])
        source = moved("reshape", self, shape)[parts]
        found: Tensor = picked("take_along_axis", source, moved("reshape", index, wanted), along)
        return moved("reshape", found, index.shape)

    def masked_fill(self, mask: Tensor, value: Any) -> Tensor:
        """The elements, and a number or the value of a 0-d tensor where a mask is true."""
        mask = _given(mask, self, "masked_fill")
        if mask.dtype.kind != "bool":
            raise ShapeError(f"masked_fill takes a mask of bool, not of {mask.dtype}.")
        return apply_op("where", mask, self._number_like(value), self)

    def masked_fill_(self, mask: Tensor, value: Any) -> Tensor:
        """The tensor itself, with the value where a mask is true."""
        found = Picking.masked_fill(self, mask, value)
        if found.shape != self.shape:
            raise ShapeError(f"a mask of shape {mask.shape} does not fit into {self.shape}.")
        assign(self, ..., found)
        return self  # type: ignore[return-value]

    def zero_(self) -> Tensor:
        """The tensor itself, with every element set to zero."""
        return self.fill_(0)

    def copy_(self, src: Any, non_blocking: bool = False) -> Tensor:
        """The tensor itself, with the values of another one, cast to its dtype."""
        if not isinstance(src, (bool, int, float, complex)):
            src = _given(src, self, "copy_")
        assign(self, ..., src)
        return self  # type: ignore[return-value]

    @property
    def H(self) -> Tensor:  # noqa: N802 -- the library's name
        """The complex conjugate of a matrix, transposed."""
        if self.ndim not in (0, 2):
            raise ShapeError(f"H is of a matrix, not of {self.ndim} dimensions: use mH.")
        return self.mH

    @property
    def mH(self) -> Tensor:  # noqa: N802 -- the library's name
        """The complex conjugate of each matrix in the last two dimensions, transposed."""
        if self.ndim == 1:
            raise ShapeError("mH is of matrices, not of one dimension.")
        return (self.mT if self.ndim else self).conj()

    def adjoint(self) -> Tensor:
        """The same as mH."""
        return self.mH

    def _number_like(self, value: Any) -> Tensor:
        """A value as a 0-d tensor of this dtype, by the rules of a tensor that is filled."""
        array = self._kind.backend.make(0, self._kind.dtype, copy=None, device=None)
        made: Any = self._of(array, self._kind.shaped(()))
        is_known = isinstance(value, TensorData) and value._kind.backend.is_concrete(value._array)
        # A number is checked, whether the dtype holds it; the values of an array are only cast.
        number: Any = value.item() if is_known and not value.shape else value
        return made.fill_(number)  # type: ignore[no-any-return]

    def _does_it(self, *others: Any) -> bool:
        """Whether the library that holds the tensors may do it itself."""
        return runs_itself(self._kind.backend.name, (self, *others), {})

    def _itself(self, name: str, *given: Any) -> Any:
        """What the library's own method gives."""
        return run_by_itself(name, _method(name), (self, *given), {})


def _method(name: str) -> Callable[..., Any]:
    return lambda array, *given: getattr(array, name)(*given)
