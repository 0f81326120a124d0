"""MLX: JAX's lattice with float32 as the default; NumPy operands take the array's dtype."""

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
    Numbers,
    NumPyOperands,
    Range,
    Rule,
    Writes,
)
from castwise.rules.values import (
    Arithmetic,
    ArrayMethods,
    Dividing,
    Memory,
    Needs,
    Powers,
    PythonFunctions,
    Reducing,
    Values,
)

_ERROR = "abs(sub(x, y))"
_QUADRATIC = f"minimum({_ERROR}, 1.0)"
_HUBER = f"add(mul(0.5, square({_QUADRATIC})), mul(1.0, sub({_ERROR}, {_QUADRATIC})))"

_INTS = "bool int"
_MEANS = (
    Composed("mul(sum(x), reciprocal(cast(count(x), float32)))", _INTS),
    *[
        Composed(f"mul(sum(x), reciprocal(cast(count(x), {dtype})))", dtype)
        for dtype in ("float16", "bfloat16", "float32", "float64", "complex64")
    ],
)
_LOG_SOFTMAX = "sub(sub(x, max(x)), logsumexp(sub(x, max(x))))"

MLX = Dialect(
    framework="mlx",
    version="0.32",
    about="MLX: a lattice; Python numbers are weak, NumPy operands take the array's dtype.",
    order="bool int* uint8 int8 uint16 int16 uint32 int32 uint64 int64 float* float16 bfloat16"
    " float32 float64 complex* complex64",
    reaches="""
        bool -> int*
        int* -> uint8 int8
        uint8 -> uint16 int16
        int8 -> int16
        uint16 -> uint32 int32
        int16 -> int32
        uint32 -> uint64 int64
        int32 -> int64
        uint64 int64 -> float*
        float* -> float16 bfloat16
        float16 bfloat16 -> float32
        float32 -> float64
        float64 complex* -> complex64
    """,
    joining=Joining(folds=True),
    python={"bool": "bool", "int": "int32", "float": "float32", "complex": "complex64"},
    becomes=Becomes(
        lifts="bool int -> default_float",
        accumulates="bool int8 int16 -> int32; uint8 uint16 -> uint32",
        reads_ints="int64",
        index="uint32",
    ),
    casts="safe",
    assigns=Assigns(limit="array dtype", whole="takes the value's dtype"),
    # Observed on the CPU, where the smallest int32 // -1 ends the process.
    values=Values(
        dividing=Dividing(remainder_by_zero="dividend", float_quotient="rounded"),
        powers=Powers(of_integers="negative is zero"),
        arithmetic=Arithmetic(
            shifts="modulo width",
            mixed_signs="common dtype",
            sign_of_nan="zero",
            stepwise="mse_loss l1_loss huber_loss mean var std norm log_softmax",
            float_errors="silent",
        ),
        memory=Memory(
            assigned_shapes="leading ones dropped", slices="copies", new_axes="passed over"
        ),
        reducing=Reducing(
            median_of_none="raises", logsumexp_of_none="raises", cumulated_axis="flattened"
        ),
        needs=Needs(elements="argmax argmin kron"),
        functions=PythonFunctions(divmod="refused"),
        methods=ArrayMethods(transposed="reversed"),
    ),
    ops={
        "*": Rule(
            scalars="as nodes",
            range=Range(limit="array dtype", beyond="raises"),
            numpy=NumPyOperands(
                arrays="adapts",
                scalars="float64 -> float",  # an instance of Python's float
            ),
        ),
        # NumPy's own operator runs, and returns a NumPy array.
        "*/operator": Rule(numpy=NumPyOperands(left_decider="numpy", refuses="bfloat16")),
        "eq/operator ne/operator": Rule(numbers=Numbers(lists="left to Python")),
        "*/inplace": Rule(writes=Writes(into="becomes")),
        "div/inplace": Rule(writes=Writes(never="float complex -> bool int")),
        "floor_divide positive round sign max min argmax argmin clamp topk": Rule(
            computes="bool int float complex"
        ),
        "bitwise_left_shift bitwise_right_shift": Rule(converts="bool -> uint8"),
        "logical_and logical_or logical_xor": Rule(range=Range(limit="int64")),
        "matmul dot inner einsum": Rule(computes="float complex"),
        "einsum": Rule(composes=(Composed("sum(x)", count=1),)),
        "vecdot": Rule(accumulates=True),
        "matmul vecdot": Rule(reads="float16 bfloat16 -> float32"),
        "dot inner": Rule(
            composes=(
                Composed("mul(x, y)", roles="ZERO_D"),
                Composed("mul(x, y)", exponent_roles="ZERO_D"),
            )
        ),
        "sigmoid": Rule(computes="float", because="sigmoid takes only real numbers"),
        "silu": Rule(composes=(Composed("mul(x, sigmoid(x))"),)),
        "expm1": Rule(computes="float"),
        "degrees radians": Rule(computes="float complex"),
        "logaddexp median softmax logsumexp": Rule(
            computes="float complex", integers_become_float=True
        ),
        # There is no complex128.
        "fft.fft fft.ifft fft.fftn fft.ifftn fft.rfft fft.rfftn linalg.eig linalg.eigvals": Rule(
            result_of="float64 -> complex64"
        ),
        "linalg.det linalg.slogdet": Rule(accepts=Accepts(refuses="complex")),
        "fft.irfft fft.irfftn": Rule(result_of="float16 bfloat16 float64 -> float32"),
        # What is summed before it is a float wraps.
        "mean": Rule(integers_become_float=True, composes=_MEANS),
        "var": Rule(
            integers_become_float=True, composes=(Composed("mean(square(sub(x, mean(x))))", _INTS),)
        ),
        "std": Rule(integers_become_float=True, composes=(Composed("sqrt(var(x))", _INTS),)),
        "norm": Rule(
            integers_become_float=True, composes=(Composed("sqrt(sum(square(x)))", _INTS),)
        ),
        # The sum of a single element is that element, unchanged.
        "sum prod": Rule(reads="float16 bfloat16 -> float32"),
        "sum prod softmax": Rule(composes=(Composed("positive(x)", roles="ZERO_D"),)),
        "cumsum": Rule(accumulates=False, converts="bool -> int32"),
        "cumsum cumprod": Rule(arguments=Arguments(dtype="casts first")),
        "cumprod": Rule(accumulates=False),
        "count_nonzero": Rule(result="int32"),
        "relu": Rule(composes=(Composed("maximum(x, 0)"),)),
        "gelu": Rule(composes=(Composed("div(mul(x, add(erf(div(x, 1.4)), 1)), 2)"),)),
        "log_softmax": Rule(composes=(Composed(_LOG_SOFTMAX),)),
        "mse_loss": Rule(composes=(Composed("mean(square(sub(x, y)))"),)),
        "l1_loss": Rule(composes=(Composed("mean(abs(sub(x, y)))"),)),
        "huber_loss": Rule(composes=(Composed(f"mean({_HUBER})"),)),
    },
    naming=Naming(
        names="mx",
        cast="{x}.astype(mx.{dtype})",
        bool_name="bool_",
        prefixes="mx mlx.core mx.linalg mlx.core.linalg nn mlx.nn nn.losses mlx.nn.losses",
        aliases={
            "sub": "subtract",
            "mul": "multiply",
            "div": "divide",
            "pow": "power",
            "eq": "equal",
            "ne": "not_equal",
            "lt": "less",
            "le": "less_equal",
            "gt": "greater",
            "ge": "greater_equal",
            "bitwise_not": "bitwise_invert",
            "bitwise_left_shift": "left_shift",
            "bitwise_right_shift": "right_shift",
            "atan2": "arctan2",
            "asin": "arcsin",
            "acos": "arccos",
            "atan": "arctan",
            "asinh": "arcsinh",
            "acosh": "arccosh",
            "atanh": "arctanh",
            "clamp": "clip",
            "concat": "concatenate",
            "neg": "negative",
            "conj": "conjugate",
            "cumsum": "cumulative_sum",
            "cumprod": "cumulative_prod",
        },
    ),
    evidence=Evidence(
        source="recorded from mlx 0.32.4, CPU",
        laws=Laws(associativity_witness=("uint64", "int8", "float16")),
        surprises=(
            "uint64[3] + int8[3]",
            "float64[3] + complex64[3]",
            "int64[3] + float16[3]",
            "int8[3] + 300",
            "int8[3] + np.float32[3]",
            "np.float32[3] + int8[3]",
            "bool[3] << bool[3]",
            "sum(int8[])",
        ),
    ),
)

# MLX's errors about dtypes.

MESSAGES = Messages(
    "mlx",
    (
        Message("[{op}] Only inexact types are supported but {left} and {right} were provided"),
        Message(
            "[{op}] Only allowed on integer or boolean types but got types {left} and {right}."
        ),
        Message("Floating point types not allowed with bitwise {op}."),
        Message("Floating point types not allowed with {op} shift."),
        Message("[{op}] Complex type not supported"),
        Message("[{op}] Not supported for {computed}"),
        Message("[conv] Invalid input array with type {left}", op="conv2d conv1d"),
        Message("[bitwise_invert] Bitwise inverse only allowed on integer types", op="bitwise_not"),
    ),
    ops={
        "and": "bitwise_and",
        "or": "bitwise_or",
        "xor": "bitwise_xor",
        "inversion": "bitwise_not",
        "left": "bitwise_left_shift",
        "right": "bitwise_right_shift",
    },
    calls={"addmm": "matmul"},
    packages="mlx",
)
