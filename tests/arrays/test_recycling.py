"""The memory of large results is used again, and never while anything refers to it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest

recycling = pytest.importorskip("castwise.arrays.backends.numpy")
SHAPE = (1 << 10, 1 << 9)
FLOAT = np.dtype(np.float32)


@pytest.fixture(autouse=True)
def none_kept() -> Iterator[None]:
    recycling._kept.clear()
    yield
    recycling._kept.clear()


def empty(shape: tuple[int, ...], native: Any, order: str) -> Any:
    return recycling.maker(shape, native, order)([])


def address(array: Any) -> int:
    return int(array.__array_interface__["data"][0])


def test_memory_is_used_again() -> None:
    first = empty(SHAPE, FLOAT, "C")
    place = address(first)
    del first
    again = empty(SHAPE, np.dtype(np.int32), "F")
    assert address(again) == place
    assert again.flags.f_contiguous
    assert again.flags.writeable
    assert empty(SHAPE, np.dtype(ml_dtypes.bfloat16), "C").dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[3:],
        lambda x: x.reshape(-1)[5:].reshape(-1, 1),
        lambda x: x.T.view(np.int32),
        memoryview,
        lambda x: np.lib.stride_tricks.as_strided(x, (2,), (4,)),
        lambda x: (x[1:], "in a tuple"),
        lambda x: np.asarray(memoryview(x[2:])),
    ],
)
def test_memory_of_a_view_is_not(view: Any) -> None:
    array = empty(SHAPE, FLOAT, "C")
    array[...] = 7
    held = view(array)
    place = address(array)
    del array
    assert address(empty(SHAPE, FLOAT, "C")) != place
    del held
    assert any(address(kept) == place for kept in recycling._kept)


def test_what_is_kept_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    count = SHAPE[0] * SHAPE[1] * 4
    monkeypatch.setattr(recycling, "MOST_BYTES", 3 * count)
    arrays = [empty(SHAPE, FLOAT, "C") for _ in range(8)]
    del arrays
    assert len(recycling._kept) == 3
    large = empty((2 * SHAPE[0], SHAPE[1]), FLOAT, "C")  # more than half of the limit
    assert large.flags.owndata


def test_no_two_arrays_share_memory() -> None:
    pick = random.Random(0)
    held: dict[int, Any] = {}
    for n in range(300):
        if len(held) > 6 or (held and pick.random() < 0.4):
            number, array = held.popitem()
            assert (array == number).all()
            continue
        held[n] = empty((1 << 18,), FLOAT, "C")
        held[n][...] = n
    assert all((array == n).all() for n, array in held.items())
