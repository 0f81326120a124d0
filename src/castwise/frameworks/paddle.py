"""PaddlePaddle 3: tensors of unequal dtypes mix only among floats and with complex."""

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
from castwise.rules.values import (
    Arithmetic,
    ArrayMethods,
    Clamping,
    Dividing,
    Memory,
    Powers,
    PythonFunctions,
    Reducing,
    Values,
)

_FLOAT8 = "float8_e4m3fn float8_e5m2"
_NEW = f"uint16 uint32 uint64 {_FLOAT8}"  # casts to them work, but few computations do
_SMALL_INTEGERS = "uint8 int8 int16"
_HALVES = "float16 bfloat16"

# The whole promotion table of phi/common/type_promotion.h.
EDGES = """
        bool -> uint8 int8
        uint8 int8 -> int16
        int16 -> int32
        int32 -> int64
        int64 -> float16 bfloat16
        float16 bfloat16 -> float32
        float32 -> float64 complex64
        float64 complex64 -> complex128
"""
# Two tensors may use only this part of it: "only support calculations between floating-point
# numbers and between complex and real numbers".
MIXES = "float -> float; bool int float complex -> complex"
ANY_MIXES = "bool int float complex -> bool int float complex"
CONDITION = Condition(arrays="bool", numbers="", numpy="")

ALIASES = {
    "sub": "subtract",
    "mul": "multiply",
    "div": "divide true_divide",
    "remainder": "mod floor_mod",
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less_than less",
    "le": "less_equal",
    "gt": "greater_than greater",
    "ge": "greater_equal",
    "bitwise_not": "bitwise_invert",
    "degrees": "rad2deg",
    "radians": "deg2rad",
    "clamp": "clip",
    "huber_loss": "smooth_l1_loss",
    "neg": "negative",
    "threshold": "thresholded_relu",
    "max": "amax",
    "min": "amin",
    "norm": "vector_norm",
}

_LINALG = (
    "linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv"
    " linalg.matrix_norm linalg.matrix_rank linalg.pinv linalg.qr linalg.slogdet linalg.svd"
    " linalg.vector_norm"
)

# Dtypes that an op promotes to but has no CPU kernel for. A number scales a tensor of dtypes in
# which two tensors are not added, subtracted, multiplied or divided; `1 / x` has two tensors too.
_NO_KERNEL = {
    "add sub mul outer div eq ne lt le gt ge copysign neg sum stack isinf log": _NEW,
    "degrees radians": _NEW,
    "add/no-number div/no-last-number": _HALVES,
    "sub/no-number": "bool int8 uint8 float16",
    "mul/no-number outer": f"{_SMALL_INTEGERS} float16",
    "pow/last-number": "bfloat16",
    "atan2 erf fft.fft fft.ifft fft.fftn fft.ifftn fft.hfft fft.irfft fft.irfftn"
    " log10 log1p log2": _FLOAT8,
    "fft.fft fft.ifft fft.fftn fft.ifftn fft.hfft fft.irfft fft.irfftn": _HALVES,
    "fft.rfft fft.rfftn fft.ihfft linalg.cholesky linalg.svdvals": f"{_FLOAT8} {_HALVES} complex",
    f"{_LINALG} l1_loss logaddexp silu": f"{_FLOAT8} {_HALVES}",
    "expm1": f"{_FLOAT8} bfloat16",
    "isclose": f"bool int {_NEW} {_HALVES}",
    "isin": _NEW,
    "kron": f"bool {_SMALL_INTEGERS} {_NEW} bfloat16",
    "mse_loss": f"{_SMALL_INTEGERS} {_NEW} {_HALVES}",
    "signbit": f"bool uint16 {_HALVES}",
    "acos asin atan cos cosh sinh tan acosh asinh atanh": f"{_FLOAT8} {_HALVES}",
    "concat": "uint16 uint32 uint64",
    "copysign floor ceil floor_divide": "complex",
    "isinf log exp floor ceil floor_divide": f"bool {_NEW}",
    "exp atan2 erf": "bfloat16",
    "angle reciprocal rsqrt sigmoid sin sqrt tanh cumsum sign logsumexp norm": f"{_NEW} {_HALVES}",
    "cumsum sign": "bool",
    "rsqrt": "complex",
    "huber_loss lerp nextafter gelu softmax log_softmax relu threshold": f"{_FLOAT8} {_HALVES}",
    "relu threshold": "int",
    "lerp": "complex",
    "real imag": "bool int float",
    "isfinite isnan": f"bool {_SMALL_INTEGERS} {_NEW}",
    "pow": f"bool {_SMALL_INTEGERS} {_NEW} float16",
    "abs conj cumprod dot matmul inner cross prod remainder round square": (
        f"bool {_SMALL_INTEGERS} {_NEW} {_HALVES}"
    ),
    "clamp fmax fmin heaviside max min std trunc var": (
        f"bool {_SMALL_INTEGERS} {_NEW} {_HALVES} complex"
    ),
    "maximum minimum": f"bool {_SMALL_INTEGERS} {_NEW} float16 complex",
    "all any mean where allclose": f"{_SMALL_INTEGERS} {_NEW} {_HALVES}",
    "allclose": "complex",
    "logical_and logical_or logical_xor logical_not": f"uint8 {_NEW} {_HALVES}",
    "argmax argmin": f"bool int8 {_NEW} {_HALVES}",
    "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift bitwise_not": (
        "uint16 uint32 uint64"
    ),
}

