"""JAX: one lattice, in which Python numbers and other weakly typed values have their own nodes."""

from __future__ import annotations

from dataclasses import replace

from castwise.frameworks.numpy import ALIASES
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
    combined,
)
from castwise.rules.values import (
    Arithmetic,
    ArrayMethods,
    Casting,
    Clamping,
    Dividing,
    Memory,
    Needs,
    Powers,
    PythonFunctions,
    Reducing,
    Values,
)
from castwise.vocab.ops import EXTENSIONS
from castwise.vocab.spellings import SPELLINGS

_INTS = "uint8 int8 uint16 int16 uint32 int32 uint64 int64"
# Each of these joins the weak numbers below it and nothing else: the first represent the others.
_NARROW = "uint4 int4 uint2 int2 uint1 int1"
_NARROW_FLOATS = (
    "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e4m3b11fnuz float8_e4m3"
    " float8_e3m4 float8_e8m0fnu float6_e2m3fn float6_e3m2fn float4_e2m1fn"
)
_TINY = "uint2 int2 uint1 int1"  # these do not become floats where other integers do
_NOT_HELD = "uint1 int1 float6_e2m3fn float6_e3m2fn"  # jit traces them, but XLA cannot run them

_SINGLE = "ZERO_D NUMPY_ZERO_D NUMPY_SCALAR SCALAR"
# The angle of one number is computed in the default float, that of an array in its own dtype.
_ANGLE_32 = (Composed("atan2(0, cast(x, float32))", "float", _SINGLE),)
_ANGLE_64 = (Composed("atan2(0, cast(x, float64))", "float", _SINGLE),)
# The inner product with a number is an ordinary product.
_PRODUCT_OF_ONE = (
    Composed("mul(x, y)", roles=_SINGLE),
    Composed("mul(x, y)", exponent_roles=_SINGLE),
)

_TRANSFORMS = " ".join(name for name in EXTENSIONS if name.startswith("fft."))

