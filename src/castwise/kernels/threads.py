"""How many threads a kernel runs on, and the threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from castwise.errors import UsageError

VARIABLE = "CASTWISE_THREADS"
_lock = threading.Lock()
_number: int | None = None  # None: what the environment says, or all processors
_pool: ThreadPoolExecutor | None = None


def get_threads() -> int:
    """How many threads large ops run on.

    >>> set_threads(1)
    >>> get_threads()
    1
    >>> set_threads(None)
    """
    if _number is not None:
        return _number
    given = os.environ.get(VARIABLE)
    if given:
        return _checked(given, f"the environment variable {VARIABLE}")
    return _processors()


def set_threads(number: int | None) -> None:
    """Sets how many threads large ops run on; None is all processors, or what the environment
    variable CASTWISE_THREADS says.

    Raises UsageError for anything but a whole number from 1.
    """
    global _number
    chosen = None if number is None else _checked(number, "the number of threads")
    with _lock:
        _number = chosen
        _forget()


def _checked(number: object, name: str) -> int:
    try:
        found = int(str(number))
    except (TypeError, ValueError):
        found = 0
    if found < 1 or isinstance(number, (bool, float)):
        raise UsageError(f"{name} is a whole number from 1, not {number!r}.")
    return found


def _processors() -> int:
    """The processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))  # not on macOS and Windows
    except AttributeError:
        return os.cpu_count() or 1


def run_all(tasks: Sequence[Callable[[], int]]) -> int:
    """Runs tasks at the same time, the first in this thread, and combines what they return."""
    first, *others = tasks
    waiting = [_threads().submit(task) for task in others]
    found = first()
    for task in waiting:
        found |= task.result()
    return found


def _threads() -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(get_threads() - 1, 1), "castwise")
        return _pool


def _forget() -> None:
    """Lets go of the threads; they end with their last task."""
    global _pool
    if _pool is not None:
        _pool.shutdown(wait=False)
        _pool = None


def _after_fork() -> None:
    """The child of a fork has none of its parent's threads, and the lock may be held for good."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
