"""The number of threads, and what becomes of them in a fork."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator

import pytest

from castwise.errors import UsageError
from castwise.kernels import threads


@pytest.fixture(autouse=True)
def default() -> Iterator[None]:
    yield
    threads.set_threads(None)


def test_the_number_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.VARIABLE, "3")
    assert threads.get_threads() == 3
    threads.set_threads(2)
    assert threads.get_threads() == 2
    threads.set_threads(None)
    assert threads.get_threads() == 3
    monkeypatch.delenv(threads.VARIABLE)
    assert threads.get_threads() >= 1


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "two"])
def test_other_numbers_are_refused(number: object) -> None:
    with pytest.raises(UsageError, match="whole number from 1"):
        threads.set_threads(number)  # type: ignore[arg-type]


def test_a_variable_that_makes_no_sense_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(threads.VARIABLE, "many")
    with pytest.raises(UsageError, match=threads.VARIABLE):
        threads.get_threads()


def test_all_tasks_run_and_their_results_are_combined() -> None:
    threads.set_threads(4)
    assert threads.run_all([lambda n=n: 1 << n for n in range(6)]) == 63  # type: ignore[misc]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python warns about forks with threads")
def test_a_fork_makes_its_own_threads() -> None:
    threads.set_threads(2)
    assert threads.run_all([lambda: 1, lambda: 2]) == 3
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # it would wait for threads that it does not have
        os._exit(threads.run_all([lambda: 1, lambda: 2]) != 3)
    assert os.waitpid(child, 0)[1] == 0
