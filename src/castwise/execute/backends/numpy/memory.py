"""The memory of NumPy's arrays, which kernels read and write."""

from __future__ import annotations

import ctypes
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from castwise.execute.backends.numpy import recycling
from castwise.execute.steps.steps import Steps
from castwise.kernels.layouts import Place
from castwise.vocab.dtypes import DType

_new, _address, _buffer = tuple.__new__, ctypes.addressof, ctypes.c_char.from_buffer


class Memory(ABC):
    """What kernels ask a backend, for NumPy's arrays."""

    @abstractmethod
    def native(self, dtype: DType) -> Any:
        """NumPy's dtype."""

    def by_size(
        self, small: Callable[..., Any], large: Callable[..., Any], least: int
    ) -> Callable[..., Any]:
        """A function of two arrays that looks at their sizes first."""
        return lambda x, y: small(x, y) if x.size < least > y.size else large(x, y)

    def is_as_fast(self, steps: Steps) -> bool:
        """Never: NumPy computes on one thread."""
        return False

    own_casts: frozenset[DType] = frozenset()
    size_of = staticmethod(operator.attrgetter("size"))
    as_array = staticmethod(np.asarray)

    def place(self, array: Any) -> Place | None:
        """How the elements lie in memory, unless a subclass or another byte order gives them
        another meaning."""
        if type(array) is not np.ndarray or not array.dtype.isnative:
            return None
        return _new(Place, (array.shape, array.strides, "cpu"))  # faster than Place itself

    def address(self, array: Any) -> int:
        """The address of the first element. A buffer tells it fastest, if there may be one: not of
        an array that is read-only, or not contiguous."""
        try:
            return _address(_buffer(array))
        except (TypeError, ValueError, BufferError):
            return array.__array_interface__["data"][0]  # type: ignore[no-any-return]

    def maker(
        self, shape: tuple[int, ...], dtype: DType, like: Sequence[Any]
    ) -> Callable[[Sequence[Any]], Any]:
        """A function that makes new arrays, in the order of the first array that has the shape."""
        native = self.native(dtype)
        place = next((n for n, array in enumerate(like) if array.shape == shape), None)
        if place is None or like[place].flags.c_contiguous:
            return recycling.maker(shape, native, "C")
        if like[place].flags.f_contiguous:
            return recycling.maker(shape, native, "F")
        return lambda arrays: np.empty_like(arrays[place], dtype=native)

    def moved(self, array: Any, device: str) -> Any:
        """The array itself: there is one device."""
        return array

    def may_write(self, target: Any, arrays: Sequence[Any]) -> bool:
        """Whether each element can be written as soon as it is computed."""
        is_plain = target.flags.writeable and (0 not in target.strides or target.size < 2)
        return is_plain and all(_is_same_or_apart(target, array) for array in arrays)

    def halves_doubles_once(self, device: str) -> bool:
        """Always true."""
        return True


def _is_same_or_apart(one: Any, other: Any) -> bool:
    """Whether two arrays are the same elements in the same order, or share none."""
    if not np.may_share_memory(one, other):
        return True
    is_same = one.__array_interface__["data"] == other.__array_interface__["data"]
    return bool(is_same and one.shape == other.shape and one.strides == other.strides)
