"""clamp with one or two bounds out of range, and with bounds that leave no number."""

import numpy as np
import pytest

import castwise as cw
import castwise.array_api as xp
from castwise.errors import ScalarRangeError


@pytest.mark.parametrize(
    ("dtype", "low", "high"),
    [
        ("uint8", -1, None),
        ("uint8", None, 300),
        ("int32", None, 2**31),
        ("int32", -(2**40), None),
        ("uint64", -200, None),
        ("int8", -1000, 1000),
        ("int8", None, 3),
        ("int8", 3, None),
    ],
)
def test_bounds_that_never_bind_are_none(dtype, low, high):
    array = np.array([0, 1, 7, np.iinfo(dtype).max, np.iinfo(dtype).min], dtype)
    expected = np.clip(array, low, high)
    found = xp.clip(cw.asarray(array, dialect="numpy"), low, high)
    assert found.dtype.name == dtype
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(("low", "high"), [(300, None), (None, -1), (0, -1), (300, 400)])
def test_a_bound_that_leaves_nothing_is_refused(low, high):
    array = np.zeros(2, "uint8")
    with pytest.raises(OverflowError):
        np.clip(array, low, high)
    with pytest.raises(ScalarRangeError, match="out of range for uint8"):
        xp.clip(cw.asarray(array, dialect="numpy"), low, high)


@pytest.mark.parametrize(
    ("dialect", "expected"), [("numpy", 1.0), ("torch", 1.0), ("jax", 1.0), ("tensorflow", 3.0)]
)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_of_crossed_bounds_one_counts(dialect, expected, backend):
    pytest.importorskip(backend)
    x = cw.asarray(np.array([5.0, 0.0, 2.0], "float32"), dialect=dialect, backend=backend)
    assert cw.apply("clamp", x, 3.0, 1.0).tolist() == [expected] * 3
    assert cw.apply("clamp", x, 0.5, 2.5).tolist() == [2.5, 0.5, 2.0]
