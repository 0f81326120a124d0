"""A graph as an ONNX model: every node in standard ops, no promotion left to the runtime."""

from __future__ import annotations

import functools
from os import PathLike
from pathlib import Path
from typing import Any

import castwise
from castwise.errors import UsageError
from castwise.graph.ir import CAST, CONSTANT, INPUT, Graph, Node
from castwise.graph.onnx_dtypes import LackingError, element_type, onnx_package
from castwise.graph.onnx_layouts import write_layout
from castwise.graph.onnx_ops import write_op
from castwise.graph.onnx_writer import Value, Writer
from castwise.graph.text import node_names

OLDEST = 18  # the first opset in which reductions take their axes as an input, and with bits


def graph_to_onnx(
    graph: Graph, path: str | PathLike[str] | None = None, *, opset: int | None = None
) -> Any:
    """The graph as an onnx.ModelProto, checked, and written to a file where a path is given.

    Raises UsageError where onnx is not installed, or naming all that ONNX cannot say.
    """
    onnx = onnx_package()
    chosen = current_opset() if opset is None else _checked_opset(opset)
    model = _model(graph, _written(graph, Writer(chosen)), chosen)
    onnx.checker.check_model(model, full_check=True)
    if path is not None:
        Path(path).write_bytes(model.SerializeToString())
    return model


def current_opset() -> int:
    """The newest opset that onnx knows and, where it is installed, onnxruntime takes."""
    newest: int = onnx_package().defs.onnx_opset_version()
    return next((n for n in range(newest, OLDEST, -1) if _is_taken(n)), OLDEST)


@functools.cache
def _is_taken(opset: int) -> bool:
    """Whether the installed onnxruntime loads models of an opset; true where there is none."""
    try:
        import onnxruntime
    except ImportError:
        return True
    helper = onnx_package().helper
    ends = [helper.make_tensor_value_info(name, 1, ()) for name in ("x", "y")]
    body = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "probe", *map(_one, ends))
    quiet = onnxruntime.SessionOptions()
    quiet.log_severity_level = 4
    try:
        onnxruntime.InferenceSession(_stamped(body, opset).SerializeToString(), quiet,
                                     providers=["CPUExecutionProvider"])  # fmt: skip
    except Exception:  # its errors have no common class but Exception
        return False
    return True


def _one(thing: Any) -> list[Any]:
    return [thing]


def _checked_opset(opset: int) -> int:
    newest = onnx_package().defs.onnx_opset_version()
    if not OLDEST <= opset <= newest:
        raise UsageError(f"opset is {OLDEST} to {newest} with the installed onnx, not {opset}.")
    return opset


def _stamped(body: Any, opset: int) -> Any:
    """A model of an opset, in the oldest file format that has it."""
    helper = onnx_package().helper
    opsets = [helper.make_opsetid("", opset)]
    return helper.make_model(
        body,
        opset_imports=opsets,
        ir_version=helper.find_min_ir_version_for(opsets),
        producer_name="castwise",
        producer_version=castwise.__version__,
    )


def _written(graph: Graph, w: Writer) -> tuple[Writer, dict[Node, Value]]:
    """All nodes of the graph in ONNX, each under the name it has in the graph's text."""
    names = node_names(graph)
    _check_names(graph)
    for number, node in reversed(list(enumerate(graph.outputs))):
        if node.op not in (INPUT, CONSTANT):
            names[node] = f"out{number}"
    values: dict[Node, Value] = {}
    lacking: dict[str, None] = {}
    for node in graph.nodes:
        w.prefix = names[node]
        first = len(w.nodes)
        try:
            value = _value(node, [values[source] for source in node.inputs], w)
        except LackingError as error:
            lacking[_told(node, error)] = None
            value = Value(w, names[node], node.dtype, node.shape)
        values[node] = _named(w, value, first, names[node])
        _describe(w.nodes[first:], node)
    if lacking:
        raise UsageError("\n".join(["this graph cannot be written in ONNX:", *lacking]))
    return w, values


def _check_names(graph: Graph) -> None:
    taken = {f"out{number}" for number in range(len(graph.outputs))}
    for node in graph.inputs:
        if node.name in taken:
            raise UsageError(f"the parameter {node.name} has the name of an output: rename it.")


def _value(node: Node, given: list[Value], w: Writer) -> Value:
    element_type(node.dtype)
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
    if node.decision is None:
        return write_layout(node.op, given[0], node.shape, node.options)
    return w.cast(write_op(node.op, given, node.options), node.dtype)


def _told(node: Node, error: LackingError) -> str:
    where = f"{node.origin}: `{node.origin.text}`: " if node.origin else ""
    given = ", ".join(source.type for source in node.inputs)
    what = f"{node.op}({given})" if given else f"{node.name or node.op} {node.type}"
    return f"- {where}{what}: {error}."


def _named(w: Writer, value: Value, first: int, name: str) -> Value:
    """The value under the name of its node, if it was written for it."""
    made = w.nodes[first:]
    if not any(value.name in node.output for node in made):
        return value
    for node in made:
        node.input[:] = [name if n == value.name else n for n in node.input]
        node.output[:] = [name if n == value.name else n for n in node.output]
    return Value(w, name, value.dtype, value.shape, value.number)


def _describe(made: list[Any], node: Node) -> None:
    """Says of ONNX's nodes which op they write, and where it stands in the user's source."""
    for n, written in enumerate(made):
        written.name = f"{written.output[0]}: {node.op}" if n == len(made) - 1 else ""
        if node.origin:
            written.doc_string = f"{Path(node.origin.file).name}:{node.origin.line}"


def _model(graph: Graph, written: tuple[Writer, dict[Node, Value]], opset: int) -> Any:
    w, values = written
    helper = onnx_package().helper

    def info(name: str, node: Node) -> Any:
        return helper.make_tensor_value_info(name, element_type(node.dtype), node.shape)

    for number, node in enumerate(graph.outputs):
        value = values[node]
        if value.name != f"out{number}":  # an input, a constant, or given twice
            w.nodes.append(helper.make_node("Identity", [value.name], [f"out{number}"]))
    body = helper.make_graph(
        w.nodes,
        graph.name,
        [info(node.name, node) for node in graph.inputs],
        [info(f"out{number}", node) for number, node in enumerate(graph.outputs)],
        initializer=[tensor for _, tensor in w.constants.values()],
        doc_string=f"under the promotion rules of {graph.dialect.name}",
    )
    return _stamped(body, opset)
