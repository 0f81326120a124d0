"""PyTorch: tiers of operands, kinds outrank tiers."""

from __future__ import annotations

from dataclasses import replace

from castwise.rules.dialect import (
    Assigns,
    Becomes,
    Dialect,
    Evidence,
    Joining,
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
    Exponent,
    Joins,
    Numbers,
    NumPyOperands,
    Range,
    Rule,
    Writes,
)
from castwise.rules.values import (
    Arithmetic,
    ArrayMethods,
    Casting,
    Dividing,
    Memory,
    Needs,
    Powers,
    PythonFunctions,
    Reducing,
    Values,
)
from castwise.vocab.ops import EXTENSIONS
from castwise.vocab.spellings import SCALAR_TYPES, SPELLINGS

FLOAT8 = "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu"
_NEW_UNSIGNED = "uint16 uint32 uint64"

# Dtypes that an op promotes to but has no CPU kernel for: "... not implemented for 'Half'".
_NO_KERNEL = {
    "add sub rsub argmax argmin count_nonzero fmax fmin heaviside maximum minimum neg relu sign"
    " topk": f"{FLOAT8} {_NEW_UNSIGNED}",
    "addcmul": f"bool {FLOAT8} {_NEW_UNSIGNED}",
    "abs": f"bool float8_e8m0fnu {_NEW_UNSIGNED}",
    "clamp": f"bool {FLOAT8} {_NEW_UNSIGNED}",
    "clamp_min clamp_max": f"{FLOAT8} {_NEW_UNSIGNED}",
    "mul": FLOAT8,
    "cumsum cumprod": f"complex32 {FLOAT8}",
    "pow": f"bool complex32 {FLOAT8} {_NEW_UNSIGNED}",
    "allclose isclose degrees radians signbit ldexp": FLOAT8,
    "div addcdiv angle exp exp2 expm1 log log2 log10 log1p logsumexp mean prod"
    " reciprocal rsqrt sigmoid sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sqrt"
    " sum silu": f"complex32 {FLOAT8}",
    "logaddexp lerp": f"bool int complex32 {FLOAT8}",
    "hypot logaddexp2 nextafter mse_loss huber_loss gelu softmax log_softmax layer_norm"
    " cross_entropy scaled_dot_product_attention": f"bool int complex {FLOAT8}",
    "atan2 copysign erf xlogy": f"complex {FLOAT8}",
    "bitwise_and bitwise_or bitwise_xor": "float complex",
    "bitwise_left_shift bitwise_right_shift": f"bool float complex {_NEW_UNSIGNED}",
    "bitwise_not": f"float complex {_NEW_UNSIGNED}",
    "floor ceil trunc": f"bool {FLOAT8}",
    "round": f"bool complex {FLOAT8}",
    "dot matmul inner cross einsum": f"bool complex32 {FLOAT8} {_NEW_UNSIGNED}",
    "floor_divide remainder fmod median threshold": f"bool complex {FLOAT8} {_NEW_UNSIGNED}",
    "lt le gt ge max min": f"complex {FLOAT8} {_NEW_UNSIGNED}",
    "isinf": "float8_e4m3fn float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu",
    "isfinite": "float8_e4m3fn float8_e4m3fnuz float8_e5m2fnuz",
    "logical_and logical_or logical_xor logical_not square": (
        f"complex32 {FLOAT8} {_NEW_UNSIGNED}"
    ),
    "conv1d conv2d": f"bool {FLOAT8} {_NEW_UNSIGNED}",
    "vecdot": f"complex32 {FLOAT8}",
    "linalg.cholesky linalg.det linalg.eig linalg.eigvals linalg.qr linalg.solve linalg.svd"
    " linalg.svdvals": f"{FLOAT8} float16 bfloat16 complex32",
    "linalg.eigh linalg.eigvalsh": f"bool int {FLOAT8} float16 bfloat16 complex32",
    "linalg.matrix_power": f"bool complex32 {_NEW_UNSIGNED}",
    "linalg.matrix_norm linalg.vector_norm": "float8_e8m0fnu",
    "tensordot": f"bool complex32 {FLOAT8} {_NEW_UNSIGNED}",
    "isin": f"complex {FLOAT8} {_NEW_UNSIGNED}",
    "sum/dtype prod/dtype": _NEW_UNSIGNED,
    "cumsum/dtype cumprod/dtype": f"bool complex32 {FLOAT8} {_NEW_UNSIGNED}",
}

