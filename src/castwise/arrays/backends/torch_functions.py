"""torch's functions, by castwise's names of ops and with the standard's names of options."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import array_api_compat.torch as standard
import numpy as np
import torch

from castwise.arrays.functions import RECIPES, Function
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType

# Functions that torch has with other options or dtypes, written with the ones it has.


def where(condition: Any, x: Any, y: Any) -> Any:
    """One or the other; a nonzero number counts as true."""
    chosen = condition if condition.dtype is torch.bool else condition != 0
    signed = _SAME_BITS.get(str(x.dtype))
    if signed is None:
        return torch.where(chosen, x, y)
    return torch.where(chosen, x.view(signed), y.view(signed)).view(x.dtype)


# The replacements for unsigned dtypes, which where cannot take before torch 2.13.
_SAME_BITS = {
    "torch.uint16": torch.int16, "torch.uint32": torch.int32, "torch.uint64": torch.int64
}  # fmt: skip


def div(x: Any, y: Any) -> Any:
    """The quotient. For a number on the CPU torch uses the reciprocal, and rounds twice."""
    return torch.div(x, _on_device_of(x, y))


def floor_divide(x: Any, y: Any) -> Any:
    return torch.floor_divide(x, _on_device_of(x, y))


def pow(x: Any, y: Any) -> Any:
    """The power. For a number, torch multiplies small floats on a GPU, and rounds each time."""
    if isinstance(y, torch.Tensor):
        return torch.pow(x, _on_device_of(x, y))
    is_small = x.dtype in (torch.float16, torch.bfloat16) and not x.is_cpu
    return torch.pow(x.float(), y).type(x.dtype) if is_small else torch.pow(x, y)


_FAR = 1 << 20  # beyond this there is nothing left to shift
_WIDER_THAN_INT32 = (torch.int64, torch.uint32, torch.uint64)


def ldexp(x: Any, y: Any) -> Any:
    """x * 2**y; exact for integers y until the product is rounded."""
    if y.is_floating_point() or y.is_complex():
        return x * torch.pow(2.0, _on_device_of(x, y))
    near = _on_device_of(x, y)
    if near.dtype in _WIDER_THAN_INT32:
        near = near.to(torch.float64).clamp(-_FAR, _FAR)
    return torch.ldexp(x, near.to(torch.int32))


def _on_device_of(x: Any, y: Any) -> Any:
    """A number, which is created on the CPU, on the device of the other operand."""
    return y.to(x.device) if not y.ndim and y.is_cpu and not x.is_cpu else y


def clamp(x: Any, *bounds: Any) -> Any:
    """The elements, clamped between a lowest and a highest value."""
    moved = [bound.to(x.device) for bound in bounds]  # a number is created on the CPU
    return torch.clamp(x, *moved) if bounds else x.clone()


def matmul(x: Any, y: Any) -> Any:
    """The matrix product; torch's own takes integers only on the CPU."""
    if x.device.type == "cpu" or x.is_floating_point() or x.is_complex():
        return torch.matmul(x, y)
    rows = x[None, :] if x.ndim == 1 else x
    columns = y[:, None] if y.ndim == 1 else y
    product = torch.sum(rows[..., :, :, None] * columns[..., None, :, :], -2, dtype=x.dtype)
    product = product[..., 0] if y.ndim == 1 else product
    if x.ndim == 1:
        return product[..., 0] if y.ndim == 1 else product[..., 0, :]
    return product


def dot(x: Any, y: Any) -> Any:
    """The product summed over the last dimension of one and the one before last of the other."""
    if x.ndim == 0 or y.ndim == 0:
        return torch.mul(x, y)
    if y.ndim <= 2:
        return matmul(x, y)
    columns = torch.movedim(y, -2, 0)
    product = matmul(x, columns.reshape(columns.shape[0], -1))
    return product.reshape(*x.shape[:-1], *columns.shape[1:])


