"""Symbolic sizes as the traced function sees them: names that can be added and multiplied."""

from __future__ import annotations

from typing import Any, NoReturn

from castwise.errors import UsageError
from castwise.graph.origins import user_place
from castwise.graph.shapes import size_of, total


class Size(str):
    """A size that is known when the graph runs, such as n or 2*n+1."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __add__(self, other: Any) -> Any:
        return _told(total([self, other])) if isinstance(other, (int, Size)) else NotImplemented

    def __mul__(self, other: Any) -> Any:
        return _told(size_of((self, other))) if isinstance(other, (int, Size)) else NotImplemented

    __radd__, __rmul__ = __add__, __mul__

    def _unknown(self, *others: Any) -> NoReturn:
        raise UsageError(
            f"{user_place()} needs the size {self}, which is known when the graph runs: fix it in "
            "the spec, or only add to it and multiply it."
        )

    __int__ = __index__ = __float__ = __len__ = __iter__ = _unknown
    __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _unknown
    __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = _unknown


def told(shape: Any) -> tuple[int | Size, ...]:
    """A shape with its names as sizes."""
    return tuple([_told(size) for size in shape])


def _told(size: int | str) -> int | Size:
    return size if isinstance(size, int) else Size(size)
