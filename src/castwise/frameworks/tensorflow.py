"""TensorFlow: nothing promotes, unless NumPy behaviour is switched on; and RFC 431 as proposed."""

from __future__ import annotations

from dataclasses import replace

from castwise.rules.dialect import (
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
    Arrays,
    Composed,
    Condition,
    Conversion,
    Numbers,
    NumPyOperands,
    Range,
    Rule,
    Weakness,
    Writes,
)
from castwise.rules.values import (
    Arithmetic,
    Casting,
    Clamping,
    Dividing,
    Needs,
    PythonFunctions,
    Reducing,
    Values,
)

_ARRAYS = "ARRAY ZERO_D"
_NUMPY = "NUMPY_ARRAY NUMPY_ZERO_D NUMPY_SCALAR"
_ANY = "bool int float complex"
_NUMBER = "int float complex"
_SIGNED = "int8 int16 int32 int64"

# An EagerTensor reads a Python number directly into these dtypes. For others the number first gets
# its own dtype and is then cast, which does not work for a bool.
_CONVERSION = Conversion(
    bools="bool int32 int64 uint64 float16 float32 float64 complex128",
    wide_ints="uint64 float16 float32 float64 complex128",
)
# A number that is not a plain Python number becomes a tensor by tf.constant, which uses the table.
_PLAIN_CONVERSION = replace(_CONVERSION, joins_too=True)
# Before it looks up the common dtype of two operands, NumPy behaviour reads an int as an int32.
_NUMPY_CONVERSION = replace(_CONVERSION, every_int_fits="int32")
_IN_TABLE = Conversion(every_int_fits="int32")

# Other operands become bool tensors: a NumPy array is cast to bool, a number is refused.
CONDITION = Condition(arrays="bool", numbers="bool")

# Dtypes that an op promotes to but has no CPU kernel for: "Could not find device for node".
_NO_KERNEL = {
    "add sub": "bool",
    "floor_divide floor_div truncate_div round": "complex",
    "real_div": "int",
    "fmod": "float16 bfloat16",
    "linalg.matrix_rank linalg.solve": "float16",
    "matmul dot": "uint8 uint16 uint32 uint64",
    "reciprocal": _SIGNED,
}

# The dtypes the ops are declared for, on any device.
_COMPUTES = {
    "add sub mul real_div floor_divide floor_div truncate_div square conj round real sum prod"
    " cumsum cumprod mean": _NUMBER,
    "add/inplace sub/inplace mul/operator": _ANY,
    "remainder cross lt le gt ge maximum minimum clamp max min": "int float",
    "fmod": "int32 int64 float",
    "pow neg sign abs reciprocal": f"{_SIGNED} float complex",
    "logical_and logical_or logical_xor logical_not any all": "bool",
    "bitwise_and/function bitwise_or/function bitwise_xor/function bitwise_not/function": "int",
    "nextafter": "float32 float64",
    "xlogy": "float complex",
    "floor ceil isnan isinf isfinite": "float",
}

_OPS = {
    **{names: Rule(computes=computes) for names, computes in _COMPUTES.items()},
    # Only Variable.assign_add and the like work in place.
    "*/augmented": Rule(writes=Writes(rebinds="always")),
    "div div_no_nan": Rule(
        converts="uint8 uint16 int8 int16 -> float32; uint32 uint64 int32 int64 -> float64"
    ),
    "matmul dot": Rule(
        computes="int32 int64 uint8 uint16 uint32 uint64 float complex",
        accepts=Accepts(same_dtype=False),
    ),
    "dot": Rule(arrays=Arrays(makes_arrays="all")),
    "where": Rule(accepts=Accepts(condition=CONDITION)),
    "linalg.cholesky linalg.det linalg.eigh linalg.eigvalsh linalg.inv linalg.qr linalg.slogdet"
    " linalg.solve linalg.svd": Rule(accepts=Accepts(refuses="bfloat16")),
    "linalg.matrix_rank": Rule(result="int32", accepts=Accepts(refuses="bfloat16 complex")),
    "linalg.pinv": Rule(accepts=Accepts(refuses="complex")),
    "linalg.eigvalsh": Rule(result="same"),
    # bfloat16 is summed in float32. The mean of small integers is that of 64 bits, truncated.
    "sum": Rule(reads="bfloat16 -> float32"),
    "mean": Rule(
        reads="uint8 uint16 uint32 -> uint64; int8 int16 int32 -> int64; bfloat16 -> float32"
    ),
    "norm": Rule(result="same"),
    "one_hot": Rule(computes="uint8 int8 int32 int64", result="float32"),
    "embedding": Rule(accepts=Accepts(index="int16 int32 int64")),
    "topk": Rule(accepts=Accepts(refuses="bool")),
    "cumsum cumprod": Rule(accepts=Accepts(refuses_zero_d=True)),
    "bitwise_left_shift/operator bitwise_right_shift/operator": Rule(
        accepts=Accepts(refuses=_ANY),
        because="tensors have no << and >>; use tf.bitwise.left_shift",
    ),
}

