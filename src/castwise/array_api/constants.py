"""The constants of the standard, and its dtypes as castwise's own dtype objects."""

from __future__ import annotations

import math

from castwise.vocab.dtypes import dtype

__all__ = [
    "bool", "complex64", "complex128", "e", "float32", "float64", "inf", "int8", "int16", "int32",
    "int64", "nan", "newaxis", "pi", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip

e = math.e
inf = math.inf
nan = math.nan
newaxis = None
pi = math.pi

bool = dtype("bool")
int8 = dtype("int8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
uint8 = dtype("uint8")
uint16 = dtype("uint16")
uint32 = dtype("uint32")
uint64 = dtype("uint64")
float32 = dtype("float32")
float64 = dtype("float64")
complex64 = dtype("complex64")
complex128 = dtype("complex128")

STANDARD_DTYPES = (
    bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64,
    complex128,
)  # fmt: skip
