"""Values that a program lost: wrapped integers, overflowed floats, numbers out of range."""

from __future__ import annotations

from dataclasses import dataclass

LOST = "lost-values"  # accepted by --fail-on and comments, next to the hazards


@dataclass(frozen=True, slots=True)
class SeenLoss:
    """An operation or cast at a site that lost values in some of its runs."""

    mark: int  # of its site
    what: str  # the operation and its dtypes
    how: str  # what happened to the values, such as "wrapped"
    count: int  # runs that lost values
    lost: int  # elements, over these runs
    elements: int  # all elements of these runs
    example: str  # one of them