def inner(x: Any, y: Any) -> Any:
    """The product summed over the last dimension of both."""
    if x.ndim == 0 or y.ndim == 0:
        return torch.mul(x, y)
    rows, columns = [math.prod(z.shape[:-1]) for z in (x, y)]
    product = matmul(x.reshape(rows, x.shape[-1]), y.reshape(columns, y.shape[-1]).T)
    return product.reshape((*x.shape[:-1], *y.shape[:-1]))


def real(x: Any) -> Any:
    """The real part, sharing the array's memory."""
    return x.real


def imag(x: Any) -> Any:
    """The imaginary part; zeros for real numbers."""
    return x.imag if x.is_complex() else torch.zeros_like(x)


def exact_sqrt(x: Any) -> Any:
    """The square root rounded to the nearest number, which torch's own may not be on a CPU.

    For float32 it is computed in float64 and rounded. For float64 it is NumPy's, and torch's is
    used for the gradient.
    """
    if x.device.type != "cpu" or torch.compiler.is_compiling():
        return torch.sqrt(x)
    if x.dtype is torch.float32:
        return torch.sqrt(x.double()).float()
    found = torch.sqrt(x)
    try:
        values = x.detach().numpy(force=True)
    except (RuntimeError, TypeError):  # it wraps other tensors, as inside torch.func
        return found
    nearest = torch.from_numpy(np.asarray(np.sqrt(values)))
    if not found.requires_grad:
        return nearest
    return found + torch.where(found == nearest, 0.0, nearest - found.detach())


def threshold(x: Any, *, threshold: float = 0, value: float = 0) -> Any:
    """The value where x is not above the threshold."""
    return torch.nn.functional.threshold(x, threshold, value)


def softmax(x: Any, *, axis: int = -1) -> Any:
    return torch.softmax(x, axis)


def log_softmax(x: Any, *, axis: int = -1) -> Any:
    return torch.log_softmax(x, axis)


