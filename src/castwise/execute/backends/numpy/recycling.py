"""Memory of large results, used again once nothing refers to it.

A new array of several megabytes is new memory from the system, which clears each page when it is
first written: that takes as long as a fast op itself. So the memory of results that are gone is
kept for the next ones, up to a limit.
"""

from __future__ import annotations

import ctypes
import functools
import threading
import weakref
from typing import Any, Literal

import numpy as np

from castwise.kernels.threads import fork_safe

LEAST_BYTES = 1 << 20  # smaller arrays: malloc itself keeps their memory
MOST_BYTES = 1 << 28  # kept in all
_lock = fork_safe(threading.RLock())  # a collection of garbage may give memory back at any time
_kept: list[Any] = []  # arrays of bytes, the last used at the end
_lent: dict[int, weakref.ref[Any]] = {}  # by their ids: they have no hash


def empty(shape: tuple[int, ...], native: Any, order: Literal["C", "F"]) -> Any:
    """A new array, in memory that was used before if there is any of that size."""
    count = native.itemsize
    for length in shape:
        count *= length
    if not LEAST_BYTES <= count <= MOST_BYTES // 2:
        return np.empty(shape, native, order)
    return np.ndarray(shape, native, buffer=_lend(_taken(count)), order=order)


def _taken(count: int) -> Any:
    """Bytes that nothing refers to."""
    with _lock:
        for n in range(len(_kept) - 1, -1, -1):
            if _kept[n].size == count:
                return _kept.pop(n)
    return np.empty(count, np.uint8)


def _lend(memory: Any) -> Any:
    """An object with the memory. NumPy keeps it as long as an array or a view needs it; then the
    memory comes back. (It would keep the memory itself in place of a view or a memoryview.)"""
    lender = _type(memory.size).from_buffer(memory)
    gone = weakref.ref(lender, functools.partial(_take_back, memory))
    with _lock:
        _lent[id(gone)] = gone
    return lender


@functools.lru_cache(maxsize=64)
def _type(count: int) -> Any:
    return ctypes.c_char * count


def _take_back(memory: Any, gone: weakref.ref[Any]) -> None:
    with _lock:
        _lent.pop(id(gone), None)
        _kept.append(memory)
        total = sum(kept.size for kept in _kept)
        while total > MOST_BYTES:
            total -= _kept.pop(0).size
