"""Each op of castwise in ONNX: as one of its ops, or composed of several."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from castwise.execute.functions.recipes import RECIPES
from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx.complex_ops import write_complex
from castwise.graph.onnx.dtypes import LackingError
from castwise.graph.onnx.functions import floats, integers, layers, linalg, reductions
from castwise.graph.onnx.writer import BOOL, Value, called
from castwise.graph.shapes import arithmetic as shapes
from castwise.vocab.dtypes import dtype, dtypes_of
from castwise.vocab.ops import known_op

Written = Callable[..., Value]


def _ops(pairs: str, **more: Any) -> dict[str, Written]:
    """castwise's op -> ONNX's, for pairs such as "add:Add"."""
    split = [pair.partition(":") for pair in pairs.split()]
    return {name: _one_op(op, **more) for name, _, op in split}


def _one_op(op: str, **more: Any) -> Written:
    """One op of ONNX, which takes no options."""
    return lambda *values: called(op, *values, **more)


def _itself(x: Value) -> Value:
    return x


def _zeros(x: Value) -> Value:
    w = x.writer
    return w.one_op("Expand", w.constant(0, x.dtype), w.shape_of(x.shape), shape=x.shape)


def _clamp(x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    raised = x if low is None else called("Max", x, low)
    return raised if high is None else called("Min", raised, high)


def _clamp_bool(x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    raised = x if low is None else x | low
    return raised if high is None else raised & high


def _chosen(condition: Value, x: Value, y: Value) -> Value:
    return xp.where(condition.writer.cast(condition, BOOL), x, y)


def _chosen_bool(condition: Value, x: Value, y: Value) -> Value:
    """Selects bools, because runtimes have no Where for them."""
    chooses = condition.writer.cast(condition, BOOL)
    return (chooses & x) | (~chooses & y)


def _joined(*values: Value, axis: int | None = 0) -> Value:
    """Concatenated arrays."""
    parts = values if axis is not None else [reductions.flattened(v) for v in values]
    place = 0 if axis is None else shapes.places(axis, values[0].ndim)[0]
    shape = shapes.joined([part.shape for part in parts], place)
    return parts[0].writer.one_op("Concat", *parts, shape=shape, axis=place)


def _stacked(*values: Value, axis: int = 0) -> Value:
    """Arrays stacked along a new dimension."""
    place = shapes.places(axis, values[0].ndim + 1)[0]
    longer = []
    for value in values:
        shape = (*value.shape[:place], 1, *value.shape[place:])
        w = value.writer
        longer.append(w.one_op("Unsqueeze", value, w.integers([place]), shape=shape))
    return _joined(*longer, axis=place)


def _softmax(op: str, x: Value, *, axis: Any = -1) -> Value:
    if isinstance(axis, int) and x.ndim:
        return called(op, x, axis=axis)
    recipe: Written = RECIPES["softmax" if op == "Softmax" else "log_softmax"]
    return recipe(xp, x, axis=axis)


def _as_bools(function: Written) -> Written:
    """A function of bools, applied to whether numbers are not zero."""
    return lambda *values, **options: function(*[_as_bool(v) for v in values], **options)


def _as_bool(x: Value) -> Value:
    """Whether elements are not zero; runtimes get 8-bit -0 and NaN wrong."""
    is_tiny = x.dtype.kind == "float" and x.dtype.bits < 16
    return x.writer.cast(x.writer.widened(x) if is_tiny else x, BOOL)


def _close(name: str, x: Value, y: Value, **options: Any) -> Value:
    if x.dtype.kind != "float":
        x, y = (value.writer.cast(value, dtype("float64")) for value in (x, y))
    recipe: Written = RECIPES[name]
    return recipe(xp, x, y, **options)


# Each is one ONNX op, which rounds once: a small dtype is widened only if the op lacks it.
SINGLE: dict[str, Written] = {
    **_ops("add:Add sub:Sub mul:Mul div:Div pow:Pow float_power:Pow maximum:Max minimum:Min"),
    **_ops("exp:Exp log:Log sqrt:Sqrt sin:Sin tanh:Tanh reciprocal:Reciprocal erf:Erf"),
    **_ops("cos:Cos tan:Tan asin:Asin acos:Acos atan:Atan sinh:Sinh cosh:Cosh"),
    **_ops("asinh:Asinh acosh:Acosh atanh:Atanh"),
    **_ops("abs:Abs floor:Floor ceil:Ceil round:Round relu:Relu neg:Neg"),
    **_ops("eq:Equal lt:Less le:LessOrEqual gt:Greater ge:GreaterOrEqual", dtype=BOOL),
    **_ops("isnan:IsNaN isinf:IsInf", dtype=BOOL),
    **_ops("bitwise_and:BitwiseAnd bitwise_or:BitwiseOr bitwise_xor:BitwiseXor"),
    **_ops("bitwise_not:BitwiseNot"),
    "fmod": _one_op("Mod", fmod=1), "nextafter": floats.nextafter,
    "matmul": functools.partial(reductions.product, "matmul"),
    "dot": functools.partial(reductions.product, "dot"),
    "positive": _itself, "conj": _itself, "real": _itself, "imag": _zeros,
    "where": _chosen, "concat": _joined, "stack": _stacked,
    "logical_and": _as_bools(operator.and_), "logical_or": _as_bools(operator.or_),
    "logical_xor": _as_bools(_one_op("Xor")),
    "logical_not": _as_bools(xp.logical_not), "any": _as_bools(xp.any), "all": _as_bools(xp.all),
    "count_nonzero": _as_bools(xp.count),
    "einsum": layers.einsum, "pad": layers.pad, "one_hot": layers.one_hot,
    "embedding": layers.embedding, "topk": functools.partial(layers.topk, 0),
    "conv1d": layers.convolved("conv1d"), "conv2d": layers.convolved("conv2d"),
    "layer_norm": layers.layer_norm,
}  # fmt: skip
# Several ONNX ops, with no rounding allowed in between: small dtypes are widened first.
COMPOSED: dict[str, Written] = {
    **_ops("sigmoid:Sigmoid gelu:Gelu sign:Sign"),
    "ne": xp.not_equal, "isfinite": xp.isfinite, "max": xp.max, "min": xp.min, "clamp": _clamp,
    "floor_divide": floats.floor_divide,
    "remainder": floats.remainder, "trunc": floats.trunc,
    "atan2": floats.atan2, "hypot": floats.hypot,
    "expm1": floats.expm1, "log1p": floats.log1p,
    "log2": functools.partial(floats.logarithm, 2.0),
    "log10": functools.partial(floats.logarithm, 10.0),
    "signbit": xp.is_negative, "clip_above": xp.minimum,
    "exp2": lambda x: called("Pow", 2, x), "ldexp": floats.ldexp,
    "logaddexp2": floats.logaddexp2, "isclose": functools.partial(_close, "isclose"),
    "logaddexp": floats.logaddexp, "copysign": floats.copysign,
    "angle": floats.angle, "square": lambda x: x * x,
    "softmax": functools.partial(_softmax, "Softmax"),
    "log_softmax": functools.partial(_softmax, "LogSoftmax"),
    "sum": xp.sum, "mean": xp.mean, "var": reductions.var, "std": reductions.std,
    "prod": lambda x, *, axis=None, keepdims=False: xp.reduced("ReduceProd", x, axis, keepdims),
    "cumsum": functools.partial(reductions.accumulated, "CumSum"),
    "cumprod": functools.partial(reductions.accumulated, "CumProd"),
    "argmax": functools.partial(reductions.place_of, "ArgMax"),
    "argmin": functools.partial(reductions.place_of, "ArgMin"),
    "tensordot": linalg.tensordot, "vecdot": linalg.vecdot,
    "outer": linalg.outer, "inner": linalg.inner, "cross": linalg.cross,
    "kron": linalg.kron,
    "linalg.det": linalg.det, "linalg.vector_norm": linalg.vector_norm,
    "linalg.matrix_norm": linalg.matrix_norm,
    "norm": reductions.norm, "median": reductions.median,
    "allclose": functools.partial(_close, "allclose"),
    "lower_median": reductions.lower_median, "cross_entropy": layers.cross_entropy,
    "scaled_dot_product_attention": layers.scaled_dot_product_attention,
}  # fmt: skip
# These do not round in between, so a dtype that ONNX computes in is left unchanged.
_EXACT = frozenset({"fmax", "fmin", "ne", "max", "min", "clamp", "trunc", "threshold", "copysign",
                    "square", "isfinite", "argmax", "argmin", "clip_above"})  # fmt: skip
# Integers, and bool computed as integers, if they are not written like floats.
_INTEGERS: dict[str, Written] = {
    "floor_divide": integers.floor_divide, "remainder": integers.remainder,
    "fmod": integers.fmod, "pow": integers.power,
    "bitwise_left_shift": functools.partial(integers.shift, "LEFT"),
    "bitwise_right_shift": functools.partial(integers.shift, "RIGHT"),
}  # fmt: skip
_INTEGERS_DIRECTLY: dict[str, Written] = {
    **dict.fromkeys(("floor", "ceil", "round", "trunc"), _itself),
    **_ops("fmax:Max fmin:Min"),
    "signbit": lambda x: xp.less(x, 0),
    "isnan": xp.not_equal, "isinf": xp.not_equal, "isfinite": xp.equal,
}  # fmt: skip
_UNSIGNED: dict[str, Written] = {
    "neg": lambda x: called("Sub", 0, x),
    "relu": _itself,
    "abs": _itself,
}
_BOOLS: dict[str, Written] = {
    **_ops("add:Or sub:Xor mul:And maximum:Or minimum:And fmax:Or fmin:And ne:Xor"),
    **_ops("bitwise_and:And bitwise_or:Or bitwise_xor:Xor bitwise_not:Not"),
    **dict.fromkeys(("abs", "sign", "square", "relu"), _itself),
    "lt": lambda x, y: ~x & y, "le": lambda x, y: ~x | y, "gt": lambda x, y: x & ~y,
    "ge": lambda x, y: x | ~y, "pow": lambda x, y: x | ~y, "max": xp.any, "min": xp.all,
    "div": operator.and_, "signbit": lambda x: x & ~x,
    "where": _chosen_bool, "clamp": _clamp_bool, "addcmul": lambda x, y, z: x | (y & z),
}  # fmt: skip


# Which operands have the compute dtype, if a condition or an exponent has another dtype.
_COMPUTED = {"where": slice(1, None), "ldexp": slice(0, 1), "embedding": slice(1, None),
             "cross_entropy": slice(0, 1)}  # fmt: skip
# Ops that move numbers, including complex ones.
_MOVES = frozenset({"where", "concat", "stack", "positive", "embedding"})


def write_op(name: str, values: Sequence[Value], options: Mapping[str, Any]) -> Value:
    """The value of an op, computed as castwise computes it.

    Raises LackingError if ONNX cannot express it.
    """
    part = _COMPUTED.get(name, slice(None))
    computed = values[part]
    held = computed[0].dtype
    if held.rank < 2 and not (held.kind == "bool" and name in _BOOLS) and _is_of_floats(name):
        raise LackingError(f"{name} is computed in floats, not in {held}")
    if len({value.dtype for value in computed}) > 1:
        raise LackingError("its operands have different dtypes, and the graph has no cast for them")
    if held.kind == "complex":
        if name in _MOVES:
            return SINGLE[name](*values, **options)
        return write_complex(name, values, options)
    function, widens = _chosen_function(name, computed[0])
    if not widens:
        return _applied(name, function, values, options)
    w = values[0].writer
    wide = [w.widened(value) for value in values]
    result = _applied(name, function, wide, options)
    return w.cast(result, held) if result.dtype is wide[part][0].dtype else result


def _is_of_floats(name: str) -> bool:
    row = known_op(name)
    return row is not None and not {"bool", "int"} & {d.kind for d in dtypes_of(row.computes)}


def _chosen_function(name: str, main: Value) -> tuple[Written, bool]:
    """How an op is written for a dtype, and whether it is computed in a wider one."""
    held = main.dtype
    if held.kind == "bool" and name in _BOOLS:
        return _BOOLS[name], False
    if held.kind != "float":
        if not held.is_signed and name in _UNSIGNED:
            return _UNSIGNED[name], False
        if name in ("isnan", "isinf", "isfinite"):
            return lambda x: _INTEGERS_DIRECTLY[name](x, x), not main.writer.takes("Equal", held)
        if name in _INTEGERS_DIRECTLY:
            return _INTEGERS_DIRECTLY[name], False
        if name in _INTEGERS:
            return _INTEGERS[name], True
    if name in SINGLE:
        return SINGLE[name], False
    widens = not (name in _EXACT and main.writer.takes("Mul", held))
    if name in COMPOSED:
        return COMPOSED[name], widens
    if name in RECIPES:  # castwise's compositions, written for any namespace of the standard
        return functools.partial(RECIPES[name], _Standard()), widens
    raise LackingError(_not_written(name))


class _Standard:
    """The namespace for recipes: its own functions, and the ops that are functions of floats."""

    def __getattr__(self, name: str) -> Any:
        row = known_op(name)
        if name in vars(xp) or row is None or row.family not in _FUNCTIONS_OF_FLOATS:
            return getattr(xp, name)
        return SINGLE.get(name) or COMPOSED.get(name) or getattr(xp, name)


_FUNCTIONS_OF_FLOATS = ("unary float functions", "float functions")


def _not_written(name: str) -> str:
    """The error text for an op; ONNX has no ops at all for the standard's extensions."""
    return f"ONNX has no op for {name}" if "." in name else f"castwise cannot write {name}"


def _applied(
    name: str, function: Written, values: Sequence[Value], options: Mapping[str, Any]
) -> Value:
    try:
        inspect.signature(function).bind(*values, **options)
    except TypeError as error:
        said = ", ".join(f"{key}={value!r}" for key, value in options.items()) or "no options"
        raise LackingError(f"castwise cannot write {name} with {said} in ONNX") from error
    return function(*values, **options)
