"""MegEngine as shipped: numbers and NumPy arrays get a dtype, then all join, often in float32."""

from __future__ import annotations

from castwise.rules.dialect import Becomes, Dialect, Evidence, Joining, Naming
from castwise.rules.rule import (
    Accepts,
    Composed,
    Condition,
    Joins,
    Numbers,
    NumPyOperands,
    Range,
    Rule,
    Writes,
)
from castwise.rules.values import Arithmetic, ArrayMethods, Casting, Dividing, Values

# Dtypes that an op promotes to but has no CPU kernel for: "bad dtype" when the op runs.
_NO_KERNEL = {
    "add sub mul floor_divide remainder maximum minimum clamp eq ne lt le gt ge bitwise_left_shift"
    " bitwise_right_shift abs neg relu sign square where sum prod max min": "uint16",
    "dot matmul cumsum": "bool uint16",
}

CONDITION = Condition(arrays="bool", numbers="", numpy="")

_OPS = {
    "*": Rule(
        scalars="by category",
        joins=Joins(typed_by="numpy"),
        numbers=Numbers(lists="cast"),
        numpy=NumPyOperands(arrays="as scalars"),
    ),
    "*/inplace": Rule(writes=Writes(into="becomes")),
    "bitwise_and bitwise_or bitwise_xor concat dot isinf isnan matmul reciprocal stack where": Rule(
        numbers=Numbers(lists="refused")
    ),
    # Its own function returns the dtype that a number or a NumPy array would get with the operands.
    "result_type": Rule(
        joins=Joins("by category"), accepts=Accepts(refuses_compute="bfloat16 complex64")
    ),
    "where": Rule(
        joins=Joins("by category"),
        computes="int float",
        accepts=Accepts(refuses="complex", refuses_compute="bfloat16", condition=CONDITION),
    ),
    "add sub mul": Rule(computes="int float complex"),
    "add sub mul div": Rule(range=Range(limit="array dtype")),  # a number is an integer first
    "floor_divide remainder maximum minimum clamp abs square sign floor ceil round": Rule(
        computes="int float"
    ),
    "div pow": Rule(computes="float", integers_become_float=True),
    "eq ne lt le gt ge concat stack sum prod cumsum": Rule(computes="bool int float"),
    "cumsum": Rule(accumulates=False),
    "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor"
    " bitwise_not": Rule(computes="bool"),
    "positive": Rule(computes="bool int float complex"),
    "exp log sqrt sin tanh cos tan asin acos sinh cosh asinh acosh atanh log1p expm1": Rule(
        computes="float"
    ),
    "atan": Rule(composes=(Composed("atan2(x, cast(1.0, float32))"),)),
    "sigmoid": Rule(computes="float", integers_become_float=False),
    "logsumexp log_softmax norm": Rule(computes="float", integers_become_float=True),
    "norm": Rule(converts="bfloat16 -> float32", accepts=Accepts(refuses_zero_d=True)),
    "mean std var": Rule(
        computes="bool int float", converts="bool int float16 bfloat16 -> float32"
    ),
    "reciprocal": Rule(composes=(Composed("div(1, x)"),)),
    "l1_loss": Rule(composes=(Composed("mean(abs(sub(x, y)))"),)),
    "mse_loss": Rule(composes=(Composed("mean(square(sub(x, y)))"),)),
    "dot": Rule(accepts=Accepts(same_dtype=True), computes="bool int float"),
    "matmul": Rule(
        computes="int8 int16 float",
        result_of="int8 int16 -> int32",
        composes=(Composed("dot(x, y)", rank=1),),
    ),
    "real imag": Rule(computes="complex"),
    "where dot": Rule(numpy=NumPyOperands(arrays="refused")),
    "where dot bitwise_and bitwise_or bitwise_xor": Rule(numbers=Numbers(places="none")),
    "bitwise_and bitwise_or bitwise_xor": Rule(accepts=Accepts(refuses="complex")),
}

NAMING = Naming(
    names="mge",
    prefixes="megengine mge megengine.functional megengine.functional.nn F",
    aliases={
        "floor_divide": "floor_div",
        "remainder": "mod",
        "eq": "equal",
        "ne": "not_equal",
        "lt": "less",
        "le": "less_equal",
        "gt": "greater",
        "ge": "greater_equal",
        "bitwise_left_shift": "left_shift",
        "bitwise_right_shift": "right_shift",
        "clamp": "clip",
        "log_softmax": "logsoftmax",
        "mse_loss": "square_loss",
    },
)

VALUES = Values(
    dividing=Dividing(
        quotient_by_zero="raises", remainder_by_zero="raises", float_quotient="rounded"
    ),
    arithmetic=Arithmetic(
        shifts="modulo width",
        mixed_signs="common dtype",
        sign_of_nan="zero",
        halves="away",
        float_errors="silent",
    ),
    casting=Casting(subnormals="flushed"),
    methods=ArrayMethods(transposed="reversed"),
)

MEGENGINE = Dialect(
    framework="megengine",
    version="1.13",
    about="MegEngine as shipped: unequal kinds give float32; signed and unsigned do not mix.",
    order="bool uint8 uint16 int8 int16 int32 float16 bfloat16 float32 complex64",
    reaches="""
        bool -> float32
        uint8 -> uint16
        uint16 -> float32
        int8 -> int16
        int16 -> int32
        int32 -> float32
        float16 bfloat16 -> float32
    """,
    joining=Joining(
        folds=True,
        apart="uint8 uint16 / int8 int16 int32",
        alone="complex64",
        refusal="signed and unsigned integers do not join",
    ),
    python={"bool": "bool", "int": "int32", "float": "float32", "complex": "complex64"},
    becomes=Becomes(lifts="int -> default_float", accumulates="bool -> int32", index="int32"),
    no_kernel=_NO_KERNEL,
    casts="any",
    # Observed in 1.13 on the CPU, where an integer division by zero ends the process.
    values=VALUES,
    ops=_OPS,
    naming=NAMING,
    evidence=Evidence(
        source="recorded from megengine 1.13.0, CPU",
        surprises=(
            "bool[3] + int32[3]",
            "float16[3] + int8[3]",
            "int8[3] + uint8[3]",
            "int8[3] + np.uint8[3]",
            "uint8[3] + np.int8[3]",
            "bool[3] + 1",
            "bfloat16[3] + 1",
            "sum(uint8[3])",
        ),
    ),
)

# MegEngine's MEP 3, the draft of its promotion: PyTorch's scheme with 32-bit Python numbers.

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