# np.float64 and np.complex128 are subclasses of Python's float and complex; the other scalars are
# cast to the tensor's dtype, or unknown.
_NUMPY_SCALARS = (
    "float64 -> float; complex128 -> complex; int32 int64 float16 float32 complex64 -> array;"
    " bool int8 int16 uint8 uint16 uint32 uint64 -> refused"
)

_ATAN2_OF_INTEGERS = "cast(atan2(cast(x, float32), cast(y, float32)), float64)"
# For complex128 the exponential, the cosine and the sine are computed in float32, but not their
# products.
_EXP_OF_COMPLEX128 = (
    "mul(cast(cast(exp(cast(cast(real(x), float32), float64)), float32), complex128),"
    " add(cast(cast(cos(cast(cast(imag(x), float32), float64)), float32), complex128),"
    " mul(cast(cast(sin(cast(cast(imag(x), float32), float64)), float32), complex128),"
    " cast(1j, complex128))))"
)

_OPS = {
    "*": Rule(
        scalars="0-d adapts",
        joins=Joins(mixes=MIXES),
        otherwise="no kernel",
        writes=Writes(into="rebinds"),
        # It does not treat these as integers, so a Python float leaves them unchanged.
        numbers=Numbers(
            dtypes_by_array={dtype: {"float": dtype} for dtype in ("uint16", "uint32", "uint64")}
        ),
    ),
    "promote_types": Rule(joins=Joins(mixes=ANY_MIXES)),
    "*/operator": Rule(
        numpy=NumPyOperands(arrays="as arrays", reads="uint16 -> bfloat16", scalars=_NUMPY_SCALARS)
    ),
    "add/operator sub/operator mul/operator": Rule(
        numpy=NumPyOperands(scalars=f"{_NUMPY_SCALARS}; int16 -> array"),
        numbers=Numbers(through="float64"),  # it scales by a double
    ),
    "pow/operator": Rule(
        numpy=NumPyOperands(
            scalars=f"{_NUMPY_SCALARS}; int16 -> array", scalars_left="int16 -> refused"
        )
    ),
    "div/operator": Rule(
        numpy=NumPyOperands(
            scalars=f"{_NUMPY_SCALARS}; int16 int32 int64 -> int", scalars_left="int16 -> refused"
        )
    ),
    "logical_and logical_or logical_xor where maximum minimum fmax fmin atan2 nextafter logaddexp"
    " huber_loss": Rule(scalars="as arrays"),
    # These convert a Python complex to a tensor of shape [1], which outranks one of shape [].
    "div/operator remainder/operator pow/operator": Rule(scalars="0-d adapts to complex"),
    "where": Rule(accepts=Accepts(condition=CONDITION)),
    "floor_divide": Rule(scalars="singles mix"),
    "floor_divide/operator": Rule(scalars="0-d mixes"),
    # Most functions need tensors: "argument 'y' (position 1) must be Tensor, but got int".
    "add/function sub/function mul/function div/function ne/function lt/function le/function"
    " gt/function ge/function logical_and/function logical_or/function logical_xor/function"
    " bitwise_and/function bitwise_or/function bitwise_xor/function bitwise_left_shift/function"
    " bitwise_right_shift/function maximum/function minimum/function fmax/function fmin/function"
    " atan2/function nextafter/function logaddexp/function heaviside/function dot/function"
    " matmul/function inner outer kron allclose/function isclose/function mse_loss/function"
    " l1_loss/function huber_loss/function poisson_nll_loss/function hypot": Rule(
        numbers=Numbers(places="none")
    ),
    "eq/function floor_divide/function remainder/function pow/function copysign/function"
    " lerp/function": Rule(numbers=Numbers(places="last")),
    # The methods read the shape of the other operand, which a number does not have.
    "*/inplace": Rule(scalars="as arrays", numbers=Numbers(places="none")),
    "clamp/inplace copysign/inplace lerp/inplace pow/inplace": Rule(numbers=Numbers(places="any")),
    # NumPy itself would write into its own array, which tensors prevent.
    "*/augmented": Rule(
        writes=Writes(rebinds="always"), numpy=NumPyOperands(arrays_left="refused")
    ),
    "div": Rule(computes="bool float complex"),
    "remainder": Rule(computes="bool int float complex"),
    # The functions cast a number to the tensor's dtype: pow(int32[3], 1.5) is int32.
    "pow remainder copysign": Rule(numbers=Numbers(adapts="bool int float")),
    "pow/operator remainder/operator": Rule(numbers=Numbers(adapts="")),
    "pow/inplace": Rule(numbers=Numbers(last_is_number=True)),
    "copysign": Rule(
        computes="bool int float",
        integers_become_float=False,
        numbers=Numbers(refused_with=_FLOAT8),
        range=Range(limit="64 bits", beyond="raises"),
    ),
    # All except float64 are cast to float32 first, even complex numbers.
    "ldexp": Rule(
        numbers=Numbers(places="none"),
        composes=(
            Composed("mul(cast(x, float64), cast(y, float64))", kinds="float64"),
            Composed("mul(cast(x, float64), cast(y, float64))", exponent_kinds="float64"),
            Composed("mul(cast(x, float32), cast(y, float32))"),
        ),
    ),
    "signbit": Rule(accepts=Accepts(refuses=_FLOAT8)),
    "nextafter": Rule(integers_become_float=False),
    # Integers are computed in float32, though the result is float64.
    "atan2": Rule(
        integers_become_float=False,
        composes=tuple(
            Composed(_ATAN2_OF_INTEGERS, kinds=dtype, exponent_kinds=dtype)
            for dtype in ("int32", "int64")
        ),
    ),
    "hypot": Rule(
        composes=(
            Composed("sqrt(add(square(x), square(y)))", "int32 int64"),  # the squares wrap
            Composed("sqrt(add(pow(x, 2), pow(y, 2)))"),
        ),
    ),
    "hypot/inplace": Rule(arrays=Arrays(zero_d_as_arrays=True)),
    "poisson_nll_loss": Rule(composes=(Composed("sub(exp(x), mul(y, x))"),)),
    "mse_loss": Rule(computes="int float complex"),
    # The rest of the binary ops do not promote: the kernel is chosen by one operand's dtype.
    "bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift heaviside allclose"
    " concat lerp": Rule(accepts=Accepts(same_dtype=True)),
    "bitwise_and/operator bitwise_or/operator bitwise_xor/operator bitwise_left_shift/operator"
    " bitwise_right_shift/operator": Rule(
        numbers=Numbers(adapts="bool int", refused_with=_FLOAT8),
        range=Range(limit="64 bits", beyond="raises"),
    ),
    # `1 & x` converts the number to a tensor; `x & 1` is the function, which needs a tensor.
    "bitwise_and/operator bitwise_or/operator bitwise_xor/operator": Rule(
        numbers=Numbers(places="first")
    ),
    "lerp": Rule(numbers=Numbers(adapts="bool int float complex")),
    "lerp/function": Rule(numbers=Numbers(adapts="float")),
    "lerp/inplace": Rule(numbers=Numbers(refused_with=_FLOAT8, places="last", adapts="float")),
    "dot stack isclose": Rule(
        joins=Joins(
            "first operand",
            others="mixing",
            mixes=f"uint8 int16 {_HALVES} float32 float64 -> complex",
        )
    ),
    "matmul": Rule(
        joins=Joins(
            "first operand",
            others="mixing",
            unless="complex",
            mixes=f"int32 int64 -> float32; float64 -> complex128;"
            f" uint8 int16 {_HALVES} float32 -> complex",
        )
    ),
    # For a 0-d array it is the product.
    "inner": Rule(
        joins=Joins(
            "first operand",
            others="mixing",
            unless="complex",
            mixes=f"int32 int64 -> float32; float64 -> complex128;"
            f" uint8 int16 {_HALVES} float32 -> complex",
        ),
        composes=(
            Composed("mul(x, y)", roles="ZERO_D"),
            Composed("mul(x, y)", exponent_roles="ZERO_D"),
        ),
    ),
    "kron": Rule(
        joins=Joins(
            "first operand",
            others="mixing",
            unless="complex",
            mixes=f"float64 -> complex128; uint8 int16 {_HALVES} float32 -> complex",
        )
    ),
    "outer": Rule(arrays=Arrays(zero_d_as_arrays=True)),  # it gives both two dimensions
    "vecdot": Rule(composes=(Composed("sum(*(conj(x), y))"),)),
    # Here the right operand is first converted to match the left one.
    "matmul/operator": Rule(
        joins=Joins(mixes="bool int float -> bool int float; float32 float64 complex -> complex")
    ),
    "clamp": Rule(joins=Joins("first operand", unless="floats with an integer")),
    "clamp/inplace": Rule(joins=Joins(unless="")),
    "positive": Rule(accepts=Accepts(refuses="bool"), because="+ is not defined for booleans"),
    "neg sign round mean var": Rule(computes="bool int float complex"),
    "exp log": Rule(integers_become_float=False, converts="int32 int64 -> float32"),
    "degrees radians": Rule(computes="bool int float complex"),
    # The factor is cast to the dtype first: 57 and 0.
    "degrees": Rule(composes=(Composed("*(x, 57)", _SMALL_INTEGERS),)),
    "radians": Rule(composes=(Composed("*(x, 0)", _SMALL_INTEGERS),)),
    "exp": Rule(composes=(Composed(_EXP_OF_COMPLEX128, "complex128"),)),
    "sigmoid": Rule(
        composes=(Composed("reciprocal(add(exp(neg(x)), cast(1, complex128)))", "complex128"),)
    ),
    "angle reciprocal/inplace rsqrt/inplace sigmoid/inplace sin/inplace sqrt/inplace"
    " tanh/inplace acos/inplace acosh/inplace asin/inplace asinh/inplace atan/inplace atanh/inplace"
    f" cos/inplace cosh/inplace sinh/inplace tan/inplace {_LINALG} linalg.cholesky linalg.svdvals"
    " fft.hfft fft.irfft fft.irfftn": Rule(integers_become_float=False),
    "logsumexp": Rule(integers_become_float=True),
    "linalg.matrix_norm": Rule(result="same"),
    "linalg.solve": Rule(accepts=Accepts(same_dtype=True)),
    "cumsum": Rule(accumulates=False, converts=f"{_SMALL_INTEGERS} int32 -> int64"),
    "cumsum/inplace": Rule(converts=""),
    "prod cumprod": Rule(accumulates=False),
    "sum prod mean cumsum cumprod softmax log_softmax": Rule(
        arguments=Arguments(dtype="casts first")
    ),
    "sum/dtype cumsum/dtype": Rule(accumulates=False, converts=""),
    "std": Rule(composes=(Composed("sqrt(var(x))", "int32 int64"),)),
    "mean": Rule(
        reads=f"{_HALVES} -> float32",
        composes=tuple(
            Composed(f"cast(mean(cast(x, float32)), {dtype})", dtype)
            for dtype in ("bool", "int32", "int64")
        ),
    ),
    "sum": Rule(reads=f"{_HALVES} -> float32", arguments=Arguments(dtype="casts or reads")),
    "median": Rule(converts=f"bool int {_FLOAT8} {_HALVES} complex -> float32"),
}

