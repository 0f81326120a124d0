"""MindSpore: two systems of promotion, by op, and a third in mindspore.numpy's dtype functions."""

from __future__ import annotations

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
)
from castwise.rules.values import Arithmetic, ArrayMethods, Dividing, Powers, Reducing, Values

_WIDE_UNSIGNED = "uint16 uint32 uint64"
_REAL_KINDS = "bool int float"
_ALL_KINDS = f"{_REAL_KINDS} complex"

_EDGES = """
        bool -> uint8 int8
        uint8 int8 -> int16
        int16 -> int32
        int32 -> int64
        int64 -> float16 bfloat16
        float16 bfloat16 -> float32
        float32 -> float64 complex64
        float64 complex64 -> complex128
"""
# mindspore.numpy.result_type and promote_types have their own table, modelled on JAX's.
_NUMPY_EDGES = """
        bool -> uint8 int8
        uint8 -> int16 uint16
        int8 -> int16
        int16 -> int32
        uint16 -> int32 uint32
        int32 -> int64
        uint32 -> int64 uint64
        int64 uint64 -> float16
        float16 -> float32
        float32 -> float64
"""
_NUMPY_PAIRS = "uint64 + int8 int16 int32 int64 -> float64; uint16 + float64 -> float32"

# Beside these dtypes a Python number has its own, which does not join with them.
_WITH_WIDE_UNSIGNED = {
    name: {"int": "int64", "float": "float32"} for name in _WIDE_UNSIGNED.split()
}

# The older primitives do not know all of NumPy's integer scalars.
_OLD_NUMPY_SCALARS = (
    "bool -> bool; int8 int16 int64 uint8 uint16 uint64 -> int; float -> float; complex -> complex"
)
_SINGLE_VALUES = "ZERO_D NUMPY_ZERO_D NUMPY_SCALAR SCALAR"

# Dtypes that an op promotes to but has no CPU kernel for: "Select CPU operator[...] fail". (* and /
# of complex with real operands, and of most mixtures of unsigned ones, lack one for the pair.)
_NO_KERNEL = {
    "addcmul allclose isclose bitwise_not ceil conj count_nonzero cumprod cumsum eq exp gelu"
    " isfinite lerp log2 log10 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor"
    " mean mse_loss ne norm prod"
    " reciprocal relu rsqrt softmax sqrt stack sum where xlogy": "bfloat16",
    "abs l1_loss log log1p sigmoid sin cos tan sinh cosh tanh atanh": f"{_WIDE_UNSIGNED} bfloat16",
    "asin acos atan asinh acosh": "bool int bfloat16",
    "expm1": "uint8 int8 int16 uint16 int32 uint32 uint64 bfloat16",
    "signbit": f"{_WIDE_UNSIGNED} bfloat16 complex",
    "atan2 floor isinf log_softmax std var": "bool int bfloat16 complex",
    "clamp maximum": "uint16 bfloat16 complex",
    "erf": "uint8 int8 int16 uint16 int32 uint32 uint64 bfloat16 complex",
    "fmin": "int float",
    "ge gt huber_loss le lt threshold": "bfloat16 complex",
    "logsumexp": "bool int64 bfloat16 complex",
    "matmul inner": f"bool {_WIDE_UNSIGNED} bfloat16",
    "cross": "bool bfloat16",
    "minimum pow sign square": "bool bfloat16",
    "neg": "bool",
    "real": "uint8 bfloat16",
    "round": f"bool uint8 int8 int16 {_WIDE_UNSIGNED} bfloat16 complex",
    "trunc": "complex",
}

