"""TensorFlow's RFC 431 as proposed: the modes ALL, SAFE and NONE of implicit promotion."""

from __future__ import annotations

from dataclasses import replace

from castwise.frameworks.tensorflow import CONDITION, TENSORFLOW
from castwise.rules.dialect import Dialect
from castwise.rules.dialect_parts import Becomes, Evidence, Laws
from castwise.rules.parts import Accepts, Numbers, NumPyOperands, Range, Writes
from castwise.rules.rule import Rule

_EDGES = """
        bool -> int8 uint8
        int8 -> int16 float16 bfloat16
        uint8 -> int16 uint16 float16 bfloat16
        int16 -> int32 float32
        uint16 -> int32 uint32 float32
        int32 -> int64
        uint32 -> int64 uint64
        float16 bfloat16 -> float32
        float32 -> float64 complex64
        float64 complex64 -> complex128
"""

_OPS = {
    "*": Rule(
        scalars="weak",
        range=Range(limit="common dtype", beyond="raises"),
        numpy=NumPyOperands(arrays="as arrays"),
        writes=Writes(
            into="same dtype",  # Variable.assign_add and the like: a Variable keeps its dtype
            # In the RFC's tables b + i* is i64 and b + f* is f64; tf.constant(1) stays int32.
        ),
        numbers=Numbers(dtypes={"int": "int64", "float": "float64", "complex": "complex128"}),
    ),
    "*/augmented": Rule(writes=Writes(rebinds="always")),
    # The RFC is about arithmetic, in which only truediv turns integers into floats. The other ops
    # take the same dtypes as in TensorFlow.
    "atan2 hypot logaddexp logaddexp2 ldexp copysign nextafter xlogy exp exp2 expm1 log log2 log10"
    " log1p sqrt rsqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid"
    " reciprocal erf degrees radians angle div_no_nan": Rule(integers_become_float=False),
    "logical_and logical_or logical_xor logical_not any all": Rule(computes="bool"),
    "mean": Rule(computes="int float complex"),
    "where": Rule(accepts=Accepts(condition=CONDITION)),
}

ALL = Dialect(
    framework="tensorflow",
    mode="all",
    about="RFC 431, mode ALL: the narrowest dtype that holds both operands, with at most 64 bits"
    " per part.",
    order="bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64"
    " complex64 complex128",
    reaches=_EDGES + "int64 uint64 -> float64",  # the cap: no wider dtype could hold them
    python={kind: TENSORFLOW.python[kind] for kind in ("bool", "int", "float", "complex")},
    becomes=Becomes(
        lifts="int8 uint8 int16 uint16 -> float32; int32 uint32 int64 uint64 -> float64",
        reads_ints=TENSORFLOW.becomes.reads_ints,
    ),
    casts="safe",
    values=TENSORFLOW.values,
    ops=_OPS,
    naming=TENSORFLOW.naming,
    evidence=Evidence(
        source="RFC 431 as proposed, its text and its tables of add and assign_add",
        laws=Laws(associativity_witness=("uint8", "int8", "float16")),
        surprises=(
            "uint8[3] + int8[3]",
            "uint8[3] + bfloat16[3]",
            "int32[3] + float32[3]",
            "uint64[3] + int8[3]",
            "int64[3] + float64[3]",
            "int8[3] + 1000",
            "bool[3] + 1",
            "int8[3] / uint16[3]",
        ),
    ),
)

SAFE = ALL.vary(
    mode="safe",
    about="RFC 431, mode SAFE: as ALL, but the result must have the dtype of one operand and hold"
    " the other exactly; a scalar must fit into the tensor's dtype.",
    reaches=_EDGES + "int32 uint32 -> float64",
    joining=replace(
        ALL.joining,
        only_absorbed="bool int float complex",
        refusal="promotion is unsafe where the result is wider than both or loses precision",
    ),
    ops={**_OPS, "*": replace(_OPS["*"], scalars="fits arrays")},
    evidence=replace(
        ALL.evidence,
        laws=replace(ALL.evidence.laws, associativity_witness=None),
        surprises=(
            "int8[3] + int16[3]",
            "uint8[3] + int8[3]",
            "uint64[3] + float32[3]",
            "int64[3] + float64[3]",
            "int32[3] + 1.5",
            "uint8[3] + 256",
            "bool[3] + 1",
        ),
    ),
)

NONE = SAFE.vary(
    mode="none",
    about="RFC 431, mode NONE: tensors of unequal dtypes are refused; scalars work as in SAFE.",
    reaches="",
    joining=replace(
        SAFE.joining, alone="bool int float complex", refusal="tensors are not promoted"
    ),
    evidence=replace(
        SAFE.evidence,
        surprises=(
            "int8[3] + int16[3]",
            "float32[3] + 1",
            "int32[3] + 1.5",
            "bool[3] + 1",
            "int32[3] + True",
            "int8[3] / 1",
        ),
    ),
)
