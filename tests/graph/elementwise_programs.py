"""Random elementwise programs, with values on which a rounding that is left out shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import castwise as cw

FLOATS = ("float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2")
INTEGERS = ("int8", "uint8", "int16", "int32", "int64", "bool")
DIALECTS = ("numpy", "jax", "torch", "tensorflow:np-all", "keras")
BINARY = ("add", "sub", "mul", "mul", "add", "div", "maximum", "minimum", "lt", "eq", "fmax",
          "copysign", "floor_divide", "remainder", "atan2", "logical_and")  # fmt: skip
UNARY = ("neg", "abs", "square", "sqrt", "floor", "round", "sign", "reciprocal", "isnan", "exp",
         "tanh", "relu", "logical_not")  # fmt: skip
REDUCTIONS = ("sum", "max")
NUMBERS = (2, 3, 7, 0.1, 0.5, -1.5, 3.0)
SHAPES = ((37,), (5, 37), (5, 1), ())

Values = list[Any]


def data(rng: np.random.Generator, dtype: str, shape: tuple[int, ...]) -> Any:
    """Numbers of all sizes, zeros of both signs, and some that are no numbers."""
    if dtype in INTEGERS:
        return rng.integers(0, 2 if dtype == "bool" else 100, shape).astype(dtype)
    values = rng.normal(size=shape) * rng.choice([1e-30, 1e-3, 1, 1, 1, 50], shape)
    strange = rng.choice([0.0, -0.0, np.inf, np.nan, 1e-40], shape)
    kind = getattr(ml_dtypes, dtype, None) or np.dtype(dtype)
    with np.errstate(all="ignore"):
        return np.where(rng.random(shape) < 0.15, strange, values).astype(kind)


def program(rng: np.random.Generator, steps: int) -> Callable[..., Values]:
    """A function of tensors that takes some steps; those that a dialect refuses are left out."""
    drawn = rng.integers(0, 1 << 30, (steps, 6)).tolist()

    def run(*given: Any) -> Values:
        values = list(given)
        for what, first, second, which, number, dtype in drawn:
            x, y = values[-1 - first % min(len(values), 4)], values[second % len(values)]
            try:
                values.append(_done(what % 10, x, y, which, number, dtype))
            except (cw.CastwiseError, ValueError):
                continue
        return values[len(given) :]

    return run


def _done(what: int, x: Any, y: Any, which: int, number: int, dtype: int) -> Any:
    if what < 4:
        return cw.apply(BINARY[which % len(BINARY)], x, y)
    if what < 6:
        return cw.apply(BINARY[which % 8], x, NUMBERS[number % len(NUMBERS)])
    if what == 6:
        return cw.apply(UNARY[which % len(UNARY)], x)
    if what == 7:
        return cw.apply("where", cw.apply("lt", x, y), x, y)
    if what == 8 and x.ndim and number % 3 == 0:
        return cw.apply(REDUCTIONS[which % 2], x, axis=0)
    return x.astype((FLOATS + FLOATS + INTEGERS)[dtype % 18])


def assert_equal_bits(got: Any, expected: Any) -> None:
    """Equal in every bit; every NaN is equal to every other."""
    assert got.dtype is expected.dtype
    assert got.weak_type is expected.weak_type
    one, other = np.asarray(got.numpy()), np.asarray(expected.numpy())
    assert one.shape == other.shape
    is_nan = (one != one) & (other != other)
    bits = f"u{one.dtype.itemsize}"
    assert (is_nan | (one.reshape(-1).view(bits) == other.reshape(-1).view(bits)).reshape(
        one.shape)).all()  # fmt: skip
