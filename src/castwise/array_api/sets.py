"""Set functions; indices and counts have the dialect's index dtype."""

from __future__ import annotations

from typing import NamedTuple

from castwise.array_api.calls import Operand, as_index, called, laid_out, one
from castwise.arrays.tensor import Tensor, wrapped

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    """The distinct values, their first indices, the value index of each element, and the counts."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The distinct values, and the count of each."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The distinct values, and the value index of each element."""

    values: Tensor
    inverse_indices: Tensor


def isin(x1: Operand, x2: Operand, /, *, invert: bool = False) -> Tensor:
    """Whether each element of x1 equals one of x2, or none if inverted."""
    return one("isin", x1, x2, invert=invert)


def unique_all(x: Tensor, /) -> UniqueAll:
    """The distinct values of an array, with their indices and counts."""
    return UniqueAll(*_unique("unique_all", x))


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The distinct values of an array, and the count of each."""
    return UniqueCounts(*_unique("unique_counts", x))


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The distinct values of an array, and the value index of each element."""
    return UniqueInverse(*_unique("unique_inverse", x))


def unique_values(x: Tensor, /) -> Tensor:
    """The distinct values of an array."""
    return laid_out("unique_values", x)


def _unique(name: str, x: Tensor) -> list[Tensor]:
    values, *places = called(name, x)
    return [wrapped(values, x._kind), *[as_index(place, x) for place in places]]
