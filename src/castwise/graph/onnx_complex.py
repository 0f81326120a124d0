"""Complex numbers in ONNX, which moves them but computes nothing with them.

complex64 is taken apart by its bits into two float32 values, computed, and put together again;
complex128 would need an integer of 128 bits, which ONNX lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from castwise.graph.onnx_dtypes import LackingError
from castwise.graph.onnx_writer import Value
from castwise.vocab.dtypes import DType


def cast_complex(value: Value, held: DType) -> Value:
    raise LackingError(f"ONNX casts no complex numbers ({value.dtype} to {held})")


def write_complex(name: str, values: Sequence[Value], options: Mapping[str, Any]) -> Value:
    from castwise.graph.onnx_ops import SINGLE

    if name in ("where", "concat", "stack", "positive"):
        return SINGLE[name](*values, **options)
    raise LackingError(f"ONNX computes nothing in {values[-1].dtype}")
