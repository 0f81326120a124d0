"""Methods that move elements or select some, and compute nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from castwise.errors import UsageError
from castwise.execute import handed
from castwise.execute.kinds import Kind
from castwise.execute.methods.spelling import (
    Axes,
    Sizes,
    axis_of,
    dtype_in,
    numbers,
    place,
    rules_of,
)

if TYPE_CHECKING:
    from castwise.execute.tensor import Tensor


class Layout:
    """The methods of a tensor that give its elements another shape or order."""

    __slots__ = ()
    _array: Any
    _kind: Kind

    if TYPE_CHECKING:

        @property
        def shape(self) -> tuple[int, ...]: ...
        @property
        def ndim(self) -> int: ...
        def __getitem__(self, key: Any) -> Tensor: ...

    def reshape(self, *shape: Sizes, copy: bool | None = None) -> Tensor:
        """The elements in another shape: `x.reshape(2, 3)` or `x.reshape((2, 3))`."""
        return handed.calls.function("reshape", self, numbers(shape), copy=copy)

    def view(self, *shape: Sizes) -> Tensor:
        """The elements in another shape, `x.view(2, 3)`; it does not reinterpret their bits."""
        wanted = numbers(shape)
        if any(dtype_in(size) for size in wanted):
            raise UsageError("view takes sizes: to cast to another dtype, write x.astype(dtype).")
        return self.reshape(wanted)

    def reshape_as(self, other: Tensor) -> Tensor:
        """The elements in the shape of another tensor."""
        return self.reshape(other.shape)

    view_as = reshape_as

    def flatten(self, start_dim: int = 0, end_dim: int = -1) -> Tensor:
        """The elements in one dimension, or with some neighbouring dimensions joined.

        It is a copy if it is one in the dialect's framework.
        """
        ndim, is_copied = self.ndim, rules_of(self).flatten == "copied"
        if not ndim:
            return self.reshape((1,), copy=is_copied or None)
        first, last = place(start_dim, ndim), place(end_dim, ndim)
        joined = -1 if 0 not in self.shape else math.prod(self.shape[first : last + 1])
        shape = (*self.shape[:first], joined, *self.shape[last + 1 :])
        return self.reshape(shape, copy=is_copied or None)

    def ravel(self) -> Tensor:
        """The elements in one dimension."""
        return self.reshape((-1,))

    def permute(self, *dims: Sizes) -> Tensor:
        """The tensor with its dimensions in another order: `x.permute(1, 0)`."""
        return handed.calls.function("permute_dims", self, axes=numbers(dims))

    def transpose(
        self, *axes: Sizes | None, dim0: int | None = None, dim1: int | None = None
    ) -> Tensor:
        """The tensor with its dimensions in another order; without arguments, in reverse.

        Two numbers are the dimensions to swap, if they are in the dialect's framework; otherwise
        all dimensions are given. `swapaxes` and `permute` mean the same in all dialects.
        """
        if dim0 is not None and dim1 is not None:
            return self.swapaxes(dim0, dim1)
        given = numbers([axis for axis in axes if axis is not None])
        order = given or tuple(range(self.ndim))[::-1]
        if len(axes) == 2 and rules_of(self).transpose == "swaps":
            return self.swapaxes(*order)
        if len(order) != self.ndim:
            raise UsageError(
                f"transpose takes the new order of all {self.ndim} dimensions in "
                f"{self._kind.current_dialect.name}, not {order}: to swap two, write "
                "x.swapaxes(0, 1)."
            )
        return self.permute(order)

    def t(self) -> Tensor:
        """The transpose of a matrix; a vector is unchanged."""
        if self.ndim > 2:
            raise UsageError(f"t() transposes a matrix, not {self.ndim} dimensions: use permute.")
        return self.transpose()

    def swapaxes(self, axis0: int, axis1: int) -> Tensor:
        """The tensor with two dimensions swapped."""
        order = list(range(self.ndim))
        first, second = place(axis0, self.ndim), place(axis1, self.ndim)
        order[first], order[second] = second, first
        return self.permute(order)

    swapdims = swapaxes

    def moveaxis(self, source: Sizes, destination: Sizes) -> Tensor:
        """The tensor with some dimensions moved to other positions."""
        return handed.calls.function("moveaxis", self, source, destination)

    movedim = moveaxis

    def squeeze(self, axis: Axes = None, *, dim: Axes = None) -> Tensor:
        """The tensor without all dimensions of length 1, or without the given ones."""
        asked = axis_of(axis, dim)
        if asked is None:
            gone = [n for n, size in enumerate(self.shape) if size == 1]
        else:
            gone = [place(n, self.ndim) for n in ((asked,) if isinstance(asked, int) else asked)]
            if rules_of(self).squeeze == "kept":
                gone = [n for n in gone if self.shape[n] == 1]
        if not gone:
            return self.reshape(self.shape)
        return handed.calls.function("squeeze", self, axis=tuple(gone))

    def unsqueeze(self, axis: int | None = None, *, dim: int | None = None) -> Tensor:
        """The tensor with a new dimension of length 1 at a position."""
        return handed.calls.function("expand_dims", self, axis=axis_of(axis, dim, 0))

    def expand_dims(self, axis: Sizes = 0) -> Tensor:
        """The tensor with new dimensions of length 1 at some positions."""
        return handed.calls.function("expand_dims", self, axis=axis_of(axis, None))

    def broadcast_to(self, *shape: Sizes) -> Tensor:
        """The tensor in a larger shape, with its elements repeated."""
        return handed.calls.function("broadcast_to", self, numbers(shape))

    def expand(self, *sizes: Sizes) -> Tensor:
        """The tensor in a larger shape, with its elements repeated; -1 keeps a size."""
        wanted = numbers(sizes)
        new = len(wanted) - self.ndim
        if new < 0 or -1 in wanted[:new]:
            raise UsageError(f"expand{wanted} gives no size for a new dimension, or too few sizes.")
        pairs = zip(wanted[new:], self.shape, strict=True)
        kept = [have if size == -1 else size for size, have in pairs]
        return self.broadcast_to((*wanted[:new], *kept))

    def expand_as(self, other: Tensor) -> Tensor:
        """The tensor in the shape of another, with its elements repeated."""
        return self.broadcast_to(other.shape)

    def flip(self, *axis: Sizes, dims: Axes = None) -> Tensor:
        """The elements in the opposite order, in all dimensions or some."""
        asked = numbers(axis) if axis else axis_of(None, dims)
        return handed.calls.function("flip", self, axis=asked)

    def roll(self, shifts: Sizes, axis: Axes = None, *, dims: Axes = None) -> Tensor:
        """The elements shifted; those beyond the end reappear at the start."""
        shift, along = axis_of(shifts, None), axis_of(axis, dims)
        return handed.calls.function("roll", self, shift=shift, axis=along)

    def tile(self, *repetitions: Sizes) -> Tensor:
        """The whole tensor several times along each dimension."""
        return handed.calls.function("tile", self, numbers(repetitions))

    def repeat(self, *repeats: Any, axis: int | None = None) -> Tensor:
        """Each element several times, `x.repeat(2, axis=0)`, or the whole tensor, `x.repeat(2, 1)`,
        as in the dialect's framework. `repeat_interleave` and `tile` mean the same in all dialects.
        """
        if rules_of(self).repeat == "whole" and axis is None:
            return self.tile(*repeats)
        along = repeats[1] if len(repeats) == 2 else axis
        return self.repeat_interleave(repeats[0], along)

    def repeat_interleave(
        self, repeats: Any, axis: int | None = None, *, dim: int | None = None
    ) -> Tensor:
        """Each element several times, along a dimension or of all elements in one."""
        along = axis_of(axis, dim)
        times = handed.calls.tensor_like(repeats, self) if isinstance(repeats, list) else repeats
        flat = self.reshape((-1,)) if along is None else self
        return handed.calls.function("repeat", flat, times, axis=along or 0)

    def split(
        self, sizes: Sizes, axis: int | None = None, *, dim: int | None = None
    ) -> tuple[Tensor, ...]:
        """The parts of the tensor along a dimension.

        `sizes` is the length of each part, or the number of parts, as in the dialect's framework; a
        list names the length of each part. `chunk` means the same in all dialects.
        """
        along = place(axis_of(axis, dim, 0), self.ndim)
        whole = self.shape[along]
        if isinstance(sizes, int) and sizes < 1:
            raise UsageError(f"split needs a number above 0, not {sizes}.")
        if not isinstance(sizes, int):
            if sum(sizes) != whole:
                raise UsageError(f"the lengths {tuple(sizes)} do not add up to {whole}.")
            return self._parts(sizes, along)
        if rules_of(self).split == "parts":
            if whole % sizes:
                raise UsageError(f"{whole} does not divide into {sizes} equal parts: use chunk.")
            return self._parts([whole // sizes] * sizes, along)
        return self._parts([min(sizes, whole - n) for n in range(0, whole, sizes)] or [0], along)

    def chunk(
        self, chunks: int, axis: int | None = None, *, dim: int | None = None
    ) -> tuple[Tensor, ...]:
        """At most so many parts of the tensor along a dimension; only the last may be shorter."""
        along = place(axis_of(axis, dim, 0), self.ndim)
        whole = self.shape[along]
        if chunks < 1:
            raise UsageError(f"chunk needs a number above 0, not {chunks}.")
        size = max(-(-whole // chunks), 1)
        return self._parts([min(size, whole - n) for n in range(0, whole, size)] or [0], along)

    def _parts(self, lengths: Sequence[int], axis: int) -> tuple[Tensor, ...]:
        """Neighbouring parts of these lengths along a dimension."""
        found, start = [], 0
        for length in lengths:
            found.append(self[(slice(None),) * axis + (slice(start, start + length),)])
            start += length
        return tuple(found)

    def unbind(self, axis: int | None = None, *, dim: int | None = None) -> tuple[Tensor, ...]:
        """The slices of the tensor along a dimension."""
        found: Any = handed.calls.function("unstack", self, axis=axis_of(axis, dim, 0))
        return tuple(found)
