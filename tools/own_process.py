"""Asks in a process that may be lost: some questions end the one they are asked in."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import cache
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from castwise.conformance.questions import GridQuestion, questions
from castwise.conformance.recorder import (
    Cell,
    LostDeviceError,
    NoAnswer,
    Recorder,
    answer_or_why_not,
)
from castwise.conformance.recorders import find_recorder

_AT_ONCE = 2000  # answers that are handed over together
_LONGEST = 60.0  # seconds after which a question is looked at; one that is still asked is given up
_METHODS = multiprocessing.get_context("spawn")  # a framework's threads do not survive a fork


class Part(NamedTuple):
    """Which questions are asked; None means all."""

    framework: str
    mode: str = ""
    ops: Sequence[str] | None = None
    form: str | None = None
    dtypes: Sequence[str] | None = None

    def recorder(self) -> Recorder:
        """The recorder that asks them."""
        found = find_recorder(self.framework, self.mode)
        found.scope = found.scope.limited_to(self.form, self.dtypes)
        return found


class Lost(NamedTuple):
    """A question that ended the process, or did not end itself."""

    question: GridQuestion


class Unanswered(NamedTuple):
    """A question whose call told nothing about dtypes."""

    question: GridQuestion
    why: NoAnswer


def asked_apart(
    part: Part, on_question: Callable[[GridQuestion], object] | None = None
) -> Iterator[Cell | Lost | Unanswered]:
    """Asks every question of a part in another process, and in a new one where that ends."""
    every = list(questions(part.recorder().scope, part.ops))
    place, lost = 0, set[int]()
    while place < len(every):
        for given in _one_process(part, place, lost):
            if isinstance(given, int):  # where the process ended
                lost.add(given)
                yield Lost(every[given])
                continue
            for question, answer in zip(every[place:], given, strict=False):
                if on_question:
                    on_question(question)
                if isinstance(answer, NoAnswer):
                    yield Unanswered(question, answer)
                elif answer is not None:
                    yield Cell(*question, answer)
            place += len(given)


def _one_process(part: Part, place: int, lost: Collection[int]) -> Iterator[list[Any] | int]:
    """The answers of one process from a place on, and the place where it ended, if it did."""
    here, there = _METHODS.Pipe(duplex=False)
    current = _METHODS.Value("q", -1, lock=False)
    process = _METHODS.Process(target=_ask_all, args=(part, place, tuple(lost), there, current))
    process.start()
    there.close()
    try:
        with suppress(EOFError):
            while _answers(here, current):
                yield here.recv()
            process.kill()
    finally:
        process.join(timeout=60)
        process.kill()
    if process.exitcode:
        if current.value < 0:
            raise ChildProcessError(f"the process that asks {part.framework} did not start.")
        yield current.value


def _answers(here: Connection, current: Any) -> bool:
    """Waits for answers; false if the process is at the same question for long."""
    seen = -1  # it starts
    while not here.poll(_LONGEST):
        if current.value == seen >= 0:
            return False
        seen = current.value
    return True


def _ask_all(
    part: Part, place: int, lost: tuple[int, ...], answers: Connection, current: Any
) -> None:
    recorder = part.recorder()
    make = cache(recorder.make)  # an op that writes into an operand is given a copy
    found: list[str | NoAnswer | None] = []  # None where it is not asked
    with recorder.session():
        for number, question in enumerate(questions(recorder.scope, part.ops)):
            if number < place:
                continue
            current.value = number
            try:
                is_lost = number in lost
                found.append(None if is_lost else answer_or_why_not(recorder, question, make))
            except LostDeviceError:
                os._exit(1)  # a device that is lost may also keep a process from ending
            if len(found) == _AT_ONCE:
                answers.send(found)
                found = []
    answers.send(found)