# A float with integer exponents has its own kernel. Otherwise ldexp is x * 2**y, where the 2 is a
# 0-d array of x's dtype, or a Python number where x is float32 or an integer.
_POWER_OF_TWO = "mul(x, pow(cast(2.0, {}), y))"
_LDEXP = (
    *(
        Composed(_POWER_OF_TWO.format(name), name, exponent_kinds="float complex")
        for name in f"{FLOAT8} float16 bfloat16 float64".split()
    ),
    Composed("mul(x, pow(2.0, y))", "float32", exponent_kinds="float complex"),
    *(Composed(_POWER_OF_TWO.format(f"complex{bits}"), f"complex{bits}") for bits in (32, 64, 128)),
    Composed("mul(x, pow(2.0, y))", "bool int"),
)

_IN_RESULT_TYPE = "result_type(x, y)"  # computed in that dtype, without the op's own kernel

_TRANSFORMS = " ".join(name for name in EXTENSIONS if name.startswith("fft."))

_OPS = {
    "*": Rule(
        scalars="tiers",
        otherwise="no kernel",
        writes=Writes(into="category"),
        numpy=NumPyOperands(
            scalars="int -> int; float -> float; complex128 -> complex; bool complex64 -> float"
        ),
    ),
    "hypot logaddexp logaddexp2 nextafter": Rule(integers_become_float=False),
    "logaddexp": Rule(computes="float complex"),
    "add/operator sub/operator mul/operator div/operator floor_divide/operator remainder/operator"
    " pow/operator bitwise_and/operator bitwise_or/operator bitwise_xor/operator"
    " bitwise_left_shift/operator bitwise_right_shift/operator": Rule(
        numpy=NumPyOperands(decider="numpy", refuses="bfloat16", result="bool -> uint8")
    ),
    "eq/operator": Rule(numpy=NumPyOperands(arrays="as arrays")),
    "eq/operator ne/operator": Rule(numbers=Numbers(lists="left to Python")),
    # Python's a / tensor is tensor.reciprocal() * a.
    "div/operator": Rule(
        composes=(
            Composed("*(reciprocal(y), x)", roles="SCALAR NUMPY_ARRAY NUMPY_ZERO_D NUMPY_SCALAR"),
        ),
    ),
    # A product whose last operand is a float8 array works; a number in front of `*` goes last.
    "mul": Rule(
        composes=(Composed(_IN_RESULT_TYPE, exponent_kinds=FLOAT8, exponent_roles="ARRAY"),)
    ),
    "mul/operator": Rule(
        composes=(
            Composed(
                _IN_RESULT_TYPE, roles="ARRAY ZERO_D", exponent_kinds=FLOAT8, exponent_roles="ARRAY"
            ),
        )
    ),
    "cumsum cumprod": Rule(
        composes=(Composed("result_type(x)", f"complex32 {FLOAT8}", "ZERO_D"),),
        reads="float16 bfloat16 -> float32; float32 -> float64; complex64 -> complex128",
    ),
    "sub rsub": Rule(
        accepts=Accepts(refuses="bool"),
        because="torch refuses minus on booleans; use ^ or logical_xor",
    ),
    "floor ceil trunc sign signbit degrees radians": Rule(
        accepts=Accepts(refuses="complex"), because="complex numbers have no order"
    ),
    "neg positive": Rule(
        accepts=Accepts(refuses="bool"), because="torch refuses this op on booleans; use ~"
    ),
    "relu": Rule(accepts=Accepts(refuses="bool complex"), because="relu takes only real numbers"),
    "float_power": Rule(joins=Joins("highest kind"), writes=Writes(into="same dtype")),
    "heaviside matmul dot inner vecdot cross lerp allclose isclose einsum": Rule(
        accepts=Accepts(same_dtype=True)
    ),
    "vecdot": Rule(accepts=Accepts(refuses="bool int")),
    "inner": Rule(
        composes=(
            Composed("mul(x, y)", roles="ZERO_D"),
            Composed("mul(x, y)", exponent_roles="ZERO_D"),
        )
    ),
    "heaviside": Rule(
        accepts=Accepts(refuses="complex"), because="heaviside takes real numbers of one dtype"
    ),
    "maximum minimum fmax fmin clamp clamp_min clamp_max": Rule(
        accepts=Accepts(refuses="complex"), because="complex numbers have no order"
    ),
    # It gives both the same number of dimensions.
    "kron": Rule(arrays=Arrays(zero_d_as_arrays=True)),
    "lerp": Rule(scalars="last adapts", range=Range(limit="64 bits", beyond="raises")),
    "clamp clamp_min clamp_max": Rule(range=Range(limit="magnitude", beyond="raises")),
    "addcdiv": Rule(
        accepts=Accepts(inexact_among_last=2),
        because="torch does not divide integers by integers here",
    ),
    "bitwise_not/operator": Rule(
        accepts=Accepts(refuses="float complex"), because="~ takes only integers and booleans"
    ),
    # These write into out= only if it already has the result's dtype.
    "neg/out abs/out floor/out ceil/out round/out trunc/out sign/out bitwise_not/out matmul/out"
    " argmax/out argmin/out": Rule(writes=Writes(into="same dtype")),
    "any/out all/out": Rule(
        writes=Writes(into="same dtype", also="bool -> uint8; uint8 -> bool", counts="alone")
    ),
    "sum/out prod/out cumsum/out": Rule(writes=Writes(into="any", counts="alone")),
    "mean/out": Rule(writes=Writes(also="complex -> float", counts="alone")),
    "imag": Rule(computes="complex", otherwise="refused"),
    "pow": Rule(
        range=Range(limit="magnitude", beyond="raises", looks_at="int float16 bfloat16"),
        exponent=Exponent(fits="int64", negative="number raises"),
        composes=(
            Composed(  # x**0 and x**1 need no kernel
                _IN_RESULT_TYPE,
                f"bool complex32 {FLOAT8} {_NEW_UNSIGNED}",
                exponents=(0, 1),
                exponent_roles="SCALAR NUMPY_SCALAR",
            ),
        ),
    ),
    "where": Rule(
        range=Range(
            limit="magnitude", beyond="raises", looks_at="bool int float32 float64 complex"
        ),
        accepts=Accepts(condition=Condition(arrays="bool uint8", numbers="", numpy="")),
    ),
    "mse_loss l1_loss huber_loss": Rule(arrays=Arrays(zero_d_as_arrays=True)),
    "l1_loss": Rule(composes=(Composed("mean(abs(sub(x, y)))"),)),
    "poisson_nll_loss": Rule(composes=(Composed("mean(sub(exp(x), mul(y, x)))"),)),
    "ldexp": Rule(joins=Joins("exponent apart"), composes=_LDEXP),
    "mean norm": Rule(accepts=Accepts(refuses="bool int")),
    "median": Rule(computes="int float"),
    "var std": Rule(
        accepts=Accepts(refuses=f"bool int {FLOAT8}"),
        reads="float16 -> float32; bfloat16 float32 -> float64; complex64 -> complex128",
    ),
    "argmax argmin": Rule(accepts=Accepts(refuses="bool complex")),
    "any all": Rule(result_of="uint8 -> uint8"),
    "square": Rule(converts="bool -> int64"),
    "*/augmented": Rule(writes=Writes(rebinds="with NumPy arrays")),  # x.add_(y) refuses them
    "matmul/augmented": Rule(writes=Writes(rebinds="always")),  # there is no such method
    "abs/inplace": Rule(accepts=Accepts(refuses="complex")),
    "cumsum/inplace cumprod/inplace": Rule(writes=Writes(into="any", counts="alone")),
    "logsumexp": Rule(computes="float complex", integers_become_float=True),
    "sum prod cumsum cumprod softmax log_softmax norm": Rule(
        arguments=Arguments(dtype="casts first")
    ),
    "mean": Rule(arguments=Arguments(dtype="casts to read")),
    "sum/dtype prod/dtype cumsum/dtype cumprod/dtype": Rule(accumulates=False),
    # Many elements or operands are combined in a wider dtype, and the result is rounded once.
    "sum mean norm dot matmul vecdot inner einsum addcmul addcdiv lerp softmax layer_norm conv1d"
    " conv2d scaled_dot_product_attention cross_entropy": Rule(reads="float16 bfloat16 -> float32"),
    "norm/dtype": Rule(arguments=Arguments(casting="safe within kind")),
    "div": Rule(arguments=Arguments(rounded_as="trunc -> remainder; floor -> floor_divide")),
    "addcmul addcdiv": Rule(arguments=Arguments(value="bool int float complex fits")),
    "layer_norm": Rule(
        accepts=Accepts(same_dtype=True, wider_others="float16 bfloat16 -> float32")
    ),
    "conv1d conv2d": Rule(accepts=Accepts(same_dtype=True)),
    "scaled_dot_product_attention": Rule(
        accepts=Accepts(refuses="bool int", same_dtype=True),
        because="attention takes queries, keys and values of one float dtype",
    ),
    # Probabilities stand in the place of an index, and promote with the scores.
    "cross_entropy": Rule(accepts=Accepts(index="uint8 int64", refuses_last="bool int complex")),
    "einsum": Rule(composes=(Composed("sum(x)", count=1),)),
    "pad": Rule(
        accepts=Accepts(refuses="float8_e8m0fnu"), because="float8_e8m0fnu has no zero to pad with"
    ),
    "one_hot": Rule(computes="int64", otherwise="refused"),
    "embedding": Rule(accepts=Accepts(index="int32 int64")),
    "topk": Rule(
        accepts=Accepts(refuses="bool complex"),
        composes=(Composed("result_type(x)", f"{FLOAT8} {_NEW_UNSIGNED}", "ZERO_D"),),
    ),
    "linalg.cholesky linalg.det linalg.inv linalg.pinv linalg.qr linalg.slogdet linalg.solve"
    " linalg.svd linalg.svdvals linalg.matrix_norm linalg.vector_norm linalg.matrix_rank": Rule(
        accepts=Accepts(refuses="bool int"), because="torch's linear algebra takes no integers"
    ),
    "linalg.eig linalg.eigvals": Rule(
        accepts=Accepts(refuses=f"bool int {FLOAT8}"),
        because="eigenvalues are complex, and these dtypes have no complex one",
        result_of="float16 -> complex32",
    ),
    "linalg.eigh linalg.eigvalsh": Rule(integers_become_float=False),
    "linalg.inv linalg.pinv linalg.slogdet linalg.matrix_rank": Rule(
        computes="float32 float64 complex64 complex128", otherwise="refused"
    ),
    "isin": Rule(accepts=Accepts(refuses="bool complex64 complex128")),
    "linalg.solve tensordot": Rule(accepts=Accepts(same_dtype=True)),
    _TRANSFORMS: Rule(computes="float32 float64 complex64 complex128", otherwise="refused"),
    "fft.rfft fft.rfftn fft.ihfft": Rule(computes="float32 float64"),
    "std var": Rule(rounds="into halves"),
    "huber_loss cross_entropy": Rule(rounds="elements"),
    "huber_loss": Rule(result="first", arguments=Arguments(delta="bool int float positive")),
}