PADDLE = Dialect(
    framework="paddle",
    version="3.3",
    about="PaddlePaddle 3: tensors mix only among floats and with complex; scalars and 0-d tensors"
    " adapt.",
    order="bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float16"
    " bfloat16 float32 float64 complex64 complex128",
    reaches=EDGES,
    joining=Joining(alone=_NEW, refusal="tensors promote only among floats and with complex"),
    python={"bool": "bool", "int": "int64", "float": "float32", "complex": "complex64"},
    becomes=Becomes(
        lifts=f"{_SMALL_INTEGERS} int32 int64 -> default_float", accumulates="bool int32 -> int64"
    ),
    no_kernel=_NO_KERNEL,
    casts="any",
    # Observed in 3.3 on the CPU. An array to the power of a negative Python int does not terminate.
    values=Values(
        dividing=Dividing(quotient_by_zero="raises", remainder_by_zero="raises"),
        powers=Powers(of_integers="in float64"),
        arithmetic=Arithmetic(
            mixed_signs="common dtype",
            float_errors="silent",
            step_of_nan="zero",
            real_angles="below zero or NaN",
            stepwise="hypot degrees radians atan2 exp sigmoid std mean poisson_nll_loss",
        ),
        reducing=Reducing(correction=1, place_of_nan="passed over", integer_variance="in integers"),
        clamping=Clamping(crossed_bounds="raises", bound_shapes="one"),
        memory=Memory(
            assigned_shapes="leading ones dropped",
            assigned_0d="refused",
            elements="views",
            shares_memory="positive real imag",
            retyped_first="eq ne lt le gt ge logical_and logical_or logical_xor",
            retyped_shapes="kept",
        ),
        functions=PythonFunctions(divmod="refused"),
        methods=ArrayMethods(
            transpose="swaps",
            transposed="reversed",
            repeat="whole",
            squeeze="kept",
            flatten="shared",
            nonzero="by element",
        ),
    ),
    ops=_OPS,
    naming=Naming(
        names="paddlepaddle pd",
        packages="paddlepaddle paddlepaddle-gpu",
        prefixes="paddle paddle.Tensor paddle.linalg paddle.nn.functional",
        aliases=ALIASES,
        casts="bool:bool byte:uint8 char:int8 short:int16 int:int32 long:int64 half:float16"
        " bfloat16:bfloat16 float:float32 double:float64 cfloat:complex64 cdouble:complex128"
        " to: type_as:",
    ),
    evidence=Evidence(
        source="recorded from paddlepaddle 3.3.1, CPU, dynamic graph",
        # paddle.equal(x, 1) works, paddle.equal(1, x) does not; for `&` it is the other way round.
        laws=Laws(one_sided="matmul eq bitwise_and bitwise_or bitwise_xor"),
        surprises=(
            "int32[3] + int64[3]",
            "int32[3] + 1.5",
            "float32[3] + float64[]",
            "int32[3] + float64[]",
            "int32[3] + np.float32(1.5)",
            "floor_divide(int32[3], 1)",
            "where(bool[3], float32[3], 1)",
            "int32[3] @ float64[3]",
        ),
    ),
)

