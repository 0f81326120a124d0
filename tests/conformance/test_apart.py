"""Work in a process of its own: one that ends loses one task, and an error of ours is raised."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from castwise.conformance.apart import Lost, done_apart


@contextmanager
def ending() -> Iterator[Callable[[int], int]]:
    """A worker whose process ends at one task."""
    yield lambda place: os._exit(3) if place == 1 else place * 10


@contextmanager
def raising() -> Iterator[Callable[[int], int]]:
    yield lambda place: 1 // 0


def test_a_process_that_ends_loses_one_task() -> None:
    assert list(done_apart(ending, 3)) == [0, Lost(1), 20]


def test_an_error_of_ours_is_raised() -> None:
    with pytest.raises(ChildProcessError, match="ZeroDivisionError"):
        list(done_apart(raising, 2))
