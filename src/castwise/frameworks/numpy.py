"""NumPy: NEP 50 (2.x) and value-based promotion (1.x). bfloat16 is from ml_dtypes: foreign."""

from __future__ import annotations

import re
from dataclasses import replace

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
    Exponent,
    Joins,
    Numbers,
    NumPyOperands,
    Range,
    Rule,
    Writes,
)
from castwise.rules.values import Arithmetic, ArrayMethods, Memory, Powers, Reducing, Values
from castwise.vocab.ops import EXTENSIONS
from castwise.vocab.spellings import SPELLINGS

# NumPy has no common dtype for bfloat16 with a Python float. In ufuncs the float counts as its
# smallest dtype and the result is float32; in result_type it counts as float64, in clip as float32.
_IN_UFUNCS = {"bfloat16": {"int": "int8", "float": "float16", "complex": "complex64"}}
_ELSEWHERE = {"bfloat16": {"float": "float64", "complex": "complex64"}}
_IN_CLIP = {"bfloat16": {"float": "float32", "complex": "complex64"}}
_AS_THEY_ARE: dict[str, dict[str, str]] = {"bfloat16": {}}

_ARRAYS = "ARRAY ZERO_D"
_OWN = f"{_ARRAYS} NUMPY_SCALAR"
_REAL = "bool int float"

_WRITES = Writes(into="same kind", also="complex -> bfloat16", never="bfloat16 -> float16")
# The named arguments of a ufunc.
_BY_NAME = Arguments(dtype="result", casting="same kind", takes_casting=True, where="bool arrays")
# Other functions have fewer.
_EXTENSIONS = " ".join(EXTENSIONS)
_NAMED = {
    "add sub mul maximum minimum fmax fmin abs neg positive sign concat stack": Rule(
        arguments=Arguments(finds_foreign=True)
    ),
    "neg/dtype positive/dtype sign/dtype": Rule(accepts=Accepts(refuses="")),
    "sum prod cumsum cumprod mean std var": Rule(
        arguments=Arguments(dtype="computes", takes_casting=False)
    ),
    "std var": Rule(arguments=Arguments(dtype="sums in it")),
    "round real imag angle norm median any all max min argmax argmin count_nonzero dot outer inner"
    f" cross kron tensordot isin where allclose isclose pad {_EXTENSIONS} result_type"
    " promote_types": Rule(arguments=Arguments(dtype="", takes_casting=False)),
    "cumsum cumprod round real imag angle norm median argmax argmin count_nonzero matmul dot outer"
    " inner vecdot cross kron tensordot isin where concat stack allclose isclose einsum pad"
    f" {_EXTENSIONS} result_type promote_types": Rule(arguments=Arguments(where="")),
}

# isclose takes its tolerance in the dtype of y, which may be narrower than what x and y have in
# common.
_CLOSE = (
    "logical_or(logical_and(le(abs(sub(x, y)), add(1e-08, mul(1e-05, abs(y)))), isfinite(y)),"
    " eq(x, y))"
)
_BEYOND_FLOAT32 = "int32 int64 uint32 uint64 float64 complex128"
_CLOSENESS = (
    Composed(
        _CLOSE,
        f"{_BEYOND_FLOAT32} int16 uint16 float32 complex64 foreign",
        _OWN,
        exponent_kinds="float16",
        exponent_roles=_OWN,
    ),
    Composed(
        _CLOSE,
        _BEYOND_FLOAT32,
        _OWN,
        exponent_kinds="float32 complex64",
        exponent_roles=_OWN,
    ),
    # Integers are float64 before they meet x.
    Composed(
        re.sub(r"\by\b", "cast(y, float64)", _CLOSE),
        "float16 float32 complex64 foreign",
        _OWN,
        exponent_kinds="bool int",
        exponent_roles=_OWN,
    ),
)

# Linear algebra converts each integer to float64 before anything is joined, and has no float16.
_LINEAR_ALGEBRA = {
    " ".join(name for name in EXTENSIONS if name.startswith("linalg.")): Rule(
        computes="float32 float64 complex",
        joins=Joins(
            "first loop",
            reaches="""
                bool int8 uint8 int16 uint16 int32 uint32 int64 uint64 bfloat16 float32 -> float64
                float32 -> complex64
                float64 complex64 -> complex128
            """,
        ),
    ),
    "linalg.matrix_norm linalg.vector_norm": Rule(computes="float16 float32 float64 complex"),
    "linalg.matrix_power": Rule(
        computes="bool int float complex",
        joins=Joins("common dtype"),
        converts="bfloat16 -> float32",
    ),
}
_TRANSFORMS = " ".join(name for name in EXTENSIONS if name.startswith("fft."))
_HALF_TRANSFORMS = Rule(
    accepts=Accepts(refuses="complex"), because="a transform of real values takes no complex ones"
)

