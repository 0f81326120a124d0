"""tinygrad: JAX's lattice with visible weak dtypes and all float8, without complex numbers."""

from __future__ import annotations

from castwise.rules.dialect import (
    Assigns,
    Becomes,
    Dialect,
    Evidence,
    Joining,
    Laws,
    Message,
    Messages,
    Naming,
)
from castwise.rules.rule import (
    Accepts,
    Arguments,
    Composed,
    Condition,
    Exponent,
    Numbers,
    NumPyOperands,
    Rule,
    Weakness,
    Writes,
)
from castwise.rules.values import (
    Arithmetic,
    ArrayMethods,
    Dividing,
    Memory,
    Powers,
    PythonFunctions,
    Reducing,
    Values,
)
from castwise.vocab.spellings import SPELLINGS

_FLOAT8 = "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz"

TINYGRAD = Dialect(
    framework="tinygrad",
    version="0.14",
    about="tinygrad: a lattice; Python numbers are weak and may leave the result weak.",
    order="bool int* uint8 int8 uint16 int16 uint32 int32 uint64 int64 float*"
    f" {_FLOAT8} float16 bfloat16 float32 float64",
    reaches=f"""
        bool -> int*
        int* -> uint8 int8
        uint8 -> uint16 int16
        int8 -> int16
        uint16 -> uint32 int32
        int16 -> int32
        uint32 -> uint64 int64
        int32 -> int64
        uint64 int64 -> float*
        float* -> {_FLOAT8}
        {_FLOAT8} -> float16 bfloat16
        float16 bfloat16 -> float32
        float32 -> float64
    """,
    joining=Joining(weak_arrays="keep their width"),
    python={"bool": "bool", "int": "int32", "float": "float32"},
    becomes=Becomes(
        lifts="bool int -> default_float",
        accumulates="bool int* int8 int16 -> int32; uint8 uint16 -> uint32",
        index="int32",
    ),
    casts="safe",
    assigns=Assigns(by_places="always same dtype"),
    # Observed on the device written in Python, which computes integer powers with floats.
    values=Values(
        dividing=Dividing(
            remainder_by_zero="dividend", float_quotient="rounded", reciprocal_first="div"
        ),
        powers=Powers(of_integers="in float64"),
        arithmetic=Arithmetic(
            mixed_signs="common dtype", gelu="tanh", float_errors="silent", stepwise="lerp"
        ),
        reducing=Reducing(
            correction=1, extremes_of_none="limits", cumulated_axis="first", cumulated_number="0-d"
        ),
        functions=PythonFunctions(divmod="refused"),
        methods=ArrayMethods(
            sort="values and indices",
            transpose="swaps",
            transposed="first two",
            repeat="whole",
            split="lengths",
            squeeze="kept",
            nonzero="by element",
        ),
        memory=Memory(new_axes="copied"),
    ),
    ops={
        "*": Rule(
            scalars="as nodes",
            numbers=Numbers(lists="bools as arrays"),
            numpy=NumPyOperands(scalars="float64 -> float"),
        ),
        "*/inplace": Rule(writes=Writes(into="same dtype"), weakness=Weakness(makes_strong=True)),
        # `a %= b` is not defined, so Python runs `a = a % b`.
        "remainder/inplace": Rule(
            writes=Writes(into="rebinds"), weakness=Weakness(makes_strong=False)
        ),
        "floor_divide remainder fmod": Rule(converts="bool -> float32"),
        "bitwise_and bitwise_or bitwise_xor bitwise_not": Rule(otherwise="no kernel"),
        # A shifted Python number is not cast, and its weak dtype is the result's.
        "bitwise_left_shift bitwise_right_shift": Rule(
            composes=(Composed("result_type(x)", "int", "SCALAR", exponent_kinds="int"),)
        ),
        "copysign": Rule(
            computes="bool int float",
            integers_become_float=False,
            composes=(
                Composed("result_type(x)", "int", "SCALAR", exponent_kinds="bool int"),
                Composed(
                    "result_type(1.0)", "int float", "SCALAR", exponent_kinds="bool int float"
                ),
            ),
        ),
        "neg": Rule(computes="bool int float"),
        "where": Rule(accepts=Accepts(condition=Condition(arrays="bool", numbers="", numpy=""))),
        "one_hot": Rule(composes=(Composed("where(eq(x, 0), 1, 0)", "int"),)),
        "einsum": Rule(
            composes=(
                Composed("sum(x)", count=1),
                Composed("sum(mul(x, y))", count=2),
                Composed("sum(mul(mul(x, y), z))", count=3),
            )
        ),
        "conv2d": Rule(
            composes=(
                Composed("sum(mul(x, y))", count=2),
                Composed("add(sum(mul(x, y)), z)", count=3),
            )
        ),
        "silu": Rule(composes=(Composed("mul(x, sigmoid(x))"),)),
        "relu": Rule(composes=(Composed("where(gt(x, 0), x, 0)"),)),
        "floor": Rule(composes=(Composed("where(lt(x, trunc(x)), sub(trunc(x), 1), trunc(x))"),)),
        "ceil": Rule(composes=(Composed("where(gt(x, trunc(x)), add(trunc(x), 1), trunc(x))"),)),
        "round": Rule(
            composes=(Composed("where(gt(x, 0), ceil(sub(x, 0.5)), floor(add(x, 0.5)))"),)
        ),
        "sigmoid": Rule(composes=(Composed("reciprocal(add(1, exp(mul(x, -1.0))))"),)),
        "tanh": Rule(composes=(Composed("sub(mul(2.0, sigmoid(mul(2.0, x))), 1.0)"),)),
        "asin": Rule(
            composes=(Composed("mul(sign(x), sub(1.6, mul(sqrt(sub(1.0, abs(x))), 1.6)))"),)
        ),
        "acos": Rule(composes=(Composed("sub(1.6, asin(x))"),)),
        "atan": Rule(composes=(Composed("asin(div(x, sqrt(add(1, mul(x, x)))))"),)),
        "asinh": Rule(composes=(Composed("log(add(x, sqrt(add(square(x), 1))))"),)),
        "acosh": Rule(composes=(Composed("log(add(x, sqrt(sub(square(x), 1))))"),)),
        "atanh": Rule(composes=(Composed("div(log(div(add(1, x), sub(1, x))), 2)"),)),
        "gelu": Rule(composes=(Composed("mul(mul(0.5, x), add(1, tanh(mul(0.8, x))))"),)),
        # For bytes it is computed in fixed point.
        "lerp": Rule(
            composes=(
                Composed("result_type(x)", "uint8", exponent_roles="ARRAY ZERO_D"),
                Composed("add(x, mul(sub(y, x), z))"),
            ),
        ),
        "mean std var": Rule(weakness=Weakness(converted_is_strong=True)),
        "softmax log_softmax logsumexp mean std var": Rule(integers_become_float=True),
        "sum cumsum prod cumprod max min argmax argmin softmax log_softmax logsumexp": Rule(
            weakness=Weakness(makes_strong=True)
        ),
        "prod cumprod sum/dtype": Rule(accumulates=False),
        "sum prod softmax log_softmax": Rule(arguments=Arguments(dtype="casts first")),
        "div": Rule(
            weakness=Weakness(converted_is_strong=True),
            arguments=Arguments(rounded_as="trunc -> remainder; floor -> floor_divide"),
        ),
        "cumprod": Rule(composes=(Composed("result_type(x)", roles="ZERO_D"),)),
        "pow": Rule(exponent=Exponent(negative="raises on either side")),
    },
    naming=Naming(
        cast="{x}.cast(dtypes.{dtype})",
        prefixes="Tensor tinygrad tinygrad.Tensor",
        aliases={
            "remainder": "mod",
            "bitwise_left_shift": "lshift",
            "bitwise_right_shift": "rshift",
            "clamp": "clip",
            "concat": "cat",
        },
        casts="bool:bool short:int16 int:int32 long:int64 half:float16 bfloat16:bfloat16"
        " float:float32 double:float64 to:",
    ),
    evidence=Evidence(
        source="recorded from tinygrad 0.14.0",
        laws=Laws(associativity_witness=("float8_e4m3fn", "float8_e5m2", "bfloat16")),
        surprises=(
            "int32[3] + 1.5",
            "uint64[3] + int8[3]",
            "float8_e4m3fn[3] + float8_e5m2[3]",
            "int32[3] + float8_e4m3fn[3]",
            "int8[3] + 300",
            "bool[3] // bool[3]",
            "tanh(int32[3])",
            "int8[3] ** -1",
        ),
    ),
)

# tinygrad's errors about dtypes.

MESSAGES = Messages(
    "tinygrad",
    (
        Message(
            "shift operands must be int, got [{operands}]",
            op="bitwise_left_shift bitwise_right_shift",
        ),
        Message("assign dtype mismatch {target} != {result}"),
        Message("where cond must be bool, got {left}", op="where"),
        Message("UOp verification failed at ... on Ops.{op} {computed}"),
    ),
    dtypes={**SPELLINGS["tinygrad"], "weakint": "i*", "weakfloat": "f*"},
    ops={"AND": "bitwise_and", "OR": "bitwise_or", "XOR": "bitwise_xor"},
    packages="tinygrad",
)
