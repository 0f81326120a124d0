"""NumPy's functions cast while they compute if they can, with the values of a separate cast."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named

NUMPY = backend_named("numpy")
DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "bfloat16",
          "float32", "float64", "complex64")  # fmt: skip
NAMES = {"add": np.add, "mul": np.multiply, "div": np.divide, "lt": np.less, "maximum": np.maximum}


def values(dtype: str, seed: int) -> np.ndarray:
    native = NUMPY.native(cw.dtype(dtype))
    drawn = np.random.default_rng(seed).integers(1, 120, size=(50, 3))
    return (drawn % 2 if dtype == "bool" else drawn / 7 if "float" in dtype else drawn).astype(
        native
    )


@pytest.mark.parametrize("op", NAMES)
@pytest.mark.parametrize("dialect", ["numpy", "torch", "jax:x64"])
@pytest.mark.filterwarnings("ignore:.*encountered in:RuntimeWarning")
def test_values_are_those_of_a_cast_before(op: str, dialect: str) -> None:
    tried = 0
    for first, second in itertools.product(DTYPES, DTYPES):
        a, b = values(first, 1), values(second, 2)
        try:
            decision = cw.resolve(op, f"{first}[3]", f"{second}[3]", dialect=dialect).as_promoted()
        except cw.PromotionError:
            continue
        if decision.compute.bits < 32:
            continue  # computed in a wider dtype and rounded
        tried += 1
        found = cw.apply(op, cw.asarray(a, dialect=dialect), cw.asarray(b, dialect=dialect))
        native = NUMPY.native(decision.compute)
        expected = NAMES[op](a.astype(native), b.astype(native))
        np.testing.assert_array_equal(found.numpy(), expected.astype(found.array.dtype))
        assert found.dtype is decision.result
    assert tried > 50


def test_0d_operands_give_a_0d_array() -> None:
    found = cw.asarray(1, dtype="int32") + cw.asarray(2.5, dtype="float32")
    assert isinstance(found.array, np.ndarray)
    assert (found.shape, found.item()) == ((), 3.5)


def test_operands_are_broadcast() -> None:
    found = cw.asarray([[1], [2]], dtype="int16") * cw.asarray([0.5, 1.5], dtype="float32")
    assert found.tolist() == [[0.5, 1.5], [1, 3]]
