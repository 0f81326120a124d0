"""What PaddlePaddle 3.3.1 computes in its own way, as observed on x86-64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named, backend_names

BACKENDS = ["numpy", "torch", "dask"]


def on(values: Any, dtype: str, backend: str) -> cw.Tensor:
    if backend not in backend_names():
        pytest.skip(f"{backend} is not installed")
    try:
        backend_named(backend)
    except cw.UsageError:
        pytest.skip(f"{backend} is not installed")
    return cw.asarray(np.asarray(values), dialect="paddle", backend=backend).astype(dtype)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("op", "dtype", "values", "expected"),
    [
        ("degrees", "int8", [-128, -7, 3], [-128, 113, -85]),
        ("degrees", "uint8", [200], [136]),
        ("degrees", "int16", [20000, -3], [25888, -171]),
        ("radians", "int8", [100, 127], [0, 0]),
        ("radians", "bool", [True, False], [True, False]),
        ("var", "int64", [1, 2, 4], 2),
        ("angle", "float64", [-0.0, -1.0, 1.0], [0.0, 3.141592653589793, 0.0]),
        ("var", "int32", [1, 2, 4], 2),
        ("exp", "complex128", [1 + 0j], [2.7182817459106445 + 0j]),
    ],
)
def test_of_one_array(backend: str, op: str, dtype: str, values: Any, expected: Any) -> None:
    found = cw.apply(op, on(values, dtype, backend))
    assert (found.dtype.name, found.numpy().tolist()) == (dtype, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_deviation_of_integers_is_the_root_of_a_whole_variance(backend: str) -> None:
    found = cw.apply("std", on([[1, 2, 4], [0, 0, 9]], "int64", backend), axis=1)
    assert found.dtype.name == "float32"
    np.testing.assert_allclose(found.numpy(), np.sqrt([2, 27]), rtol=1e-6)


def test_of_one_number_along_its_last_axis_it_is_zero() -> None:
    found = cw.apply("std", on(1, "int32", "numpy"), axis=-1)
    assert (found.shape, found.numpy().tolist()) == ((), 0.0)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_angle_of_integers_is_that_of_float32(dtype: str) -> None:
    found = cw.apply("atan2", on([1], dtype, "numpy"), on([1], dtype, "numpy"))
    assert found.dtype.name == "float64"
    (angle,) = found.numpy()  # whose last bit depends on the processor
    assert angle == np.float32(angle) == pytest.approx(np.pi / 4, rel=2**-23)


def test_the_sigmoid_of_complex128_goes_through_float32() -> None:
    found = cw.apply("sigmoid", on([1 + 0j], "complex128", "numpy"))
    assert found.numpy()[0].real == pytest.approx(0.731058573739949, abs=1e-15)


def test_hypot_takes_squares_which_wrap() -> None:
    found = cw.apply("hypot", on([1], "int32", "numpy"), on([2147483647], "int32", "numpy"))
    assert (found.dtype.name, found.numpy().tolist()) == ("float32", [1.4142135381698608])


@pytest.mark.parametrize(
    ("op", "dtype", "expected"),
    [("mse_loss", "int32", 9), ("mse_loss", "int64", 9), ("hypot", "complex64", [5.0 + 0j])],
)
def test_computes_beyond_the_floats(op: str, dtype: str, expected: Any) -> None:
    first, second = (3, 4) if op == "hypot" else (1, 4)
    found = cw.apply(op, on([first], dtype, "numpy"), on([second], dtype, "numpy"))
    assert (found.dtype.name, found.numpy().tolist()) == (dtype, expected)


@pytest.mark.parametrize("bounds", [(np.nan, 2.0), (0.0, np.nan), (np.nan,), (3.0, 2.0)])
def test_bounds_that_are_not_in_order_raise(bounds: tuple[float, ...]) -> None:
    with pytest.raises(cw.UsageError, match="the lower bound is above the upper one"):
        cw.apply("clamp", on([1.0], "float32", "numpy"), *bounds)


@pytest.mark.parametrize("method", ["ge_", "eq_", "logical_and_"])
def test_a_comparison_in_place_cannot_read_the_array_itself(method: str) -> None:
    x = on([1.0, 2.0], "float32", "numpy")
    with pytest.raises(cw.PromotionError, match="if the array is its own operand"):
        getattr(x, method)(x)
    assert x.dtype.name == "float32"
    other = on([1.0, 3.0], "float32", "numpy")
    assert getattr(x, method)(other).dtype.name == "bool"


@pytest.mark.parametrize("values", [[True, False], []])
def test_of_truth_values_and_of_nothing_it_can(values: list[bool]) -> None:
    x = on(values, "bool" if values else "float32", "numpy")
    assert x.ge_(x).numpy().tolist() == [True] * len(values)


@pytest.mark.parametrize(
    ("method", "shape", "other"),
    [("ge_", (1,), (2,)), ("ldexp_", (), (1,)), ("add_", (), (1,)), ("logical_and_", (1,), (2,))],
)
def test_in_place_the_shape_stays(
    method: str, shape: tuple[int, ...], other: tuple[int, ...]
) -> None:
    x = on(np.ones(shape), "float32", "numpy")
    with pytest.raises(cw.UsageError, match="in place gives the shape"):
        getattr(x, method)(on(np.ones(other), "float32", "numpy"))


@pytest.mark.parametrize("op", ["real", "imag"])
def test_the_parts_lie_in_the_memory_of_a_complex_array(op: str) -> None:
    x = on([1 + 2j], "complex64", "numpy")
    part = cw.apply(op, x)
    x[0] = 3
    assert part.numpy().tolist() == [3.0 if op == "real" else 0.0]
