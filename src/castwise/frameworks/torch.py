"""PyTorch: tiers of operands, kinds outrank tiers."""

from __future__ import annotations

from castwise.frameworks.dialect import Composed, Dialect, Rule

_OPS = {
    "*": Rule(scalars="tiers", otherwise="no kernel", out_of_range="wraps", output="category"),
    "add/operator sub/operator mul/operator div/operator floor_divide/operator remainder/operator"
    " pow/operator bitwise_and/operator bitwise_or/operator bitwise_xor/operator"
    " bitwise_left_shift/operator bitwise_right_shift/operator": Rule(
        numpy="numpy decides", numpy_refuses="bfloat16", numpy_result="bool -> uint8"
    ),
    "eq/operator": Rule(numpy="as arrays"),
    "ne/operator": Rule(numpy="always bool"),
    # Python's a / tensor is tensor.reciprocal() * a.
    "div/operator": Rule(
        composes=(Composed("mul(reciprocal(y), x)", roles="SCALAR NUMPY_ARRAY NUMPY_ZERO_D"),),
    ),
    "sub": Rule(refuses="bool", because="torch refuses minus on booleans; use ^ or logical_xor"),
    "neg positive relu": Rule(refuses="bool", because="torch refuses it on booleans; use ~"),
    "float_power": Rule(joins="highest kind", output="same dtype"),
    "eq ne lt le gt ge logical_and logical_or logical_xor logical_not": Rule(output="any"),
    "heaviside matmul dot lerp allclose": Rule(same_dtype=True),
    "heaviside maximum minimum fmax fmin clamp": Rule(
        refuses="complex", because="complex numbers have no order"
    ),
    "lerp": Rule(scalars="last adapts"),
    "clamp": Rule(out_of_range="checked"),
    "bitwise_not/operator": Rule(refuses="float complex", because="~ is for integers and booleans"),
    # These write into out= only where it has the result's dtype already.
    "neg/out abs/out floor/out ceil/out round/out trunc/out sign/out bitwise_not/out matmul/out"
    " dot/out argmax/out argmin/out": Rule(output="same dtype"),
    "any/out all/out": Rule(output="same dtype", writes_also="bool -> uint8; uint8 -> bool"),
    # These compute in the dtype of out=.
    "sum/out prod/out cumsum/out cumprod/out": Rule(output="any"),
    "mean/out": Rule(writes_also="complex -> float"),
    "imag": Rule(computes="complex", otherwise="refused"),
    "pow": Rule(
        out_of_range="checked",
        checks="int float16 bfloat16",
        exponent_fits="int64",
        negative_exponent="raises",
    ),
    "where": Rule(out_of_range="checked", checks="bool int float32 float64 complex"),
    "mse_loss l1_loss huber_loss": Rule(zero_d_as_arrays=True),
    "l1_loss": Rule(composes=(Composed("mean(abs(sub(x, y)))"),)),
    "huber_loss": Rule(result="first"),
    "poisson_nll_loss": Rule(composes=(Composed("sub(exp(x), mul(y, x))"),)),
    "mean var std norm": Rule(refuses="bool int"),
    "var std": Rule(refuses="bool int float8_e4m3fn float8_e5m2"),
    "argmax argmin": Rule(refuses="bool complex"),
    "any all": Rule(result_of="uint8 -> uint8"),
    "square": Rule(converts="bool -> int64"),
    "abs/inplace": Rule(refuses="complex"),
    "cumsum/inplace cumprod/inplace": Rule(output="any"),
    "logsumexp": Rule(integers_become_float=True),
}

TORCH = Dialect(
    framework="torch",
    version="2.13",
    about="PyTorch: arrays outrank 0-d arrays, these outrank Python scalars; kinds outrank tiers.",
    evidence="recorded from torch 2.13.0, CPU",
    order="bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float8_e4m3fn float8_e5m2 float16"
    " bfloat16 float32 float64 complex32 complex64 complex128",
    reaches="""
        bool -> uint8 int8
        uint8 int8 -> int16
        int16 -> int32
        int32 -> int64
        int64 -> float16 bfloat16
        uint16 uint32 uint64 => float16 bfloat16 float32 float64
        float16 -> float32 complex32
        bfloat16 -> float32
        float32 -> float64 complex64
        float64 -> complex128
        complex32 -> complex64
        complex64 -> complex128
    """,
    folds=True,
    keeps_kind=True,
    python={"bool": "bool", "int": "int64", "float": "float32", "complex": "complex64"},
    lifts="bool int -> default_float",
    accumulates="bool int -> int64",
    numpy_scalars="int -> int; float -> float; complex128 -> complex; bool complex64 -> float",
    casts="category",
    ops=_OPS,
    prefixes="torch torch.Tensor torch.nn.functional F",
)
