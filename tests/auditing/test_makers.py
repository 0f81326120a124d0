"""The origin of an array is known as long as the array lives, and no longer."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
from under_audit import forget_makers

from castwise.auditing import arrays
from castwise.auditing.arrays import find_maker, remember


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    forget_makers()
    yield
    forget_makers()


def test_an_array_is_known_by_itself() -> None:
    made, other = np.zeros(3), np.zeros(3)
    remember(made, 7)
    assert (find_maker(made), find_maker(other)) == (7, 0)


def test_a_view_is_known_by_the_array_it_looks_at() -> None:
    made = np.zeros((3, 3))
    remember(made, 7)
    assert find_maker(made[1:].T, "base") == 7
    assert find_maker(made[1:].T) == 0


def test_remembering_keeps_no_array_alive() -> None:
    made = np.zeros(3)
    gone = weakref.ref(made)
    remember(made, 7)
    del made
    gc.collect()
    assert gone() is None


def test_an_array_at_a_dead_one_s_place_is_not_taken_for_it() -> None:
    made = np.zeros(3)
    remember(made, 7)
    entry = arrays.MADE.pop(id(made))
    other = np.ones(3)
    arrays.MADE[id(other)] = entry  # as though it had the other's id
    assert find_maker(other) == 0


def test_entries_of_dead_arrays_are_swept() -> None:
    kept = [np.zeros(1) for _ in range(10)]
    for array in kept:
        remember(array, 3)
    for _ in range(20_000):
        remember(np.zeros(1), 4)
    alive = [np.zeros(1) for _ in range(9_000)]  # as many ids as arrays
    for array in alive:
        remember(array, 5)
    assert len(arrays.MADE) < 30_000
    assert {find_maker(array) for array in kept} == {3}
    assert {find_maker(array) for array in alive} == {5}


def test_scalars_are_known_though_they_take_no_weak_reference() -> None:
    scalar = np.float64(2)
    remember(scalar, 9)
    assert find_maker(scalar) == 9
    for number in range(5000):
        remember(np.float64(number), 1)
    assert len(arrays._scalars) <= 4096