# PaddlePaddle as its guide to type promotion describes it: two tables, 32 APIs, three rules.
#
# The guide contradicts itself in a few cells, where its text is followed: equal dtypes need no
# promotion, promotion is commutative, and a Python float is float32.

_ANY = "bool int float complex"

_DOCUMENTED_OPS = {
    # An API the guide does not list promotes nothing.
    "*": Rule(
        scalars="weak",
        computes=_ANY,
        accepts=Accepts(same_dtype=True),
        because="this API is not among those that promote",
        writes=Writes(into="rebinds"),
        numpy=NumPyOperands(
            scalars="float64 -> float; complex128 -> complex",  # subclasses of Python's own
        ),
    ),
    "*/augmented": Rule(writes=Writes(rebinds="always")),
    # The Common Rule, whatever else the op does with its operands.
    "add sub mul div floor_divide pow remainder where fmax fmin logaddexp maximum minimum"
    " huber_loss nextafter atan2 poisson_nll_loss l1_loss mse_loss result_type": Rule(
        accepts=Accepts(same_dtype=False),
        joins=Joins(mixes=MIXES),
        integers_become_float=False,
        result="same",
        because="",
    ),
    "fmax fmin logaddexp maximum minimum huber_loss nextafter atan2 poisson_nll_loss l1_loss"
    " mse_loss": Rule(
        numbers=Numbers(refused_with=_ANY), because="this API promotes tensors, and takes no scalar"
    ),
    "float_power": Rule(computes="float complex"),  # not listed in the guide
    "nextafter": Rule(computes="float"),  # no other number has a next one
    "floor_divide remainder": Rule(
        accepts=Accepts(refuses="complex"),
        because="a complex number has no floor, and so no remainder",
    ),
    # The Divide Rule: nothing smaller than a float. Listed for scalars, it holds for tensors too.
    "div": Rule(integers_become_float=True),
    # The Logic Rule.
    "eq ne lt le gt ge logical_and logical_or logical_xor": Rule(
        accepts=Accepts(same_dtype=False, refuses="complex"),
        joins=Joins(mixes=MIXES),
        because="logic ops do not take complex numbers",
    ),
    "bitwise_and bitwise_or bitwise_xor": Rule(
        computes="bool int",
        because="bitwise APIs take tensors of one dtype, bool or integer",
    ),
    "where": Rule(accepts=Accepts(condition=CONDITION)),
    # The larger of two dtypes, as for a tensor and a scalar. The check that refuses two tensors
    # comes later.
    "promote_types": Rule(accepts=Accepts(same_dtype=False), because=""),
}