# A boolean tensor times anything is boolean: both are cast to int32, the product to bool.
_BOOL_PRODUCT = "cast(mul(cast(x, int32), cast(y, int32)), bool)"

TENSORFLOW = Dialect(
    framework="tensorflow",
    version="2.21",
    about="TensorFlow: tensors are not promoted; numbers and NumPy arrays take the first tensor's"
    " dtype.",
    order="bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 bfloat16 float16 float32 float64"
    " complex64 complex128",
    reaches="bfloat16 -> float32",
    joining=Joining(
        alone="bool int float16 float64 complex",
        refusal="tensors of two dtypes are never promoted; use tf.cast",
    ),
    python={
        "bool": "bool",
        "int": "int32",
        "wide int": "int64",
        "float": "float32",
        "complex": "complex128",
    },
    becomes=Becomes(reads_ints="int64"),
    no_kernel=_NO_KERNEL,
    ops={
        "*": Rule(
            scalars="converted",
            numbers=Numbers(conversion=_CONVERSION, lists="as numbers"),
            numpy=NumPyOperands(arrays="adapts"),
            accepts=Accepts(same_dtype=True),
        ),
        **_OPS,
        # These convert their first operand to a tensor before they look at the second.
        "add/function matmul/function multiply_no_nan": Rule(arrays=Arrays(makes_arrays="first")),
        "mul/operator": Rule(
            composes=(
                Composed(_BOOL_PRODUCT, "bool", _ARRAYS),
                Composed(
                    _BOOL_PRODUCT,
                    roles=f"{_ARRAYS} {_NUMPY}",
                    exponent_kinds="bool",
                    exponent_roles=_ARRAYS,
                ),
            )
        ),
        "positive": Rule(accepts=Accepts(refuses=_ANY), because="tensors have no unary +"),
    },
    casts="same dtype",
    # Observed in 2.21 on the CPU; tf.bitwise.left_shift documents its shifts as undefined.
    values=Values(
        dividing=Dividing(
            quotient_by_zero="raises", remainder_by_zero="raises", float_quotient="rounded"
        ),
        arithmetic=Arithmetic(
            shifts="clamped",
            mixed_signs="common dtype",
            float_errors="silent",
            real_angles="below zero",
            zero_log_of_nan="zero",
        ),
        casting=Casting(subnormals="flushed", truth="real part"),
        clamping=Clamping(crossed_bounds="lower", bound_shapes="first"),
        functions=PythonFunctions(divmod="refused"),
        reducing=Reducing(
            extremes_of_none="limits",
            place_of_nan="passed over",
            integer_means="in integers",
            cumulated_axis="first",
        ),
        needs=Needs(dimension="argmax argmin softmax log_softmax"),
    ),
    naming=Naming(
        names="tf",
        cast="tf.cast({x}, tf.{dtype})",
        packages="tensorflow tensorflow-cpu tensorflow-macos tf-nightly",
        prefixes="tf tf.math tf.bitwise tf.nn tf.linalg tensorflow tensorflow.math",
        aliases={
            "sub": "subtract",
            "mul": "multiply",
            "div": "divide truediv",
            "real_div": "realdiv",
            "truncate_div": "truncatediv",
            "div_no_nan": "divide_no_nan",
            "floor_divide": "floordiv",
            "remainder": "floormod mod",
            "fmod": "truncatemod",
            "eq": "equal",
            "ne": "not_equal",
            "lt": "less",
            "le": "less_equal",
            "gt": "greater",
            "ge": "greater_equal",
            "bitwise_left_shift": "left_shift",
            "bitwise_right_shift": "right_shift",
            "bitwise_not": "invert",
            "dot": "tensordot",
            "clamp": "clip_by_value",
            "neg": "negative",
            "isnan": "is_nan",
            "isinf": "is_inf",
            "isfinite": "is_finite",
            "sum": "reduce_sum",
            "prod": "reduce_prod",
            "mean": "reduce_mean",
            "silu": "swish",
            "topk": "top_k",
            "any": "reduce_any",
            "all": "reduce_all",
            "max": "reduce_max",
            "min": "reduce_min",
            "std": "reduce_std",
            "var": "reduce_variance",
            "logsumexp": "reduce_logsumexp",
        },
    ),
    evidence=Evidence(
        source="recorded from TensorFlow 2.21.0, CPU, eager",
        laws=Laws(is_commutative=False),
        surprises=(
            "int8[3] + int16[3]",
            "int8[3] + 300",
            "uint8[3] + True",
            "add(1, int8[3])",
            "int32[3] == np.float32[3]",
            "add(np.float32[3], int32[3])",
            "bool[3] * 2.5",
            "matmul(bfloat16[3], float32[3])",
        ),
    ),
)

