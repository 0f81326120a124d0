"""Memory of large results, used again once nothing refers to it.

A new array of several megabytes is new memory from the system, which clears each page when it is
first written: that takes as long as a fast op itself. So the memory of results that are gone is
kept for the next ones, up to a limit.
"""

from __future__ import annotations

import ctypes
import functools
import math
import threading
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from castwise.kernels.threads import fork_safe

LEAST_BYTES = 1 << 20  # smaller arrays: malloc itself keeps their memory
MOST_BYTES = 1 << 28  # kept in all
_lock = fork_safe(threading.RLock())  # a collection of garbage may give memory back at any time
_kept: list[Any] = []  # arrays of bytes, the last used at the end


def maker(shape: tuple[int, ...], native: Any, order: Literal["C", "F"]) -> Callable[[object], Any]:
    """A function that makes new arrays, whatever it is given: in memory that was used before, if
    there is any of that size."""
    count = math.prod(shape) * native.itemsize
    if not LEAST_BYTES <= count <= MOST_BYTES // 2:
        return lambda _: np.empty(shape, native, order)
    lender, array = _type(count), np.ndarray

    def make(_: object) -> Any:
        memory = _taken(count)
        lent = lender.from_buffer(memory)
        lent.memory = memory
        return array(shape, native, lent, 0, None, order)

    return make


def _taken(count: int) -> Any:
    """Bytes that nothing refers to."""
    with _lock:
        for n in range(len(_kept) - 1, -1, -1):
            if _kept[n].size == count:
                return _kept.pop(n)
    return np.empty(count, np.uint8)


@functools.lru_cache(maxsize=64)
def _type(count: int) -> Any:
    """The type of objects that lend that many bytes. NumPy keeps one as long as an array or a view
    needs it; then the memory comes back. (It would keep the memory itself in place of a view or a
    memoryview.)"""
    return type("Lent", (ctypes.c_char * count,), {"__del__": _take_back})


def _take_back(lent: Any, lock: Any = _lock, kept: list[Any] = _kept) -> None:
    with lock:
        kept.append(lent.memory)
        total = sum([memory.size for memory in kept])
        while total > MOST_BYTES:
            total -= kept.pop(0).size
