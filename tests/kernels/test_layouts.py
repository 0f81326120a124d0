"""Dimensions are merged where that changes nothing, and walked in the order of memory."""

from __future__ import annotations

import pytest

from castwise.kernels.program import Layout, broadcast_strides, kernel_layout


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((2, 3), ((12, 4), (12, 4)), Layout((6,), ((4,), (4,)), "11")),
        ((2, 3), ((4, 8), (4, 8)), Layout((6,), ((4,), (4,)), "11")),  # both transposed
        ((2, 3), ((12, 4), (0, 4)), Layout((2, 3), ((12, 4), (0, 4)), "11")),  # a row
        ((2, 3), ((12, 4), (4, 0)), Layout((2, 3), ((12, 4), (4, 0)), "10")),  # a column
        ((6,), ((4,), (0,)), Layout((6,), ((4,), (0,)), "10")),  # a number
        ((6,), ((4,), (8,)), Layout((6,), ((4,), (8,)), "ss")),  # one with gaps
        ((6,), ((4,), (-4,)), Layout((6,), ((4,), (-4,)), "ss")),
        ((1, 6, 1), ((24, 4, 4), (9, 4, 9)), Layout((6,), ((4,), (4,)), "11")),
        ((), ((), ()), Layout((1,), ((4,), (4,)), "11")),
    ],
)
def test_a_layout(
    shape: tuple[int, ...], strides: tuple[tuple[int, ...], ...], expected: Layout
) -> None:
    assert kernel_layout(shape, strides, (4, 4)) == expected


def test_a_broadcast_array_stays_where_it_is() -> None:
    assert broadcast_strides((2, 3, 4), (3, 1), (4, 4)) == (0, 4, 0)