_OPS = {
    "*": Rule(
        scalars="as nodes",
        numpy=NumPyOperands(arrays="as arrays"),
        range=Range(limit="default int", beyond="raises"),
    ),
    "*/augmented": Rule(writes=Writes(rebinds="always")),  # no array can be changed
    # In place means x.at[...].add(y), which keeps the dtype of x and first makes an array of y.
    # Division is composed of it.
    "*/inplace": Rule(
        range=Range(limit="dtype or default int"),
        numbers=Numbers(lists="as arrays"),
    ),
    "add/inplace mul/inplace": Rule(accepts=Accepts(refuses_compute="bool")),
    "div/inplace": Rule(composes=(Composed("div(x, mul_(x, y))"),), writes=Writes(into="rebinds")),
    "result_type": Rule(range=Range(beyond="wraps"), weakness=Weakness(makes_strong=True)),
    "sub": Rule(accepts=Accepts(refuses_compute="bool")),
    "sign round": Rule(computes="int float complex"),
    "positive": Rule(computes="bool int float complex"),
    "abs": Rule(accepts=Accepts(refuses="int4 int2")),
    "div mean": Rule(computes=f"{_TINY} float complex"),
    "floor_divide remainder fmod square bitwise_left_shift bitwise_right_shift pow": Rule(
        converts="bool -> int32"
    ),
    "pow": Rule(
        joins=Joins("integer power"),
        exponent=Exponent(is_free=True, negative="raises"),
        accepts=Accepts(refuses_compute=_NARROW),
    ),
    "float_power": Rule(computes="float complex", integers_become_float=True),
    "atan2 logaddexp logaddexp2 xlogy degrees": Rule(computes="float complex"),
    "radians": Rule(computes="uint2 int2 uint1 float complex"),
    "ldexp": Rule(computes="float", joins=Joins("exponent apart")),
    "signbit": Rule(accepts=Accepts(refuses=_NARROW_FLOATS)),
    "logaddexp2 degrees radians": Rule(weakness=Weakness(arrays_make_strong="any")),
    "heaviside": Rule(integers_become_float=True, weakness=Weakness(arrays_make_strong="first")),
    "copysign": Rule(
        computes="int1 float",
        accepts=Accepts(refuses_compute=_NARROW_FLOATS),
        result_of="int1 -> int8",
    ),
    "angle": Rule(
        composes=_ANGLE_32,
        weakness=Weakness(converted_is_strong=True),
        converts=f"{_TINY} -> float32",
    ),
    "allclose isclose": Rule(accepts=Accepts(refuses_compute=_TINY)),
    "dot matmul inner vecdot einsum tensordot": Rule(arrays=Arrays(keeps_width="int complex")),
    "inner": Rule(composes=_PRODUCT_OF_ONE),
    "cross kron": Rule(accepts=Accepts(refuses_compute="bool")),
    "conv1d conv2d": Rule(arrays=Arrays(promotes=False)),
    "conv1d conv2d scaled_dot_product_attention": Rule(accepts=Accepts(same_dtype=True)),
    # The scores are float32 at least, which the operands must reach.
    "scaled_dot_product_attention": Rule(
        computes="bool int float complex",
        accepts=Accepts(refuses=f"{_NARROW} {_NARROW_FLOATS} uint64 int64"),
    ),
    "one_hot": Rule(computes="int float complex", result="default float"),
    "rsqrt sigmoid": Rule(integers_become_float=False),
    "relu": Rule(composes=(Composed("maximum(x, 0)"),)),
    "softmax": Rule(composes=(Composed("exp(sub(x, max(x)))"),)),
    "log_softmax": Rule(composes=(Composed("sub(sub(x, max(x)), log(sum(exp(x))))"),)),
    "gelu logsumexp": Rule(computes="float complex", integers_become_float=True),
    "mean var std median norm": Rule(integers_become_float=True),
    "sum prod": Rule(accepts=Accepts(refuses=_NARROW)),
    "max min": Rule(computes="bool int float complex"),
    "cumsum cumprod": Rule(accumulates=False, converts="bool -> default_int"),
    "log2 log10 ldexp hypot cross gelu sum prod mean cumsum cumprod max min argmax argmin std var"
    " median norm logsumexp count_nonzero one_hot scaled_dot_product_attention": Rule(
        weakness=Weakness(makes_strong=True)
    ),
    "linalg.det linalg.inv linalg.pinv linalg.matrix_norm linalg.vector_norm linalg.matrix_rank"
    f" {_TRANSFORMS}": Rule(weakness=Weakness(makes_strong=True)),
    "linalg.vector_norm": Rule(
        accepts=Accepts(refuses=_NARROW), converts="bool int -> default_float"
    ),
    "fft.rfft fft.rfftn fft.ihfft": Rule(
        accepts=Accepts(refuses=f"{_NARROW_FLOATS} float16 bfloat16 complex"),
        because="it takes only float32, float64 and integers",
    ),
    "fft.irfft fft.irfftn fft.hfft": Rule(converts=f"{_NARROW_FLOATS} float16 bfloat16 -> float32"),
    "sum prod mean cumsum cumprod std var concat stack": Rule(
        arguments=Arguments(dtype="casts first")
    ),
    "sum/dtype prod/dtype": Rule(accumulates=False, accepts=Accepts(refuses="")),
    "cumsum/dtype cumprod/dtype": Rule(converts=""),
    "mean/dtype": Rule(computes="int float complex", integers_become_float=False),
    "std/dtype var/dtype": Rule(
        result="same",
        integers_become_float=False,
        arguments=Arguments(casting="no complex to real"),
    ),
    # The quotient of integers is finally combined with a weak NaN.
    "var/dtype": Rule(composes=(Composed("where(x, x, nan)", "int"),)),
    "sum prod mean std var any all max min": Rule(arguments=Arguments(where="bool")),
    "sum prod max min": Rule(arguments=Arguments(initial="cast")),
}

# Where there are 64-bit dtypes.
_WIDE_OPS = {
    **_OPS,
    "angle": Rule(
        composes=_ANGLE_64,
        weakness=Weakness(converted_is_strong=True),
        converts="bool int -> default_float",
    ),
    "promote_types": Rule(weakness=Weakness(makes_strong=True)),
}

