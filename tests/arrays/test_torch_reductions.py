"""Reductions under PyTorch's dialect, with PyTorch itself as the judge."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw

torch = pytest.importorskip("torch")


def reduced(op: str, array: Any, axis: int, backend: str) -> Any:
    held = cw.asarray(array, dialect="torch", backend=backend)
    return cw.apply(op, held, axis=axis)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64"])
def test_the_median_of_integers_is_one_of_them(dtype: str, backend: str) -> None:
    array = np.asarray([[5, 1, 3, 2], [100, 9, 4, 7]], dtype)
    for axis in (0, 1):
        expected = torch.median(torch.from_numpy(array), axis).values.numpy()
        found = reduced("median", array, axis, backend)
        assert (found.dtype.name, found.tolist()) == (dtype, expected.tolist())


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")  # the logarithm of no sum
@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 2)])
@pytest.mark.parametrize("op", ["softmax", "log_softmax", "logsumexp"])
def test_what_nothing_is_reduced_to(op: str, shape: tuple[int, ...], backend: str) -> None:
    array = np.zeros(shape, "float32")
    for axis in range(len(shape)):
        expected = getattr(torch, op)(torch.from_numpy(array), axis)
        found = reduced(op, array, axis, backend)
        assert (found.shape, found.tolist()) == (tuple(expected.shape), expected.tolist())
