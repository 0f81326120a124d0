"""The array object: what the standard requires of it besides operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise import array_api as xp


def test_transposes() -> None:
    x = xp.reshape(xp.arange(6), (2, 3))
    assert (x.T.shape, x.mT.shape, xp.matrix_transpose(x).shape) == ((3, 2),) * 3
    assert x.T[2, 1] == 5
    stack = xp.zeros((4, 2, 3))
    assert stack.mT.shape == (4, 3, 2)
    with pytest.raises(ValueError, match="mT"):
        _ = stack.T
    with pytest.raises(ValueError, match="two dimensions"):
        _ = xp.zeros(3).mT


def test_devices() -> None:
    x = xp.asarray([1, 2])
    assert x.device == xp.__array_namespace_info__().default_device()
    assert xp.all(x.to_device(x.device) == x)
    with pytest.raises(ValueError, match="moon"):
        x.to_device("moon")


def test_a_number_is_a_0_d_tensor() -> None:
    one = xp.asarray(1, dtype=xp.int8)
    assert (bool(one), int(one), float(one), complex(one)) == (True, 1, 1.0, 1 + 0j)
    assert [10, 20][one] == 20
    assert float(xp.asarray(0.5, dtype="bfloat16")) == 0.5
    for convert in (bool, int, float, complex):
        with pytest.raises(TypeError, match="only a 0-d tensor"):
            convert(xp.asarray([1]))
    with pytest.raises(TypeError, match="index"):
        range(xp.asarray(1.0))  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        float(xp.asarray(1j))
    for asks_length in (len, list):
        with pytest.raises(TypeError, match="no length"):
            asks_length(one)
    assert [int(x) for x in xp.arange(3)] == [0, 1, 2]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        (None, [[[0, 1, 2], [3, 4, 5]]]),
        ((..., 1), [1, 4]),
        ((slice(None), None, slice(None, None, -2)), [[[2, 0]], [[5, 3]]]),
        ((0, 2), 2),
        ((xp.asarray([1, 0]), 2), [5, 2]),
        (xp.asarray([[True, False, True], [False, True, False]]), [0, 2, 4]),
        ((xp.asarray(1), xp.asarray([0, 0])), [3, 3]),
    ],
)
def test_indexing(key: Any, expected: Any) -> None:
    found = xp.reshape(xp.arange(6, dtype=xp.int8), (2, 3))[key]
    assert found.dtype is xp.int8
    assert found.shape == np.shape(expected)
    assert found.tolist() == expected


def test_assignment_by_mask_and_by_indices() -> None:
    x = xp.zeros(4)
    x[xp.asarray([True, False, False, True])] = 1.5
    x[xp.asarray([1])] = xp.asarray(2.0, dtype=xp.float32)
    assert x.tolist() == [1.5, 2.0, 0.0, 1.5]
    with pytest.raises(cw.PromotionError):
        x[0] = 1j


def test_dlpack_both_ways() -> None:
    x = xp.asarray([1.0, 2.0])
    assert np.from_dlpack(x).tolist() == [1.0, 2.0]
    found = xp.from_dlpack(np.asarray([3, 4], dtype=np.int16))
    assert (found.dtype, found.tolist()) == (xp.int16, [3, 4])
    again = xp.from_dlpack(x, dialect="torch")
    assert (again.dialect.name, again.backend) == ("torch", "numpy")
    if int(np.__version__.partition(".")[0]) >= 2:  # NumPy 1 knows only the stream
        assert x.__dlpack__(max_version=(1, 0), copy=True)


def test_layout_keeps_dtype_dialect_and_weakness() -> None:
    weak = cw.asarray([1, 2], dialect="jax") * 1
    x = xp.asarray([[1, 2], [3, 4]], dtype="int8", dialect="torch")
    moved = [
        xp.flip(x), xp.roll(x, 1), xp.permute_dims(x, (1, 0)), xp.moveaxis(x, 0, 1),
        xp.tile(x, (2,)), xp.repeat(x, xp.asarray([1, 2]), axis=0), xp.expand_dims(x, 0),
        xp.tril(x), xp.sort(x), xp.squeeze(xp.expand_dims(x, 0), 0), xp.broadcast_to(x, (3, 2, 2)),
        *xp.unstack(x), *xp.broadcast_arrays(x, x), *xp.meshgrid(x[0], x[1]),
        xp.take(x, xp.asarray([0]), axis=1), xp.take_along_axis(x, xp.asarray([[0], [1]])),
        xp.unique_values(x), xp.linalg.diagonal(x),
    ]  # fmt: skip
    assert {(str(y.dtype), y.dialect.name) for y in moved} == {("int8", "torch")}
    assert xp.reshape(weak, (2, 1)).weak_type is weak.weak_type


def test_joining_asks_the_engine() -> None:
    x, y = xp.asarray([1], dtype=xp.int8), xp.asarray([2], dtype=xp.uint8)
    assert xp.concat([x, y]).dtype is xp.int16
    assert xp.stack([x, y]).shape == (2, 1)
    assert xp.concat([xp.zeros((2, 2)), xp.zeros(3)], axis=None).shape == (7,)
    with pytest.raises(cw.PromotionError):
        xp.concat([x, xp.zeros(1)])
    with pytest.raises(cw.UsageError, match="at least one"):
        xp.concat([])
    assert xp.concat([x, y] * 100).shape == (200,)
    assert xp.diff(xp.asarray([1, 4], dtype=xp.int8), prepend=y).tolist() == [-1, 3]
