"""The values at which frameworks could compute differently, for each dtype."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import Any

from castwise.conformance.operand import Scalar, words

INTEGERS = words("int8 int16 int32 int64 uint8 uint16 uint32 uint64")
FLOATS = words("float16 bfloat16 float32 float64")
COMPLEX = words("complex64 complex128")
DTYPES = ("bool", *INTEGERS, *FLOATS, *COMPLEX)

Values = tuple[Scalar, ...]
Pair = tuple[Values, Values]

# The largest finite value, the least subnormal, and the least integer that is not held.
_LIMITS = {
    "float16": (65504.0, 2.0**-24, 2.0**11 + 1),
    "bfloat16": (3.3895313892515355e38, 2.0**-133, 2.0**8 + 1),
    "float32": (3.4028234663852886e38, 2.0**-149, 2.0**24 + 1),
    "float64": (1.7976931348623157e308, 5e-324, 2.0**53),
}


def bits_of(dtype: str) -> int:
    """The width of an integer dtype.

    >>> bits_of("uint16")
    16
    """
    return int(dtype.removeprefix("u").removeprefix("int"))


def limits_of(dtype: str) -> tuple[int, int]:
    """The least and the greatest value of an integer dtype."""
    bits = bits_of(dtype)
    return (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def edges(dtype: str) -> Values:
    """Values of a dtype at which something could happen, zero the first of them."""
    if dtype == "bool":
        return (False, True)
    if dtype in INTEGERS:
        low, high = limits_of(dtype)
        signed = (-1, -7, low, low + 1) if low else ()
        return (0, 1, 2, 3, 10, 100, high, high - 1, *signed)
    if dtype in COMPLEX:
        some = (0.0, 1.0, -1.0, 1j, -2.5 + 0.5j, 0.1 + 1 / 3 * 1j, 3 - 7j, 1e3 + 1e-3j)
        return _held(dtype, some)
    greatest, least, inexact = _LIMITS[dtype]
    plain = (0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1 / 3, 0.1, 7.0, -60000.0, 1000.5)
    return _held(dtype, (*plain, greatest, -greatest, least, inexact, inf, -inf, nan))


def ordinary(dtype: str) -> Values:
    """Values none of which overflows, divides by zero or is not finite."""
    if dtype == "bool":
        return (True, False, True, True)
    if dtype in INTEGERS:
        signed = (-1, -3, -5) if limits_of(dtype)[0] else (9, 7, 6)
        return (1, 2, 3, 5, 4, 8, 11, *signed)
    if dtype in COMPLEX:
        return _held(dtype, (1.0, 2.5, -0.5 + 0.5j, 1 / 3 + 2j, 0.1 - 1j, 3j, 1.5 - 0.25j, -2.0))
    plain = (0.1, 1 / 3, 2.7, -1.3, 0.5, 1.5, 2.5, -2.5, 10.3, 0.7, -0.2, 3.0, -0.9, 1e-3, 5.3)
    return _held(dtype, plain)


def paired(
    first: Sequence[Scalar], second: Sequence[Scalar], *extra: tuple[Scalar, Scalar]
) -> Pair:
    """Two equally long sequences in which each value is paired with several of the other."""
    longest = max(len(first), len(second))
    pairs = [
        (first[place % len(first)], second[(place + turn) % len(second)])
        for turn in (0, 1, 4)
        for place in range(longest)
    ]
    once = {(repr(a), repr(b)): (a, b) for a, b in (*pairs, *extra)}  # 0.0 is not -0.0
    return tuple(a for a, _ in once.values()), tuple(b for _, b in once.values())


def _held(dtype: str, values: Sequence[complex]) -> Values:
    """The values as the dtype holds them."""
    import ml_dtypes  # noqa: F401  (registers bfloat16)
    import numpy as np

    with np.errstate(all="ignore"):
        array: Any = np.array(values).astype(dtype)
    wide: list[Scalar] = array.astype(complex if dtype in COMPLEX else float).tolist()
    return tuple(wide)
