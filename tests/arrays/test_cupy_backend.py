"""CuPy: what it shares with no other backend; the contract is in test_contract.py."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named

try:
    backend_named("cupy")
    import cupy
except cw.UsageError:
    cupy = None
needs_gpu = pytest.mark.skipif(cupy is None, reason="there is no CuPy, or no GPU")


def on_gpu(values: Any, dtype: str, dialect: str = "numpy") -> cw.Tensor:
    return cw.asarray(values, dtype=dtype, backend="cupy", dialect=dialect)


@pytest.mark.skipif(cupy is not None, reason="CuPy and a GPU are here")
def test_what_is_missing_is_told() -> None:
    with pytest.raises(cw.UsageError, match=r"the backend cupy needs (cupy: pip install|a GPU)"):
        cw.asarray([1], backend="cupy")


@needs_gpu
def test_an_array_is_taken_as_it_is() -> None:
    array = cupy.arange(3, dtype="float16")
    x = cw.asarray(array, dialect="numpy")
    assert (x.backend, x.array is array) == ("cupy", True)
    assert isinstance((x * np.ones(3, "int32")).array, cupy.ndarray)
    assert (x * on_gpu([1, 2, 3], "int32")).dtype.name == "float64"
    x += 1
    assert array.tolist() == [1, 2, 3]


@needs_gpu
def test_copies_are_made_where_they_are_asked_for() -> None:
    array = cupy.ones(2)
    assert cw.asarray(array, copy=False).array is array
    assert cw.asarray(array, copy=True).array is not array
    assert cw.asarray(array, device=0).array is array
    assert cw.asarray([1.0], backend="cupy", device=cupy.cuda.Device(0)).device == array.device
    for data, dtype in ((np.ones(2), None), (array, "float32")):
        with pytest.raises(ValueError, match=r"can only become .* by a copy"):
            cw.asarray(data, dtype=dtype, backend="cupy", copy=False)


@needs_gpu
def test_a_dtype_of_ml_dtypes_enters_where_it_is_cast() -> None:
    small = cw.asarray([1, 2], dtype="float8_e4m3fn").array
    assert cw.asarray(small, dtype="float16", backend="cupy").tolist() == [1, 2]
    with pytest.raises(cw.UsageError, match="the backend cupy has no float8_e4m3fn arrays"):
        cw.asarray(small, backend="cupy")


LARGE = 2**62 + 1
EXACT = [
    ("fmod", "int64", [[LARGE, -LARGE, -(2**63)], [10, 10, -1]]),
    ("remainder", "int64", [[LARGE, -LARGE, -(2**63)], [10, 10, -1]]),
    ("floor_divide", "int32", [[7, -7, -(2**31)], [0, 2, -1]]),
    ("remainder", "float64", [[1e22, -1e22, np.inf, -1.0, 0.0], [7.0, 7.0, 2.0, np.inf, -1.0]]),
    ("remainder", "bfloat16", [[1000.0, -1000.0], [7.0, 7.0]]),
    ("floor_divide", "float32", [[1.0, np.inf, -1.0, 7.0], [0.1, 2.0, np.inf, 0.0]]),
    ("bitwise_left_shift", "int64", [[3, 3, 3], [-1, 64, 2**32]]),
    ("bitwise_right_shift", "int8", [[-100, -100, 100], [-1, 9, 2]]),
    ("nextafter", "float16", [[np.inf, 0.0, -0.0, 1.0, np.nan], [0.0, -1.0, 1.0, 1.0, 1.0]]),
    ("nextafter", "float32", [[0.0, 1.0, -1.0], [1.0, np.inf, np.inf]]),
    ("div", "complex64", [[1 + 2j, 1 + 2j, 4 + 2j], [complex(np.inf), 2, 1 + 1j]]),
    ("reciprocal", "int64", [[0, 1, -1, 5]]),
    ("angle", "float32", [[-0.0, 1.0, -1.0, np.nan]]),
    ("where", "bfloat16", [[1.0, 0.0], [2.0, 3.0], [4.0, 5.0]]),
    ("logical_and", "complex64", [[1j, 0], [1, 1]]),
    ("cumsum", "float32", [1.5]),
]


@needs_gpu
@pytest.mark.parametrize(("op", "dtype", "operands"), EXACT)
def test_kernels_compute_what_numpy_computes(op: str, dtype: str, operands: list[Any]) -> None:
    with np.errstate(all="ignore"):
        got, expected = (
            cw.apply(op, *[cw.asarray(x, dtype=dtype, backend=b) for x in operands])
            for b in ("cupy", "numpy")
        )
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(got.numpy(), expected.numpy())


@needs_gpu
def test_powers_are_within_one_unit() -> None:
    x = np.random.default_rng(7).uniform(0.1, 50, 1000).astype("float32")
    got = on_gpu(x, "float32") ** on_gpu(x / 10, "float32")
    exact = x.astype("float64") ** (x / np.float32(10)).astype("float64")
    np.testing.assert_array_max_ulp(got.numpy(), exact.astype("float32"), 1)


@needs_gpu
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_an_exponent_may_stay_an_integer(dtype: str) -> None:
    x, three = on_gpu([2.0, 3.0], dtype, "jax"), on_gpu(3, "int8", "jax")
    for power in (cw.apply("pow", x, three), cw.apply("pow", x, 3), x**3):
        assert (power.dtype.name, power.tolist()) == (dtype, [8, 27])
    assert (2**x).tolist() == [4, 8]
    assert (x**x).tolist() == [4, 27]
    assert (2.0 ** on_gpu([3], "int8", "jax")).tolist() == [8]


@needs_gpu
@pytest.mark.parametrize(("dialect", "expected"), [
    ("numpy", [0, 0, 0, 44, -44, 0]), ("jax", [0, 127, -128, 127, -128, 127]),
])  # fmt: skip
def test_casts_of_floats_out_of_range(dialect: str, expected: list[int]) -> None:
    far = on_gpu([np.nan, np.inf, -np.inf, 300.7, -300.7, 3e9], "float32", dialect)
    assert far.astype("int8").tolist() == expected
