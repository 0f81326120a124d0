"""What tensors are made of: Python numbers, nested lists, and what is refused."""

import decimal

import numpy as np
import pytest

import castwise as cw
from castwise.errors import ScalarRangeError, UsageError


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        ([2**63], "uint64"),
        (2**64 - 1, "uint64"),
        ([True, 2**63], "uint64"),
        ([1, 2**63], "float64"),
    ],
)
def test_large_ints_are_what_numpy_makes_them(data, dtype):
    assert np.asarray(data).dtype.name == dtype
    for dialect in ("numpy", "numpy@1", "array-api"):
        made = cw.asarray(data, dialect=dialect)
        assert made.dtype.name == dtype
        assert made.tolist() == np.asarray(data).tolist()


@pytest.mark.parametrize("dialect", ["tensorflow", "mlx"])
def test_ints_beyond_32_bits_are_int64_where_32_are_usual(dialect):
    assert cw.asarray([1], dialect=dialect).dtype.name == "int32"
    assert cw.asarray([2**31], dialect=dialect).dtype.name == "int64"
    with pytest.raises(ScalarRangeError, match="9223372036854775808 is out of range"):
        cw.asarray([2**63], dialect=dialect)


@pytest.mark.parametrize(("dialect", "large"), [("torch", 1 << 63), ("jax", 1 << 31)])
def test_ints_beyond_the_only_width_are_refused(dialect, large):
    with pytest.raises(ScalarRangeError, match=r"give a wider dtype, dtype='u?int64'"):
        cw.asarray([large], dialect=dialect)


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 10**400])
def test_ints_beyond_64_bits_are_floats_or_nothing(number):
    with pytest.raises(ScalarRangeError, match="is out of range for int64: write it as a float"):
        cw.asarray([number])


def test_numpy_scalars_in_a_list_lose_nothing():
    assert cw.asarray([np.float32(1.5), 2]).tolist() == [1.5, 2.0]
    assert cw.asarray([np.int64(3), True]).tolist() == [3, 1]
    assert cw.asarray([np.int8(1), np.int16(2)]).dtype.name == "int16"


@pytest.mark.parametrize("backend", ["numpy", "torch", "dask"])
@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("abc", "not 'abc': convert it, such as float"),
        ([1, "a"], "not 'a': convert it"),
        (None, "not None: use a number instead"),
        ([[1.0], [None]], "not None"),
        (decimal.Decimal(1), r"not Decimal\('1'\): convert it"),
        ({1, 2}, "convert it to a list"),
        ((n for n in range(2)), "convert it to a list"),
        ([[1, 2], [3]], "lengths 2 and 1 do not form"),
        ([1, [2]], "lengths 0 and 1 do not form"),
        (np.array(["a"]), "<U1' is out of scope: it holds text"),
    ],
)
def test_what_is_no_array_of_numbers(data, told, backend):
    pytest.importorskip(backend)
    with pytest.raises(UsageError, match=told):
        cw.asarray(data, backend=backend)


@pytest.mark.parametrize(("number", "dtype"), [(float("nan"), "int8"), (1j, "float32")])
def test_numbers_without_a_place_in_a_dtype(number, dtype):
    with pytest.raises(UsageError, match=f"{dtype} cannot hold .*: make the tensor without"):
        cw.asarray([number], dtype=dtype)


def test_other_errors_are_the_backend_s_own():
    with pytest.raises(ValueError, match=r"(?i)copy"):
        cw.asarray([1, 2], copy=False)