LATTICE = """
    bool -> int*
    int* -> uint8 int8
    uint8 -> uint16 int16
    int8 -> int16
    uint16 -> uint32
    int16 -> int32
    float* -> float16 bfloat16 complex*
    float16 bfloat16 -> float32
    float32 complex* -> complex64
"""
_ALL_NARROW = f"int* -> {_NARROW}; float* -> {_NARROW_FLOATS}"
_WIDE = """
    uint32 -> uint64
    int32 -> int64
    uint64 int64 -> float*
    float32 -> float64
    float64 complex64 -> complex128
"""

JAX_X64 = Dialect(
    framework="jax",
    version="0.10",
    mode="x64",
    about="JAX with jax_enable_x64: the lattice with real 64-bit dtypes.",
    order=f"bool int* {_NARROW} uint8 int8 uint16 int16 uint32 int32 uint64 int64 float*"
    f" {_NARROW_FLOATS} float16 bfloat16 float32 float64 complex* complex64 complex128",
    reaches=LATTICE + _WIDE + f"{_ALL_NARROW}; uint16 -> int32; uint32 -> int64",
    python={"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"},
    becomes=Becomes(
        lifts=f"bool uint4 int4 {_INTS} -> float32; int64 uint64 -> float64",
        accumulates="bool int8 int16 int32 -> int64; uint8 uint16 uint32 -> uint64",
    ),
    joining=Joining(
        refusal="integers below 8 bits and floats up to 8 bits join only dtypes below them",
        weak_arrays="keep their width",
    ),
    no_kernel={"*": _NOT_HELD},
    casts="as numpy",  # jnp.can_cast is np.can_cast
    assigns=Assigns(limit="default int"),
    values=Values(
        dividing=Dividing(
            quotient_by_zero="minus one or two", divisor_in_place="cast", reciprocal_second="div"
        ),
        powers=Powers(of_integers="six bits", by_whole_number="products"),
        casting=Casting(float_to_int="saturates", subnormals="flushed", truth="implied real part"),
        arithmetic=Arithmetic(
            mixed_signs="common dtype", gelu="tanh", summed_angles="wrapped", float_errors="silent"
        ),
        clamping=Clamping(lower_bound="first"),
        reducing=Reducing(cumulated_axis="flattened", median_of_none="raises"),
        functions=PythonFunctions(round="integers"),
        methods=ArrayMethods(transposed="reversed"),
        memory=Memory(assigned="by at"),
        needs=Needs(dimension="softmax log_softmax"),
    ),
    ops=_WIDE_OPS,
    naming=Naming(
        names="jnp",
        cast="{x}.astype(jnp.{dtype})",
        prefixes="jnp jax.numpy jax.nn jax.lax jax.scipy.special jnp.linalg jax.numpy.linalg"
        " jnp.fft jax.numpy.fft",
        aliases={**ALIASES, "silu": "swish", "topk": "top_k"},
    ),
    evidence=Evidence(
        source="recorded from JAX 0.10.2, CPU",
        laws=Laws(associativity_witness=("uint64", "int8", "float16")),
        surprises=(
            "uint64[3] + int8[3]",
            "int64[3] + float16[3]",
            "int8[3] + 1.5",
            "int8[3] ** int16[]",
            "bool[3] // bool[3]",
            "int4[3] + int8[3]",
            "dot(int8[3], 1)",
        ),
    ),
)

_TRUNCATES = "uint64 -> uint32; int64 -> int32; float64 -> float32; complex128 -> complex64"

# Where a Python int is an int32, unsigned integers stay within 32 bits. promote_types takes dtypes,
# not arrays, and truncates nothing.
_EXPLICIT = LATTICE + _WIDE + f"{_ALL_NARROW}; uint32 -> int32"
_OF_DTYPES = Rule(
    weakness=Weakness(makes_strong=True), numbers=Numbers(dtypes={"float": "float64"})
)