_OPS = {
    "*": Rule(
        scalars="weak",
        numbers=Numbers(dtypes_by_array=_WITH_WIDE_UNSIGNED),
        otherwise="no kernel",
        range=Range(limit="int64", beyond="raises"),
        numpy=NumPyOperands(scalars="bool -> bool; int -> int; float -> float; complex -> complex"),
    ),
    "*/inplace": Rule(writes=Writes(into="rebinds")),
    # NumPy's own operators treat a tensor as an array.
    "*/operator": Rule(numpy=NumPyOperands(left_decider="numpy@1", refuses="bfloat16")),
    "eq/operator ne/operator": Rule(numbers=Numbers(lists="left to Python")),
    # Its older operators convert a list to a tensor, and call the function.
    "add/operator sub/operator sub/augmented floor_divide/operator pow/operator": Rule(
        numbers=Numbers(lists="cast for the function")
    ),
    "pow/operator": Rule(numbers=Numbers(list_places="first")),
    # The primitives that promote by rank, as torch does: 0-d tensors and numbers rank lower.
    "mul div concat kron": Rule(
        scalars="kinds first", numbers=Numbers(count_as="0-d arrays"), joins=Joins(reaches=_EDGES)
    ),
    "outer": Rule(composes=(Composed("mul(array(x), y)"),)),  # it makes a column of the first
    "mul/operator div/operator": Rule(numbers=Numbers(count_as="numbers")),
    # a / tensor is tensor.reciprocal() * a.
    "div/operator": Rule(
        arrays=Arrays(floats_lift=True), composes=(Composed("*(reciprocal(y), x)", roles="SCALAR"),)
    ),
    # Its first step, a division that truncates, promotes as mul does.
    "fmod": Rule(
        accepts=Accepts(refuses="complex"),
        composes=(Composed("-(x, *(mul(x, y), y))", _REAL_KINDS),),
    ),
    "remainder/function": Rule(composes=(Composed("-(x, *(floor_divide(x, y), y))"),)),
    "remainder/operator remainder/inplace": Rule(accepts=Accepts(refuses_compute=_WIDE_UNSIGNED)),
    "add/function sub/function sub/inplace": Rule(accepts=Accepts(refuses_compute="bool")),
    # A number minus a tensor is a call of the function.
    "sub/operator": Rule(composes=(Composed("sub(x, y)", roles="SCALAR"),)),
    # == and < cast nothing: their kernels take operands of two dtypes.
    "eq lt copysign lerp": Rule(arrays=Arrays(promotes=False)),
    # Python turns 1 < x into x > 1.
    "lt/operator": Rule(composes=(Composed("gt(y, x)", roles="SCALAR"),)),
    "gt/operator": Rule(composes=(Composed("lt(y, x)", roles="SCALAR"),)),
    "minimum": Rule(accepts=Accepts(refuses_compute="complex")),
    "where": Rule(
        accepts=Accepts(
            condition=Condition(arrays="bool", numbers="", numpy="", otherwise="no kernel")
        )
    ),
    "fmax fmin": Rule(
        computes="int32 int64 float16 float32 float64",
        otherwise="refused",
        numpy=NumPyOperands(scalars=_OLD_NUMPY_SCALARS),
    ),
    "hypot atan2 nextafter copysign": Rule(integers_become_float=False),
    "hypot nextafter": Rule(computes="float32 float64", otherwise="refused"),
    # It treats a 0-d tensor as a number, and multiplies by it.
    "dot": Rule(
        composes=(
            Composed("mul(x, y)", roles="ZERO_D"),
            Composed("mul(x, y)", exponent_roles="ZERO_D"),
        )
    ),
    # Like dot, but by the operator, which also takes NumPy's scalars.
    "inner": Rule(
        composes=(
            Composed("*(x, y)", roles=_SINGLE_VALUES),
            Composed("*(x, y)", exponent_roles=_SINGLE_VALUES),
        )
    ),
    "vecdot": Rule(composes=(Composed("sum(*(x, y))"),)),
    "cross": Rule(joins=Joins("first operand")),
    "hypot": Rule(numpy=NumPyOperands(scalars=_OLD_NUMPY_SCALARS)),
    "logaddexp logaddexp2": Rule(accepts=Accepts(refuses="bool int complex")),
    "copysign": Rule(
        numbers=Numbers(places="last"),
        accepts=Accepts(refuses="complex", refuses_compute="bool"),
        converts="int bfloat16 -> float32",
        range=Range(limit="64 bits"),
    ),
    "xlogy": Rule(
        computes="float complex",
        scalars="as arrays",
        numbers=Numbers(dtypes={"bool": "float32", "int": "float32"}),
        range=Range(beyond="wraps"),
    ),
    "heaviside": Rule(
        accepts=Accepts(refuses="bool bfloat16 complex"), numbers=Numbers(refused_with=_ALL_KINDS)
    ),
    "bitwise_left_shift bitwise_right_shift": Rule(
        accepts=Accepts(refuses_arrays="bool"),
        otherwise="refused",
        numbers=Numbers(dtypes_by_array={}),
        range=Range(limit="64 bits"),
        numpy=NumPyOperands(scalars=""),
    ),
    "bitwise_and bitwise_or bitwise_xor": Rule(
        otherwise="refused", numpy=NumPyOperands(scalars=_OLD_NUMPY_SCALARS)
    ),
    "float_power": Rule(
        joins=Joins("highest kind"),
        numbers=Numbers(dtypes={"complex": "complex128"}),
        range=Range(beyond="wraps"),
        numpy=NumPyOperands(scalars="int -> int; float complex64 -> float; complex128 -> complex"),
    ),
    "matmul dot inner stack allclose isclose nextafter heaviside bitwise_left_shift"
    " bitwise_right_shift lerp addcmul": Rule(accepts=Accepts(same_dtype=True)),
    "allclose isclose": Rule(accepts=Accepts(refuses=f"{_WIDE_UNSIGNED} complex")),
    "clamp": Rule(
        accepts=Accepts(refuses="bool"),
        arrays=Arrays(floats_lift=True),
        numbers=Numbers(dtypes_by_array={}),
    ),
    "lerp": Rule(accepts=Accepts(compared=2, refuses_compute="bool int float64 complex")),
    "addcmul": Rule(
        computes="uint8 int8 int32 int64 float",
        otherwise="refused",
        arguments=Arguments(value="int float"),
    ),
    "mse_loss": Rule(converts="bool int complex -> float32"),
    "huber_loss": Rule(
        composes=(Composed("mul(0.5, square(abs(sub(x, y))))"),),
        arguments=Arguments(delta="int float positive"),
    ),
    "concat softmax cumsum cumprod": Rule(accepts=Accepts(refuses_zero_d=True)),
    "softmax gelu ceil": Rule(otherwise="refused"),
    "ceil": Rule(computes="float"),
    "median": Rule(computes="int16 int32 int64 float32 float64", otherwise="refused"),
    "exp logsumexp": Rule(accepts=Accepts(refuses="int8 int16 int32 uint8 uint16 uint32 uint64")),
    "sign": Rule(accepts=Accepts(refuses="int8 int16 uint8 uint16 uint32 uint64")),
    "isnan": Rule(accepts=Accepts(refuses="bfloat16 complex")),
    "isfinite relu": Rule(accepts=Accepts(refuses="complex")),
    "imag": Rule(accepts=Accepts(refuses="bfloat16")),
    "conj cumsum mean count_nonzero": Rule(accepts=Accepts(refuses="bool")),
    "threshold": Rule(accepts=Accepts(refuses=_WIDE_UNSIGNED)),
    "abs l1_loss norm": Rule(result="same"),
    "norm": Rule(converts="bool int -> float32"),
    "bitwise_not": Rule(computes="int", otherwise="refused"),
    # ~ is logical_not.
    "bitwise_not/operator": Rule(computes=_ALL_KINDS, result="bool"),
    "floor_divide remainder l1_loss mean positive relu sign threshold": Rule(computes=_ALL_KINDS),
    "any": Rule(result_of="uint8 -> uint8"),
    "argmin count_nonzero": Rule(result="int32"),
    # For a 0-d tensor it returns a result without reading the value.
    "argmin": Rule(composes=(Composed("argmax(x)", roles="ZERO_D"),)),
    "cumsum": Rule(accumulates=False),
    "cumprod": Rule(converts=f"{_WIDE_UNSIGNED} -> int64"),
    "sum prod cumsum cumprod softmax": Rule(arguments=Arguments(dtype="casts first")),
    "sum/dtype prod/dtype cumprod/dtype": Rule(accumulates=False, converts=""),
    "angle": Rule(converts=f"{_REAL_KINDS} -> float64"),
    "erf expm1": Rule(integers_become_float=False, converts="bool int64 -> float32"),
    "exp2": Rule(accepts=Accepts(refuses=_WIDE_UNSIGNED), converts="bfloat16 -> float32"),
    "degrees radians": Rule(
        computes="float16 float32 float64", integers_become_float=False, otherwise="refused"
    ),
    "asin acos atan asinh acosh": Rule(integers_become_float=False),
    "log log1p sin cos tan sinh cosh tanh atanh sigmoid": Rule(
        integers_become_float=False, converts="bool int8 int16 int32 int64 uint8 -> float32"
    ),
    "result_type promote_types": Rule(
        scalars="as arrays",
        joins=Joins(reaches=_NUMPY_EDGES, pairs=_NUMPY_PAIRS),
        numbers=Numbers(dtypes={"int": "int32"}),
        range=Range(limit="none", beyond="wraps"),
        numpy=NumPyOperands(scalars="float64 -> float"),
    ),
    "promote_types": Rule(accepts=Accepts(refuses="bfloat16 complex")),
}

