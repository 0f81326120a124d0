"""Numbers and shapes that do not fit into a variable or an element."""

import numpy as np
import pytest

import castwise as cw
from castwise.errors import ScalarRangeError, UsageError


@pytest.mark.parametrize("dialect", ["numpy", "torch", "mlx", "tensorflow:all"])
def test_a_variable_refuses_a_number_beyond_its_dtype(dialect):
    variable = cw.Variable([1], dtype="int8", dialect=dialect)
    with pytest.raises(ScalarRangeError, match="out of range"):
        variable.assign(300)
    assert variable.assign(3).tolist() == [3]


@pytest.mark.parametrize("dialect", ["tensorflow", "paddle"])
def test_a_variable_wraps_it_where_the_framework_does(dialect):
    assert cw.Variable([1], dtype="int8", dialect=dialect).assign(300).tolist() == [44]


def test_a_variable_keeps_its_shape():
    variable = cw.Variable([[1.0, 2.0]])
    for shape in ((3, 2), (2, 2), (3,), (1, 1, 2)):
        with pytest.raises(UsageError, match=r"do not fit a variable of shape \(1, 2\)"):
            variable.assign(np.ones(shape))
    for shape in ((1, 2), (2,), (1,), ()):
        assert variable.assign(np.zeros(shape)).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize(("dtype", "number"), [("int8", 300), ("uint8", -1), ("float32", 10**30)])
def test_mlx_refuses_an_int_that_it_cannot_convert(dtype, number):
    t = cw.asarray(np.zeros(2, dtype), dialect="mlx")
    with pytest.raises(ScalarRangeError, match="out of range"):
        t[0] = number


def test_mlx_converts_floats_and_64_bits_as_they_come():
    t = cw.asarray(np.zeros(2, "uint64"), dialect="mlx")
    t[0] = -1
    assert t.tolist() == [2**64 - 1, 0]
    small = cw.asarray(np.ones(2, "int8"), dialect="mlx")
    small[0] = float("nan")
    assert small.tolist() == [0, 1]


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax", "dask"])
def test_elements_take_a_list(backend):
    pytest.importorskip(backend)
    t = cw.asarray(np.zeros(3, "float32"), backend=backend)
    t[:2] = [7, 8.5]
    assert (t.tolist(), t.dtype.name) == ([7.0, 8.5, 0.0], "float32")
    for value, told in (("a", "not 'a'"), (None, "not None"), ([1, [2]], "do not form")):
        with pytest.raises(UsageError, match=told):
            t[0] = value


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "float32"])
@pytest.mark.parametrize("index", [0, None, ..., slice(None)])
def test_a_numpy_scalar_fits_signed_integers_as_in_numpy(dtype, index):
    for value in (np.int64(300), np.uint64(2**63 + 1), np.float32(1e30), np.int16(7)):
        array, tensor = np.zeros(1, dtype), cw.asarray(np.zeros(1, dtype))
        number = cw.asarray(np.array([value]), dialect="numpy")[0]
        with np.errstate(all="ignore"):
            try:
                array[index] = value
            except OverflowError:
                for refused in (value, number):
                    with pytest.raises(ScalarRangeError, match="out of range"):
                        tensor[index] = refused
            else:
                for taken in (value, number):
                    tensor[index] = taken
                    assert tensor.tolist() == array.tolist()


def test_a_large_exponent_fits_beside_a_bool_or_a_number():
    for first in (np.array([True, False]), np.array([1.5])):
        for exponent in (2**31 - 1, 2**32, -(2**32)):
            with np.errstate(all="ignore"):
                try:
                    told = np.ldexp(first, exponent)
                except OverflowError:
                    with pytest.raises(ScalarRangeError):
                        cw.apply("ldexp", cw.asarray(first), exponent)
                else:
                    found = cw.apply("ldexp", cw.asarray(first), exponent)
                    assert (found.tolist(), found.dtype) == (told.tolist(), told.dtype)
    assert cw.resolve("ldexp", 1.5, 2**32).result == "float64"


def test_isclose_takes_its_tolerance_in_the_dtype_of_its_second_operand():
    x, y = np.array([1e-8, np.inf, 1.0], "float32"), np.array([0.0, np.inf, 1.0], "float16")
    found = cw.asarray(x).isclose(cw.asarray(y))
    assert found.tolist() == np.isclose(x, y).tolist() == [False, True, True]


def test_a_scalar_at_positions_in_an_array_is_cast_whatever_it_holds() -> None:
    scalar, mask = np.float64(4096.0), np.array([True, False])
    for key in (mask, [0, 1], np.array([1])):
        expected = np.array([1, 1], "int8")
        found = cw.asarray(expected.copy(), dialect="numpy")
        with np.errstate(all="ignore"):
            expected[key] = scalar
            found[key] = scalar
        assert found.tolist() == expected.tolist()


def test_a_number_beyond_int32_wraps_where_it_is_no_exponent() -> None:
    x = cw.asarray([1], dtype="int32", dialect="torch")
    assert (x * 18446744073709551615).tolist() == [-1]
    x |= 4294967296
    assert x.tolist() == [1]