_EDGES = """
        bool -> uint8 int8
        uint8 int8 -> int16
        int16 -> int32
        int32 -> int64
        int64 -> float16 bfloat16
        float16 -> float32 complex32
        bfloat16 -> float32
        float32 -> float64 complex64
        float64 -> complex128
        complex32 -> complex64
        complex64 -> complex128
"""

TORCH = Dialect(
    framework="torch",
    version="2.13",
    about="PyTorch: arrays outrank 0-d arrays, which outrank Python scalars; kinds outrank tiers.",
    order=f"bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 {FLOAT8} float16"
    " bfloat16 float32 float64 complex32 complex64 complex128",
    reaches=_EDGES + "uint16 uint32 uint64 => float16 bfloat16 float32 float64",
    joining=Joining(
        folds=True,
        keeps_kind=True,
        alone=FLOAT8,
        refusal="uint16, uint32 and uint64 mix only with floats, float8 with nothing",
    ),
    python={
        "bool": "bool",
        "int": "int64",
        "float": "float32",
        "complex": "complex64",
        "wrapped float": "float64",
        "wrapped complex": "complex128",
    },
    becomes=Becomes(lifts="bool int -> default_float", accumulates="bool int -> int64"),
    no_kernel=_NO_KERNEL,
    casts="category",
    assigns=Assigns(limit="magnitude", by_places="same dtype"),
    # Recorded in conformance/values, like those of NumPy and JAX.
    values=Values(
        dividing=Dividing(
            quotient_by_zero="raises", remainder_by_zero="raises", reciprocal_first="div/operator"
        ),
        powers=Powers(
            of_integers="negative truncates",
            exponents="kept",
            by_one_exponent="short cuts",
            square_root="library",
        ),
        casting=Casting(float_to_byte="low bits of int64", signless="magnitude"),
        arithmetic=Arithmetic(
            mixed_signs="common dtype",
            sign_of_nan="zero",
            wide_scalars="mul div floor_divide",
            wide_numbers="lerp",
            float_errors="silent",
            scaled_sums="float32 once",
            stepwise="div/operator ldexp poisson_nll_loss inner l1_loss",
            real_angles="below zero or NaN",
            step_of_nan="zero",
        ),
        reducing=Reducing(median="lower", correction=1, cumulated_number="0-d"),
        memory=Memory(
            out_shapes="resized",
            assigned_shapes="leading ones dropped",
            elements="views",
            overlaps="refused",
            shares_memory="positive real imag conj",
        ),
        needs=Needs(vectors="dot outer"),
        functions=PythonFunctions(divmod="refused"),
        methods=ArrayMethods(
            extremes="values and indices",
            sort="values and indices",
            transpose="swaps",
            transposed="reversed",
            axes_of_0d="one",
            repeat="whole",
            split="lengths",
            squeeze="kept",
            flatten="shared",
            nonzero="by element",
        ),
    ),
    ops=_OPS,
    naming=Naming(
        names="pytorch",
        cast="{x}.to(torch.{dtype})",
        prefixes="torch torch.Tensor torch.linalg torch.special torch.nn.functional F",
        aliases={
            "sub": "subtract",
            "mul": "multiply",
            "div": "divide true_divide",
            "ne": "not_equal",
            "lt": "less",
            "le": "less_equal",
            "gt": "greater",
            "ge": "greater_equal",
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
            "concat": "cat concatenate",
            "abs": "absolute",
            "neg": "negative",
            "trunc": "fix",
            "max": "amax",
            "min": "amin",
            "norm": "vector_norm",
            "outer": "ger",
        },
        casts="bool:bool byte:uint8 char:int8 short:int16 int:int32 long:int64 half:float16"
        " bfloat16:bfloat16 float:float32 double:float64 chalf:complex32 cfloat:complex64"
        " cdouble:complex128 to: type_as:",
    ),
    evidence=Evidence(
        source="recorded from torch 2.13.0, CPU",
        surprises=(
            "int64[3] + float16[3]",
            "float16[3] + bfloat16[3]",
            "float32[3] + float64[]",
            "int32[3] + float64[]",
            "uint8[3] + 300",
            "uint16[3] + int32[3]",
            "uint16[3] + uint16[3]",
            "bool[3] - bool[3]",
            "sum(uint8[3])",
        ),
    ),
)