def logsumexp(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    return torch.logsumexp(x, tuple(range(x.ndim)) if axis is None else axis, keepdims)


def norm(x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The square root of the sum of squares."""
    return torch.linalg.vector_norm(x, 2, axis, keepdims)


def median(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The middle one, or the mean of the middle two; NaN if there is a NaN."""
    flat, place = (x.reshape(-1), 0) if axis is None else (x, axis)
    ordered, count = torch.sort(flat, dim=place).values, flat.shape[place]
    low, high = (ordered.narrow(place, n, 1) for n in ((count - 1) // 2, count // 2))
    found = low if count % 2 else (low + high) / 2
    has_nan = torch.isnan(flat).any(place, keepdim=True)
    found = torch.where(has_nan, torch.full_like(found, math.nan), found)
    if axis is None:
        return found.reshape((1,) * x.ndim if keepdims else ())
    return found if keepdims else found.squeeze(axis)


def isclose(
    x: Any, y: Any, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Any:
    """Whether each element is within the tolerance of the other."""
    if not (x.is_floating_point() or x.is_complex()):
        x, y = x.double(), y.double()
    return torch.isclose(x, y, rtol, atol, equal_nan)


def allclose(x: Any, y: Any, **tolerance: Any) -> Any:
    """Whether all elements are within the tolerance of one another."""
    return isclose(x, y, **tolerance).all()


_REPLACEMENTS: dict[str, Function] = {
    f.__name__: f
    for f in (
        where, div, floor_divide, pow, ldexp, clamp, matmul, dot, inner, real, imag, threshold,
        softmax, log_softmax, logsumexp, norm, median, isclose, allclose, exact_sqrt,
    )
}  # fmt: skip

# Functions of complex numbers that torch lacks. Most need an order: by real part, then imaginary.


def _less(x: Any, y: Any) -> Any:
    is_number = ~(torch.isnan(x) | torch.isnan(y))
    return is_number & ((x.real < y.real) | ((x.real == y.real) & (x.imag < y.imag)))


def _less_equal(x: Any, y: Any) -> Any:
    return _less(x, y) | (x == y)


def _chosen(x: Any, y: Any, *, is_largest: bool, skips_nan: bool = False) -> Any:
    """The larger or the smaller one; if one is NaN, it or the other."""
    is_first = _less_equal(y, x) if is_largest else _less_equal(x, y)
    return torch.where(torch.isnan(y if skips_nan else x) | is_first, x, y)


_maximum, _minimum = partial(_chosen, is_largest=True), partial(_chosen, is_largest=False)


def _clamp(x: Any, *bounds: Any) -> Any:
    low, high = (*bounds, None, None)[:2]
    x = x.clone() if low is None else _maximum(x, low)
    return x if high is None else _minimum(x, high)


def _places(x: Any, axis: int) -> Any:
    """The indices that sort the elements along an axis, NaN last."""
    last = torch.isnan(x).to(torch.int8)
    places = torch.argsort(x.imag, dim=axis, stable=True)
    for key in (x.real, last):
        again = torch.argsort(torch.gather(key, axis, places), dim=axis, stable=True)
        places = torch.gather(places, axis, again)
    return places


def _gone(x: Any, axis: Any) -> list[int]:
    """The reduced axes, counted from the front."""
    axes = range(x.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    return sorted(n % x.ndim for n in axes)


def _flat(x: Any, axis: Any) -> Any:
    """The array with the reduced axes merged into one, the last."""
    gone = _gone(x, axis)
    kept = [n for n in range(x.ndim) if n not in gone]
    together = math.prod([x.shape[n] for n in gone])  # without elements, -1 could be any length
    return x.permute([*kept, *gone]).reshape(*[x.shape[n] for n in kept], together)


def _shaped(found: Any, x: Any, axis: Any, keepdims: bool) -> Any:
    """A result without the reduced axes, or with length 1 for each."""
    if not keepdims:
        return found
    gone = _gone(x, axis)
    return found.reshape([1 if n in gone else size for n, size in enumerate(x.shape)])


def _place_of_first(x: Any, *, is_largest: bool) -> Any:
    """The first index of the extreme element along the last axis; NaN counts as extreme."""
    key = x.real
    inf = torch.full_like(key, -torch.inf if is_largest else torch.inf)
    extreme = torch.amax if is_largest else torch.amin
    has_nan = torch.isnan(x)
    is_candidate = key == extreme(key, -1, keepdim=True)
    imaginary = torch.where(is_candidate, x.imag, inf)
    is_candidate &= imaginary == extreme(imaginary, -1, keepdim=True)
    is_found = torch.where(has_nan.any(-1, keepdim=True), has_nan, is_candidate)
    return torch.argmax(is_found.to(torch.int8), dim=-1)


def _place(x: Any, *, is_largest: bool, axis: Any = None, keepdims: bool = False) -> Any:
    found = _place_of_first(_flat(x, axis), is_largest=is_largest)
    return _shaped(found, x, axis, keepdims)


def _extreme(x: Any, *, is_largest: bool, axis: Any = None, keepdims: bool = False) -> Any:
    flat = _flat(x, axis)
    place = _place_of_first(flat, is_largest=is_largest)
    found = torch.gather(flat, -1, place[..., None])[..., 0]
    return _shaped(found, x, axis, keepdims)


def _median(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The middle one, or the mean of the middle two; NaN if there is a NaN."""
    flat = _flat(x, axis)
    ordered, count = torch.gather(flat, -1, _places(flat, -1)), flat.shape[-1]
    low, high, last = (ordered[..., n] for n in ((count - 1) // 2, count // 2, -1))
    found = torch.where(torch.isnan(last), last, low if count % 2 else (low + high) / 2)
    return _shaped(found, x, axis, keepdims)


def _softmax(x: Any, *, axis: int = -1) -> Any:
    powers = torch.exp(x - torch.amax(x.real, axis, keepdim=True))
    return powers / torch.sum(powers, axis, keepdim=True)


def _log_softmax(x: Any, *, axis: int = -1) -> Any:
    # Relative to the largest one itself: with another number the logarithm may change its branch.
    away = x - (_extreme(x, is_largest=True, axis=axis, keepdims=True) if x.numel() else 0)
    return away - torch.log(torch.sum(torch.exp(away), axis, keepdim=True))


_ON_COMPLEX: dict[str, Function] = {
    "lt": _less, "le": _less_equal, "gt": lambda x, y: _less(y, x),
    "ge": lambda x, y: _less_equal(y, x), "maximum": _maximum, "minimum": _minimum,
    "fmax": partial(_maximum, skips_nan=True), "fmin": partial(_minimum, skips_nan=True),
    "clamp": _clamp,
    "relu": lambda x: _maximum(x, torch.zeros_like(x)),
    "max": partial(_extreme, is_largest=True), "min": partial(_extreme, is_largest=False),
    "argmax": partial(_place, is_largest=True), "argmin": partial(_place, is_largest=False),
    "median": _median, "softmax": _softmax, "log_softmax": _log_softmax, "sign": torch.sgn,
    "round": standard.round,
}  # fmt: skip

# The function for an op in a dtype: which there are, and where torch's own will not do.

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
    "bitwise_right_shift", "relu", "threshold", "tensordot", "inner", "vecdot", "cross",
})  # fmt: skip
_NOT_IN_COMPLEX = frozenset({
    "floor_divide", "remainder", "fmod", "atan2", "hypot", "copysign", "nextafter", "heaviside",
    "xlogy", "floor", "ceil", "trunc", "threshold", "erf", "gelu", "logaddexp2", "degrees",
    "radians",
})  # fmt: skip
_NOT_IN_INTEGERS = frozenset({"logaddexp", "logaddexp2", "mean"})
_LACKING = {
    "bool": _NOT_IN_BOOL | _NOT_IN_INTEGERS, "int": _NOT_IN_INTEGERS, "complex": _NOT_IN_COMPLEX,
}  # fmt: skip
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
    **_REPLACEMENTS,
    "positive": torch.positive, "conj": torch.conj, "float_power": pow,
    "gelu": torch.nn.functional.gelu, "degrees": torch.rad2deg, "radians": torch.deg2rad,
    "cumsum": standard.cumulative_sum, "cumprod": standard.cumulative_prod,
}  # fmt: skip
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
    found = _ON_COMPLEX.get(op) if dtype.kind == "complex" else None
    found = found or _FUNCTIONS.get(op)
    return _without_autocast(found) if found and op in _AUTOCAST else found


# Those of them that move over several elements; the others give torch's bits rounded once.
_ITS_OWN_WAY = frozenset({
    "prod", "cumsum", "cumprod", "logsumexp", "softmax", "log_softmax", "isclose", "allclose",
})  # fmt: skip


# What these give for complex infinities follows from the order of their steps.
_OF_INFINITIES: dict[str, Function] = {
    "addcdiv": torch.addcdiv, "silu": torch.nn.functional.silu,
    "cross": lambda x, y, *, axis=-1: torch.linalg.cross(x, y, dim=axis),
}  # fmt: skip


def own_function_in(op: str, dtype: DType) -> Function | None:
    """torch's own function for an op, where it rounds or overflows on its way as no other."""
    if dtype.kind == "complex":
        return _OF_INFINITIES.get(op)
    is_small = dtype.kind == "float" and dtype.bits == 16
    found = _FUNCTIONS[op] if is_small and op in _ITS_OWN_WAY else None
    return _without_autocast(found) if found and op in _AUTOCAST else found


def _is_lacking(op: str, dtype: DType) -> bool:
    """Whether torch's function for an op cannot be used for a dtype."""
    if dtype.kind == "float":
        return dtype.bits < 32 and op in _ROUNDS_BETWEEN
    return op in _LACKING[dtype.kind]


def _without_autocast(function: Function) -> Function:
    """A function that computes in the dtype of its arrays even inside torch.autocast."""

    def computed(*arrays: Any, **options: Any) -> Any:
        for device in {a.device.type for a in arrays if isinstance(a, torch.Tensor)}:
            if device != "meta" and torch.is_autocast_enabled(device):
                with torch.autocast(device, enabled=False):
                    return computed(*arrays, **options)
        return function(*arrays, **options)

    return computed
