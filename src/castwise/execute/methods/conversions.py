"""Methods that copy, cast and move a tensor as a whole, and facts about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from castwise.execute.kinds import Kind

if TYPE_CHECKING:
    from castwise.execute.tensor import Tensor
    from castwise.vocab.dtypes import DType


class Conversions:
    """The methods of a tensor that copy and move it, and facts about it."""

    __slots__ = ()
    _array: Any
    _kind: Kind

    if TYPE_CHECKING:

        @property
        def dtype(self) -> DType: ...
        @property
        def size(self) -> int: ...
        @property
        def ndim(self) -> int: ...
        @classmethod
        def _of(cls, array: Any, kind: Kind) -> Tensor: ...
        def to_device(self, device: Any) -> Tensor: ...
        def fill_(self, value: Any) -> Tensor: ...
        def numpy(self) -> Any: ...

    def clone(self) -> Tensor:
        """A copy of the tensor."""
        array = self._kind.backend.make(self._array, None, copy=True, device=None)
        return self._of(array, self._kind)

    copy = clone

    def fill(self, value: Any) -> None:
        """Sets every element to a number or to the value of a 0-d tensor."""
        self.fill_(value)

    def tobytes(self) -> bytes:
        """The elements as bytes."""
        found: bytes = self.numpy().tobytes()
        return found

    def contiguous(self) -> Tensor:
        """The tensor itself: how its elements lie in memory changes no result."""
        return self._of(self._array, self._kind)

    def cpu(self) -> Tensor:
        """The same values on the CPU."""
        return on_device(self, "cpu")

    def numel(self) -> int:
        """How many elements it has."""
        return self.size

    nelement = numel

    def dim(self) -> int:
        """How many dimensions it has."""
        return self.ndim

    ndimension = dim

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self.dtype.itemsize

    def element_size(self) -> int:
        """The size of an element in bytes."""
        return self.itemsize

    def is_floating_point(self) -> bool:
        """Whether its dtype is a float."""
        return self.dtype.kind == "float"

    def is_complex(self) -> bool:
        """Whether its dtype is complex."""
        return self.dtype.kind == "complex"


def on_device(tensor: Any, device: Any) -> Tensor:
    """The tensor on a device, itself if it is there."""
    here = tensor.device
    is_there = str(device) in (str(here), getattr(here, "platform", None))
    found: Tensor = tensor if is_there else tensor.to_device(device)
    return found