TORCH_2_1 = TORCH.vary(
    version="2.1",
    naming=replace(TORCH.naming, is_newest=False, last="2.2"),
    about="PyTorch 2.1: before uint16, uint32 and uint64; the promoteTypes table of 13 dtypes.",
    order="bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex32 complex64"
    " complex128",
    reaches=_EDGES,
    joining=replace(TORCH.joining, refusal=""),
    evidence=replace(
        TORCH.evidence,
        source="the lookup table of c10/core/ScalarType.cpp at 2.1",
        surprises=(
            "int64[3] + float16[3]",
            "float16[3] + bfloat16[3]",
            "float32[3] + float64[]",
            "bfloat16[3] + 1j",
            "uint8[3] + 300",
        ),
    ),
)

# PyTorch under autocast: some ops cast their floats, but not float64, before they compute.

# Of the ops castwise knows, those that torch.amp's documentation lists for the CPU: by whether they
# compute in autocast's dtype, in float32, or in the widest of two floats.
_LOWER = "matmul vecdot einsum conv1d conv2d scaled_dot_product_attention"
_SINGLE = "mse_loss l1_loss huber_loss poisson_nll_loss prod cross_entropy"
_WIDEST = "concat stack"
_THREE_OPERANDS = ["einsum", "conv1d", "conv2d", "scaled_dot_product_attention"]
_FLOATS = (*FLOAT8.split(), "float16", "bfloat16", "float32")


