"""What random programs found: empty and 0-d arrays, bounds, NaN, numbers out of range."""

from __future__ import annotations

import math
from typing import Any

import pytest

import castwise as cw
from castwise.errors import UsageError

NAN, INF = math.nan, math.inf
BACKENDS = pytest.mark.parametrize("backend", ["numpy", "torch"])


def made(values: Any, dtype: str, dialect: str, backend: str = "numpy") -> Any:
    pytest.importorskip(backend)
    return cw.asarray(values, dtype=dtype, dialect=dialect, backend=backend)


@BACKENDS
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex128"])
def test_torch_casts_to_uint8_through_int64(dtype: str, backend: str) -> None:
    negative = made([-1, -2.5, 300], dtype, "torch", backend)
    assert negative.astype("uint8").tolist() == [255, 254, 44]


@BACKENDS
def test_the_extremes_of_nothing(backend: str) -> None:
    floats, ints = (made([], dtype, "tensorflow", backend) for dtype in ("float32", "int16"))
    assert [cw.apply(op, floats).tolist() for op in ("max", "min")] == [-INF, INF]
    assert [cw.apply(op, ints).tolist() for op in ("max", "min")] == [-(2**15), 2**15 - 1]
    with pytest.raises(ValueError, match="zero-size"):
        cw.apply("max", made([], "float32", "numpy"))


def test_the_extremes_of_nothing_along_an_axis() -> None:
    array = cw.array_api.reshape(made([], "uint8", "tensorflow"), (0, 3))
    assert cw.apply("max", array, axis=0).tolist() == [0, 0, 0]
    assert cw.apply("min", array, axis=0, keepdims=True).tolist() == [[255, 255, 255]]
    assert cw.apply("max", array, axis=1).shape == (0,)


@BACKENDS
@pytest.mark.parametrize(
    ("values", "largest", "smallest"),
    [([1, NAN, 2], 2, 0), ([NAN, 1, 2], 2, 1), ([NAN, NAN], 0, 0), ([1, 2, NAN], 1, 0)],
)
def test_tensorflow_passes_over_nan(
    values: list[float], largest: int, smallest: int, backend: str
) -> None:
    array = made(values, "float32", "tensorflow", backend)
    assert cw.apply("argmax", array).tolist() == largest
    assert cw.apply("argmin", array).tolist() == smallest
    assert cw.apply("argmax", made(values, "float32", "numpy", backend)).tolist() == (
        values.index(NAN)
    )


@pytest.mark.parametrize("op", ["argmax", "argmin", "softmax", "log_softmax"])
def test_tensorflow_has_no_axis_in_a_0_d_array(op: str) -> None:
    with pytest.raises(UsageError, match=f"{op} of a 0-d array"):
        cw.apply(op, made(1.0, "float32", "tensorflow"))
    assert cw.apply(op, made([1.0], "float32", "tensorflow")) is not None
    assert cw.apply(op, made(1.0, "float32", "torch")).shape == ()


def test_jax_has_no_softmax_of_a_0_d_array() -> None:
    with pytest.raises(UsageError, match="softmax of a 0-d array"):
        cw.apply("softmax", made(1.0, "float32", "jax"))


def test_tensorflow_keeps_the_shape_of_what_it_clamps() -> None:
    one, two = made([1], "int32", "tensorflow"), made([1, 2], "int32", "tensorflow")
    assert cw.apply("clamp", two, one, 5).tolist() == [1, 2]
    with pytest.raises(UsageError, match="clamp keeps the shape"):
        cw.apply("clamp", one, two, 5)


def test_paddle_clamps_between_single_numbers() -> None:
    ints, floats = made([1, 9], "int32", "paddle"), made([1, 9], "float32", "paddle")
    many = made([2, 3], "float32", "paddle")
    assert cw.apply("clamp", ints, made([2, 3], "int32", "paddle"), 5).tolist() == [2, 5]
    assert cw.apply("clamp", ints, many, 5.0).tolist() == [2, 5]
    assert (
        cw.apply("clamp", made(1, "int64", "paddle"), made([2], "int64", "paddle"), 5).shape == ()
    )
    with pytest.raises(UsageError, match="one element"):
        cw.apply("clamp", floats, many, 5.0)
    with pytest.raises(UsageError, match="the lower is the larger"):
        cw.apply("clamp", floats, 5.0, 2.0)


