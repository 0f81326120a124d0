"""NumPy: NEP 50 (2.x) and value-based promotion (1.x). bfloat16 is ml_dtypes' and a foreigner."""

from __future__ import annotations

from castwise.frameworks.dialect import Composed, Dialect, Rule
from castwise.frameworks.value_rules import Values

# NumPy has no common dtype for bfloat16 with a Python float: the ufunc machinery takes the float
# as its smallest dtype and climbs to float32, result_type takes it as float64, clip as float32.
_IN_UFUNCS = {"bfloat16": {"int": "int8", "float": "float16", "complex": "complex64"}}
_ELSEWHERE = {"bfloat16": {"float": "float64", "complex": "complex64"}}
_IN_CLIP = {"bfloat16": {"float": "float32", "complex": "complex64"}}
_AS_THEY_ARE: dict[str, dict[str, str]] = {"bfloat16": {}}

_ARRAYS = "ARRAY ZERO_D"
_REAL = "bool int float"

# What both versions do. A ufunc takes the first of its loops into which every operand casts safely;
# where a dtype has no loop, the operands climb to one that has.
_OPS = {
    "sub": Rule(refuses_compute="bool", because="minus is not defined on booleans; use ^"),
    "neg positive sign": Rule(refuses="bool", because="NumPy has no signed booleans; use ~"),
    "sign round": Rule(computes="int float complex"),
    "div": Rule(converts="bool int -> float64"),
    "floor_divide remainder fmod": Rule(computes="int float"),
    "pow": Rule(computes="int float complex", negative_exponent="raises"),
    "square conj reciprocal": Rule(computes="int float complex"),
    "round": Rule(converts="bool -> float16"),
    "heaviside": Rule(computes="float"),
    "norm": Rule(converts="bool int bfloat16 -> float64"),
    "mean std var": Rule(converts="bool int -> float64"),
    "median": Rule(computes="float complex", converts="bool int -> float64"),
    "max min argmax argmin": Rule(computes="bool int float complex"),
    "dot": Rule(scalars="as arrays"),
    "matmul": Rule(converts="bfloat16 -> float32"),
    # These compute in the dtype of out=.
    "sum/out prod/out cumsum/out mean/out": Rule(output="any", writes_never=""),
    # The dtype of out= must cast safely to the index dtype, not the other way.
    "argmax/out argmin/out": Rule(
        output="same dtype", writes_also="int64 -> bool int8 int16 int32 uint8 uint16 uint32"
    ),
}

# Its names of the ops, which JAX took over.
ALIASES = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide true_divide",
    "remainder": "mod",
    "pow": "power",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "bitwise_not": "invert bitwise_invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "atan2": "arctan2",
    "clamp": "clip",
    "concat": "concatenate",
    "abs": "absolute",
    "neg": "negative",
    "conj": "conjugate",
    "round": "around",
    "max": "amax",
    "min": "amin",
    "cumsum": "cumulative_sum",
    "cumprod": "cumulative_prod",
}

