"""Observers return their arguments, record arrays, and go quiet if there are none."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from under_audit import forget_makers

from castwise.auditing import observers
from castwise.auditing.arrays import find_maker
from castwise.auditing.calls import pending_call
from castwise.auditing.log import LOG, SITES
from castwise.auditing.records import Site

ADD, NEG, CALL = 11, 12, 13


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    """Three sites, and a log with nothing in it before and after."""
    place = (1, 0, 1, 5)
    sites = {ADD: Site(*place, "operator", "+", (None, None)),
             NEG: Site(*place, "operator", "-", (None,)),
             CALL: Site(*place, "call", "np.add", ())}  # fmt: skip
    SITES.update(sites)
    _forget()
    yield
    _forget()
    for mark in sites:
        del SITES[mark]


def _forget() -> None:
    LOG.clear()
    forget_makers()
    observers._quiet.clear()
    observers._runs.clear()
    observers.NOTES.clear()


def counts() -> list[int]:
    return [tally.count for tally in LOG.events.values()]


class Untouchable:
    """Every use of it is an error."""

    def __getattribute__(self, name: str) -> Any:
        raise AssertionError(name)


@pytest.mark.parametrize("make", [int, str, list, lambda: np.ones(2), np.float64, Untouchable])
def test_what_goes_in_comes_out(make: Any) -> None:
    thing = make()
    for given in (
        observers.left(ADD, thing),
        observers.right(ADD, thing),
        observers.post(ADD, thing, 1, 2),
        observers.settle(ADD, thing, 1, 2),
        observers.peek(ADD, thing),
        observers.callee(CALL, thing),
        observers.argument(CALL, 0, thing),
        observers.returned(CALL, thing),
    ):
        assert given is thing
    assert LOG.failures == {}


def test_an_operation_is_counted_by_its_signature() -> None:
    x, y = np.ones(3, np.float32), np.ones(3)
    for _ in range(3):
        observers.post(ADD, x + y, x, y)
    observers.post(ADD, x + x, x, x)
    observers.post(NEG, -x, x)
    assert counts() == [3, 1, 1]
    assert [tally.elements for tally in LOG.events.values()] == [9, 3, 3]


def test_operands_noted_before_and_read_after_have_one_signature() -> None:
    x, y = np.ones(3, np.float32), np.ones(3)
    observers.post(ADD, x + y, x, y)
    observers.left(ADD, x)
    observers.right(ADD, y)
    observers.post(ADD, x + y, ..., ...)
    assert counts() == [2]
    assert observers.NOTES == {}


def test_the_numbers_that_were_met_are_remembered_as_a_range() -> None:
    x = np.ones(3)
    for number in (2, -5, 3):
        observers.post(ADD, x + number, x, number)
    observers.post(ADD, x + np.array(7.0), x, np.array(7.0))
    observers.post(ADD, x + np.array(9.0), x, np.array(9.0))
    ranges = [tally.extremes for tally in LOG.events.values()]
    assert ranges == [{1: (-5, 3)}, {1: (7.0, 9.0)}]


def test_a_result_is_made_by_the_operation() -> None:
    x, y = np.ones(3, np.float32), observers.returned(CALL, np.ones(3))
    results = []
    for _ in range(2):  # the first time and again
        results.append(observers.post(ADD, x + y, x, y))
    assert [find_maker(r) for r in results] == [ADD, ADD]
    own = observers.post(NEG, -x, x)
    assert find_maker(own) == NEG


def test_nothing_that_was_seen_is_kept_alive() -> None:
    x = np.ones(3)
    gone = weakref.ref(x)
    observers.left(ADD, x)
    observers.post(ADD, x + 1, ..., 1)
    observers.callee(CALL, np.add)
    observers.argument(CALL, 0, x)
    observers.returned(CALL, np.add(x, 1))
    del x
    assert gone() is None


def test_a_site_about_plain_numbers_falls_silent_and_wakes_for_arrays() -> None:
    for number in range(1000):
        observers.settle(ADD, number + 1, number, 1)
    assert LOG.quieted == {ADD}
    observers.left(ADD, 3)
    assert observers.NOTES == {}
    x = np.ones(2)
    observers.settle(ADD, x + 1, ..., 1)
    assert LOG.late == {ADD: 1}
    for number in range(1000):
        observers.settle(ADD, number + 1, number, 1)
    observers.settle(ADD, x + 1, x, 1)
    assert counts() == [1]


def test_a_call_without_arrays_falls_silent_and_wakes_for_them() -> None:
    def call(function: Any, argument: Any) -> None:
        observers.callee(CALL, function)
        observers.argument(CALL, 0, argument)
        observers.returned(CALL, function(argument))

    for number in range(1000):
        call(abs, number)
    assert LOG.quieted == {CALL}
    call(np.abs, np.ones(2))
    assert LOG.late == {CALL: 1}
    call(np.abs, np.ones(2))
    assert counts() == [1]


def test_a_call_that_takes_an_array_is_never_silent() -> None:
    x = np.ones(2)
    observers.callee(CALL, np.ndim)
    observers.argument(CALL, 0, x)
    observers.returned(CALL, 1)
    for _ in range(1100):
        observers.callee(CALL, abs)
        observers.returned(CALL, 1)
    assert LOG.quieted == set()


def test_an_error_of_the_auditor_s_own_is_counted_and_not_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def failing(*_: Any) -> None:
        raise ValueError("within")

    monkeypatch.setattr(LOG, "again", failing)
    x = np.ones(2)
    assert observers.post(ADD, x, x, 1) is x
    assert LOG.failures == {"ValueError: within": 1}


def test_notes_of_operations_that_raised_do_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observers, "_MOST_OPERATIONS", 10)
    for mark in range(100, 200):
        observers.left(mark, 1)
    assert len(observers.NOTES) <= 11


class Thing:
    """Of the tests' own."""

    def method(self) -> None: ...


CALLEES = [
    (np.add, ("numpy", "add", False)),
    (np.concatenate, ("numpy", "concatenate", False)),
    (np.zeros, ("numpy", "zeros", False)),
    (np.ones(2).sum, ("numpy", "sum", True)),
    (np.float32, ("numpy", "float32", False)),
    (np.linalg.norm, ("numpy", "norm", False)),
    (abs, ("builtins", "abs", False)),
    (Thing, None),
    (3, None),
]


@pytest.mark.parametrize(("function", "expected"), CALLEES, ids=range(len(CALLEES)))
def test_what_is_called(function: Any, expected: Any) -> None:
    for _ in range(2):  # the first time and again
        called = pending_call(function)
        assert (called and tuple(called.callee)) == expected
