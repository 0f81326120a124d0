"""Set functions; places and counts have the dialect's index dtype."""

from __future__ import annotations

from typing import NamedTuple

from castwise.array_api.calls import Operand, as_index, called, laid_out, one
from castwise.execute.tensor import Tensor, wrapped

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    """The different values, where each is first, which each element is, how many there are."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCounts(NamedTuple):
    """The different values, and how many there are of each."""

    values: Tensor
    counts: Tensor


class UniqueInverse(NamedTuple):
    """The different values, and which of them each element is."""

    values: Tensor
    inverse_indices: Tensor


def isin(x1: Operand, x2: Operand, /, *, invert: bool = False) -> Tensor:
    """Whether each element of x1 is equal to one of x2, or to none where that is inverted."""
    return one("isin", x1, x2, invert=invert)


def unique_all(x: Tensor, /) -> UniqueAll:
    """The different values of an array, with all that is known of them."""
    return UniqueAll(*_unique("unique_all", x))


def unique_counts(x: Tensor, /) -> UniqueCounts:
    """The different values of an array, and how many there are of each."""
    return UniqueCounts(*_unique("unique_counts", x))


def unique_inverse(x: Tensor, /) -> UniqueInverse:
    """The different values of an array, and which of them each element is."""
    return UniqueInverse(*_unique("unique_inverse", x))


def unique_values(x: Tensor, /) -> Tensor:
    """The different values of an array."""
    return laid_out("unique_values", x)


def _unique(name: str, x: Tensor) -> list[Tensor]:
    values, *places = called(name, x)
    return [wrapped(values, x._kind), *[as_index(place, x) for place in places]]