def _casts(op: str, target: str) -> tuple[Composed, ...]:
    """The compositions of an op that casts each operand of another float dtype to the target, and
    then works as without autocast."""
    others = " ".join(name for name in _FLOATS if name != target)
    elsewhere = TORCH.ops.get(op, Rule()).composes or ()
    if op == "prod":
        return (Composed(f"prod(cast(x, {target}))", others), *elsewhere)
    first = Composed(f"{op}(cast(x, {target}), y)", others, count=2)
    second = Composed(f"{op}(x, cast(y, {target}))", exponent_kinds=others, count=2)
    of_three = (
        Composed(f"{op}(cast(x, {target}), y, z)", others, count=3),
        Composed(f"{op}(x, cast(y, {target}), z)", second_kinds=others, count=3),
        Composed(f"{op}(x, y, cast(z, {target}))", exponent_kinds=others, count=3),
    )
    # What cross_entropy does with classes, which take no part.
    of_one = (Composed(f"log_softmax(cast(x, {target}))", others, count=1),)
    more = (of_one if op == "cross_entropy" else ()) + (of_three if op in _THREE_OPERANDS else ())
    return (first, second, *more, *elsewhere)


def _autocast(target: str, other: str) -> Dialect:
    """PyTorch under autocast to one of the two small floats; `other` is the other one."""
    targets = {**dict.fromkeys(_LOWER.split(), target), **dict.fromkeys(_SINGLE.split(), "float32")}
    rules = dict(TORCH.ops)
    for op, computed in targets.items():
        rules[op] = replace(rules.pop(op, Rule()), composes=_casts(op, computed))
    # A complex32 first operand is not cast, and its exp has no kernel, whatever the other float is.
    loss = rules["poisson_nll_loss"]
    composes = (Composed("exp(x)", "complex32", exponent_kinds="float"), *(loss.composes or ()))
    rules["poisson_nll_loss"] = replace(loss, composes=composes)
    rules["prod/dtype"] = Rule(composes=())  # what dtype= casts is not cast to float32 first
    narrow = f"{FLOAT8} {other}"
    rules[_WIDEST] = Rule(
        accepts=Accepts(refuses=narrow),
        because=f"autocast to {target} does not support {other} here",
    )
    return TORCH.vary(
        mode=f"autocast={target}",
        about=f"PyTorch in torch.autocast('cpu', dtype=torch.{target}).",
        ops=rules,
        evidence=replace(
            TORCH.evidence,
            surprises=(
                "float32[3,3] @ float32[3,3]",
                f"matmul({other}[3], float32[3])",
                f"mse_loss({target}[3], {target}[3])",
                f"prod({target}[3])",
            ),
        ),
    )


