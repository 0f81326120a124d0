"""A program as an ONNX model: every node in standard ops, no promotion left to the runtime.

The tables come first: how each op is written for floats, integers and bools. `write_op` chooses
from them, and `program_to_onnx` writes a whole program.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from castwise.arrays.functions import RECIPES
from castwise.errors import UsageError
from castwise.graph.onnx import arrays as xp
from castwise.graph.onnx import functions
from castwise.graph.onnx.complex import cast_complex, write_complex
from castwise.graph.onnx.functions import WRITTEN_OUT, before_cast, topk
from castwise.graph.onnx.indexing import write_arange, write_layout
from castwise.graph.onnx.runtimes import (
    ONNX_NAMES,
    LackingError,
    Runtime,
    chosen_opset,
    element_type,
    onnx_package,
    runtime_loads,
    runtime_named,
    stamped_model,
)
from castwise.graph.onnx.writer import BOOL, StandIns, Value, Writer, called
from castwise.graph.passes import with_kernels_written_out, with_powers_written_out
from castwise.graph.program import CAST, CONSTANT, INPUT, Node, Program, node_names
from castwise.vocab.dtypes import dtype, dtypes_named
from castwise.vocab.ops import known_op

# How ops are written.

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


def _clamp(x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    raised = x if low is None else called("Max", x, low)
    return raised if high is None else called("Min", raised, high)


def _clamp_bool(x: Value, low: Value | None = None, high: Value | None = None) -> Value:
    raised = x if low is None else x | low
    return raised if high is None else raised & high


def _chosen_bool(condition: Value, x: Value, y: Value) -> Value:
    """Selects bools, because runtimes have no Where for them."""
    chooses = condition.writer.cast(condition, BOOL)
    return (chooses & x) | (~chooses & y)


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
_SINGLE: dict[str, Written] = {
    **_ops("add:Add sub:Sub mul:Mul div:Div pow:Pow float_power:Pow maximum:Max minimum:Min"),
    **_ops("exp:Exp log:Log sqrt:Sqrt sin:Sin tanh:Tanh reciprocal:Reciprocal erf:Erf"),
    **_ops("cos:Cos tan:Tan asin:Asin acos:Acos atan:Atan sinh:Sinh cosh:Cosh"),
    **_ops("asinh:Asinh acosh:Acosh atanh:Atanh"),
    **_ops("abs:Abs floor:Floor ceil:Ceil round:Round relu:Relu neg:Neg"),
    **_ops("eq:Equal lt:Less le:LessOrEqual gt:Greater ge:GreaterOrEqual", dtype=BOOL),
    **_ops("isnan:IsNaN isinf:IsInf", dtype=BOOL),
    **_ops("bitwise_and:BitwiseAnd bitwise_or:BitwiseOr bitwise_xor:BitwiseXor"),
    **_ops("bitwise_not:BitwiseNot"),
    "fmod": _one_op("Mod", fmod=1), "nextafter": functions.nextafter,
    "matmul": partial(functions.product, "matmul"), "dot": partial(functions.product, "dot"),
    "positive": _itself, "conj": _itself, "real": _itself,
    "imag": lambda x: x.writer.filled(0, x.dtype, x.shape),
    "where": lambda condition, x, y: xp.where(condition.writer.cast(condition, BOOL), x, y),
    "concat": functions.joined, "stack": functions.stacked,
    "logical_and": _as_bools(operator.and_), "logical_or": _as_bools(operator.or_),
    "logical_xor": _as_bools(_one_op("Xor")),
    "logical_not": _as_bools(xp.logical_not), "any": _as_bools(xp.any), "all": _as_bools(xp.all),
    "count_nonzero": _as_bools(xp.count),
    "einsum": functions.einsum, "pad": functions.pad, "one_hot": functions.one_hot,
    "embedding": functions.embedding, "topk": partial(functions.topk, 0),
    "conv1d": partial(functions.convolved, "conv1d"), "layer_norm": functions.layer_norm,
    "conv2d": partial(functions.convolved, "conv2d"),
}  # fmt: skip
_NAMED_ALIKE = (
    "floor_divide remainder trunc atan2 hypot expm1 log1p ldexp logaddexp logaddexp2 copysign angle"
    " var std tensordot vecdot outer inner cross kron norm median lower_median cross_entropy"
    " scaled_dot_product_attention"
)
# Several ONNX ops, with no rounding allowed in between: small dtypes are widened first.
_COMPOSED: dict[str, Written] = {
    **_ops("sigmoid:Sigmoid gelu:Gelu sign:Sign"),
    "ne": xp.not_equal, "isfinite": xp.isfinite, "max": xp.max, "min": xp.min, "clamp": _clamp,
    **{name: getattr(functions, name) for name in _NAMED_ALIKE.split()},
    "log2": partial(functions.logarithm, 2.0), "log10": partial(functions.logarithm, 10.0),
    "signbit": xp.is_negative, "clip_above": xp.minimum, "exp2": lambda x: called("Pow", 2, x),
    "isclose": partial(_close, "isclose"), "allclose": partial(_close, "allclose"),
    "softmax": partial(_softmax, "Softmax"), "log_softmax": partial(_softmax, "LogSoftmax"),
    "square": lambda x: x * x, "sum": xp.sum, "mean": xp.mean,
    "prod": partial(xp.reduced, "ReduceProd"),
    "cumsum": partial(functions.accumulated, "CumSum"),
    "cumprod": partial(functions.accumulated, "CumProd"),
    "argmax": partial(functions.extreme_place, "ArgMax"),
    "argmin": partial(functions.extreme_place, "ArgMin"),
    "linalg.det": functions.det, "linalg.vector_norm": functions.vector_norm,
    "linalg.matrix_norm": functions.matrix_norm,
}  # fmt: skip
# These do not round in between, so a dtype that ONNX computes in is left unchanged.
_EXACT = frozenset({"fmax", "fmin", "ne", "max", "min", "clamp", "trunc", "threshold", "copysign",
                    "square", "isfinite", "argmax", "argmin", "clip_above"})  # fmt: skip
# Integers, and bool computed as integers, if they are not written like floats.
_INTEGERS: dict[str, Written] = {
    "floor_divide": functions.floor_divide_integers, "remainder": functions.remainder_integers,
    "fmod": functions.fmod, "pow": functions.power,
    "bitwise_left_shift": partial(functions.shift, "LEFT"),
    "bitwise_right_shift": partial(functions.shift, "RIGHT"),
}  # fmt: skip
_INTEGERS_DIRECTLY: dict[str, Written] = {
    **dict.fromkeys(("floor", "ceil", "round", "trunc"), _itself),
    **_ops("fmax:Max fmin:Min"),
    "signbit": lambda x: xp.less(x, 0),
    "isnan": xp.not_equal, "isinf": xp.not_equal, "isfinite": xp.equal,
}  # fmt: skip
_UNSIGNED: dict[str, Written] = {
    "neg": lambda x: called("Sub", 0, x), "relu": _itself, "abs": _itself,
}  # fmt: skip
_BOOLS: dict[str, Written] = {
    **_ops("add:Or sub:Xor mul:And maximum:Or minimum:And fmax:Or fmin:And ne:Xor"),
    **_ops("bitwise_and:And bitwise_or:Or bitwise_xor:Xor bitwise_not:Not"),
    **dict.fromkeys(("abs", "sign", "square", "relu"), _itself),
    "lt": lambda x, y: ~x & y, "le": lambda x, y: ~x | y, "gt": lambda x, y: x & ~y,
    "ge": lambda x, y: x | ~y, "pow": lambda x, y: x | ~y, "max": xp.any, "min": xp.all,
    "div": operator.and_, "signbit": lambda x: x & ~x,
    "where": _chosen_bool, "clamp": _clamp_bool, "addcmul": lambda x, y, z: x | (y & z),
}  # fmt: skip


# One op, by these tables.

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
    if held.rank < 2 and not (held.kind == "bool" and name in _BOOLS) and _needs_floats(name):
        raise LackingError(f"{name} is computed in floats, not in {held}")
    if len({value.dtype for value in computed}) > 1:
        raise LackingError("its operands have different dtypes, and the graph has no cast for them")
    if held.kind == "complex":
        if name in _MOVES:
            return _SINGLE[name](*values, **options)
        return write_complex(name, values, options)
    function, widens = _chosen_function(name, computed[0])
    if not widens:
        return _applied(name, function, values, options)
    w = values[0].writer
    wide = [w.widened(value) for value in values]
    result = _applied(name, function, wide, options)
    return w.cast(result, held) if result.dtype is wide[part][0].dtype else result


def _needs_floats(name: str) -> bool:
    """Whether an op computes in neither bools nor integers."""
    row = known_op(name)
    return row is not None and not {"bool", "int"} & {d.kind for d in dtypes_named(row.computes)}


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
    if name in _SINGLE:
        return _SINGLE[name], False
    widens = not (name in _EXACT and main.writer.takes("Mul", held))
    if name in _COMPOSED:
        return _COMPOSED[name], widens
    if name in RECIPES:  # castwise's compositions, written for any namespace of the standard
        return partial(RECIPES[name], _Standard()), widens
    # ONNX has no ops at all for the standard's extensions, such as linalg.inv.
    what = "ONNX has no op for" if "." in name else "castwise cannot write"
    raise LackingError(f"{what} {name}")


_FUNCTIONS_OF_FLOATS = ("unary float functions", "float functions")


class _Standard:
    """The namespace for recipes: its own functions, and the ops that are functions of floats."""

    def __getattr__(self, name: str) -> Any:
        row = known_op(name)
        if name in vars(xp) or row is None or row.family not in _FUNCTIONS_OF_FLOATS:
            return getattr(xp, name)
        return _SINGLE.get(name) or _COMPOSED.get(name) or getattr(xp, name)


def _applied(
    name: str, function: Written, values: Sequence[Value], options: Mapping[str, Any]
) -> Value:
    try:
        inspect.signature(function).bind(*values, **options)
    except TypeError as error:
        said = ", ".join(f"{key}={value!r}" for key, value in options.items()) or "no options"
        raise LackingError(f"castwise cannot write {name} with {said} in ONNX") from error
    return function(*values, **options)


# A whole program.


def new_writer(opset: int, runtime: Runtime | None = None) -> Writer:
    """A writer for an opset and a runtime, with replacements for what they lack."""
    return Writer(opset, runtime, StandIns(cast_complex, before_cast, WRITTEN_OUT))


def program_to_onnx(
    program: Program,
    path: str | PathLike[str] | None = None,
    *,
    opset: int | None = None,
    runtime: str | None = None,
) -> Any:
    """The program as a checked onnx.ModelProto, also written to a file if a path is given.

    Raises UsageError if onnx is not installed, or with a list of everything that ONNX, or the
    model's runtime, cannot express.
    """
    onnx = onnx_package()
    target = None if runtime is None else runtime_named(runtime)
    chosen = chosen_opset(opset, target)
    output_names = {name for name, _ in _model_outputs(program)}
    for node in _model_inputs(program):
        if node.name in output_names:
            raise UsageError(f"the parameter {node.name} is named like an output: rename it.")
    program = with_kernels_written_out(with_powers_written_out(program))
    program = replace(program, checks=())  # no op of ONNX raises
    model = _model(program, _with_all_nodes(program, new_writer(chosen, target)))
    onnx.checker.check_model(model, full_check=True)
    if target and runtime_loads(model) is False:
        raise UsageError(
            f"the installed {target.name} does not load this model, which is written for its "
            f"version {target.version}: install that, or a newer one."
        )
    if path is not None:
        Path(path).write_bytes(model.SerializeToString())
    return model


def _with_all_nodes(program: Program, w: Writer) -> Writer:
    """All nodes of the program in ONNX, each with its name in the program's text."""
    names = node_names(program)
    ends = _model_outputs(program)
    for name, node in reversed(ends):
        if node.op not in (INPUT, CONSTANT):
            names[node] = name
    values: dict[Node, Value] = {}
    lacking: dict[str, None] = {}
    for node in program.nodes:
        try:
            values[node] = _named(w, names[node], node, _value(node, values, w, names[node]))
        except LackingError as error:
            # If ONNX lacks the dtype of an input, the error for that input says so.
            if all(source.dtype.name in ONNX_NAMES for source in node.inputs):
                lacking[_problem(node, error)] = None
            values[node] = Value(w, names[node], node.dtype, node.shape)
    for name, node in ends:
        if values[node].name != name:  # an input, a constant, or a repeated output
            try:
                _named(w, name, node, w.one_op("Identity", values[node]))
            except LackingError as error:
                lacking[_problem(node, error)] = None
    if lacking:
        raise UsageError("\n".join(["this graph cannot be written in ONNX:", *lacking]))
    return w


