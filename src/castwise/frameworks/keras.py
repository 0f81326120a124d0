"""Keras on JAX: JAX's rules, except for the functions in which Keras itself promotes first."""

from __future__ import annotations

from dataclasses import replace

from castwise.frameworks.jax import JAX, LATTICE
from castwise.rules.dialect import Message, Messages
from castwise.rules.rule import (
    Accepts,
    Arguments,
    Arrays,
    Composed,
    Exponent,
    Joins,
    Numbers,
    NumPyOperands,
    Range,
    Rule,
    Weakness,
    Writes,
)

_FLOAT8 = "float8_e4m3fn float8_e5m2"
_TRIGONOMETRIC = "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh"
_SINGLE = "ZERO_D NUMPY_ZERO_D NUMPY_SCALAR SCALAR"

KERAS = JAX.vary(
    framework="keras",
    version="3.15",
    about="Keras 3 on JAX: jax.numpy's rules, with Keras's own lattice in some functions.",
    order="bool int* uint8 int8 uint16 int16 uint32 int32 uint64 int64 float* float8_e4m3fn"
    " float8_e5m2 float16 bfloat16 float32 float64 complex* complex64 complex128",
    reaches=LATTICE + f"float* -> {_FLOAT8}; uint32 -> int32; int32 -> float*",
    # Nothing is computed in place.
    values=replace(JAX.values, dividing=replace(JAX.values.dividing, divisor_in_place="common")),
    no_kernel={},
    joining=replace(JAX.joining, refusal="8-bit floats join only dtypes below them"),
    ops={
        "*": Rule(
            scalars="as nodes",
            numbers=Numbers(lists="as arrays"),
            numpy=NumPyOperands(arrays="as arrays"),
            range=Range(limit="default int", beyond="raises"),
        ),
        # Keras's tensors are JAX's arrays, and so are their operators.
        "*/operator": Rule(borrows="jax", numbers=Numbers(lists="refused")),
        "*/augmented": Rule(writes=Writes(rebinds="always")),
        # A function of dtypes, which truncates none of them; its result has at most 32 bits.
        "result_type": Rule(
            borrows="jax:x64",
            arrays=Arrays(is_truncated=False),
            numbers=Numbers(lists="refused"),
            accepts=Accepts(refuses=_FLOAT8),
            numpy=NumPyOperands(
                result="uint64 -> uint32; int64 -> int32; float64 -> float32;"
                " complex128 -> complex64"
            ),
        ),
        # These need an operand's dtype before they make it a tensor.
        "where clamp outer all any count_nonzero logsumexp": Rule(numbers=Numbers(lists="refused")),
        "sub": Rule(accepts=Accepts(refuses_compute="bool")),
        "sign round": Rule(computes="int float complex"),
        "floor_divide remainder fmod square bitwise_left_shift bitwise_right_shift pow": Rule(
            converts="bool -> int32"
        ),
        "pow": Rule(joins=Joins("integer power"), exponent=Exponent(negative="raises")),
        # Keras's own lattice, in which Python numbers are as strong as arrays. It refuses 8-bit
        # floats.
        "atan2 logaddexp logaddexp2": Rule(computes="float complex", scalars="as arrays"),
        "floor ceil": Rule(integers_become_float=True),
        f"atan2 logaddexp logaddexp2 floor ceil {_TRIGONOMETRIC} signbit angle mean var norm": Rule(
            accepts=Accepts(refuses=_FLOAT8)
        ),
        f"exp exp2 expm1 {_TRIGONOMETRIC} floor ceil angle": Rule(
            weakness=Weakness(converted_is_strong=True)
        ),
        "degrees radians": Rule(
            computes="float complex", weakness=Weakness(arrays_make_strong="any")
        ),
        "ldexp": Rule(
            computes="float", joins=Joins("exponent apart"), accepts=Accepts(refuses_last="bool")
        ),
        "argmax argmin": Rule(
            accepts=Accepts(refuses=_FLOAT8),
            composes=(Composed("argmax(cast(x, float32))", _FLOAT8, _SINGLE),),
        ),
        "var": Rule(result="same"),
        "matmul/function": Rule(
            composes=(Composed("matmul(cast(x, int32), cast(y, int32))", "int8", "", (), "int8"),)
        ),
        "heaviside": Rule(
            integers_become_float=True, weakness=Weakness(arrays_make_strong="first")
        ),
        "angle": Rule(
            composes=(Composed("atan2(0, cast(x, float32))", "float16 bfloat16 float32", _SINGLE),)
        ),
        "dot matmul inner": Rule(arrays=Arrays(keeps_width="int complex")),
        "inner": JAX.ops["inner"],
        "cross kron": JAX.ops["cross kron"],
        "rsqrt sigmoid erf": Rule(integers_become_float=False),
        "clamp": Rule(composes=(Composed("clamp(cast(x, int32), y, z)", "bool"),)),
        "threshold": Rule(composes=(Composed("where(x, x, 1)"),)),
        "relu": JAX.ops["relu"],
        "softmax": Rule(composes=(Composed("exp(sub(x, max(x)))"),)),
        "log_softmax": Rule(composes=(Composed("sub(sub(x, max(x)), log(sum(exp(x))))"),)),
        "gelu logsumexp": Rule(computes="float complex", integers_become_float=True),
        "mean var std median norm": Rule(integers_become_float=True),
        "cumsum cumprod": Rule(accumulates=False, converts="bool -> default_int"),
        "log2 log10 ldexp hypot cross gelu sum prod mean cumsum cumprod max min argmax argmin std"
        " var median norm logsumexp count_nonzero": Rule(weakness=Weakness(makes_strong=True)),
        "prod cumsum cumprod": Rule(arguments=Arguments(dtype="casts first")),
        "prod/dtype": Rule(accumulates=False),
        "cumsum/dtype cumprod/dtype": Rule(converts=""),
        "max min": Rule(computes="bool int float complex", arguments=Arguments(initial="cast")),
    },
    naming=replace(
        JAX.naming,
        names="",
        prefixes="keras keras.ops ops keras.backend",
        cast="keras.ops.cast({x}, '{dtype}')",
    ),
    evidence=replace(
        JAX.evidence,
        source="recorded from Keras 3.15.1 with JAX 0.10.2, CPU, floatx float32",
        surprises=(
            "matmul(int8[3], int8[3])",
            "atan2(float16[3], 1.5)",
            "floor(int32[3])",
            "var(complex64[3])",
            "result_type(uint64[3], int8[3])",
            "add(uint64[3], int8[3])",
            "sin(float8_e5m2[3])",
        ),
    ),
)

# Keras's own errors about dtypes; those of the framework that it runs on are its own, too.

MESSAGES = Messages(
    "keras",
    (
        Message(
            "There is no implicit conversions from float8 dtypes to others. You must cast it"
            " internally. Received: ({operands})"
        ),
    ),
    packages="keras",
    runs_on="tensorflow jax torch numpy",
)