# What follows the tables of NumPy behaviour, and what works as it does without them.
_PROMOTING = (
    "add sub mul multiply_no_nan div real_div div_no_nan floor_divide floor_div truncate_div"
    " remainder fmod pow maximum minimum eq"
)
_PLAIN = (
    "ne lt le gt ge logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor"
    " bitwise_left_shift bitwise_right_shift atan2 nextafter xlogy cross where concat stack"
)

TENSORFLOW_NP_ALL = TENSORFLOW.vary(
    mode="np-all",
    values=replace(
        TENSORFLOW.values, functions=replace(TENSORFLOW.values.functions, round="same dtype")
    ),
    about="TensorFlow with NumPy behaviour, conversion mode ALL: a lattice with weak tensors.",
    order="bool int32* int64* uint8 uint16 int8 uint32 int16 int32 uint64 int64 float32* float64*"
    " float16 bfloat16 float32 complex128* float64 complex64 complex128",
    reaches="""
        bool -> int32*
        int32* -> int64*
        int64* -> uint8 int8 float32*
        uint8 -> uint16 int16
        uint16 -> uint32 int32
        uint32 -> uint64 int64
        int8 -> int16
        int16 -> int32
        int32 -> int64
        uint64 int64 float32* -> float64*
        float64* -> float16 bfloat16 complex128*
        float16 bfloat16 -> float32
        float32 complex128* -> complex64
        float32 -> float64
        float64 complex64 -> complex128
    """,
    joining=replace(TENSORFLOW.joining, alone="", refusal="", weak_arrays="keep their width"),
    ops={
        "*": Rule(
            scalars="as nodes",
            numbers=Numbers(lists="as weak numbers"),
            numpy=NumPyOperands(arrays="as arrays"),
            writes=Writes(into="same dtype"),
        ),
        **_OPS,
        _PROMOTING: Rule(numbers=Numbers(conversion=_NUMPY_CONVERSION)),
        _PLAIN: Rule(
            scalars="converted",
            numbers=Numbers(conversion=_PLAIN_CONVERSION),
            numpy=NumPyOperands(arrays="adapts"),
            accepts=Accepts(same_dtype=True),
        ),
        "mul/operator": Rule(
            composes=(
                Composed(_BOOL_PRODUCT, "bool", _ARRAYS),
                Composed(_BOOL_PRODUCT, exponent_kinds="bool", exponent_roles=_ARRAYS),
            )
        ),
        # A NumPy array on the left alone decides whether the op is logical or bitwise.
        **{
            f"bitwise_{name}/operator": Rule(
                composes=(
                    Composed(f"logical_{name}(x, y)", "bool", _NUMPY),
                    Composed(f"bitwise_{name}(x, y)", roles=_NUMPY),
                )
            )
            for name in ("and", "or", "xor")
        },
        "clamp": Rule(composes=(Composed("maximum(minimum(x, z), y)"),)),
        "positive": Rule(computes=_ANY),
        "result_type": Rule(numbers=Numbers(conversion=_IN_TABLE)),
        "maximum minimum relu softmax norm cumsum cumprod argmax argmin count_nonzero"
        " bitwise_not/function result_type pad one_hot embedding topk": Rule(
            weakness=Weakness(makes_strong=True)
        ),
    },
    evidence=replace(
        TENSORFLOW.evidence,
        source="recorded from TensorFlow 2.21.0, CPU, eager,"
        " experimental_enable_numpy_behavior(dtype_conversion_mode='all')",
        surprises=(
            "uint64[3] + int8[3]",
            "int32[3] + 1.5",
            "int64[3] + float16[3]",
            "int32*[3] + int8[3]",
            "int64[3] + 2147483648",
            "int8[3] == float32[3]",
            "int8[3] != float32[3]",
            "bool[3] * 2.5",
        ),
    ),
)

