"""The dtypes of castwise in ONNX: their names there, and their compute dtypes."""

from __future__ import annotations

from typing import Any

from castwise.errors import UsageError
from castwise.vocab.dtypes import DType, dtype

_SAME = "bool int2 int4 int8 int16 int32 int64 uint2 uint4 uint8 uint16 uint32 uint64"
# castwise's name -> the name in onnx.TensorProto; ops use its lower case in their types
ONNX_NAMES = {
    **{name: name.upper() for name in [*_SAME.split(), "bfloat16", "float16"]},
    "float32": "FLOAT", "float64": "DOUBLE", "complex64": "COMPLEX64", "complex128": "COMPLEX128",
    "float4_e2m1fn": "FLOAT4E2M1", "float6_e2m3fn": "FLOAT6E2M3", "float6_e3m2fn": "FLOAT6E3M2",
    "float8_e4m3fn": "FLOAT8E4M3FN", "float8_e4m3fnuz": "FLOAT8E4M3FNUZ",
    "float8_e5m2": "FLOAT8E5M2", "float8_e5m2fnuz": "FLOAT8E5M2FNUZ",
    "float8_e8m0fnu": "FLOAT8E8M0",
}  # fmt: skip
# The compute dtypes of small dtypes, which are then rounded, or wrapped, once.
_WIDER = {"bool": "int32", "int": "int32", "float": "float32"}


class LackingError(UsageError):
    """Raised for something that ONNX, or this opset, does not have."""


def onnx_package() -> Any:
    """The package onnx.

    Raises UsageError if it is not installed.
    """
    try:
        import onnx
    except ImportError as error:
        raise UsageError(
            "writing ONNX needs the package onnx: pip install castwise[onnx]"
        ) from error
    return onnx


def element_type(wanted: DType) -> int:
    """The number of a dtype in onnx.TensorProto.

    Raises LackingError if ONNX has no such dtype.
    """
    name = ONNX_NAMES.get(wanted.name)
    if name is None:
        raise LackingError(f"ONNX has no {wanted}")
    found: int | None = getattr(onnx_package().TensorProto, name, None)
    if found is None:
        raise LackingError(f"the installed onnx has no {wanted}; a newer one does")
    return found


def type_text(held: DType) -> str:
    """The type of a tensor, as ONNX lists it for its ops.

    Raises LackingError if ONNX has no such dtype.
    """
    if held.name not in ONNX_NAMES:
        raise LackingError(f"ONNX has no {held}")
    return f"tensor({ONNX_NAMES[held.name].lower()})"


def wider(small: DType) -> DType:
    """The compute dtype of a dtype that ONNX's op does not take; itself if it is wide.

    >>> wider(dtype("float8_e5m2")), wider(dtype("int4")), wider(dtype("float64"))
    (float32, int32, float64)
    """
    name = _WIDER.get(small.kind)
    return small if name is None or small.bits >= 32 else dtype(name)