# What both versions do. A ufunc takes the first of its loops to which every operand casts safely;
# where a dtype has no loop, the operands are cast to one that has.
_OPS = {
    "sub": Rule(
        accepts=Accepts(refuses_compute="bool"), because="minus is not defined on booleans; use ^"
    ),
    "neg positive sign": Rule(
        accepts=Accepts(refuses="bool"), because="NumPy has no signed booleans; use ~"
    ),
    "sign round": Rule(computes="int float complex"),
    "div": Rule(converts="bool int -> float64"),
    "floor_divide remainder fmod": Rule(computes="int float"),
    "pow": Rule(computes="int float complex", exponent=Exponent(negative="elements raise")),
    "square conj reciprocal": Rule(computes="int float complex"),
    "round": Rule(converts="bool -> float16"),
    "heaviside signbit": Rule(computes="float"),
    "degrees radians": Rule(computes="float16 float32 float64"),
    "norm": Rule(converts="bool int bfloat16 -> float64"),
    "mean std var allclose isclose": Rule(converts="bool int -> float64"),
    "mean std var": Rule(rounds="each step"),
    "isclose": Rule(composes=_CLOSENESS),
    # Sums along a contiguous axis; along another one, each partial sum is rounded to float16.
    "sum prod mean": Rule(reads="float16 -> float32"),
    "dot inner": Rule(reads="float16 bfloat16 -> float32"),
    "median": Rule(computes="float complex", converts="bool int -> float64"),
    "max min argmax argmin": Rule(computes="bool int float complex"),
    "dot outer inner kron": Rule(scalars="as arrays"),
    "cross": Rule(joins=Joins("common dtype"), accepts=Accepts(refuses_compute="bool")),
    "einsum": Rule(
        joins=Joins("common dtype"),
        accepts=Accepts(refuses_compute="bfloat16"),
        arguments=Arguments(casting="safe"),
    ),
    "matmul vecdot": Rule(converts="bfloat16 -> float32", reads="float16 -> float32"),
    **_LINEAR_ALGEBRA,
    **_NAMED,
    # These compute in the dtype of out=.
    "sum/out prod/out cumsum/out": Rule(writes=Writes(into="any", never="", counts="joined")),
    "mean/out": Rule(writes=Writes(into="any", never="", counts="joined if kept")),
    # The dtype of out= must cast safely to the index dtype, not the other way round.
    "argmax/out argmin/out": Rule(
        writes=Writes(into="same dtype", also="int64 -> bool int8 int16 int32 uint8 uint16 uint32")
    ),
}

