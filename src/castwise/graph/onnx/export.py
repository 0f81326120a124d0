"""A program as an ONNX model: every node in standard ops, no promotion left to the runtime."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from castwise.errors import UsageError
from castwise.graph.node_names import node_names
from castwise.graph.onnx.dtypes import ONNX_NAMES, LackingError, element_type, onnx_package
from castwise.graph.onnx.functions.layers import topk
from castwise.graph.onnx.installed import chosen_opset, runtime_loads, stamped_model
from castwise.graph.onnx.layouts import counted, write_layout
from castwise.graph.onnx.ops import write_op
from castwise.graph.onnx.runtimes import runtime_named
from castwise.graph.onnx.stand_ins import new_writer
from castwise.graph.onnx.writer import Value, Writer
from castwise.graph.passes.kernels import with_kernels_written_out
from castwise.graph.program import CAST, CONSTANT, INPUT, Node, Program


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
    _check_names(program)
    program = with_kernels_written_out(program)
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
    ends = _ends(program)
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


def _starts(program: Program) -> list[Node]:
    """The inputs of the model: those of the program, then its state."""
    return list(dict.fromkeys([*program.inputs, *[state.before for state in program.state]]))


def _ends(program: Program) -> list[tuple[str, Node]]:
    """The outputs of the model by name: those of the program, then the state that is written."""
    outputs = [(f"out{number}", node) for number, node in enumerate(program.outputs)]
    return outputs + [(f"{s.name}_out", s.after) for s in program.state if s.is_written]


def _check_names(program: Program) -> None:
    end_names = {name for name, _ in _ends(program)}
    for node in _starts(program):
        if node.name in end_names:
            raise UsageError(f"the parameter {node.name} is named like an output: rename it.")


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
        return counted(w, node.dtype, node.shape, node.options)
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

    body = helper.make_graph(
        w.nodes,
        program.name,
        [info(node.name, node) for node in _starts(program)],
        [info(name, node) for name, node in _ends(program)],
        initializer=list(w.constants.values()),
        doc_string=f"under the promotion rules of {program.dialect.name}",
    )
    return stamped_model(body, w.opset)