JAX_EXPLICIT_X64 = JAX_X64.vary(
    mode="explicit-x64",
    about="JAX with jax_explicit_x64_dtypes=allow: 64-bit dtypes where they are requested.",
    reaches=_EXPLICIT,
    python={"bool": "bool", "int": "int32", "float": "float32", "complex": "complex64"},
    becomes=replace(
        JAX_X64.becomes,
        accumulates="bool int8 int16 -> int32; uint8 uint16 -> uint32",
        index="int32",
    ),
    ops={
        **_WIDE_OPS,
        "*": combined(_OPS["*"], Rule(numpy=NumPyOperands(reads=_TRUNCATES))),
        "angle": replace(_WIDE_OPS["angle"], composes=_ANGLE_32),
        "promote_types": _OF_DTYPES,
        # It divides by a float32.
        "log10": Rule(accepts=Accepts(refuses="uint64 int64 float64 complex128")),
    },
    evidence=replace(
        JAX_X64.evidence,
        surprises=(
            "uint64[3] + int8[3]",
            "int64[3] + 1.5",
            "int64[3] + np.int64[3]",
            "int64[3] / int8[3]",
            "uint32[3] + int32[3]",
        ),
    ),
)

JAX = JAX_EXPLICIT_X64.vary(
    mode="",
    about="JAX: a lattice with weak types; 64-bit dtypes are truncated to 32 bits.",
    becomes=replace(JAX_EXPLICIT_X64.becomes, truncates=_TRUNCATES),
    reaches=LATTICE + f"{_ALL_NARROW}; uint32 -> int32; int32 -> float*",
    joining=replace(
        JAX_EXPLICIT_X64.joining,
        alone="uint64 int64 float64 complex128",  # no array has them
    ),
    ops={
        **_OPS,
        # Dtypes may join at float*, but never at complex*.
        "promote_types": combined(
            _OF_DTYPES,
            Rule(
                joins=Joins(reaches=_EXPLICIT.replace("complex*", "")),
                arrays=Arrays(keeps_dtypes=True),
            ),
        ),
    },
    evidence=replace(
        JAX_EXPLICIT_X64.evidence,
        laws=replace(JAX_EXPLICIT_X64.evidence.laws, associativity_witness=None),
        surprises=(
            "int64[3] + 1.5",
            "uint32[3] + int32[3]",
            "int32[3] + float16[3]",
            "int8[3] ** int16[]",
            "bool[3] // bool[3]",
            "int4[3] + int8[3]",
            "int8[3] + 2147483648",
        ),
    ),
)

_STRICT_ATTENTION = Rule(computes="float32", arrays=Arrays(promotes=False))

# In `x.at[...].add(True)` a Python bool counts as an int of x's dtype.
_STRICT_INPLACE = combined(
    _OPS["*/inplace"],
    Rule(numbers=Numbers(dtypes_by_array={d: {"bool": d} for d in _INTS.split()})),
)

JAX_STRICT = JAX_X64.vary(
    mode="strict",
    about="JAX with numpy_dtype_promotion='strict' and x64: only weak types promote.",
    reaches="int* -> int float*; float* -> float complex*; complex* -> complex",
    joining=replace(
        JAX_X64.joining,
        alone="bool",
        refusal="under strict promotion only weak types promote",
        weak_arrays="by kind",
    ),
    ops={
        **_OPS,
        "angle": _WIDE_OPS["angle"],
        "*/inplace": _STRICT_INPLACE,
        "scaled_dot_product_attention": _STRICT_ATTENTION,
        # These use a Python number in one of their steps, which has the default width.
        "acosh": Rule(composes=(Composed("add(x, 1.0)", "complex"),)),
        "trunc": Rule(composes=(Composed("add(x, 0.0)", "float"),)),
        "silu": Rule(composes=(Composed("add(x, 0.0)", "float complex"),)),
        "einsum": Rule(composes=(Composed("add(x, 0)", "int float complex", count=1),)),
        "norm": Rule(
            composes=(
                Composed("max(add(abs(x), 0.0))", "float32 complex64"),
                Composed("max(add(sqrt(x), 0.0))", "int32"),  # any op that makes integers floats
            )
        ),
        "median": Rule(
            composes=(
                Composed("max(add(x, 0.0))", "float32"),
                Composed("max(add(sqrt(x), 0.0))", "int32"),
            )
        ),
        # A single weak 32-bit value takes the dtype of the factor, which is strong.
        "degrees radians": Rule(
            composes=(
                Composed("result_type(x)", "float32 complex64", "ZERO_D"),
                Composed("result_type(cast(x, float32))", "int32", "ZERO_D"),
            )
        ),
    },
    evidence=replace(
        JAX_X64.evidence,
        laws=replace(JAX_X64.evidence.laws, associativity_witness=None),
        surprises=(
            "int8[3] + True",
            "int32[3] + 1.5",
            "float32[3] + np.float64(1)",
            "int32[3] / int32[3]",
            "float32[3] ** int8[]",
        ),
    ),
)

