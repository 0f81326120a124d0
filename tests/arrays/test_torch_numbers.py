"""Numbers with tensors under PyTorch's dialect, compared with PyTorch itself, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import castwise as cw

torch = pytest.importorskip("torch")

ARRAYS = {
    "float32": [0.5, 1.7, 3.0, 41.3, 0.01],
    "float16": [3.0, -7.25, 100.3, 0.5, 0.1],
    "bfloat16": [3.0, -7.25, 100.3, 0.5, 99840.0],
    "float64": [3.0, -7.25, 100.3, 0.5, 0.1],
    "int16": [3, 7, -100, 5, 32767],
    "uint8": [3, 7, 100, 5, 254],
    "int64": [100, 3, -7, 11, 2**40],
}


def assert_same(compute: Callable[[Any], Any], dtype: str, backend: str) -> None:
    array = torch.tensor(ARRAYS[dtype], dtype=getattr(torch, dtype))
    expected = compute(array)
    computed = compute(cw.asarray(array, dialect="torch").astype(dtype))
    if backend == "numpy":
        held = cw.asarray(array.to(torch.float64).numpy()).astype(dtype)
        computed = compute(held.under("torch"))
    assert computed.dtype.name == str(expected.dtype).removeprefix("torch.")
    np.testing.assert_array_equal(
        np.asarray(computed.astype("float64").numpy()), expected.to(torch.float64).numpy()
    )


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "int16", "uint8"])
@pytest.mark.parametrize("exponent", [1.3, 0.1, 1 / 3, -0.7])
def test_a_python_exponent_is_not_rounded_to_float32(
    exponent: float, dtype: str, backend: str
) -> None:
    assert_same(lambda x: abs(x) ** exponent, dtype, backend)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_a_large_exponent_stays_odd(backend: str) -> None:
    minus = cw.asarray([-1.0], dtype="float32", dialect="torch", backend=backend)
    assert (minus ** -(2**31 + 1)).tolist() == [-1]
    minus.pow_(2**31 + 1)
    assert minus.tolist() == [-1]


def test_torch_computes_a_power_of_a_number_by_its_own_kernel() -> None:
    base = cw.asarray([-np.inf, 4.0], dtype="float64", dialect="torch", backend="torch")
    assert np.isnan((base**0.5).numpy()[0])  # it is a square root there
    zero = cw.asarray([0j], dtype="complex64", dialect="torch", backend="torch")
    assert (zero**0).tolist() == [1]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (base.astype("float32") ** 1.5).dtype.name == "float32"


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ARRAYS)
@pytest.mark.parametrize("number", [np.int64(-5), np.uint32(5), np.float32(1.3), np.float64(1.3)])
def test_a_numpy_scalar_is_divided_as_a_number_is(number: Any, dtype: str, backend: str) -> None:
    assert_same(lambda x: number / x, dtype, backend)


@pytest.mark.filterwarnings("ignore:__array_wrap__:DeprecationWarning")  # torch's own
@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", [name for name in ARRAYS if name != "bfloat16"])
@pytest.mark.parametrize("array", [np.asarray(-5), np.full(5, 1.3), np.full(5, 7, "int16")])
def test_a_numpy_array_is_divided_by_way_of_the_reciprocal(
    array: Any, dtype: str, backend: str
) -> None:
    assert_same(lambda x: array / x, dtype, backend)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_numpy_scalar_is_not_rounded_to_small_floats(dtype: str, backend: str) -> None:
    assert_same(lambda x: np.uint16(60001) * x, dtype, backend)
    assert_same(lambda x: x * np.uint16(60001), dtype, backend)


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_nothing_is_divided_by_zero_where_there_is_nothing(backend: str) -> None:
    empty = cw.asarray(np.zeros((2, 0), "int32"), dialect="torch", backend=backend)
    for found in (empty // 0, empty % cw.asarray(0, dialect="torch", backend=backend)):
        assert (found.shape, found.dtype.name) == ((2, 0), "int32")
    with pytest.raises(cw.CastwiseError, match="by zero"):
        cw.asarray([1], dialect="torch", backend=backend) // 0


def test_a_negative_float_has_no_place_among_unsigned_integers_in_torch() -> None:
    for name in ("uint8", "uint16", "uint32", "uint64"):
        t = cw.asarray([1, 2], dtype=name, dialect="torch")
        t[0] = -1
        assert t.numpy()[0] == cw.dtype(name).max
        for number in (-1.5, -0.5):
            with pytest.raises(cw.ScalarRangeError, match="out of range"):
                t[0] = number
        t[0] = -0.0
        assert t.tolist() == [0, 2]


def test_a_weight_of_lerp_is_of_64_bits_in_torch() -> None:
    t = cw.asarray([1.0, 2.0], dtype="float32", dialect="torch")
    assert cw.apply("lerp", t, t, 2**64 - 1).tolist() == [1.0, 2.0]
    for weight in (-(2**63) - 1, 2**64):
        with pytest.raises(cw.ScalarRangeError, match="out of range"):
            cw.apply("lerp", t, t, weight)
