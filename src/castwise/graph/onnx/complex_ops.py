"""Each op of castwise on complex numbers in ONNX, computed from their parts."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.dtypes import LackingError
from castwise.graph.onnx.functions import complex as functions
from castwise.graph.onnx.functions import linalg
from castwise.graph.onnx.functions.complex import multiplied
from castwise.graph.onnx.functions.floats import atan2, hypot
from castwise.graph.onnx.functions.pairs import Pair, is_nonzero, joined, parts
from castwise.graph.onnx.functions.reductions import accumulated, product, var
from castwise.graph.onnx.writer import Value, called


def _add(x: Pair, y: Pair) -> Pair:
    return x[0] + y[0], x[1] + y[1]


def _sub(x: Pair, y: Pair) -> Pair:
    return x[0] - y[0], x[1] - y[1]


def _div(x: Pair, y: Pair) -> Pair:
    """Scaled by the larger part of the divisor, so that no intermediate result overflows."""
    real, imag = _scaled_quotient(x, y)
    is_zero = xp.equal(y[0], 0) & xp.equal(y[1], 0)
    size = xp.abs(y[0])
    return xp.where(is_zero, x[0] / size, real), xp.where(is_zero, x[1] / size, imag)


def _scaled_quotient(x: Pair, y: Pair) -> Pair:
    by_real = xp.less_equal(xp.abs(y[1]), xp.abs(y[0]))
    large, small = xp.where(by_real, y[0], y[1]), xp.where(by_real, y[1], y[0])
    ratio = small / large
    scale = 1 / (large + small * ratio)
    first, second = xp.where(by_real, x[0], x[1]), xp.where(by_real, x[1], x[0])
    imag = xp.where(by_real, x[1] - x[0] * ratio, x[1] * ratio - x[0])
    return (first + second * ratio) * scale, imag * scale


def _reciprocal(x: Pair) -> Pair:
    return _scaled_quotient((xp.ones_like(x[0]), xp.zeros_like(x[0])), x)


def _exp(x: Pair) -> Pair:
    size = xp.exp(x[0])
    is_real = xp.equal(x[1], 0)
    turned = size * called("Cos", x[1]), size * called("Sin", x[1])
    return xp.where(is_real, size, turned[0]), xp.where(is_real, x[1], turned[1])


def _each_part(function: Callable[..., Any]) -> Callable[..., Pair]:
    return lambda x, **options: (function(x[0], **options), function(x[1], **options))


_matmul = functions.by_products(functools.partial(product, "matmul"))


def _equal(x: Pair, y: Pair) -> Value:
    return xp.equal(x[0], y[0]) & xp.equal(x[1], y[1])


def _ordered(is_before: Callable[..., Value], x: Pair, y: Pair) -> Value:
    """Whether one comes before another: by the real parts, then by the imaginary parts."""
    has_order = xp.equal(x[1], x[1]) & xp.equal(y[1], y[1])
    by_real = xp.less(x[0], y[0]) & has_order
    return by_real | (xp.equal(x[0], y[0]) & is_before(x[1], y[1]))


def _extreme(is_smaller: bool, passes_nan: bool, x: Pair, y: Pair) -> Pair:
    """The larger or smaller one; if one is NaN, NaN or the other."""
    first = _ordered(xp.less_equal, x, y) if is_smaller else _ordered(xp.less_equal, y, x)
    is_nan = _is_nan(x) if passes_nan else _is_nan(y)
    return functions.chosen(first | is_nan, x, y)


def _is_nan(x: Pair) -> Value:
    return xp.isnan(x[0]) | xp.isnan(x[1])


def _lerp(start: Pair, end: Pair, weight: Pair) -> Pair:
    """Interpolates from start to end, exact at both."""
    whole = _sub(end, start)
    near = _add(start, multiplied(weight, whole))
    far = _sub(end, multiplied(whole, (1 - weight[0], -weight[1])))
    is_near = xp.less(hypot(*weight), 0.5)
    return xp.where(is_near, near[0], far[0]), xp.where(is_near, near[1], far[1])


def _sin(x: Pair) -> Pair:
    """Uses sin and cos of the real part, and sinh and cosh of the imaginary part."""
    sine = called("Sin", x[0])
    cosine = called("Cos", x[0])
    return sine * called("Cosh", x[1]), cosine * called("Sinh", x[1])


def _reduced(losses: Value, reduction: str) -> Value:
    if reduction == "none":
        return losses
    return xp.mean(losses) if reduction == "mean" else xp.sum(losses)


def _mse_loss(x: Pair, y: Pair, *, reduction: str = "mean") -> Pair:
    away = _sub(x, y)
    real, imag = multiplied(away, away)
    return _reduced(real, reduction), _reduced(imag, reduction)


def _l1_loss(x: Pair, y: Pair, *, reduction: str = "mean") -> Value:
    return _reduced(hypot(*_sub(x, y)), reduction)


def _var(x: Pair, **options: Any) -> Value:
    return var(x[0], **options) + var(x[1], **options)


def _std(x: Pair, **options: Any) -> Value:
    return xp.sqrt(_var(x, **options))


def _norm(x: Pair, **options: Any) -> Value:
    return xp.sqrt(xp.sum(x[0] * x[0] + x[1] * x[1], **options))


# Functions of pairs, which return a pair or a real value.
_WRITTEN: dict[str, Callable[..., Any]] = {
    "add": _add, "sub": _sub, "mul": multiplied, "div": _div, "matmul": _matmul,
    "square": lambda x: multiplied(x, x), "addcmul": lambda x, y, z: _add(x, multiplied(y, z)),
    "reciprocal": _reciprocal, "dot": _matmul, "lerp": _lerp, "sin": _sin,
    "neg": lambda x: (-x[0], -x[1]), "conj": lambda x: (x[0], -x[1]), "exp": _exp,
    "log": lambda x: (xp.log(hypot(*x)), atan2(x[1], x[0])),
    "real": lambda x: x[0], "imag": lambda x: x[1],
    "abs": lambda x: hypot(*x), "angle": lambda x: atan2(x[1], x[0]),
    "lt": lambda x, y: _ordered(xp.less, x, y), "le": lambda x, y: _ordered(xp.less_equal, x, y),
    "gt": lambda x, y: _ordered(xp.less, y, x), "ge": lambda x, y: _ordered(xp.less_equal, y, x),
    "mse_loss": _mse_loss, "l1_loss": _l1_loss, "var": _var, "std": _std,
    "maximum": functools.partial(_extreme, False, True),
    "minimum": functools.partial(_extreme, True, True),
    "fmax": functools.partial(_extreme, False, False),
    "fmin": functools.partial(_extreme, True, False),
    "sqrt": functions.in_float64(functions.sqrt),
    "rsqrt": functions.in_float64(lambda x: functions.reciprocal(functions.sqrt(x))),
    "tanh": functions.in_float64(functions.tanh),
    "sigmoid": functions.in_float64(functions.sigmoid),
    "pow": functions.in_float64(functions.power), "prod": functions.prod,
    "tensordot": functions.by_products(linalg.tensordot), "vecdot": functions.vecdot,
    **{
        name: functions.by_products(getattr(linalg, name))
        for name in ("outer", "inner", "cross", "kron")
    },
    "linalg.vector_norm": lambda x, **options: linalg.vector_norm(hypot(*x), **options),
    "linalg.matrix_norm": lambda x, **options: linalg.matrix_norm(hypot(*x), **options),
    "eq": _equal, "ne": lambda x, y: ~_equal(x, y),
    "isnan": _is_nan,
    "isinf": lambda x: xp.equal(xp.maximum(xp.abs(x[0]), xp.abs(x[1])), float("inf")),
    "isfinite": lambda x: xp.isfinite(x[0]) & xp.isfinite(x[1]),
    "logical_and": lambda x, y: is_nonzero(x) & is_nonzero(y),
    "logical_or": lambda x, y: is_nonzero(x) | is_nonzero(y),
    "logical_xor": lambda x, y: called("Xor", is_nonzero(x), is_nonzero(y)),
    "logical_not": lambda x: ~is_nonzero(x),
    "any": lambda x, **options: xp.any(is_nonzero(x), **options),
    "all": lambda x, **options: xp.all(is_nonzero(x), **options),
    "count_nonzero": lambda x, **options: xp.count(is_nonzero(x), **options),
    "sum": _each_part(xp.sum), "mean": _each_part(xp.mean), "norm": _norm,
    "cumsum": _each_part(lambda x, **options: accumulated("CumSum", x, **options)),
}  # fmt: skip


def write_complex(name: str, values: Sequence[Value], options: Mapping[str, Any]) -> Value:
    """The value of an op on complex numbers.

    Raises LackingError if castwise cannot write it.
    """
    if name not in _WRITTEN:
        raise LackingError(f"ONNX has no {name} of complex numbers, and castwise has no substitute")
    result = _WRITTEN[name](*[parts(value) for value in values], **options)
    return joined(result) if isinstance(result, tuple) else result
