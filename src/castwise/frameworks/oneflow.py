"""OneFlow: one table for all arrays, in which a 0-d array mixed with an array does not count."""

from __future__ import annotations

from dataclasses import replace

from castwise.rules.dialect import Becomes, Dialect, Evidence, Laws, Message, Messages, Naming
from castwise.rules.rule import (
    Accepts,
    Arguments,
    Arrays,
    Composed,
    Condition,
    Joins,
    Numbers,
    NumPyOperands,
    Range,
    Rule,
    Writes,
    combined,
)
from castwise.rules.values import Arithmetic, ArrayMethods, Dividing, Powers, Reducing, Values
from castwise.vocab.spellings import SPELLINGS

_INTERNAL = "int16 uint16 uint32 uint64 int128"  # in the table, but without a name in Python

# Dtypes that an op promotes to but has no CPU kernel for: "Cannot find the kernel matching ...".
_NO_KERNEL = {
    "add": _INTERNAL,
    "sub mul maximum minimum remainder fmod eq ne lt le gt ge logical_and logical_or logical_xor"
    " bitwise_and bitwise_or bitwise_xor": f"bfloat16 {_INTERNAL}",
    "div pow allclose isclose argmax argmin": "bfloat16",
    "floor_divide": "bool int16 bfloat16",
    "erf exp log neg reciprocal rsqrt sigmoid sign sin sqrt square tanh": "float16",
    "abs": "bool float16",
    "ceil floor round trunc threshold gelu acos cosh": "bool int float16",
    "softmax log_softmax": "bool int float16 bfloat16",
    "all any cumprod logaddexp logical_not logsumexp max min relu": "float16 bfloat16",
    "atan2 isfinite isinf isnan l1_loss matmul median": "bool float16 bfloat16",
    "clamp clamp_min clamp_max": "uint8",
    "where": "uint8 float16 bfloat16",
    "dot cross": "bool int float16 bfloat16",
    "sum": "int16 uint64 int128",
    "cumsum": "int16 uint64 int128 float16 bfloat16",
    "prod": f"float16 bfloat16 {_INTERNAL}",
}

_OPS = {
    "*": Rule(
        scalars="arrays alone",
        numbers=Numbers(
            # With a Python number, int128 ranks above the floats.
            dtypes_by_array={"int128": {"float": "int128"}},
        ),
        otherwise="no kernel",
        range=Range(limit="int64", beyond="raises"),
        writes=Writes(into="same dtype"),
        numpy=NumPyOperands(
            scalars="float64 -> float",  # a subclass of Python's float
        ),
    ),
    "*/operator": Rule(numpy=NumPyOperands(left_decider="numpy@1", sees="bfloat16 -> float32")),
    "div pow atan2": Rule(joins=Joins("float for integers"), integers_become_float=False),
    "div": Rule(
        computes="bool int float",
        composes=(
            Composed("mul(reciprocal(y), x)", roles="SCALAR"),
            Composed("mul(cast(x, float32), y)", kinds="int", exponent_roles="SCALAR NUMPY_SCALAR"),
        ),
    ),
    "atan2": Rule(arrays=Arrays(zero_d_as_arrays=True)),  # it expands them first
    "mul div floor_divide remainder fmod pow": Rule(numbers=Numbers(refuses="bool")),
    "div/inplace": Rule(numbers=Numbers(refuses="")),
    "floor_divide remainder fmod clamp_min clamp_max": Rule(numbers=Numbers(places="last")),
    "maximum minimum atan2 logaddexp dot addcmul addcdiv": Rule(numbers=Numbers(places="none")),
    # `a += array` casts the array to a's dtype, while the others check the common dtype.
    "add/inplace": Rule(joins=Joins("first operand", unless="a number")),
    "floor_divide/inplace remainder/inplace pow/inplace bitwise_and/inplace bitwise_or/inplace"
    " bitwise_xor/inplace": Rule(writes=Writes(into="rebinds")),
    "matmul/augmented": Rule(writes=Writes(rebinds="always")),  # there is no such method
    # `& | ^` are the logical ops.
    "bitwise_and bitwise_or bitwise_xor": Rule(computes="bool int float", result="bool"),
    "bitwise_not": Rule(computes="bool", otherwise="refused", because="~ takes only booleans"),
    "where": Rule(
        joins=Joins("one dtype"),
        accepts=Accepts(condition=Condition(arrays="bool int", numbers="", numpy="")),
    ),
    "stack dot allclose isclose": Rule(accepts=Accepts(same_dtype=True)),
    "matmul": Rule(
        joins=Joins("first operand", others="any with an integer"),
        converts="int -> float32",
        result="first",
        writes=Writes(into="any"),
        accepts=Accepts(needs_rank=2),
    ),
    "argmax argmin var concat dot": Rule(accepts=Accepts(refuses_zero_d=True)),
    "clamp clamp_min clamp_max": Rule(
        joins=Joins("first operand"), accepts=Accepts(refuses_compute="bool bfloat16")
    ),
    "addcmul": Rule(composes=(Composed("add(x, mul(mul(y, z), 1))"),)),
    "addcdiv": Rule(composes=(Composed("add(x, mul(div(y, z), 1))"),)),
    "addcmul/inplace addcdiv/inplace": Rule(writes=Writes(into="any")),
    "cross": Rule(joins=Joins("first operand"), accepts=Accepts(needs_rank=1)),
    "l1_loss": Rule(computes="bool float", otherwise="refused"),
    "mse_loss": Rule(
        composes=(
            # Two integer arrays are refused, with a message about the factor of their subtraction.
            Composed("mean(x)", kinds="int", exponent_kinds="int"),
            Composed("mean(square(sub(x, y)))"),
        )
    ),
    "neg square sign logsumexp floor/inplace": Rule(integers_become_float=True),
    "floor/inplace sin/inplace": Rule(converts="float16 -> float32"),
    "acos cosh": Rule(integers_become_float=False),
    "relu std median": Rule(computes="bool int float"),
    "norm": Rule(accepts=Accepts(refuses="bool int float16 bfloat16")),
    "mean": Rule(accepts=Accepts(refuses="bool int bfloat16")),
    "var": Rule(accepts=Accepts(refuses="bool int")),
    # The lowest dtype of these is int64, but a 0-d array has no axis to sum over.
    "sum": Rule(composes=(Composed("x", roles="ZERO_D"),)),
    "prod": Rule(
        accumulates=False, converts="bool -> int64", arguments=Arguments(dtype="casts first")
    ),
    "logsumexp": Rule(composes=(Composed("cast(x, float32)", roles="ZERO_D"),)),
}