JAX_STRICT_X32 = JAX_STRICT.vary(
    mode="strict-x32",
    about="JAX with numpy_dtype_promotion='strict': only weak types promote; 64-bit dtypes are"
    " truncated to 32 bits.",
    becomes=replace(
        JAX_STRICT.becomes, truncates=_TRUNCATES, accumulates=JAX.becomes.accumulates, index="int32"
    ),
    reaches=f"""
        int* -> {_NARROW} uint8 int8 uint16 int16 uint32 int32 float*
        float* -> {_NARROW_FLOATS} float16 bfloat16 float32 complex*
        complex* -> complex64
    """,
    joining=replace(JAX_STRICT.joining, alone=f"bool {JAX.joining.alone}"),
    python=JAX.python,
    ops={
        **_OPS,
        "*/inplace": _STRICT_INPLACE,
        "scaled_dot_product_attention": _STRICT_ATTENTION,
        "promote_types": Rule(arrays=Arrays(keeps_dtypes=True)),
    },
    evidence=replace(
        JAX_STRICT.evidence,
        surprises=(
            "int8[3] + True",
            "int64[3] + int32[3]",
            "int32[3] + 1.5",
            "float32[3] + np.float64(1)",
            "int32[3] / int32[3]",
        ),
    ),
)

# JAX's errors about dtypes.

# jax.lax casts nothing, as jax.numpy does not in strict mode.
_LAX = "strict"

MESSAGES = Messages(
    "jax",
    (
        Message(
            "Input dtypes ({operands}) have no available implicit dtype promotion path when"
            " jax_numpy_dtype_promotion=strict",
            mode="strict",
            is_in_order=False,
        ),
        Message(
            "Input dtypes ({operands}) have no available implicit dtype promotion path",
            is_in_order=False,
        ),
        Message("{op} requires arguments to have the same dtypes, got {operands}.", mode=_LAX),
        Message("{op} does not accept dtype {computed} at position {any}"),
        Message("{op} does not accept dtype {computed}."),
        Message("{op} does not support complex-valued inputs"),
        Message(
            "Integers cannot be raised to negative powers, got integer_pow({left}[...], {number})",
            op="pow",
        ),
        Message("argument path is y. Got <class 'int'> with value {number}"),
    ),
    dtypes=SPELLINGS["jnp"],
    ops={
        "and": "bitwise_and",
        "or": "bitwise_or",
        "xor": "bitwise_xor",
        "not": "bitwise_not",
        "shift_left": "bitwise_left_shift",
        "shift_right_arithmetic": "bitwise_right_shift",
        "shift_right_logical": "bitwise_right_shift",
        "rem": "remainder fmod",
        "max": "maximum",
        "min": "minimum",
        "select": "where",
        "select_n": "where",
        "concatenate": "concat",
        "conv_general_dilated": "conv2d conv1d",
        "dot_general": "matmul dot einsum",
        "is_finite": "isfinite",
        "div": "div floor_divide",
        "integer_pow": "pow",
        "clamp": "",  # its bound comes first
    },
    packages="jax jaxlib",
    signs={"TypePromotionError": "jax"},
    runs_on="numpy",
)
