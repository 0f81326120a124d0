"""How many threads a kernel runs on, and the threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from castwise.errors import UsageError

VARIABLE = "CASTWISE_THREADS"


def fork_safe(lock: Any) -> Any:
    """A lock that is free in the child of a fork, whoever held it in the parent."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lock._at_fork_reinit)
    return lock


_lock = fork_safe(threading.Lock())
_number: int | None = None  # None: it was not asked for yet
_queues: list[SimpleQueue[Any]] = []  # one per thread that works


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
    waiting = [_Done() for _ in others]
    workers = _workers(min(len(others), max(get_threads() - 1, 1)))
    for n, (task, done) in enumerate(zip(others, waiting, strict=True)):
        workers[n % len(workers)].put((task, done))
    found = first()
    for done in waiting:
        found |= done.result()
    return found


class _Done:
    """What a worker leaves behind. A lock is the fastest thing to wait for."""

    __slots__ = ("_error", "_found", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._found = 0
        self._error: BaseException | None = None

    def run(self, task: Callable[[], int]) -> None:
        """Runs a task, and lets go whoever waits for it."""
        try:
            self._found = task()
        except BaseException as error:
            self._error = error
        self._lock.release()

    def result(self) -> int:
        """What the task returned, when it is done."""
        self._lock.acquire()
        if self._error is not None:
            raise self._error
        return self._found


def _work(tasks: SimpleQueue[Any]) -> None:
    while (task := tasks.get()) is not None:
        function, done = task
        done.run(function)
        del task, function, done  # they hold arrays' addresses, and the kernel


def _workers(count: int) -> list[SimpleQueue[Any]]:
    """The queues of as many workers."""
    with _lock:
        while len(_queues) < count:
            tasks: SimpleQueue[Any] = SimpleQueue()
            threading.Thread(target=_work, args=(tasks,), name="castwise", daemon=True).start()
            _queues.append(tasks)
        return _queues[:count]


def _forget() -> None:
    """Lets go of the threads; each ends after its last task."""
    for tasks in _queues:
        tasks.put(None)
    _queues.clear()


if hasattr(os, "register_at_fork"):
    # The child of a fork has none of its parent's threads.
    os.register_at_fork(after_in_child=_queues.clear)
