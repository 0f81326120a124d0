"""The values at which a rule that looks at values could change its answer."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

from castwise.conformance.operand import Scalar, read_literal, words

EXPONENTS = words("-1 0 0.5 2 3")  # and 1, which every op is asked with

_SIGNED = {f"int{bits}": (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32, 64)}
_UNSIGNED = {f"uint{bits}": (0, 2**bits - 1) for bits in (8, 16, 32, 64)}
_RANGES = {"bool": (0, 1), **_SIGNED, **_UNSIGNED}
_FLOAT32_MAX = 3.4028234663852886e38
_LARGEST_FINITE = {
    "float16": 65504.0,
    "float32": _FLOAT32_MAX,
    "float64": inf,
    "complex64": _FLOAT32_MAX,
    "complex128": inf,
}

# Both sides of both ends of each integer dtype.
_INTEGERS = (
    "300",
    *dict.fromkeys(
        str(value)
        for lowest, highest in (*_SIGNED.values(), *_UNSIGNED.values())
        for value in (lowest - 1, lowest, highest, highest + 1)
    ),
)
# NumPy 1 draws its lines at 65000 and 3.4e38, not at the largest float16 and float32.
_FLOATS = words(
    "0.0 1.5 -65000.0 65000.0 65504.0 65505.0 65519.0 65520.0 3.3e38 3.4e38 1e39 "
    "1e-50 1e-42 6e-08 inf nan"
)
_IMAGINARY = words("1j 1.5+1j 70000j 3.4e38j 1e39j infj nanj")
# Lists of numbers: of each kind, and for a few ops nested ones, of two kinds, and with numbers of
# every range.
LISTS = ("[True, True, True]", "[1, 1, 1]", "[1.5, 1.5, 1.5]", "[1+1j, 1+1j, 1+1j]")
MORE_LISTS = (
    "[[1, 1, 1], [1, 1, 1], [1, 1, 1]]",
    "[[1.5, 1.5, 1.5]]",
    "[True, 1, 1]",
    "[True, 1.5, 1.5]",
    "[1, 1.5, 1]",
    "[1, 1.5, 1+1j]",
    "[300, -1, 1]",
    "[2147483648, 1, 1]",
    "[9223372036854775808, 1, 1]",
    "[9223372036854775808, -1, 1]",
    "[9223372036854775808, 1.5, 1]",
    "[18446744073709551616, 1, 1]",
    "[1e39, 1, 1]",
)


def chosen_literals() -> tuple[str, ...]:
    """The chosen values as Python scalars."""
    return ("False", *_INTEGERS, *_FLOATS, *_IMAGINARY)


def chosen_operands(dtypes: Iterable[str]) -> tuple[str, ...]:
    """0-d arrays and NumPy scalars that hold the values chosen for the kind of their dtype."""
    return tuple(
        notation for dtype in dtypes for notation in operands_holding(dtype, _values(dtype))
    )


def operands_holding(dtype: str, values: Iterable[str]) -> tuple[str, ...]:
    """A 0-d array and a NumPy scalar for each value the dtype can hold.

    >>> operands_holding("uint8", ["-1", "255"])
    ('uint8=255[]', 'np.uint8(255)')
    """
    return tuple(
        notation
        for value in values
        if _holds(dtype, read_literal(value))
        for notation in (f"{dtype}={value}[]", f"np.{dtype}({value})")
    )


def _values(dtype: str) -> tuple[str, ...]:
    if dtype in _RANGES:
        return _INTEGERS
    return (*_FLOATS, *_IMAGINARY) if dtype.startswith("complex") else _FLOATS


def _holds(dtype: str, value: Scalar) -> bool:
    """Whether the value neither wraps nor overflows; no rule looks at other dtypes' values."""
    if dtype in _RANGES:
        lowest, highest = _RANGES[dtype]
        return isinstance(value, int) and lowest <= value <= highest
    if dtype not in _LARGEST_FINITE:
        return False
    size = max(abs(value.real), abs(value.imag))
    is_lost = isinstance(value, complex) and not dtype.startswith("complex")
    return not is_lost and not _LARGEST_FINITE[dtype] < size < inf
