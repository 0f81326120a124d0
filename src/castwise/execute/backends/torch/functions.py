"""torch's functions, by castwise's names of ops and with the standard's names of options."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import array_api_compat.torch as standard
import torch

from castwise.errors import UsageError
from castwise.execute.backends.torch.complex_order import ON_COMPLEX
from castwise.execute.backends.torch.replacements import REPLACEMENTS
from castwise.execute.functions.recipes import RECIPES
from castwise.vocab.dtypes import DType

Function: TypeAlias = Callable[..., Any]

_SAME_NAME = (
    "add", "sub", "mul", "remainder", "fmod", "eq", "ne", "lt", "le", "gt", "ge", "logical_and",
    "logical_or", "logical_xor", "logical_not", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bitwise_left_shift", "bitwise_right_shift", "bitwise_not", "maximum", "minimum", "fmax",
    "fmin", "atan2", "hypot", "logaddexp", "copysign", "nextafter", "heaviside", "xlogy", "lerp",
    "addcmul", "stack", "abs", "neg", "square", "sign", "floor", "ceil", "round", "trunc", "relu",
    "exp", "log", "sqrt", "rsqrt", "sin", "tanh", "sigmoid", "reciprocal", "erf", "isnan", "isinf",
    "isfinite", "angle", "argmax", "argmin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
    "asinh", "acosh", "atanh", "expm1", "log1p", "log2", "log10", "signbit", "exp2", "logaddexp2",
)  # fmt: skip
_OF_THE_STANDARD = (
    "concat", "sum", "prod", "mean", "std", "var", "any", "all", "max", "min", "count_nonzero",
    "tensordot",
)  # fmt: skip
_BY_RECIPE = ("outer", "vecdot", "cross", "kron")  # torch's own functions take fewer shapes
# Ops that torch has no kernel for, or returns in another dtype.
_NOT_IN_BOOL = frozenset({
    "sub", "floor_divide", "remainder", "fmod", "pow", "matmul", "dot", "clamp", "addcmul", "abs",
    "neg", "square", "floor", "ceil", "round", "trunc", "argmax", "argmin", "bitwise_left_shift",
    "bitwise_right_shift", "relu", "threshold", "tensordot", "inner", "vecdot",
    "cross",
})  # fmt: skip
_NOT_IN_COMPLEX = frozenset({
    "floor_divide", "remainder", "fmod", "atan2", "hypot", "copysign", "nextafter", "heaviside",
    "xlogy", "floor", "ceil", "trunc", "threshold", "erf", "gelu", "logaddexp2",
    "degrees", "radians",
})  # fmt: skip
_NOT_IN_INTEGERS = frozenset({"logaddexp", "logaddexp2", "mean"})
# Functions of 16-bit floats that round more than once on some device, or are missing.
_ROUNDS_BETWEEN = frozenset({
    "floor_divide", "remainder", "fmod", "logaddexp", "logaddexp2", "xlogy", "rsqrt", "erf", "gelu",
    "prod", "cumsum", "cumprod", "logsumexp", "softmax", "log_softmax", "median", "isclose",
    "allclose", "angle", "cross",
})  # fmt: skip
# Functions that torch.autocast runs in another dtype than that of the arrays.
_AUTOCAST = frozenset({
    "matmul", "dot", "pow", "float_power", "exp", "log", "rsqrt", "reciprocal", "sum", "prod",
    "cumsum", "cumprod", "softmax", "log_softmax", "logsumexp", "norm", "tensordot", "inner",
    "vecdot", "expm1", "log1p", "log2", "log10", "tan", "asin", "acos", "sinh", "cosh", "exp2",
})  # fmt: skip
# These move elements, for any dtype.
_MOVES = frozenset({"where", "concat", "stack", "positive"})
_FUNCTIONS: dict[str, Function] = {
    **{name: getattr(torch, name) for name in _SAME_NAME},
    **{name: getattr(standard, name) for name in _OF_THE_STANDARD},
    **{name: partial(RECIPES[name], standard) for name in _BY_RECIPE},
    **REPLACEMENTS,
    "positive": torch.positive,
    "float_power": REPLACEMENTS["pow"],
    "gelu": torch.nn.functional.gelu,
    "degrees": torch.rad2deg,
    "radians": torch.deg2rad,
    "cumsum": standard.cumulative_sum,
    "cumprod": standard.cumulative_prod,
}
COMPUTED = frozenset({
    "bool", "int8", "int16", "int32", "int64", "uint8", "float16", "bfloat16", "float32", "float64",
    "complex64", "complex128",
})  # fmt: skip


def function_in(op: str, dtype: DType) -> Function | None:
    """The function for an op in a dtype, which rounds once; None if torch has none."""
    if op == "nextafter" and dtype.kind == "float" and dtype.bits <= 8:
        # computed in a wider dtype, the next number would round back to the original
        raise UsageError(f"the backend torch cannot compute nextafter in {dtype}.")
    if op in _MOVES:
        return _FUNCTIONS[op]
    if dtype.name not in COMPUTED or _is_lacking(op, dtype):
        return None
    found = ON_COMPLEX.get(op) if dtype.kind == "complex" else None
    found = found or _FUNCTIONS.get(op)
    return _without_autocast(found) if found and op in _AUTOCAST else found


def _is_lacking(op: str, dtype: DType) -> bool:
    """Whether torch's function for an op cannot be used for a dtype."""
    if dtype.kind == "float":
        return dtype.bits < 32 and op in _ROUNDS_BETWEEN
    lacking = {
        "bool": _NOT_IN_BOOL | _NOT_IN_INTEGERS,
        "int": _NOT_IN_INTEGERS,
        "complex": _NOT_IN_COMPLEX,
    }[dtype.kind]
    return op in lacking


def _without_autocast(function: Function) -> Function:
    """A function that computes in the dtype of its arrays even inside torch.autocast."""

    def computed(*arrays: Any, **options: Any) -> Any:
        for device in {a.device.type for a in arrays if isinstance(a, torch.Tensor)}:
            if device != "meta" and torch.is_autocast_enabled(device):
                with torch.autocast(device, enabled=False):
                    return computed(*arrays, **options)
        return function(*arrays, **options)

    return computed