@BACKENDS
@pytest.mark.parametrize(
    ("dialect", "angles"),
    [
        ("numpy", [math.pi, 0, NAN, math.pi]),
        ("torch", [0, 0, NAN, math.pi]),
        ("tensorflow", [0, 0, 0, math.pi]),
    ],
)
def test_the_angle_of_real_numbers(dialect: str, angles: list[float], backend: str) -> None:
    array = made([-0.0, 0.0, NAN, -1.0], "float64", dialect, backend)
    assert cw.apply("angle", array).tolist() == pytest.approx(angles, nan_ok=True)


@BACKENDS
@pytest.mark.parametrize(("dialect", "step"), [("numpy", NAN), ("torch", 0), ("jax", NAN)])
def test_the_step_of_nan(dialect: str, step: float, backend: str) -> None:
    array = made([NAN, 1.0], "float32", dialect, backend)
    steps = cw.apply("heaviside", array, made([0.5, 0.5], "float32", dialect, backend))
    assert steps.tolist() == pytest.approx([step, 1], nan_ok=True)


@BACKENDS
def test_tensorflow_reads_a_divisor_into_the_dtype_of_integers(backend: str) -> None:
    assert (made([1], "uint8", "tensorflow", backend) / (-1)).tolist() == pytest.approx([1 / 255])
    ints = made([1], "int32", "tensorflow", backend)
    ints /= 2**31
    assert ints.tolist() == [-(2.0**-31)]


@BACKENDS
def test_a_quotient_without_its_fraction_of_the_least_integer(backend: str) -> None:
    least = made([-(2**31), -7, 7], "int32", "tensorflow", backend)
    assert cw.apply("truncate_div", least, 3).tolist() == [-715827882, -2, 2]
    assert cw.apply("truncate_div", least, -1).tolist() == [-(2**31), 7, -7]
    assert cw.apply("truncate_div", -1, least).tolist() == [0, 0, 0]


def test_the_mean_of_long_integers_keeps_their_digits() -> None:
    array = made([[2**64 - 9, 5], [2**64 - 9, 8]], "uint64", "tensorflow")
    assert cw.apply("mean", array[:1, 0]).tolist() == 2**64 - 9
    assert cw.apply("mean", array, axis=0).tolist() == [(2 * (2**64 - 9) % 2**64) // 2, 6]
    assert cw.apply("mean", made([-5, -4], "int64", "tensorflow")).tolist() == -4


@BACKENDS
@pytest.mark.parametrize("dtype", ["uint8", "float16", "float64"])
def test_the_real_part_of_real_numbers_is_in_their_memory(dtype: str, backend: str) -> None:
    array = made([1, 2], dtype, "torch", backend)
    part = cw.apply("real", array)
    array[...] = 7
    assert part.tolist() == [7, 7]


@BACKENDS
def test_an_array_of_one_element_is_assigned_to_itself(backend: str) -> None:
    array = made([3], "uint16", "torch", backend)
    array[...] = array
    assert array.tolist() == [3]


@BACKENDS
def test_numpy_assigns_no_array_to_one_element(backend: str) -> None:
    array, value = (made([1, 2], "int32", "numpy", backend) for _ in range(2))
    for key in (0, (1,)):
        with pytest.raises((UsageError, ValueError)):
            array[key] = value[:1]
    single = made(1, "int32", "numpy", backend)
    with pytest.raises((UsageError, ValueError)):
        single[()] = value[:1]
    single[...] = value[1:]
    array[...] = cw.array_api.reshape(value, (1, 2))
    assert (single.tolist(), array.tolist()) == (2, [1, 2])


@BACKENDS
def test_some_of_an_array_of_mlx_is_an_array_of_its_own(backend: str) -> None:
    array = made([1, 2, 3], "int32", "mlx", backend)
    part = array[1:]
    array[...] = 7
    assert part.tolist() == [2, 3]
    part[...] = 5
    assert array.tolist() == [7, 7, 7]


def test_all_of_an_array_of_mlx_takes_the_dtype_it_is_assigned() -> None:
    for key in (..., None, ()):
        array = made(True, "bool", "mlx")
        array[key] = made(5, "int16", "mlx")
        assert (array.dtype.name, array.tolist()) == ("int16", 5)


def test_paddle_assigns_to_a_0_d_array_only_numbers_and_only_float32() -> None:
    array = made(1.0, "float32", "paddle")
    array[...] = 2.5
    assert array.tolist() == 2.5
    with pytest.raises(UsageError, match="nothing is assigned"):
        array[...] = made(1.0, "float32", "paddle")
    with pytest.raises(UsageError, match="nothing is assigned"):
        made(1, "int64", "paddle")[()] = 2
