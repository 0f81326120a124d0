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
