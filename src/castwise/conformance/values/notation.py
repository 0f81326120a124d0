"""Arrays with their values, in the notation: `int8=1,-128[2]`, `float32=0.5[]`.

A value cell is a cell whose operands and answer are written so. Every number is written so that
it is read back exactly: a float as the shortest decimal of its value in float64.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from castwise.conformance.operand import Scalar, read_literal

_ARRAY = re.compile(r"(\w+)=([^\[]*)\[([\d,]*)\]")


class Held(NamedTuple):
    """An array and what it holds, row by row; or a Python number, whose dtype is None."""

    dtype: str | None
    shape: tuple[int, ...]
    values: tuple[Scalar, ...]

    def __str__(self) -> str:
        held = ",".join(map(written, self.values))
        if self.dtype is None:
            return held
        return f"{self.dtype}={held}[{','.join(map(str, self.shape))}]"


def vector(dtype: str, values: Iterable[Scalar]) -> Held:
    """A one-dimensional array that holds the values."""
    held = tuple(values)
    return Held(dtype, (len(held),), held)


def single(dtype: str, value: Scalar) -> Held:
    """A 0-d array that holds the value."""
    return Held(dtype, (), (value,))


def number(value: Scalar) -> Held:
    """A Python number."""
    return Held(None, (), (value,))


def read_held(notation: str) -> Held:
    """The array or number a piece of notation names.

    >>> read_held("int8=1,-128[2]")
    Held(dtype='int8', shape=(2,), values=(1, -128))
    >>> str(read_held("complex64=1.0-0.0j[]"))
    'complex64=1.0-0.0j[]'
    """
    array = _ARRAY.fullmatch(notation)
    if not array:
        return number(read_literal(notation))
    dtype, held, lengths = array.groups()
    shape = tuple(int(length) for length in lengths.split(",") if length)
    return Held(dtype, shape, tuple(map(read_literal, held.split(","))))


def written(value: Scalar) -> str:
    """A number as it is read back, signs of zero included."""
    if not isinstance(value, complex):
        return repr(value)
    imaginary = repr(value.imag)
    return f"{value.real!r}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
