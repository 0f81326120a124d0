"""How many threads a kernel runs on."""

from __future__ import annotations

import os
from typing import Any

from castwise.errors import UsageError

VARIABLE = "CASTWISE_THREADS"


def fork_safe(lock: Any) -> Any:
    """A lock that is free in the child of a fork, whoever held it in the parent."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lock._at_fork_reinit)
    return lock


_number: int | None = None  # None: it was not asked for yet


def get_threads() -> int:
    """How many threads large ops run on.

    >>> get_threads() >= 1
    True
    """
    global _number
    if _number is None:
        given = os.environ.get(VARIABLE)
        _number = (
            _checked(given, f"the environment variable {VARIABLE}") if given else _processors()
        )
    return _number


def set_threads(number: int | None) -> None:
    """Sets how many threads large ops run on; None is all processors, or what the environment
    variable CASTWISE_THREADS says.

    >>> set_threads(2)
    >>> get_threads()
    2
    >>> set_threads(None)

    Raises UsageError for anything but a whole number from 1.
    """
    global _number
    _number = None if number is None else _checked(number, "the number of threads")


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
