"""JAX computes softmax, log_softmax and relu of complex numbers, and so does its dialect."""

from __future__ import annotations

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named

X = np.asarray([1 + 1j, 2, 3j, -1], "complex64")


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax", "dask"])
@pytest.mark.parametrize("op", ["softmax", "log_softmax", "relu"])
def test_values(op: str, backend: str) -> None:
    try:
        backend_named(backend)
    except cw.UsageError:
        pytest.skip(f"{backend} is not installed")
    shares = np.exp(X) / np.exp(X).sum()
    expected = {"softmax": shares, "relu": [1 + 1j, 2, 3j, 0]}
    found = cw.apply(op, cw.asarray(X, dialect="jax", backend=backend))
    assert found.dtype.name == "complex64"
    if op == "log_softmax":
        np.testing.assert_allclose(np.exp(found.numpy()), shares, rtol=1e-5)
    else:
        np.testing.assert_allclose(found.numpy(), expected[op], rtol=1e-5)