NUMPY = Dialect(
    framework="numpy",
    version="2",
    about="NumPy 2: NEP 50. Only dtypes count; Python numbers are weak.",
    evidence="recorded from NumPy 2.4.6 with ml_dtypes 0.6; NEP 50",
    order="bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64"
    " complex64 complex128",
    reaches="""
        bool -> int8 uint8
        int8 -> int16 float16 bfloat16
        uint8 -> int16 uint16 float16 bfloat16
        int16 -> int32 float32
        uint16 -> int32 uint32 float32
        int32 -> int64
        uint32 -> int64 uint64
        int64 uint64 -> float64
        float16 bfloat16 -> float32
        float32 -> float64 complex64
        float64 complex64 -> complex128
    """,
    only_absorbed="bfloat16",
    python={"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"},
    reads_ints="uint64 float64",
    accumulates="bool int8 int16 int32 -> int64; uint8 uint16 uint32 -> uint64",
    values=Values(single_powers="square root"),
    ops={
        "*": Rule(
            numpy="native",
            scalars="weak",
            joins="first loop",
            beside=_IN_UFUNCS,
            out_of_range="raises",
            output="same kind",
            writes_also="complex -> bfloat16",
            writes_never="bfloat16 -> float16",
        ),
        **_OPS,
        "result_type promote_types where concat stack": Rule(
            joins="common dtype", beside=_ELSEWHERE
        ),
        "result_type": Rule(out_of_range="wraps"),
        "where": Rule(out_of_range="wraps within 64 bits"),
        "eq ne lt le gt ge": Rule(out_of_range="compares exactly"),
        "logical_and logical_or logical_xor": Rule(
            scalars="as arrays", out_of_range="raises beyond int64"
        ),
        "clamp": Rule(
            computes="bool int float16 float32 float64 complex",
            out_of_range="bounds",
            beside=_IN_CLIP,
        ),
        "float_power": Rule(beside=_ELSEWHERE),
        "angle": Rule(converts="bool -> float64"),
        # a ** 2 on an array of booleans is square(a).
        "pow/operator": Rule(
            composes=(Composed("square(x)", "bool", _ARRAYS, (2,), "int", "SCALAR"),)
        ),
    },
    refusal="only what is safely cast to a dtype joins in it",
    casts="safe",
    assigns_beyond="raises",
    prefixes="np numpy np.linalg numpy.linalg",
    unrecorded="xlogy lerp addcmul mse_loss l1_loss huber_loss poisson_nll_loss relu threshold"
    " rsqrt sigmoid erf gelu softmax log_softmax logsumexp",
    aliases=ALIASES,
    associativity_witness=("int8", "uint8", "float16"),
    surprises=(
        "int8[3] + uint64[3]",
        "int32[3] + float32[3]",
        "uint8[3] + 300",
        "atan2(int8[3], uint8[3])",
        "bool[3] // bool[3]",
        "bool[3] ** 2",
        "bfloat16[3] + 1.5",
    ),
)

NUMPY_1 = NUMPY.vary(
    version="1",
    is_newest=False,
    about="NumPy 1: scalars and 0-d arrays count as the smallest dtype that holds their value.",
    evidence="recorded from NumPy 1.24.4 with ml_dtypes 0.5",
    values=Values(mixed_signs="common dtype", single_powers="square root by operator"),
    assigns_beyond="raises beyond int64",
    ops={
        "*": Rule(
            numpy="native",
            scalars="by value",
            joins="first loop",
            beside=_AS_THEY_ARE,
            output="same kind",
            writes_also="complex -> bfloat16",
            writes_never="bfloat16 -> float16",
        ),
        **_OPS,
        # The uniform ufuncs promote as result_type does; the others look for their first loop with
        # the scalar's value: uint8 + 300 is uint16 and uint8 // 300 is int16.
        "add sub mul maximum minimum fmax fmin clamp": Rule(joins="common dtype or first loop"),
        "clamp": Rule(computes="bool int float16 float32 float64 complex"),
        "result_type promote_types where concat stack": Rule(joins="common dtype"),
        "result_type": Rule(beside={"bfloat16": {"int": "int8"}}),
        "eq ne lt le gt ge": Rule(out_of_range="compares as objects"),
        # a ** 2 and its like are square(a), sqrt(a): they keep the dtype of a 0-d array.
        "pow/operator pow/inplace": Rule(
            composes=(
                Composed("reciprocal(x)", "float complex", _ARRAYS, (-1,), _REAL),
                Composed("positive(x)", "float complex", _ARRAYS, (0, 1), _REAL),
                Composed("sqrt(x)", "float complex", _ARRAYS, (0.5,), _REAL),
                Composed("square(x)", "float complex", _ARRAYS, (2,), _REAL),
                Composed("square(x)", "bool foreign", _ARRAYS, (2,), _REAL),
                Composed("square(x)", "int", _ARRAYS, (2,), "bool int"),
                Composed("pow(x, 2.0)", "int", _ARRAYS, (2,), "float"),
            )
        ),
        "angle": Rule(composes=(Composed("atan2(0, x)", "bool int float foreign"),)),
        "positive/operator": Rule(refuses="", computes="bool int float complex"),
        "floor ceil trunc": Rule(computes="float"),
        "argmax/out argmin/out": Rule(
            output="same dtype",
            writes_also="int64 -> bool int8 int16 int32 uint8 uint16 uint32 uint64",
        ),
    },
    surprises=(
        "uint8[3] + 300",
        "uint8[3] // 300",
        "int8[3] + 200",
        "float32[3] + float64=1.5[]",
        "float32[3] + 1e39",
        "int8[] + 1",
        "float32[] ** 2",
    ),
)
