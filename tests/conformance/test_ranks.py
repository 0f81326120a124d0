"""Processes that compute together."""

from __future__ import annotations

import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from castwise.conformance.ranks import LostProcessError, NotAllFailedError, Ranks
from castwise.errors import UsageError


class OddError(Exception):
    """One that cannot be made again from its arguments."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(one + two)


def join(rank: int, count: int, folder: str) -> Callable[[Any], Any]:
    """Does what a task says."""
    assert os.path.isdir(folder)

    def answer(task: Any) -> Any:
        sys.stdout.write("this is not seen\n")
        if task == "all fail":
            raise KeyError("task")
        if task == "an odd error":
            raise OddError("one", "two")
        if rank == 1 and task == "one fails":
            raise KeyError("rank 1")
        if rank == 1 and task == "one ends":
            os._exit(7)
        if rank == 0 and task == "one ends and is missed":
            raise OSError("connection reset")
        if rank == 1 and task == "one ends and is missed":
            os._exit(7)
        if rank == 1 and task == "one hangs":
            time.sleep(600)
        return rank, count, task

    return answer


def join_in_vain(rank: int, count: int, folder: str) -> Callable[[Any], Any]:
    raise OSError("no network")


def test_each_answers_and_all_have_ended(capfd: pytest.CaptureFixture[str]) -> None:
    ranks = Ranks(join, 2)
    with ranks.session():
        assert ranks.ask("a task") == [(0, 2, "a task"), (1, 2, "a task")]
        assert len(multiprocessing.active_children()) == 2
    assert multiprocessing.active_children() == []
    assert capfd.readouterr() == ("", "")


def test_what_all_raise_is_raised_here_and_the_next_task_is_answered() -> None:
    ranks = Ranks(join, 2)
    with ranks.session():
        with pytest.raises(KeyError, match="task"):
            ranks.ask("all fail")
        with pytest.raises(RuntimeError, match="OddError: onetwo"):
            ranks.ask("an odd error")
        with pytest.raises(NotAllFailedError, match=r"Rank 1 raises KeyError.* The others do not"):
            ranks.ask("one fails")
        assert ranks.ask(3)[0] == (0, 2, 3)


@pytest.mark.parametrize("task", ["one ends", "one ends and is missed"])
def test_a_process_that_ends_is_lost_and_others_are_started(task: str) -> None:
    """What the others raise, because they miss it, is not the answer."""
    ranks = Ranks(join, 2)
    with ranks.session():
        with pytest.raises(LostProcessError, match=r"Rank 1 ended \(7\)"):
            ranks.ask(task)
        assert multiprocessing.active_children() == []
        assert ranks.ask(3)[0] == (0, 2, 3)


def test_a_process_that_hangs_is_lost() -> None:
    ranks = Ranks(join, 2, answer=2)
    began = time.monotonic()
    with ranks.session(), pytest.raises(LostProcessError, match="Rank 1 does not answer"):
        ranks.ask("one hangs")
    assert time.monotonic() - began < 60
    assert multiprocessing.active_children() == []


def test_an_interrupt_ends_them() -> None:
    ranks = Ranks(join, 2)
    with suppress(KeyboardInterrupt), ranks.session():
        ranks.ask(3)
        raise KeyboardInterrupt
    assert multiprocessing.active_children() == []


def test_that_they_do_not_start_is_told() -> None:
    ranks = Ranks(join_in_vain, 2)
    with ranks.session(), pytest.raises(UsageError, match="2 processes do not start: no network"):
        ranks.ask(3)
    assert multiprocessing.active_children() == []
