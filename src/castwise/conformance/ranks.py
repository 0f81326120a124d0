"""Processes that compute together: each holds a part of every array, and answers for it."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from castwise.errors import UsageError

# What a process does with each task, once it has met the others: it is given its rank, how many
# there are, and a folder that all of them see.
Join = Callable[[int, int, str], Callable[[Any], Any]]

_METHODS = multiprocessing.get_context("spawn")  # a framework's threads do not survive a fork
_TO_START = 180.0  # seconds; a busy machine imports a framework slowly
_TO_ANSWER = 60.0
_TO_END = 0.5  # after its pipe has ended
_TO_FAIL_ALIKE = 5.0  # after one has failed: another may wait for it in vain


class LostProcessError(Exception):
    """A process ended, or did not answer in time."""


class NotAllFailedError(Exception):
    """Some of the processes raised an error, and the others did not."""


class _Reply(NamedTuple):
    error: Exception | None
    result: Any


class Ranks:
    """A few processes that are given the same tasks. They are started when they are needed, and
    started again after one was lost."""

    def __init__(
        self, join: Join, count: int, *, start: float = _TO_START, answer: float = _TO_ANSWER
    ) -> None:
        self._join, self._count = join, count
        self._to_start, self._to_answer = start, answer
        self._processes: list[SpawnProcess] = []
        self._pipes: list[Connection] = []
        self._folder: TemporaryDirectory[str] | None = None

    @contextmanager
    def session(self) -> Iterator[None]:
        """All of them have ended when this ends."""
        try:
            yield
        finally:
            self._end()

    def ask(self, task: Any) -> list[Any]:
        """What each process makes of a task.

        Raises what all of them raised, NotAllFailedError where only some did, LostProcessError
        where one ended or took too long, and UsageError where they do not start.
        """
        if not self._processes:
            self._start()
        packed = pickle.dumps(task)
        with suppress(OSError):  # of one that has ended; that it does not answer tells
            for pipe in self._pipes:
                pipe.send_bytes(packed)
        return self._results(self._replies(self._to_answer))

    def _start(self) -> None:
        self._folder = TemporaryDirectory(prefix="castwise-")
        for rank in range(self._count):
            here, there = _METHODS.Pipe()
            given = (self._join, rank, self._count, self._folder.name, there)
            process = _METHODS.Process(target=_serve, args=given, daemon=True)
            process.start()
            there.close()  # so that the end of the process is the end of the pipe
            self._processes.append(process)
            self._pipes.append(here)
        try:
            self._results(self._replies(self._to_start))
        except Exception as error:
            self._end()
            raise UsageError(f"{self._count} processes do not start: {error}") from error

    def _replies(self, seconds: float) -> dict[int, _Reply]:
        """The replies by rank, without those of processes that end or take too long."""
        replies: dict[int, _Reply] = {}
        left = dict(zip(self._pipes, range(self._count), strict=True))
        until = time.monotonic() + seconds
        while left and (ready := wait(list(left), max(0.0, until - time.monotonic()))):
            for pipe in [pipe for pipe in left if pipe in ready]:
                rank = left.pop(pipe)
                with suppress(EOFError, OSError):
                    replies[rank] = pickle.loads(pipe.recv_bytes())
            if len(replies) + len(left) < self._count or any(r.error for r in replies.values()):
                until = min(until, time.monotonic() + _TO_FAIL_ALIKE)
        return replies

    def _results(self, replies: dict[int, _Reply]) -> list[Any]:
        errors = {rank: reply.error for rank, reply in replies.items() if reply.error}
        ended, silent = self._without(replies)
        if ended or silent:
            self._end()
        if len(errors) == self._count:
            raise errors[0]
        # Where one has ended, what the others raise is that they miss it.
        if ended or (silent and not errors):
            raise LostProcessError(" ".join([*ended, *silent]))
        if errors:
            rank, error = min(errors.items())
            others = " ".join(silent) or "The others do not."
            raise NotAllFailedError(f"Rank {rank} raises {error!r}. {others}") from error
        return [replies[rank].result for rank in range(self._count)]

    def _without(self, replies: dict[int, _Reply]) -> tuple[list[str], list[str]]:
        """The processes that did not answer because they ended, and the others, in words."""
        ended, silent = [], []
        for rank, process in enumerate(self._processes):
            if rank in replies:
                continue
            process.join(timeout=_TO_END)
            if process.exitcode is None:
                silent.append(f"Rank {rank} does not answer.")
            else:
                ended.append(f"Rank {rank} ended ({process.exitcode}).")
        return ended, silent

    def _end(self) -> None:
        for process in self._processes:
            process.kill()  # not terminate: one that waits for another may not see a signal
        for process in self._processes:
            process.join()
        for pipe in self._pipes:
            pipe.close()
        if self._folder:
            self._folder.cleanup()
        self._processes, self._pipes, self._folder = [], [], None


def _serve(join: Join, rank: int, count: int, folder: str, tasks: Connection) -> None:
    """What each process does, until the one that asks is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the one that asks: it ends this
    _be_silent()
    try:
        answer = join(rank, count, folder)
    except Exception as error:
        tasks.send_bytes(_packed_error(error))
        return
    tasks.send_bytes(pickle.dumps(_Reply(None, None)))
    with suppress(EOFError, OSError):
        while True:
            tasks.send_bytes(_packed_reply(answer, tasks.recv_bytes()))


def _packed_reply(answer: Callable[[Any], Any], task: bytes) -> bytes:
    try:
        return pickle.dumps(_Reply(None, answer(pickle.loads(task))))
    except Exception as error:  # it is for the one that asks to judge
        return _packed_error(error)


def _packed_error(error: Exception) -> bytes:
    try:
        packed = pickle.dumps(_Reply(error, None))
        pickle.loads(packed)
    except Exception:  # not every error can be made again from its arguments
        return pickle.dumps(_Reply(RuntimeError(f"{type(error).__name__}: {error}"), None))
    return packed


def _be_silent() -> None:
    """Sends what libraries print to nowhere: the output belongs to the process that asks."""
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        for place in (1, 2):
            os.dup2(nowhere.fileno(), place)
