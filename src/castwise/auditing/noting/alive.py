"""How much memory the results of an operation take at one time, without keeping them alive."""

from __future__ import annotations

import weakref
from typing import Any


class _Held(weakref.ref[Any]):
    """A reference to a result, which tells when it is gone."""

    __slots__ = ("of", "size")
    of: AliveResults
    size: int


class AliveResults:
    """The results of one dtype at one site that are alive, and the most there were."""

    __slots__ = ("_held", "itemsize", "now", "peak")

    def __init__(self, itemsize: int) -> None:
        self.itemsize = itemsize
        self.now = 0
        self.peak = 0
        self._held: dict[int, _Held] = {}  # by their own ids, as arrays cannot be hashed

    def hold(self, result: Any, elements: int) -> None:
        """Counts a new result until it is gone."""
        try:
            held = _Held(result, _gone)
        except TypeError:  # a type without weak references
            return
        held.of = self
        size = held.size = elements * self.itemsize
        self._held[id(held)] = held
        self.now += size
        if self.now > self.peak:
            self.peak = self.now


def _gone(held: _Held) -> None:
    held.of.now -= held.size
    held.of._held.pop(id(held), None)


def drop(result: Any) -> None:
    """No longer counts a result, if it was counted."""
    for reference in weakref.getweakrefs(result):
        if isinstance(reference, _Held):
            _gone(reference)


def itemsize_of(dtype: Any) -> int:
    """The bytes of an element; 0 if unknown."""
    size = getattr(dtype, "itemsize", None) or getattr(dtype, "size", None)
    return size if isinstance(size, int) else 0