def _model_inputs(program: Program) -> list[Node]:
    """The inputs of the model: those of the program, then its state."""
    return list(dict.fromkeys([*program.inputs, *[state.before for state in program.state]]))


def _model_outputs(program: Program) -> list[tuple[str, Node]]:
    """The outputs of the model by name: those of the program, then the state that is written."""
    outputs = [(f"out{number}", node) for number, node in enumerate(program.outputs)]
    return outputs + [(f"{s.name}_out", s.after) for s in program.state if s.is_written]


def _value(node: Node, values: dict[Node, Value], w: Writer, name: str) -> Value:
    w.check_dtype(node.dtype)
    w.prefix, w.first = name, len(w.nodes)
    given = [values[source] for source in node.inputs]
    if node.op == INPUT:
        value = Value(w, node.name, node.dtype, node.shape)
        for place, size in enumerate(node.shape):
            if isinstance(size, str):
                w.sources.setdefault(size, (value, place))
        return value
    if node.op == CONSTANT:
        return w.constant(node.value, node.dtype)
    if node.op == CAST:
        return w.cast(given[0], node.dtype)
    if node.op == "arange":
        return write_arange(w, node.dtype, node.shape, node.options)
    if node.compute is None:
        return write_layout(node.op, given, node.shape, node.options)
    if node.op == "topk" and node.part:
        return w.cast(topk(node.part, *given, **node.options), node.dtype)
    if len(node.positional) < len(given) or (node.part is not None and node.op != "topk"):
        raise LackingError(f"ONNX has no op for {node.op}")
    return w.cast(write_op(node.op, given, node.options), node.dtype)


