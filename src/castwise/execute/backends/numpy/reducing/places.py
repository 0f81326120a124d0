"""The place of the largest or smallest element, in blocks: the first of equal ones, or the first
NaN."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

_COLUMNS = 1 << 12  # columns that are searched at once, if each is longer than a block


class Search(NamedTuple):
    """How NumPy finds a place in a cast block, and whether one element comes before another."""

    find: Any
    is_before: Any
    cast: Callable[[Any], Any]
    block: int

    def place(self, x: Any, axis: int | None, keepdims: bool) -> Any:
        """What NumPy returns for the whole cast array."""
        if axis is None:
            found = self._in_all(x)
            return np.full((1,) * x.ndim, found) if keepdims else found
        places = np.empty(x.shape[:axis] + x.shape[axis:][1:], np.intp)
        self._fill(places, np.moveaxis(x, axis, 0))
        return np.expand_dims(places, axis) if keepdims else places[()]

    def _in_all(self, x: Any) -> Any:
        """The place among all elements, the last axis first."""
        best, place = None, 0
        for start, part in self._parts(x, 0):
            block = self.cast(part)
            found = self.find(block)
            value = block.flat[found]
            if best is None or _is_next(self, value, best):
                best, place = value, start + found
        return np.intp(place)

    def _parts(self, x: Any, start: int) -> Iterator[tuple[int, Any]]:
        """The parts of an array that fit a block, each with the place of its first element."""
        width = x[0].size
        most = self.block // width
        for begin in range(0, len(x), most or 1):
            place = start + begin * width
            if most:
                yield place, x[begin : begin + most]
            else:
                yield from self._parts(x[begin], place)

    def _fill(self, places: Any, x: Any) -> None:
        """Writes the places along the first axis."""
        most = self.block // len(x) or min(places.size, _COLUMNS)
        if places.size <= most:
            places[...] = self._in_columns(x)
            return
        width = places[0].size
        step = max(most // width, 1)
        for begin in range(0, len(places), step):
            if width > most:
                self._fill(places[begin], x[:, begin])
            else:
                places[begin : begin + step] = self._in_columns(x[:, begin : begin + step])

    def _in_columns(self, x: Any) -> Any:
        """The places along the first axis of an array that may have more rows than fit a block."""
        rows = max(self.block // x[0].size, 1)
        if rows >= len(x):
            return self.find(self.cast(x), axis=0)
        best, places = None, None
        for begin in range(0, len(x), rows):
            block = self.cast(x[begin : begin + rows])
            found = np.asarray(self.find(block, axis=0))
            values = np.take_along_axis(block, found[None], 0)[0]
            if best is None:
                best, places = values, found
                continue
            is_next = _is_next(self, values, best)
            best = np.where(is_next, values, best)
            places = np.where(is_next, found + begin, places)
        return places


def search(op: str, cast: Callable[[Any], Any], block: int) -> Search:
    """The search of argmax or argmin."""
    if op == "argmax":
        return Search(np.argmax, np.greater, cast, block)
    return Search(np.argmin, np.less, cast, block)


def _is_next(search: Search, value: Any, best: Any) -> Any:
    """Whether a later element replaces the best one so far."""
    return search.is_before(value, best) | ((value != value) & (best == best))
