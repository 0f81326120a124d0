"""What an operand can be on the page: one kind for all operands that a dialect treats alike.

A kind has a key, which the page makes of what a person typed: "array int32", "number int 3". The
last part of a number's key is its class among those that the dialect tells apart.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtypes_of, weak_nodes_of
from castwise.vocab.operands import (
    EXACT_VALUES,
    VALUE_BOUNDS,
    Operand,
    Role,
    Scalar,
    array_operand,
    numpy_scalar_operand,
    real_class,
    scalar_operand,
)
from castwise.vocab.ops import Op

# Where the size of an array stands in a sentence. No framework's text has these letters.
SIZES = ("\ue000", "\ue001", "\ue002")
# The dtypes of NumPy arrays and scalars that other frameworks are asked with.
_NUMPY_ARRAYS = dtypes_of("bool uint8 int32 int64 float16 float32 float64 complex64 complex128")
NUMPY_SCALARS = dtypes_of("bool int32 int64 float32 float64 complex128")
# The dtypes that ops of three operands are asked with.
COMMON_DTYPES = dtypes_of("bool uint8 int32 int64 float16 bfloat16 float32 float64 complex64")
_WEAK = dtypes_of("int32 int64 float32 float64 complex64 complex128")
_BEYOND_FLOATS = 10**309  # which only a Python int reaches


class Kind(NamedTuple):
    """A kind of operands, and how one of them is given to the engine in each place of a call."""

    key: str
    dtype: DType | None
    role: Role
    value: Scalar | None = None
    is_weak: bool = False
    rank: int = 1  # 0: a bare dtype, whose shape nobody knows

    def operand(self, place: int) -> Operand:
        """The operand of this kind that stands for all of them."""
        if self.role is Role.SCALAR:
            assert self.value is not None
            return scalar_operand(self.value)
        assert self.dtype is not None
        if self.role is Role.NUMPY_SCALAR:
            assert self.value is not None
            return numpy_scalar_operand(self.dtype, self.value)
        shape: tuple[str, ...] | None = (SIZES[place],) * self.rank or None
        shape = () if self.role is Role.ZERO_D else shape
        is_numpy = self.role is Role.NUMPY_ARRAY
        return array_operand(self.dtype, shape, is_weak=self.is_weak, is_numpy=is_numpy)


def array_kinds(dialect: Dialect, op: Op) -> list[Kind]:
    """The dialect's own arrays, also weakly typed ones.

    Where an op counts dimensions, arrays with only one are apart; where it is about dtypes alone,
    bare dtypes are.
    """
    rank = 2 if op.shapes.counts_dimensions else 1
    kinds = [Kind(f"array {d}", d, Role.ARRAY, rank=rank) for d in dialect.dtypes]
    kinds += [
        Kind(f"weak {d}", d, Role.ARRAY, is_weak=True, rank=rank) for d in weak_dtypes(dialect)
    ]
    if op.shapes.counts_dimensions:
        kinds += [Kind(f"vector {d}", d, Role.ARRAY) for d in dialect.dtypes]
        kinds += [
            Kind(f"vector weak {d}", d, Role.ARRAY, is_weak=True) for d in weak_dtypes(dialect)
        ]
    if op.family == "questions":
        kinds += [Kind(f"dtype {d}", d, Role.ARRAY, rank=0) for d in dialect.dtypes]
    return kinds


def zero_d_kinds(dialect: Dialect) -> list[Kind]:
    """The dialect's own 0-d arrays."""
    kinds = [Kind(f"0-d {d}", d, Role.ZERO_D) for d in dialect.dtypes]
    return kinds + [
        Kind(f"0-d weak {d}", d, Role.ZERO_D, is_weak=True) for d in weak_dtypes(dialect)
    ]


def weak_dtypes(dialect: Dialect) -> list[DType]:
    """The dtypes of weakly typed arrays, in a dialect that has such arrays."""
    if not dialect.has_weak_arrays:
        return []
    own, nodes = dialect.dtypes, set(dialect.nodes)
    return [d for d in _WEAK if d in own and not nodes.isdisjoint(weak_nodes_of(d))]


def numpy_array_kinds() -> list[Kind]:
    """NumPy's arrays, which other frameworks take or refuse."""
    return [Kind(f"NumPy array {d}", d, Role.NUMPY_ARRAY) for d in _NUMPY_ARRAYS]


def number_kind(kind: str, number: int | str, value: Scalar) -> Kind:
    """Python's numbers of a kind and a class."""
    return Kind(f"number {kind} {number}", None, Role.SCALAR, value)


def numpy_scalar_kind(dtype: DType, number: int, value: Scalar) -> Kind:
    """NumPy's scalars of a dtype and a class."""
    return Kind(f"NumPy scalar {dtype} {number}", dtype, Role.NUMPY_SCALAR, value)


@functools.cache
def every_value(kind: str) -> dict[int, Scalar]:
    """A value of each class that any dialect could tell apart, by its class. A complex number
    counts by the larger of its parts; both are there, as some sentences put a sum in brackets."""
    if kind == "bool":
        return {real_class(value): value for value in (True, False)}
    found: dict[int, Scalar] = {}
    for value in _candidates():
        if kind == "complex":
            if not value < 0:
                found.setdefault(real_class(value), complex(value, value))
        elif kind == "float":
            found.setdefault(real_class(value), value)
        elif math.isfinite(value) and value == int(value):
            found.setdefault(real_class(value), int(value))
    if kind == "int":
        found |= {real_class(value): value for value in (_BEYOND_FLOATS, -_BEYOND_FLOATS)}
    return dict(sorted(found.items()))


def real_of(value: Scalar) -> float:
    """A number itself, or a part of one of the complex ones above, whose parts are the same."""
    return value.imag if isinstance(value, complex) else value


def _candidates() -> Iterator[float]:
    """The bounds themselves, and values between them that no message mentions by chance."""
    yield from map(float, EXACT_VALUES)
    yield from VALUE_BOUNDS
    yield math.nan
    for low, high in itertools.pairwise(VALUE_BOUNDS):
        low, high = max(low, -1.7e308), min(high, 1.7e308)
        between = low + (high - low) * 0.377
        wholes = float(math.ceil(between)), float(math.floor(between))
        yield from (value for value in (*wholes, between) if low < value < high)