PADDLE_DOCUMENTED = PADDLE.vary(
    mode="documented",
    version="2.6",
    about="PaddlePaddle's guide to type promotion: its tables, its 32 APIs and their rules.",
    order="bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128",
    joining=replace(PADDLE.joining, alone=""),
    becomes=replace(PADDLE.becomes, lifts="bool int -> default_float"),
    no_kernel={},
    ops=_DOCUMENTED_OPS,
    evidence=replace(
        PADDLE.evidence,
        source='the guide "Introduction to Data Type Promotion", which is about Paddle 2.6',
        laws=replace(PADDLE.evidence.laws, one_sided=""),
        surprises=(
            "int64[3] + float32[3]",
            "int32[3] + int64[3]",
            "1.0 + int64[3]",
            "complex64[3] + float64[3]",
            "int32[3] / 1",
            "complex64[3] == complex64[3]",
            "maximum(float32[3], 1.0)",
            "bool[3] & 1",
        ),
    ),
)

# PaddlePaddle's errors about dtypes.

MESSAGES = Messages(
    "paddle",
    (
        Message(
            "Type promotion only support calculations between floating-point numbers and between"
            " complex and real numbers. But got different data type x: {left}, y: {right}."
        ),
        Message(
            "The kernel with key (...) of kernel `{op}` is not registered. Selected wrong DataType"
            " `{computed}`"
        ),
        Message(
            "The type of data we are trying to retrieve ({left}) does not match the type of data"
            " ({right}) currently contained in the container. ... [operator < {op} > error]",
            is_in_order=False,
        ),
        Message(
            "The type of data we are trying to retrieve ({left}) does not match the type of data"
            " ({right}) currently contained in the container",
            is_in_order=False,
        ),
        Message(
            "The data_type of input tensor in list isn't consistent, the first tensor is {left},"
            " but 1th tensor is {right}",
            op="concat stack",
        ),
        Message(
            "The `condition` is expected to be a boolean Tensor, but got a Tensor with dtype"
            " {left}",
            op="where",
        ),
        Message("embedding input only support int32 and int64, but get {left}", op="embedding"),
    ),
    ops={"linear": "matmul", "clip": "clamp"},
    calls=dict.fromkeys(("mm", "bmm", "addmm", "linear"), "matmul"),
    packages="paddle",
)