# NumPy's names of the ops, which JAX also uses.
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
    "asin": "arcsin",
    "acos": "arccos",
    "atan": "arctan",
    "asinh": "arcsinh",
    "acosh": "arccosh",
    "atanh": "arctanh",
    "degrees": "rad2deg",
    "radians": "deg2rad",
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
    joining=Joining(
        only_absorbed="bfloat16",
        refusal="dtypes join only in one to which all of them cast safely",
    ),
    python={"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"},
    becomes=Becomes(
        accumulates="bool int8 int16 int32 -> int64; uint8 uint16 uint32 -> uint64",
        reads_ints="uint64 float64",
    ),
    values=Values(
        arithmetic=Arithmetic(stepwise="isclose ldexp"),
        powers=Powers(by_one_exponent="square root"),
        memory=Memory(
            shares_memory="real imag",
            elements="scalars",
            gives_arrays="where pad isin tensordot fft.fftn fft.ifftn",
        ),
        reducing=Reducing(cumulated_axis="flattened"),
        methods=ArrayMethods(sort="in place", transposed="reversed"),
    ),
    ops={
        "*": Rule(
            numpy=NumPyOperands(arrays="native"),
            numbers=Numbers(lists="as arrays", dtypes_by_array=_IN_UFUNCS),
            scalars="weak",
            joins=Joins("first loop"),
            range=Range(beyond="raises"),
            writes=_WRITES,
            arguments=replace(_BY_NAME, typed_castings="equiv"),
        ),
        **_OPS,
        "sum prod max min": Rule(arguments=Arguments(initial="must fit")),
        "result_type promote_types where concat stack": Rule(
            joins=Joins("common dtype"), numbers=Numbers(dtypes_by_array=_ELSEWHERE)
        ),
        # A list would be a dtype.
        "result_type": Rule(range=Range(beyond="wraps"), numbers=Numbers(lists="refused")),
        "where": Rule(range=Range(limit="64 bits", beyond="wraps")),
        "eq ne lt le gt ge": Rule(range=Range(beyond="compares")),
        "logical_and logical_or logical_xor": Rule(scalars="as arrays", range=Range(limit="int64")),
        "clamp": Rule(
            computes="bool int float16 float32 float64 complex",
            range=Range(beyond="raises if no value is left"),
            numbers=Numbers(dtypes_by_array=_IN_CLIP),
        ),
        "float_power": Rule(numbers=Numbers(dtypes_by_array=_ELSEWHERE)),
        # Its loops take integers of 32 or 64 bits with floats; with bfloat16 only of 32 bits.
        "ldexp": Rule(
            computes="float",
            joins=Joins("exponent apart"),
            accepts=Accepts(refuses_last="uint64"),
            exponent=Exponent(fits="int32", fits_with_numbers="int64"),
            numbers=Numbers(dtypes={"int": "int8"}),
            composes=(
                Composed("ldexp(cast(x, float32), y)", "bfloat16", exponent_kinds="int64 uint32"),
                # A number mixed only with bools or numbers has the default dtype.
                Composed("ldexp(mul(x, 1.0), y)", "int", "SCALAR", exponent_kinds="bool"),
                Composed("ldexp(mul(x, 1.0), y)", "int", "SCALAR", exponent_roles="SCALAR"),
            ),
        ),
        "angle": Rule(converts="bool -> float64"),
        "fft.fft fft.ifft fft.fftn fft.ifftn fft.rfft fft.rfftn fft.ihfft": Rule(
            converts="bool int -> float64"
        ),
        "fft.irfft fft.hfft": Rule(converts="bool int bfloat16 -> float64"),
        # Before the last dimension it transforms complex numbers, of 32 bits or more.
        "fft.irfftn": Rule(
            converts="bool int -> float64; float16 bfloat16 -> float32",
            composes=(Composed("irfft(x)", rank=1),),
        ),
        "fft.rfft fft.rfftn fft.ihfft": _HALF_TRANSFORMS,
        # a ** 2 on an array of booleans is square(a).
        "pow/operator": Rule(
            composes=(Composed("square(x)", "bool", _ARRAYS, (2,), "int", "SCALAR"),)
        ),
    },
    casts="safe",
    assigns=Assigns(limit="dtype", scalars="fit signed"),
    naming=Naming(
        names="np",
        recorded="2.4",
        prefixes="np numpy np.linalg numpy.linalg np.fft numpy.fft",
        aliases=ALIASES,
    ),
    evidence=Evidence(
        source="recorded from NumPy 2.4.6 with ml_dtypes 0.6; NEP 50",
        laws=Laws(associativity_witness=("int8", "uint8", "float16")),
        surprises=(
            "int8[3] + uint64[3]",
            "int32[3] + float32[3]",
            "uint8[3] + 300",
            "atan2(int8[3], uint8[3])",
            "bool[3] // bool[3]",
            "bool[3] ** 2",
            "bfloat16[3] + 1.5",
        ),
    ),
)