AUTOCAST_BFLOAT16 = _autocast("bfloat16", "float16")
AUTOCAST_FLOAT16 = _autocast("float16", "bfloat16")

# What an NVIDIA GPU computes otherwise; the dtypes that it gives are recorded. Its kernels keep a
# number in the dtype they compute in, whichever side it is on, and add up in no wider dtype than
# single precision.
BELOW_LAYERS = {
    "torch:cuda": {
        "ops": {
            **_OPS,
            "cumprod cumsum": Rule(reads=""),
            "prod": Rule(reads="float16 bfloat16 -> float32"),
            "sum": Rule(reads="float16 bfloat16 -> float32; complex32 -> complex64"),
            "mean/dtype": Rule(arguments=Arguments(dtype="casts first")),
        },
        "values": replace(
            TORCH.values,
            powers=replace(TORCH.values.powers, exponents="rounded"),
            arithmetic=replace(
                TORCH.values.arithmetic,
                wide_scalars="mul div floor_divide lerp add sub rsub",
                wide_zero_d="rounded",
            ),
        ),
    }
}

# PyTorch's errors about dtypes.

# C++'s names, which messages have where a template printed the type.
_CPP_DTYPES = {
    "unsigned char": "uint8",
    "signed char": "int8",
    "int8_t": "int8",
    "uint8_t": "uint8",
    "short int": "int16",
    "long int": "int64",
    "long long": "int64",
    "int64_t": "int64",
    "complex<float>": "complex64",
    "complex<double>": "complex128",
    "complex<Half>": "complex32",
}
_PRODUCTS = "matmul"
_CONVOLUTIONS = "conv2d conv1d"

