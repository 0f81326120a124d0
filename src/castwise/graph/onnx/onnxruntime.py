"""What onnxruntime 1.31.1 lacks, or computes differently from ONNX, on the CPU.

Written by python tools/onnx_runtimes.py: run it again for another version.
"""

from __future__ import annotations

# ruff: noqa: E501

VERSION = "1.31.1"
MACHINES = "aarch64 x86_64"
OPSET = 26
HAS_NO = "complex64 complex128 float4_e2m1fn float6_e2m3fn float6_e3m2fn"
LACKS = {
    "Abs": "bfloat16",
    "Acos": "bfloat16 float64",
    "Acosh": "bfloat16 float64",
    "Add": "bfloat16",
    "ArgMax": "int16 uint16 uint32 uint64 bfloat16",
    "ArgMin": "int16 uint16 uint32 uint64 bfloat16",
    "Asin": "bfloat16 float64",
    "Asinh": "bfloat16 float64",
    "Atan": "bfloat16 float64",
    "Atanh": "bfloat16 float64",
    "BitCast": "int2 int4 uint2 uint4 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu",
    "BitShift": "uint16",
    "Ceil": "bfloat16",
    "Cos": "bfloat16",
    "Cosh": "bfloat16 float64",
    "CumProd": "bfloat16",
    "CumSum": "uint32 uint64 bfloat16",
    "Det": "bfloat16 float64",
    "Div": "bfloat16",
    "Einsum": "int8 int16 uint8 uint16 uint32 uint64",
    "Equal": "bfloat16",
    "Erf": "bfloat16 float64",
    "Exp": "bfloat16",
    "Expand": "bfloat16",
    "Floor": "bfloat16",
    "Gelu": "bfloat16 float64",
    "Greater": "bfloat16",
    "GreaterOrEqual": "bfloat16",
    "Identity": "int2 int4 uint2 uint4 float8_e8m0fnu",
    "Less": "bfloat16",
    "LessOrEqual": "bfloat16",
    "Log": "bfloat16",
    "LogSoftmax": "bfloat16",
    "MatMul": "bfloat16",
    "Max": "int16 uint16 bfloat16",
    "Min": "int16 uint16 bfloat16",
    "Mod": "bfloat16",
    "Mul": "bfloat16",
    "Neg": "bfloat16",
    "Pow": "bfloat16",
    "Reciprocal": "bfloat16",
    "ReduceL2": "uint32 uint64 bfloat16",
    "ReduceMax": "uint32 uint64 bfloat16",
    "ReduceMean": "uint32 uint64 bfloat16",
    "ReduceMin": "uint32 uint64 bfloat16",
    "ReduceProd": "uint32 uint64 bfloat16",
    "ReduceSum": "uint32 uint64 bfloat16",
    "Relu": "int16 int64 bfloat16",
    "Reshape": "int2 int4 uint2 uint4 float8_e8m0fnu",
    "Round": "bfloat16",
    "Shape": "int2 int4 uint2 uint4 float8_e8m0fnu",
    "Sigmoid": "bfloat16",
    "Sin": "bfloat16",
    "Sinh": "bfloat16 float64",
    "Softmax": "bfloat16",
    "Sqrt": "bfloat16",
    "Sub": "bfloat16",
    "Tan": "bfloat16 float64",
    "Tanh": "bfloat16",
    "TopK": "uint16 uint32 uint64 bfloat16",
    "Transpose": "float8_e8m0fnu",
    "Trilu": "int8 int16 uint8 uint16 uint32 uint64 bfloat16",
    "Unsqueeze": "int2 int4 uint2 uint4 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu",
    "Where": "bool int16 uint16 uint64 bfloat16",
}
DIFFERS = {
    "Erf": "float16",
    "LogSoftmax": "float16",
    "Max": "int64",
    "Min": "int64",
    "Pow": "int32 int64",
    "ReduceL2": "int32 int64",
    "ReduceMax": "int64",
    "ReduceMean": "int32 int64",
    "ReduceMin": "int64",
    "ReduceProd": "int32 int64",
    "ReduceSum": "int32 int64",
    "Sigmoid": "float16 float32 float64",
    "Sign": "int64",
}
CASTS = """
    bfloat16:float8_e4m3fn
    bfloat16:float8_e5m2
    bfloat16:float8_e8m0fnu
    float16:float8_e4m3fn
    float16:float8_e5m2
    float32:float8_e4m3fn
    float32:float8_e5m2
    float32:float8_e8m0fnu
    float64:float16
    float64:float8_e4m3fn
    float64:float8_e5m2
    float64:float8_e8m0fnu
    float8_e4m3fn:bool
    float8_e5m2:bool
    float8_e8m0fnu:bool
    int16:float8_e4m3fn
    int32:float8_e4m3fn
    int32:float8_e5m2
    int64:float8_e4m3fn
    int64:float8_e5m2
    uint16:float8_e4m3fn
    uint16:float8_e5m2
    uint32:float8_e4m3fn
    uint32:float8_e5m2
    uint64:float8_e4m3fn
    uint64:float8_e5m2
"""
