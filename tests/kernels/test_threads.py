"""The number of threads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from castwise.errors import UsageError
from castwise.kernels.resources import THREADS_VARIABLE, get_threads, set_threads


@pytest.fixture(autouse=True)
def default() -> Iterator[None]:
    yield
    set_threads(None)


def test_the_number_can_be_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, "3")
    set_threads(None)
    assert get_threads() == 3
    set_threads(2)
    assert get_threads() == 2
    set_threads(None)
    assert get_threads() == 3
    monkeypatch.delenv(THREADS_VARIABLE)
    set_threads(None)
    assert get_threads() >= 1


@pytest.mark.parametrize("number", [0, -1, 1.5, True, "two"])
def test_other_numbers_are_refused(number: object) -> None:
    with pytest.raises(UsageError, match="whole number from 1"):
        set_threads(number)  # type: ignore[arg-type]


def test_a_variable_that_makes_no_sense_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(THREADS_VARIABLE, "many")
    set_threads(None)
    with pytest.raises(UsageError, match=THREADS_VARIABLE):
        get_threads()