MESSAGES = Messages(
    "torch",
    (
        Message(
            "expected m1 and m2 to have the same dtype, but got: {left} != {right}", op=_PRODUCTS
        ),
        Message(
            "expected mat1 and mat2 to have the same dtype, but got: {left} != {right}",
            "RuntimeError: expected mat1 and mat2 to have the same dtype, but got: float !="
            " c10::BFloat16",
            op=_PRODUCTS,
        ),
        Message("mat1 and mat2 must have the same dtype, but got {left} and {right}", op=_PRODUCTS),
        Message(
            "self and mat2 must have the same dtype, but got {left} and {right}",
            op=_PRODUCTS,
            is_in_order=False,
        ),
        Message(
            "mat1 and mat2 must have the same dtype",
            "RuntimeError: mat1 and mat2 must have the same dtype",
            op=_PRODUCTS,
        ),
        Message(
            "addmv input tensors must have the same dtype, but got {any}, {left}, and {right}",
            op=_PRODUCTS,
        ),
        Message(
            "dot : expected both vectors to have same dtype, but found {left} and {right}", op="dot"
        ),
        Message("both inputs should have same dtype", op="inner"),
        Message(
            "Expected out tensor to have dtype {result}, but got {target} instead",
            op=_PRODUCTS,
            form="out",
        ),
        Message("result type {result} can't be cast to the desired output type {target}"),
        Message("Input type ({left}) and bias type ({right}) should be the same", op=_CONVOLUTIONS),
        Message(
            "Input type ({left}) and weight type ({right}) should be the same",
            "RuntimeError: Input type (torch.cuda.HalfTensor) and weight type"
            " (torch.cuda.FloatTensor) should be the same",
            op=_CONVOLUTIONS,
        ),
        Message(
            "Expected object of scalar type {left} but got scalar type {right} for argument #2"
            " 'mat2'",
            "RuntimeError: Expected object of scalar type Double but got scalar type Float for"
            " argument #2 'mat2'",
            op=_PRODUCTS,
        ),
        Message(
            "Expected object of scalar type {left} but got scalar type {right} for argument",
            "RuntimeError: Expected object of scalar type Long but got scalar type Float for"
            " argument #2 'other'",
        ),
        Message(
            "Expected object of type {left} but found type {right} for argument",
            "RuntimeError: Expected object of type torch.FloatTensor but found type"
            " torch.DoubleTensor for argument #3 'other'",
        ),
        Message(
            "Expected tensor for argument #1 'input' to have the same type as tensor for argument"
            " #2 'weight'; but type {left} does not equal {right} (while checking arguments for",
            "RuntimeError: Expected tensor for argument #1 'input' to have the same type as tensor"
            " for argument #2 'weight'; but type torch.cuda.HalfTensor does not equal"
            " torch.cuda.FloatTensor (while checking arguments for cudnn_convolution)",
        ),
        Message("expected scalar type {left} but found {right}", is_in_order=False),
        Message(
            "Found dtype {right} but expected {left}",
            "RuntimeError: Found dtype Double but expected Float",
        ),
        Message("expected dtype {left} for `end` but got dtype {right}", op="lerp"),
        Message("expected dtype {left} for `weight` but got dtype {third}", op="lerp"),
        Message("expected target dtype to be Long or Byte, but got {right}", op="cross_entropy"),
        Message(
            "Expected query, key, and value to have the same dtype, but got query.dtype: {left}"
            " key.dtype: {right} and value.dtype: {third} instead",
            op="scaled_dot_product_attention",
        ),
        Message(
            "where expected condition to be a boolean tensor, but got a tensor with dtype {left}",
            op="where",
        ),
        Message(
            "Promotion for Float8 Types is not supported, attempted to promote {left} and {right}"
        ),
        Message(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote"
            " {left} and {right}"
        ),
        Message(
            "Subtraction, the `-` operator, with two bool tensors is not supported",
            op="sub",
            operands="bool bool",
        ),
        Message(
            "Subtraction, the `-` operator, with a bool tensor is not supported",
            op="sub",
            operands="? bool",
            is_in_order=False,
        ),
        Message(
            "Negation, the `-` operator, on a bool tensor is not supported",
            op="neg",
            operands="bool",
        ),
        Message(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors",
            op="bitwise_not",
        ),
        Message("RuntimeError: Integers to negative integer powers are not allowed", op="pow"),
        Message(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or"
            " complex dtype. Got: {left}",
            op="mean",
        ),
        Message("std and var only support floating point and complex dtypes", op="std var"),
        Message(
            "linalg.vector_norm: Expected a floating point or complex tensor as input. Got {left}",
            op="norm",
        ),
        Message("{op} not implemented for complex tensors"),
        Message("{op} is not supported for complex types"),
        Message(
            "mixed dtype (CPU): expect parameter to have scalar type of {left}", op="layer_norm"
        ),
        Message(
            "to have one of the following scalar types: Long, Int; but got {left} instead (while"
            " checking arguments for embedding)",
            op="embedding",
        ),
        Message("one_hot is only applicable to index tensor", op="one_hot"),
        Message("value cannot be converted to type {left} without overflow"),
        Message("\"{op}\" not implemented for '{computed}'"),
        Message("{left} did not match {right}", op="isclose allclose"),
    ),
    dtypes={
        **SPELLINGS["torch"],
        **SCALAR_TYPES,
        **{f"{name}Tensor": dtype for name, dtype in SCALAR_TYPES.items()},
        **_CPP_DTYPES,
    },
    ops={
        "lshift": "bitwise_left_shift",
        "rshift": "bitwise_right_shift",
        "div_floor": "floor_divide",
        "div_true": "div",
        "addmm": _PRODUCTS,
        "baddbmm": _PRODUCTS,
        "gemm": _PRODUCTS,
        "mse": "mse_loss",
        "slow_conv2d": "conv2d",
        "max_elementwise": "maximum",
        "min_elementwise": "minimum",
        "add_cpu/sub_cpu": "add sub",
        "LayerNormKernelImpl": "layer_norm",
    },
    calls={
        **dict.fromkeys(("mm", "bmm", "mv", "addmm", "baddbmm", "linear"), _PRODUCTS),
        "vdot": "dot",
        "nll_loss": "cross_entropy",
    },
    packages="torch",
)