NUMPY_1 = NUMPY.vary(
    version="1",
    naming=replace(NUMPY.naming, is_newest=False, recorded="1.24", last="1.26"),
    about="NumPy 1: scalars and 0-d arrays count as the smallest dtype that holds their value.",
    values=replace(
        NUMPY.values,
        arithmetic=replace(NUMPY.values.arithmetic, mixed_signs="common dtype"),
        powers=Powers(by_one_exponent="square root by operator"),
    ),
    assigns=Assigns(limit="int64", scalars="fit signed"),
    ops={
        "*": Rule(
            numpy=NumPyOperands(arrays="native"),
            numbers=Numbers(lists="as arrays", dtypes_by_array=_AS_THEY_ARE),
            scalars="by value",
            joins=Joins("first loop"),
            writes=_WRITES,
            arguments=_BY_NAME,
        ),
        **_OPS,
        "sum prod max min": Rule(arguments=Arguments(initial="wraps")),
        # The uniform ufuncs promote as result_type does; the others choose their first loop by the
        # scalar's value: uint8 + 300 is uint16 and uint8 // 300 is int16.
        "add sub mul maximum minimum fmax fmin clamp": Rule(
            joins=Joins("common dtype or first loop")
        ),
        # It gives the first operand the dimensions of the second, not the other way round.
        "kron": Rule(
            composes=(
                Composed("mul(x, y)", roles="ARRAY", exponent_roles="ZERO_D NUMPY_SCALAR SCALAR"),
            )
        ),
        "clamp": Rule(computes="bool int float16 float32 float64 complex"),
        "result_type promote_types where concat stack": Rule(joins=Joins("common dtype")),
        "result_type": Rule(
            numbers=Numbers(dtypes_by_array={"bfloat16": {"int": "int8"}}, lists="refused")
        ),
        "ldexp": Rule(
            computes="float",
            joins=Joins("exponent apart"),
            accepts=Accepts(refuses_last="uint64"),
            exponent=Exponent(fits="int64"),
            composes=(
                Composed(
                    "ldexp(cast(x, float32), y)",
                    "bfloat16",
                    exponent_kinds="int64 uint32",
                    exponent_roles="ARRAY",
                ),
            ),
        ),
        "eq ne lt le gt ge": Rule(range=Range(limit="none", beyond="compares")),
        # a ** 2 and the like are square(a), sqrt(a): they keep the dtype of a 0-d array.
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
        "matmul/augmented": Rule(
            accepts=Accepts(refuses="bool int float complex"),
            because="NumPy 1 has no @=; write a = a @ b",
        ),
        "angle": Rule(composes=(Composed("atan2(0, x)", "bool int float foreign"),)),
        _TRANSFORMS: Rule(converts="bool int float -> float64; complex -> complex128"),
        "fft.irfft fft.hfft": Rule(accepts=Accepts(refuses="bfloat16")),
        "fft.irfftn": Rule(composes=(Composed("irfft(x)", rank=1),)),
        "positive/operator": Rule(accepts=Accepts(refuses=""), computes="bool int float complex"),
        "floor ceil trunc": Rule(computes="float"),
        "argmax/out argmin/out": Rule(
            writes=Writes(
                into="same dtype", also="int64 -> bool int8 int16 int32 uint8 uint16 uint32 uint64"
            )
        ),
    },
    evidence=replace(
        NUMPY.evidence,
        source="recorded from NumPy 1.24.4 with ml_dtypes 0.5",
        surprises=(
            "uint8[3] + 300",
            "uint8[3] // 300",
            "int8[3] + 200",
            "float32[3] + float64=1.5[]",
            "float32[3] + 1e39",
            "int8[] + 1",
            "float32[] ** 2",
        ),
    ),
)

# NumPy's errors about dtypes.

_CLASSES = {
    name: name.removesuffix("DType").lower()
    for name in (
        "BoolDType", "Int8DType", "Int16DType", "Int32DType", "Int64DType", "UInt8DType",
        "UInt16DType", "UInt32DType", "UInt64DType", "Float16DType", "Float32DType",
        "Float64DType", "Complex64DType", "Complex128DType",
    )
}  # fmt: skip

MESSAGES = Messages(
    "numpy",
    (
        Message("Cannot cast ufunc '{op}' output from dtype('{result}') to dtype('{target}')"),
        Message(  # up to NumPy 1.16
            "Cannot cast ufunc {op} output from dtype('{result}') to dtype('{target}')",
            "TypeError: Cannot cast ufunc add output from dtype('float64') to dtype('int64') with"
            " casting rule 'same_kind'",
        ),
        Message("Cannot cast ufunc '{op}' input 0 from dtype('{left}') to dtype('{dtype}')"),
        Message("Cannot cast ufunc '{op}' input 1 from dtype('{right}') to dtype('{dtype}')"),
        Message("ufunc '{op}' cannot use operands with types dtype('{left}') and"),
        Message(
            "ufunc '{op}' did not contain a loop with signature matching types ({operands}) ->"
        ),
        Message("ufunc '{op}' not supported for the input types"),
        Message(
            "numpy boolean subtract, the `-` operator, is not supported",
            op="sub",
            operands="bool bool",
        ),
        Message(
            "The numpy boolean negative, the `-` operator, is not supported",
            op="neg",
            operands="bool",
        ),
        Message("Python integer {number} out of bounds for {left}", is_in_order=False),
        Message("ValueError: Integers to negative integer powers are not allowed", op="pow"),
        Message("Cannot cast array data from dtype('{result}') to dtype('{target}') according to"),
        Message("The DType {left} could not be promoted by {right}", op="result_type"),
        Message("The DTypes {left} and {right} do not have a common DType", op="result_type"),
    ),
    dtypes={**SPELLINGS["np"], **_CLASSES},
    packages="numpy",
    signs={
        "numpy.core._exceptions": "numpy@1",
        "site-packages/numpy/core/": "numpy@1",
        "UFuncTypeError": "numpy",
        "numpy.exceptions.": "numpy",
    },
)
