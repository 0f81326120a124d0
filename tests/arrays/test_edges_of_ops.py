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
    with pytest.raises(UsageError, match="the lower bound is above"):
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
    with pytest.raises(UsageError, match="cannot be assigned to"):
        array[...] = made(1.0, "float32", "paddle")
    with pytest.raises(UsageError, match="cannot be assigned to"):
        made(1, "int64", "paddle")[()] = 2


@BACKENDS
def test_a_lower_bound_meets_the_integers_first_in_jax(backend: str) -> None:
    bytes_, upper = made([1, 7], "uint8", "jax", backend), made(104.0, "float32", "jax", backend)
    assert cw.apply("clamp", bytes_, -1, upper).tolist() == [104.0, 104.0]  # -1 is 255 by then
    assert cw.apply("clamp", bytes_, 2, upper).tolist() == [2.0, 7.0]
    wide = made([1000, 4], "int16", "jax", backend)
    assert cw.apply("clamp", bytes_, -1, wide).tolist() == [255, 4]
    assert cw.apply("clamp", bytes_, 2, 5).tolist() == [2, 5]
    assert cw.apply("clamp", bytes_, None, upper).tolist() == [1.0, 7.0]


@BACKENDS
def test_the_angle_of_logaddexp_goes_round_in_jax(backend: str) -> None:
    x, y = ([1 + 0j, 0j], [3 - 7j, 1j])
    found = {
        dialect: cw.apply("logaddexp", *(made(v, "complex64", dialect, backend) for v in (x, y)))
        for dialect in ("jax", "mlx")
    }
    assert found["jax"].numpy().imag == pytest.approx([-6.919493 + 2 * math.pi, 0.5])
    assert found["mlx"].numpy().imag == pytest.approx([-6.919493, 0.5])
    binary = [made([v], "complex64", "jax", backend) for v in (-5 + 0j, -6j)]
    found_2 = cw.apply("logaddexp2", *binary).numpy()
    assert found_2.imag == pytest.approx([3.0257363], rel=1e-5)


@BACKENDS
@pytest.mark.parametrize("dialect", ["jax", "tensorflow"])
def test_a_subnormal_number_is_zero_where_the_least_is_looked_for(
    dialect: str, backend: str
) -> None:
    array = made([1.0, 1e-45, -0.0], "float32", dialect, backend)
    assert cw.apply("argmin", array).tolist() == 1
    assert cw.apply("argmax", made([-1.0, 0.0, 1e-45], "float32", dialect, backend)).tolist() == 1
    assert cw.apply("argmin", made([1.0, 1e-45, 0.0], "float32", "numpy", backend)).tolist() == 2


@BACKENDS
def test_a_product_of_subnormal_numbers_is_zero_in_jax(backend: str) -> None:
    x, one = (made([v], "float32", "jax", backend) for v in (1e-45, 1.0))
    for op in ("outer", "kron"):
        assert cw.apply(op, x, one).numpy().ravel().tolist() == [0.0]


@BACKENDS
def test_xlogy_of_zero_and_nan(backend: str) -> None:
    for dialect, expected in {"tensorflow": "0.0", "jax": "nan", "torch": "nan"}.items():
        zero, nan = (made([v], "float32", dialect, backend) for v in (0.0, NAN))
        assert str(cw.apply("xlogy", zero, nan).tolist()[0]) == expected


@BACKENDS
@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("numpy", [1, 3, 6, 10]),
        ("numpy@1", [1, 3, 6, 10]),
        ("jax", [1, 3, 6, 10]),
        ("mlx", [1, 3, 6, 10]),
        ("tensorflow", [[1, 2], [4, 6]]),
        ("tinygrad", [[1, 2], [4, 6]]),
    ],
)
def test_what_is_cumulated_without_an_axis(dialect: str, expected: list[Any], backend: str) -> None:
    assert cw.apply("cumsum", made([[1, 2], [3, 4]], "int32", dialect, backend)).tolist() == (
        expected
    )


@BACKENDS
@pytest.mark.parametrize("dialect", ["torch", "array-api"])
def test_some_take_no_sum_without_an_axis(dialect: str, backend: str) -> None:
    array = made([[1, 2], [3, 4]], "int32", dialect, backend)
    with pytest.raises(UsageError, match="needs an axis"):
        cw.apply("cumprod", array)
    assert cw.apply("cumprod", array, axis=1).tolist() == [[1, 2], [3, 12]]


@BACKENDS
def test_mlx_has_no_places_and_products_of_nothing(backend: str) -> None:
    nothing, one = made([], "int32", "mlx", backend), made([1], "int32", "mlx", backend)
    with pytest.raises(UsageError, match="kron of an array without elements"):
        cw.apply("kron", one, nothing)
    rows = cw.array_api.reshape(nothing, (1, 0))
    with pytest.raises(UsageError, match="argmax of an array without elements"):
        cw.apply("argmax", rows, axis=0)
    assert cw.apply("argmax", cw.array_api.reshape(one, (1, 1)), axis=0).tolist() == [0]


@BACKENDS
def test_a_number_beside_the_integers_of_mlx_is_one_of_them(backend: str) -> None:
    long = made([1], "int64", "mlx", backend)
    assert cw.apply("div", long, -2).tolist() == [-0.5]
    truth = made([True], "bool", "mlx", backend)
    assert cw.apply("div", truth, 2**31).tolist() == [-(2.0**-31)]  # with bools it is an int32
    if backend == "numpy":  # torch has next to nothing of uint64
        unsigned = made([1], "uint64", "mlx")
        assert cw.apply("div", unsigned, -1).tolist() == pytest.approx([2.0**-64])
        assert cw.apply("div", unsigned, 0.5).tolist() == [2.0]


@BACKENDS
def test_numbers_are_true_or_false_before_they_meet_bytes_in_mlx(backend: str) -> None:
    one = made([1], "int8", "mlx", backend)
    assert cw.apply("logical_and", 256, one).tolist() == [True]
    assert cw.apply("logical_and", 0, one).tolist() == [False]
    wide = made([1.0], "float64", "mlx", backend)
    assert cw.apply("logical_and", wide, 1e-50).tolist() == [False]  # which no float32 is


@BACKENDS
def test_the_remainder_of_truth_values_in_mlx(backend: str) -> None:
    x, y = (made(v, "bool", "mlx", backend) for v in ([True, True, False], [True, False, True]))
    assert cw.apply("remainder", x, y).tolist() == [False, True, False]


def test_exponents_beyond_32_bits_on_torch() -> None:
    x, y = (made(v, "int64", "numpy", "torch") for v in ([1, 1, 3], [2**63 - 2, -(2**62), 1]))
    assert cw.apply("ldexp", x, y).tolist() == [INF, 0.0, 6.0]