TENSORFLOW_NP_SAFE = TENSORFLOW_NP_ALL.vary(
    mode="np-safe",
    about="TensorFlow with NumPy behaviour, conversion mode SAFE: the result has the dtype of one"
    " operand, which must hold the other.",
    reaches="""
        bool -> int32*
        int32* -> int64*
        int64* -> uint8 int8 float32*
        uint8 -> uint16 int16 float64*
        int8 -> int16 float64*
        uint16 -> uint32 int32 float32
        int16 -> int32 float32
        uint32 -> uint64 int64 float64
        int32 -> int64 float64
        uint16 int16 uint32 int32 => float64* complex128*
        float32* -> float64*
        float64* -> float16 bfloat16 complex128*
        float16 bfloat16 -> float32
        float32 complex128* -> complex64
        float32 -> float64
        float64 complex64 -> complex128
    """,
    joining=replace(
        TENSORFLOW_NP_ALL.joining,
        folds=True,
        only_absorbed="bool int32* int64* uint8 uint16 int8 uint32 int16 int32 uint64 int64 "
        "float32* float64* float16 bfloat16 float32 complex64 complex128",
        refusal="in mode SAFE the dtype of one operand must hold the other exactly",
    ),
    evidence=replace(
        TENSORFLOW_NP_ALL.evidence,
        source="recorded from TensorFlow 2.21.0, CPU, eager,"
        " experimental_enable_numpy_behavior(dtype_conversion_mode='safe')",
        surprises=(
            "uint8[3] + int8[3]",
            "int32[3] + float32[3]",
            "int32[3] + 1.5",
            "int32[3] + 1j",
            "float32[3] + 1j",
            "bool[3] + 1.5",
        ),
    ),
)

# TensorFlow's RFC 431 as proposed: the modes ALL, SAFE and NONE of implicit promotion.

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

_RFC_OPS = {
    "*": Rule(
        scalars="weak",
        range=Range(limit="common dtype", beyond="raises"),
        numpy=NumPyOperands(arrays="as arrays"),
        # Variable.assign_add and the like: a Variable keeps its dtype.
        writes=Writes(into="same dtype"),
        # In the RFC's tables b + i* is i64 and b + f* is f64; tf.constant(1) stays int32.
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
    ops=_RFC_OPS,
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
    ops={**_RFC_OPS, "*": replace(_RFC_OPS["*"], scalars="fits arrays")},
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

# TensorFlow's errors about dtypes.

# As C++ spells them in messages, "float tensor", and as the protocol does, DT_HALF.
_OF_CPP = {"half": "float16", "float": "float32", "double": "float64"}
_OF_PROTOCOL = {
    "DT_HALF": "float16",
    "DT_FLOAT": "float32",
    "DT_DOUBLE": "float64",
    **{
        f"DT_{name.upper()}": name
        for name in (
            "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
            "bfloat16", "complex64", "complex128",
        )
    },
}  # fmt: skip

MESSAGES = Messages(
    "tensorflow",
    (
        Message(
            "cannot compute {op} as input #{place}(zero-based) was expected to be a {expected}"
            " tensor but is a {found} tensor"
        ),
        Message(
            "cannot compute {op} as input #{place}(zero-based) was expected to be an {expected}"
            " tensor but is a {found} tensor",
            "InvalidArgumentError: cannot compute Mul as input #1(zero-based) was expected to be an"
            " int32 tensor but is a float tensor [Op:Mul]",
        ),
        Message(
            "Value for attr 'T' of {each} is not in the list of allowed values: ... Op<name={op};"
        ),
        Message(
            "Value for attr 'TI' of {left} is not in the list of allowed values: ... Op<name={op};"
        ),
        Message(
            "Value for attr 'Tlabels' of {right} is not in the list of allowed values: ..."
            " Op<name={op};"
        ),
        Message(
            "Value passed to parameter '{any}' has DataType {computed} not in list of allowed"
            " values",
            "TypeError: Value passed to parameter 'x' has DataType bool not in list of allowed"
            " values: bfloat16, float16, float32, float64",
        ),
        Message("Could not find device for node: {{{{node {any}}}}} = {op}[T={each}]"),
        Message("must have the same dtype, got {left} != {right}", op="div"),
        Message(
            "Input '{any}' of '{op}' Op has type {right} that does not match type {left} of"
            " argument"
        ),
        Message(
            "Input 'condition' of '{op}' Op has type {left} that does not match expected type of"
            " bool"
        ),
        Message("Input '{any}' of '{op}' Op has type {left} that does not match expected type"),
        Message("Tensor conversion requested dtype {target} for Tensor with dtype {right}"),
        Message("Cannot convert {number} to EagerTensor of dtype {left}"),
    ),
    dtypes={**_OF_CPP, **_OF_PROTOCOL},
    ops={
        "MatMul": "matmul",
        "BatchMatMulV2": "matmul",
        "Pack": "stack",
        "SelectV2": "where",
        "Select": "where",
        "FloorDiv": "floor_divide floor_div",
        "RealDiv": "div real_div",
        "Invert": "bitwise_not",
        "AddN": "add",
        "BiasAdd": "add",
        "SparseSoftmaxCrossEntropyWithLogits": "cross_entropy",
        "SoftmaxCrossEntropyWithLogits": "cross_entropy",
    },
    calls={"assign_add": "add_", "assign_sub": "sub_"},
    packages="tensorflow",
    signs={"InvalidArgumentError": "tensorflow"},
)