MINDSPORE = Dialect(
    framework="mindspore",
    version="2.10",
    about="MindSpore: a simple table in most ops, where 0-d arrays count as arrays; * and / rank"
    " arrays above 0-d arrays.",
    order="bool uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64"
    " complex64 complex128",
    reaches=_EDGES + f"bool -> {_WIDE_UNSIGNED}",
    joining=Joining(folds=True, refusal="uint16, uint32 and uint64 mix only with booleans"),
    python={"bool": "bool", "int": "int64", "float": "float32"},
    becomes=Becomes(
        lifts="bool int -> default_float",
        accumulates="bool uint8 int8 int16 int32 -> int64",
        reads_ints="uint64 float32",
    ),
    no_kernel=_NO_KERNEL,
    casts="safe",
    # Observed on the CPU; it keeps a scalar wide in functions, and rounds it in operators.
    values=Values(
        dividing=Dividing(
            quotient_by_zero="saturates",
            remainder_by_zero="dividend",
            float_quotient="rounded",
            reciprocal_first="div/operator",
        ),
        powers=Powers(of_integers="in float64"),
        arithmetic=Arithmetic(
            shifts="modulo width",
            mixed_signs="common dtype",
            sign_of_nan="zero",
            wide_scalars="mul/function div/function",
            float_errors="silent",
        ),
        reducing=Reducing(median="lower"),
        methods=ArrayMethods(
            extremes="values and indices", sort="values and indices", nonzero="by element"
        ),
    ),
    ops=_OPS,
    naming=Naming(
        names="ms",
        cast="{x}.astype(ms.{dtype})",
        bool_name="bool_",
        prefixes="ms mindspore mindspore.ops ops mindspore.mint mint mindspore.Tensor"
        " mindspore.numpy",
        aliases={
            "sub": "subtract",
            "mul": "multiply",
            "div": "divide true_divide",
            "floor_divide": "floor_div",
            "eq": "equal",
            "ne": "not_equal",
            "lt": "less",
            "le": "less_equal",
            "gt": "greater",
            "ge": "greater_equal",
            "bitwise_not": "invert",
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
            "concat": "cat",
            "abs": "absolute",
            "neg": "negative",
            "max": "amax",
            "min": "amin",
        },
        casts="bool:bool int:int32 long:int64 half:float16 float:float32 to: type_as:",
    ),
    evidence=Evidence(
        source="recorded from MindSpore 2.10.0, PyNative mode, CPU",
        laws=Laws(associativity_witness=("int8", "uint16", "float64")),
        surprises=(
            "float32[3] + float64[]",
            "float32[3] * float64[]",
            "mul(int8[], 1)",
            "uint16[3] + 1",
            "uint16[3] < int8[3]",
            "bool[3] - bool[3]",
            "mean(int8[3])",
            "~int8[3]",
        ),
    ),
)

