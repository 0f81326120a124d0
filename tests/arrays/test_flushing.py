"""Subnormal floats under the dialects that take them for zero, on backends that do not."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import castwise as cw
from castwise.arrays.backends import backend_named
from castwise.arrays.tensor import apply
from castwise.vocab.dtypes import dtype

LEAST = {"float32": 2.0**-126, "float64": 2.0**-1022, "bfloat16": 2.0**-126}
DTYPES = {"float32": np.float32, "float64": np.float64, "bfloat16": ml_dtypes.bfloat16}
OPS: list[Callable[[Any, Any], Any]] = [
    operator.add, operator.sub, operator.mul, operator.truediv, operator.lt, operator.eq
]  # fmt: skip


def flushed(array: Any) -> Any:
    if array.dtype == bool:
        return array
    is_small = np.abs(array) < np.array(LEAST[array.dtype.name], array.dtype)
    return np.where(is_small, np.copysign(np.zeros_like(array), array), array)


def small_numbers(name: str, seed: int, count: int = 4096) -> Any:
    """Numbers far below and far above the smallest normal float, and zeros."""
    random = np.random.default_rng(seed)
    exponents = random.integers(-30, 31, count)
    sizes = random.uniform(1, 2, count) * LEAST[name] * 2.0 ** exponents.astype("float64")
    numbers = np.where(random.random(count) < 0.1, 0.0, sizes) * random.choice([1.0, -1.0], count)
    return numbers.astype(DTYPES[name])


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_small_operands_and_results_are_zero(
    name: str, op: Callable[[Any, Any], Any], backend: str
) -> None:
    pytest.importorskip(backend)
    x, y = small_numbers(name, 1), small_numbers(name, 2)
    y[::7] = -x[::7]  # whose sum is zero
    with np.errstate(all="ignore"):
        expected = flushed(op(flushed(x), flushed(y)))
        tensors = [cw.asarray(a, dialect="tensorflow", backend=backend) for a in (x, y)]
        found = op(*tensors).numpy()
    np.testing.assert_array_equal(found.astype("float64"), expected.astype("float64"))


def test_one_small_number_far_behind_is_found() -> None:
    x = cw.asarray(np.ones(200_001, "float32"), dialect="tensorflow")
    tiny = np.ones(200_001, "float32")
    tiny[-1] = 1e-40
    found = (x * cw.asarray(tiny, dialect="tensorflow")).numpy()
    assert found[-1] == 0
    assert found[:-1].min() == 1


def test_a_finder_tells_small_numbers_from_zeros_and_from_what_is_no_number() -> None:
    backend: Any = backend_named("numpy")
    has_small = backend.finder_below(dtype("float32"), 2.0**-126)
    others = np.array([0.0, -0.0, 2.0**-126, -(2.0**-126), 1.0, np.inf, -np.inf, np.nan], "float32")
    assert not has_small(others)
    assert not has_small(others[:0])
    for small in (1e-45, -1e-45, 1.1e-38, -1.1e-38):
        assert has_small(np.append(others, np.float32(small)))
        assert has_small(np.full((3, 4), small, "float32").T[::2])


@pytest.mark.parametrize("dialect", ["jax:x64", "tensorflow"])
def test_casts_to_and_from_float64_take_them_for_zero(dialect: str) -> None:
    small = cw.asarray(np.array([1e-40, -1e-40, 2.0**-126], "float32"), dialect=dialect)
    assert small.astype("float64").tolist() == [0.0, 0.0, 2.0**-126]
    assert small.astype("bool").tolist() == [False, False, True]
    large = cw.asarray(np.array([1e-40, 2.0**-126], "float64"), dialect=dialect)
    assert large.astype("float32").tolist() == [0.0, 2.0**-126]
    assert small.under("numpy").astype("float64").tolist()[0] == float(np.float32(1e-40))


@pytest.mark.parametrize(
    ("dialect", "asked"), [("numpy", True), ("jax", True), ("tensorflow", False)]
)
@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_a_complex_number_is_true_as_in_the_framework(
    backend: str, dialect: str, asked: bool
) -> None:
    pytest.importorskip(backend)
    values = np.array([1j], "complex64")
    imaginary = cw.asarray(values, dialect=dialect, backend=backend)
    assert imaginary.astype("bool").tolist() == [asked]
    if dialect != "tensorflow":  # which has no such any
        assert apply("any", imaginary).item() is (dialect == "numpy")


@pytest.mark.parametrize("backend", ["numpy", "torch", "jax", "dask"])
def test_a_divisor_in_place_is_cast_to_the_dtype_it_divides_in_jax(backend: str) -> None:
    pytest.importorskip(backend)

    def divided(values: Any, by: Any, dialect: str) -> Any:
        target = cw.asarray(np.array(values), dialect=dialect, backend=backend)
        if isinstance(by, np.ndarray):
            by = cw.asarray(by, dialect=dialect, backend=backend)
        with np.errstate(divide="ignore"):
            return cw.apply("div", target, by, inplace=True).tolist()

    whole = np.array([3, 10], "int32")
    assert divided(whole, 1.5, "jax") == [3.0, 10.0]
    assert divided(whole, np.array([2.5, 0.5], "float32"), "jax") == [1.5, np.inf]
    assert divided(whole, np.array([2.5, 0.5], "float32"), "keras") == [1, 20]
    wide = np.array([255, 256], "int32")  # of which an int8 holds the low bits
    assert divided(np.array([3, 3], "int8"), wide, "jax") == [-3.0, np.inf]
