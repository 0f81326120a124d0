"""Symbolic sizes as the traced function sees them: names with arithmetic."""

from __future__ import annotations

from typing import Any, NoReturn

from castwise.errors import UsageError
from castwise.graph.shapes.arithmetic import difference, quotient, size_of, total
from castwise.graph.source_lines import user_place


class Size(str):
    """A size that is known only when the graph runs, such as n, 2*n+1 or n//2; never negative."""

    __slots__ = ()
    __hash__ = str.__hash__

    def __add__(self, other: Any) -> Any:
        return _as_size(total([self, other])) if _is_size(other) else self._with_no_size(other)

    def __mul__(self, other: Any) -> Any:
        return _as_size(size_of((self, other))) if _is_size(other) else self._with_no_size(other)

    def __sub__(self, other: Any) -> Any:
        return self._less(self, other) if _is_size(other) else self._with_no_size(other)

    def __rsub__(self, other: Any) -> Any:
        return self._less(other, self) if _is_size(other) else self._with_no_size(other)

    def __floordiv__(self, other: Any) -> Any:
        return _as_size(quotient(self, other)) if _is_divisor(other) else self._with_no_size(other)

    def __mod__(self, other: Any) -> Any:
        return self - self // other * other

    __radd__, __rmul__ = __add__, __mul__

    def _less(self, one: Any, other: Any) -> Any:
        left = difference(one, other)
        return self._unknown() if left is None else _as_size(left)

    def _with_no_size(self, other: Any) -> Any:
        """The result for an operand that is not a size, which is left to text itself."""
        is_text = isinstance(other, str) and not isinstance(other, Size)
        return NotImplemented if is_text else self._unknown()

    def _unknown(self, *others: Any) -> NoReturn:
        raise UsageError(
            f"{user_place()} needs the size {self}, which is known only when the graph runs: fix "
            "it in the spec, or only add to it, multiply it, divide it by a number with //, or "
            "subtract what can never be larger."
        )

    __int__ = __index__ = __float__ = __len__ = __iter__ = _unknown
    __truediv__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __pow__ = __rpow__ = __neg__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = _unknown


def _is_size(thing: Any) -> bool:
    is_number = isinstance(thing, int) and not isinstance(thing, bool)
    return (is_number and thing >= 0) or isinstance(thing, Size)


def _is_divisor(thing: Any) -> bool:
    return isinstance(thing, int) and thing > 0


def checked_sizes(shape: Any) -> tuple[int | str, ...]:
    """A shape, or one size, of numbers and sizes.

    Raises UsageError for anything else.
    """
    given = shape if isinstance(shape, (tuple, list)) else (shape,)
    for size in given:
        if not _is_size(size):
            raise UsageError(f"{user_place()}: {size!r} is not a size: give a number, 0 or more, "
                             "or one of x.shape.")  # fmt: skip
    return tuple(given)


def as_sizes(shape: Any) -> tuple[int | Size, ...]:
    """A shape with its names as sizes."""
    return tuple([_as_size(size) for size in shape])


def _as_size(size: int | str) -> int | Size:
    return size if isinstance(size, int) else Size(size)