# MindSpore's errors about dtypes.

MESSAGES = Messages(
    "mindspore",
    (
        Message(
            "For '{op}', the type of 'x2' should be same as 'x1', but got 'x1' with type"
            " Tensor[{left}] and 'x2' with type Tensor[{right}]"
        ),
        Message(
            "For primitive[{op}], the input argument[{any}] must be a type of ... but got"
            " Tensor[{computed}]"
        ),
        Message(
            "For primitive[{op}], the input argument[{any}] must be a type of ... but got"
            " {computed}."
        ),
        Message(
            "For primitive[{op}], the input type must be same. name:[w]:Tensor[{right}]."
            " name:[x]:Tensor[{left}]"
        ),
        Message(
            "For primitive[{op}], the input type must be same. name:[{any}]:Tensor[{right}]."
            " name:[{any}]:Tensor[{left}]",
            is_in_order=False,
        ),
        Message("Select CPU operator[{op}] fail! ... but get input[[const vector]{{{operands}}}]"),
        Message("Select CPU operator[{op}] fail! ... but get input[{operands}]"),
    ),
    ops={
        "MatMul": "matmul",
        "MatMulExt": "matmul",
        "BatchMatMul": "matmul",
        "Select": "where",
        "FloorMod": "remainder",
        "BiasAdd": "add",
    },
    calls={"bmm": "matmul", "mm": "matmul"},
    packages="mindspore",
)
