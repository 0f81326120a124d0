"""Threads that compute the parts of a kernel together.

A worker that has computed something waits for more in native code, without the GIL, before it
sleeps: so the next kernel starts on all threads within a microsecond, where waking a thread takes
fifty. Each worker has a box in memory, into which a leader, the thread that called a kernel, puts
parts. Parts that no worker has begun are the leader's again once its own are done.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import threading
import time
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any

from castwise.kernels.llvm.handing import ASLEEP, BOX, ENTRY, HEAD, WAKE, native
from castwise.kernels.threads import fork_safe


class _Worker:
    """A thread that computes what leaders put into its box; it starts when it is first needed."""

    def __init__(self) -> None:
        self.box = (ctypes.c_int64 * BOX)()
        self.address = ctypes.addressof(self.box)
        self.reset()

    def reset(self) -> None:
        """Forgets the thread, which the child of a fork has not."""
        self.box[:] = [0] * BOX
        self.box[ASLEEP] = 1
        self._calls: SimpleQueue[None] | None = None

    def wake(self) -> None:
        """Lets the thread look into its box. Only the leader that found it asleep calls this."""
        if self._calls is None:
            calls: SimpleQueue[None] = SimpleQueue()
            thread = threading.Thread(
                target=_serve, args=(self.box, calls), name="castwise", daemon=True
            )
            try:
                thread.start()
            except RuntimeError:  # too many threads, or Python is about to end
                self.box[ASLEEP] = 1
            else:
                self._calls = calls
        else:
            self._calls.put(None)


def _serve(box: Any, calls: SimpleQueue[None]) -> None:
    found, address = native(), ctypes.addressof(box)
    while True:
        found.serve(address, found.waits)
        calls.get()


_workers: list[_Worker] = []
_lock = fork_safe(threading.Lock())


def _worker(number: int) -> _Worker:
    with _lock:
        while len(_workers) <= number:
            _workers.append(_Worker())
        return _workers[number]


def _reset_all() -> None:
    for worker in _workers:
        worker.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)


class Job:
    """A kernel with all its parts, which it computes on several threads whenever it is called."""

    def __init__(
        self, kernel: int, parts: Sequence[Sequence[int]], threads: int, arrays: int
    ) -> None:
        size = len(parts[0])
        self._parts = (ctypes.c_int64 * (size * len(parts)))(*[n for part in parts for n in part])
        shares = min(threads, len(parts))
        ends = [len(parts) * n // shares for n in range(shares + 1)]
        first = ctypes.addressof(self._parts)
        entries: list[int] = []
        self._workers = [_worker(n) for n in range(shares - 1)]
        spans = itertools.pairwise(ends[1:])
        for worker, (start, end) in zip(self._workers, spans, strict=True):
            entries += [worker.address, first + 8 * size * start, end - start, 0]
        self._place = HEAD + len(entries)
        numbers = [0, 0, kernel, first, ends[1], 8 * size, shares - 1, self._place, *entries]
        self._type = ctypes.c_int64 * (self._place + arrays)
        self._template = self._type(*numbers)
        self._lead, self._turns = native().lead, native().leads

    def __call__(self, addresses: Sequence[int]) -> int:
        """What the kernel returned for arrays at these addresses, for all parts."""
        job = self._type.from_buffer_copy(self._template)
        job[self._place :] = addresses  # type: ignore[call-overload] # any sequence will do
        found: int = self._lead(job, self._turns)
        return found if found >= 0 else self._finished(job, found)

    def _finished(self, job: Any, found: int) -> int:
        """The result of a job that has to wait. Nothing interrupts it, because workers may still
        write into the arrays."""
        interrupt = None
        while found < 0:
            try:
                if found == WAKE:
                    self._wake(job)
                found = self._lead(job, self._turns)
                if found < 0:
                    time.sleep(0)
            except BaseException as error:
                interrupt = error
        if interrupt:
            raise interrupt
        return found

    def _wake(self, job: Any) -> None:
        for n, worker in enumerate(self._workers):
            fate = HEAD + ENTRY * n + 3
            if job[fate] == 2:
                worker.wake()
                job[fate] = 1
