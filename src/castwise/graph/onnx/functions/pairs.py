"""Complex numbers in ONNX as pairs of their parts.

ONNX moves complex numbers but cannot compute with them. complex64 is split by its bits into two
float32 values, computed, and combined again. complex128 would need a 128-bit integer, which ONNX
lacks.
"""

from __future__ import annotations

from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.dtypes import LackingError, element_type
from castwise.graph.onnx.writer import Value
from castwise.vocab.dtypes import DType, dtype

Pair = tuple[Value, Value]  # the real and the imaginary part

_COMPLEX, _PART = dtype("complex64"), dtype("float32")
_BITS, _HALF = dtype("uint64"), dtype("uint32")


def parts(x: Value) -> Pair:
    """The real and the imaginary part: the lower and the upper half of the bits."""
    if x.dtype is not _COMPLEX:
        raise LackingError(f"ONNX computes nothing in {x.dtype}; cast to complex64")
    w = x.writer
    bits = w.add("BitCast", x, dtype=_BITS, to=element_type(_BITS))
    upper = w.add("BitShift", bits, w.constant(32, _BITS), direction="RIGHT")
    halves = [w.cast(half, _HALF) for half in (bits, upper)]
    real, imag = [w.add("BitCast", half, dtype=_PART, to=element_type(_PART)) for half in halves]
    return real, imag


def joined(pair: Pair) -> Value:
    """A complex64 value from its parts."""
    real, imag = (_bits(part) for part in pair)
    w = real.writer
    upper = w.add("BitShift", imag, w.constant(32, _BITS), direction="LEFT")
    bits = w.add("BitwiseOr", real, upper)
    return w.add("BitCast", bits, dtype=_COMPLEX, to=element_type(_COMPLEX))


def _bits(part: Value) -> Value:
    w = part.writer
    return w.cast(w.add("BitCast", part, dtype=_HALF, to=element_type(_HALF)), _BITS)


def cast_complex(value: Value, held: DType) -> Value:
    """A cast to or from complex64; real values have no imaginary part."""
    if held is _COMPLEX and value.dtype.kind != "complex":
        real = value.writer.cast(value, _PART)
        return joined((real, xp.zeros_like(real)))
    if value.dtype is not _COMPLEX or held.kind == "complex":
        raise LackingError(f"ONNX cannot cast {value.dtype} to {held}")
    pair = parts(value)
    return is_nonzero(pair) if held.kind == "bool" else value.writer.cast(pair[0], held)


def is_nonzero(x: Pair) -> Value:
    """Whether any part is not zero."""
    return xp.not_equal(x[0], 0) | xp.not_equal(x[1], 0)
