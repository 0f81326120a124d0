"""Work in a process of its own, which some calls of a framework end."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

_AT_ONCE = 200  # answers that are handed over together
_LONGEST = 60.0  # seconds after which a task is looked at; one that is still done is given up
_METHODS = multiprocessing.get_context("spawn")  # a framework's threads do not survive a fork


class Lost(NamedTuple):
    """A task that ended its process, or did not end itself."""

    place: int


class _Failed(NamedTuple):
    """What a worker raised."""

    why: str


Worker = Callable[[int], Any]  # of the place of a task
MakeWorker = Callable[[], AbstractContextManager[Worker]]  # it is pickled


def done_apart(make: MakeWorker, count: int) -> Generator[Any, None, None]:
    """What a worker gives for each task in order, or Lost, after which a new process goes on."""
    place = 0
    while place < count:
        for given in _one_process(make, place, count):
            for answer in [Lost(given)] if isinstance(given, int) else given:
                if isinstance(answer, _Failed):
                    raise ChildProcessError(answer.why)
                place += 1
                yield answer


def _one_process(make: MakeWorker, place: int, count: int) -> Generator[Any, None, None]:
    """Lists of answers from a place on; at last the place where the process ended, if it did."""
    here, there = _METHODS.Pipe(duplex=False)
    current = _METHODS.Value("q", -1, lock=False)
    process = _METHODS.Process(target=_do_all, args=(make, place, count, there, current))
    process.start()
    there.close()
    done = place
    try:
        with suppress(EOFError):
            while _answers(here, current):
                answers = here.recv()
                done += len(answers)
                yield answers
        is_ended = done == count
        process.join(timeout=0 if not is_ended else 60)
    finally:
        process.kill()
        process.join()
    if not is_ended:
        if current.value < 0:
            raise ChildProcessError("the process that asks the framework did not start.")
        yield from _again(make, done, current.value)
        yield current.value


def _again(make: MakeWorker, place: int, end: int) -> Generator[Any, None, None]:
    """What was done before the process ended, and is lost with it."""
    if place < end:
        yield from _one_process(make, place, end)


def _answers(here: Connection, current: Any) -> bool:
    """Waits for answers; false if the process is at the same task for long."""
    seen = -1  # it starts
    while not here.poll(_LONGEST):
        if current.value == seen >= 0:
            return False
        seen = current.value
    return True


def _do_all(make: MakeWorker, place: int, count: int, answers: Connection, current: Any) -> None:
    found: list[Any] = []
    with make() as worker:
        for number in range(place, count):
            current.value = number
            try:
                found.append(worker(number))
            except Exception:  # an error of ours: what a framework raises is an answer
                found.append(_Failed(traceback.format_exc()))
            if len(found) == _AT_ONCE:
                answers.send(found)
                found = []
        answers.send(found)