def _problem(node: Node, error: LackingError) -> str:
    where = f"{node.origin}: `{node.origin.text}`: " if node.origin else ""
    given = ", ".join(source.type for source in node.inputs)
    what = f"{node.op}({given})" if given else f"{node.name or node.op} {node.type}"
    return f"- {where}{what}: {error}."


def _named(w: Writer, name: str, node: Node, value: Value) -> Value:
    """The value under the name of its node, if it was written for that node.

    Its ONNX nodes say which op they belong to, and its line in the user's source.
    """
    made = w.nodes[w.first :]
    w.first = len(w.nodes)
    where = f" at {Path(node.origin.file).name}:{node.origin.line}" if node.origin else ""
    for written in made:
        written.input[:] = [name if n == value.name else n for n in written.input]
        written.output[:] = [name if n == value.name else n for n in written.output]
        written.name = written.output[0]
        written.doc_string = f"{node.op}{where}"
    if not any(name in written.output for written in made):
        return value
    return Value(w, name, value.dtype, value.shape, value.number)


def _model(program: Program, w: Writer) -> Any:
    helper = onnx_package().helper

    def info(name: str, node: Node) -> Any:
        return helper.make_tensor_value_info(name, element_type(node.dtype), node.shape)

    inputs = [info(node.name, node) for node in _model_inputs(program)]
    outputs = [info(name, node) for name, node in _model_outputs(program)]
    about = f"under the promotion rules of {program.dialect.name}"
    body = helper.make_graph(w.nodes, program.name, inputs, outputs,
                             initializer=list(w.constants.values()), doc_string=about)  # fmt: skip
    return stamped_model(body, w.opset)
