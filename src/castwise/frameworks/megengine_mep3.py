"""MegEngine's MEP 3, the draft of its promotion: PyTorch's scheme with 32-bit Python numbers."""

from __future__ import annotations

from castwise.frameworks.megengine import CONDITION, NAMING, VALUES
from castwise.rules.dialect import Dialect
from castwise.rules.dialect_parts import Becomes, Evidence, Joining
from castwise.rules.parts import Accepts, NumPyOperands, Range, Writes
from castwise.rules.rule import Rule

MEP3 = Dialect(
    framework="megengine",
    mode="mep3",
    about="MEP 3, a draft: as in PyTorch, float > int > bool, and only the highest of these keeps"
    " its precision; a Python int is int32.",
    order="bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64",
    reaches="""
        bool -> uint8 int8
        uint8 int8 -> int16
        int16 -> int32
        int32 -> int64
        int64 -> float16 bfloat16
        float16 bfloat16 -> float32
        float32 -> float64
    """,
    joining=Joining(folds=True),
    python={"bool": "bool", "int": "int32", "float": "float32"},
    becomes=Becomes(
        lifts="bool int -> default_float",
        # What the draft does not cover is as in MegEngine: sums, indices, `+=`, conditions.
        accumulates="bool -> default_int",
        index="int32",
    ),
    casts="category",
    values=VALUES,
    ops={
        "*": Rule(
            scalars="tiers",
            range=Range(limit="none", beyond="wraps"),
            numpy=NumPyOperands(arrays="as arrays"),
            writes=Writes(into="category"),
        ),
        "*/inplace": Rule(writes=Writes(into="becomes")),
        "where": Rule(accepts=Accepts(condition=CONDITION)),
    },
    naming=NAMING,
    evidence=Evidence(
        source="MEP 3 (2020-09-28), its open points decided: 64-bit results, values ignored,"
        " scalars below tensors",
        surprises=(
            "int32[3] + float16[3]",
            "int8[3] + int32[]",
            "int8[3] + 1.5",
            "int8[] + 1",
            "bool[3] + 1",
            "uint8[3] + 50000",
            "int32[3] + int64[3]",
        ),
    ),
)