ONEFLOW = Dialect(
    framework="oneflow",
    version="0.9",
    about="OneFlow: a 0-d array mixed with an array does not count; bfloat16 outranks float64.",
    order="bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 int128"
    " float16 float32 float64 bfloat16",
    reaches="""
        bool -> uint8 int8
        uint8 -> uint16 int16
        int8 -> int16
        uint16 -> uint32 int32
        int16 -> int32
        uint32 -> uint64 int64
        int32 -> int64
        uint64 int64 -> int128
        int128 -> float16
        float16 -> float32
        float32 -> float64
        float64 -> bfloat16
    """,
    python={"bool": "bool", "int": "int64", "float": "float32"},
    becomes=Becomes(
        lifts="bool int -> default_float",
        # By the priorities in 0.9, which rank int16 above int64.
        accumulates="bool uint8 int8 uint16 uint32 int32 -> int64",
    ),
    no_kernel=_NO_KERNEL,
    casts="any",
    # Observed in 0.9 on the CPU, where an integer division by zero ends the process.
    values=Values(
        dividing=Dividing(
            quotient_by_zero="raises",
            remainder_by_zero="raises",
            rounds="truncates",
            float_quotient="rounded",
            reciprocal_first="div",
        ),
        powers=Powers(of_integers="in float64"),
        arithmetic=Arithmetic(
            mixed_signs="common dtype", sign_of_nan="zero", float_errors="silent"
        ),
        reducing=Reducing(median="lower", correction=1),
        methods=ArrayMethods(
            extremes="values and indices",
            sort="values and indices",
            transpose="swaps",
            repeat="whole",
            split="lengths",
            squeeze="kept",
            flatten="shared",
            nonzero="by element",
        ),
    ),
    ops=_OPS,
    naming=Naming(
        names="flow",
        cast="{x}.to(flow.{dtype})",
        prefixes="oneflow flow oneflow.Tensor oneflow.linalg oneflow.nn.functional F",
        aliases={
            "ne": "not_equal",
            "gt": "greater",
            "ge": "greater_equal",
            "clamp": "clip",
            "concat": "cat",
            "neg": "negative",
            "max": "amax",
            "min": "amin",
            "norm": "vector_norm",
        },
        casts="bool:bool int:int32 long:int64 half:float16 bfloat16:bfloat16 float:float32"
        " double:float64 to: type_as:",
    ),
    evidence=Evidence(
        source="recorded from oneflow 0.9.0, eager, CPU",
        laws=Laws(one_sided="matmul"),
        surprises=(
            "int8[3] * float64[]",
            "float64[3] + bfloat16[3]",
            "-int8[3]",
            "bool[3] / 2",
            "int8[3] ** int8[3]",
            "where(bool[3], float32[3], 1.5)",
            "sum(int8[])",
            "uint8[2,3] @ float32[3,2]",
        ),
    ),
)

# OneFlow as the article on its type promotion describes it, and as recorded where it does not.

ARTICLE = ONEFLOW.vary(
    mode="article",
    version="",
    about="OneFlow as the article on its TensorProcessor describes it: a 0-d tensor counts as a"
    " scalar; sum has int64 as its lowest dtype.",
    ops={
        **ONEFLOW.ops,
        "*": combined(
            ONEFLOW.ops["*"],
            Rule(
                scalars="tiers",  # the array's dtype if a scalar is of its family, else promotion
                arrays=Arrays(lowest_promoted=False),  # Apply() does the one or the other
            ),
        ),
        # AddInputs({x}, /*lowest_dtype=*/DType::Int64()): "any integer", and 0-d ones too.
        "sum": Rule(converts="int16 uint64 -> int64", composes=()),
    },
    evidence=replace(
        ONEFLOW.evidence,
        source="the article on type promotion in PyTorch and OneFlow (OneFlow's pull request 6380);"
        " what it does not cover, the table and the ops, is as in oneflow 0.9.0",
        surprises=(
            "int8[3] * float64[]",
            "int8[3] * int64[]",
            "int16[3] + 2.0",
            "sum(int8[])",
            "sum(int16[3])",
        ),
    ),
)

# OneFlow's errors about dtypes.

_OF_PROTOCOL = {
    "kFloat": "float32",
    "kDouble": "float64",
    **{
        f"k{name}": name.lower()
        for name in ("Bool", "Int8", "Int16", "Int32", "Int64", "UInt8", "Float16", "BFloat16")
    },
}

MESSAGES = Messages(
    "oneflow",
    (
        Message(
            "InferDataType Failed. Expected {left}, but got {right}",
            "RuntimeError: InferDataType Failed. Expected kFloat, but got kDouble",
        ),
    ),
    dtypes={**SPELLINGS["oneflow"], **_OF_PROTOCOL},
    calls=dict.fromkeys(("mm", "bmm", "addmm", "linear"), "matmul"),
    packages="oneflow",
)
