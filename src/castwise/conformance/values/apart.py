"""How far apart two arrays of one dtype are, in units in the last place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from castwise.conformance.operand import Scalar
from castwise.conformance.values.notation import Held, written


def ulps_apart(one: Any, other: Any) -> Any:
    """The distance between the elements of two NumPy arrays of one dtype and shape, in float64.

    It counts the numbers of the dtype between them. The distance between integers is their
    difference; zeros of both signs, and NaNs, are zero apart; a finite number is infinitely far
    from one that is not.

    >>> import numpy as np
    >>> ulps_apart(np.float16([1, 0.0, np.inf]), np.float16([1.002, -0.0, 1])).tolist()
    [2.0, 0.0, inf]
    """
    import ml_dtypes  # noqa: F401  (its dtypes have ufuncs)
    import numpy as np

    if one.dtype.kind == "c":
        parts = (ulps_apart(one.real, other.real), ulps_apart(one.imag, other.imag))
        return np.maximum(*parts)
    if one.dtype.name == "bool" or "int" in one.dtype.name:
        return np.abs(one.astype(object) - other.astype(object)).astype(np.float64)
    (first, is_minus), (second, is_also_minus) = _sizes(one), _sizes(other)
    between = np.maximum(first, second) - np.minimum(first, second)
    apart = np.where(is_minus == is_also_minus, between, first + second).astype(np.float64)
    both_nan = np.isnan(one) & np.isnan(other)
    same_infinity = np.isinf(one) & (one == other)
    is_odd = ~(np.isfinite(one) & np.isfinite(other)) & ~both_nan & ~same_infinity
    return np.where(is_odd, np.inf, np.where(both_nan, 0.0, apart))


def _sizes(array: Any) -> tuple[Any, Any]:
    """The place of each number among those of its dtype, counted from zero, and its sign."""
    import numpy as np

    width = 8 * array.dtype.itemsize
    bits = array.view(f"uint{width}").astype(np.uint64)
    if array.dtype.name.endswith("fnu"):  # without a sign
        return bits, np.zeros(array.shape, bool)
    sign = np.uint64(1 << (width - 1))
    return bits & ~sign, (bits & sign) != 0


class Apart(NamedTuple):
    """Where two results first differ, and by how much they do."""

    operands: tuple[Scalar, ...]  # the numbers of which the element was made, where that is known
    one: Scalar
    other: Scalar
    differing: int  # the count of elements that differ
    ulps: float  # between those that are the furthest apart


def first_apart(operands: Sequence[Held], one: Held, other: Held) -> Apart | None:
    """The first element in which two results of one dtype differ in bits, where NaNs are equal;
    None where their shapes differ."""
    import numpy as np

    if one.shape != other.shape:
        return None
    pairs = list(zip(one.values, other.values, strict=True))
    places = [at for at, (a, b) in enumerate(pairs) if written(a) != written(b)]
    are_elementwise = all(held.shape in (one.shape, ()) for held in operands)
    numbers = (held.values[places[0] if held.shape else 0] for held in operands)
    with np.errstate(all="ignore"):
        ulps = float(ulps_apart(_as_array(one), _as_array(other)).max())
    known = tuple(numbers) if are_elementwise else ()
    return Apart(known, *pairs[places[0]], len(places), ulps)


def _as_array(held: Held) -> Any:
    import numpy as np

    return np.array(held.values).astype(str(held.dtype))
