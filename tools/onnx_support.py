"""Which ops castwise can write in ONNX: every op in every dtype, tried one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from castwise.catalog import to_dialect
from castwise.conformance.questions import OF_SHAPES_ALONE
from castwise.graph.onnx.export import new_writer, program_to_onnx, write_op
from castwise.graph.onnx.runtimes import ONNX_NAMES, LackingError, runtime_loads
from castwise.graph.onnx.writer import Value
from castwise.graph.program import CAST, INPUT, Node, Program, Shape, Slot
from castwise.graph.recording import recording_backend
from castwise.graph.traced import Traced
from castwise.vocab.dtypes import DTYPES, DType, dtype, dtypes_named
from castwise.vocab.ops import LAYERS, OPS, op

_NAMES = ("x", "y", "z")


def one_op_program(
    name: str,
    held: DType,
    shapes: tuple[Shape, ...],
    options: Mapping[str, Any] | None = None,
    outside: DType | None = None,
) -> Program:
    """A program of one op computed in a dtype; `outside` is the dtype of its inputs and its result.

    It casts between `outside` and the op's own dtype, so that a dtype can be tested even if the
    runtime does not accept arrays of it.
    """
    row, dialect = op(name), to_dialect(None)
    inputs, given = [], []
    for place, shape in enumerate(shapes):
        wanted = dtype("bool") if row.is_condition_first and place == 0 else held
        entered = outside if outside and wanted is held else wanted
        inputs.append(Node(INPUT, (), entered, shape, name=_NAMES[place]))
        given.append(_cast(inputs[-1], wanted))
    arrays = [Traced(node) for node in given]
    function = recording_backend(dialect).function(name, held)
    assert function is not None  # the recording backend has all ops
    said = dict(options or {})
    made = function(arrays, **said) if row.family == "joining" else function(*arrays, **said)
    node = replace(made.node, origin=None)
    result = _cast(node, outside) if outside and node.dtype is held else node
    return Program(name, dialect, tuple(inputs), (result,), Slot(0))


def _cast(node: Node, held: DType) -> Node:
    return node if node.dtype is held else Node(CAST, (node,), held, node.shape)


def count_of_operands(name: str) -> int:
    """How many operands an op is tried with."""
    low, high = OPS[name].arity
    return high if high <= len(_NAMES) else max(low, 2)


@dataclass(frozen=True, slots=True)
class Support:
    """How an op is written for a dtype: as one op of ONNX, composed of several, or not at all."""

    op: str
    dtype: DType
    how: str  # "one op", "composed" or "none"
    is_widened: bool = False
    has_kernels: bool = False  # onnxruntime can run it, and so judges it too
    why: str = ""  # why it cannot be written


def computing_ops() -> tuple[str, ...]:
    """The ops that compute something of any shape, except those that only answer questions."""
    others = {*LAYERS, *OF_SHAPES_ALONE}
    return tuple([
        name for name, row in OPS.items() if row.family != "questions" and name not in others
    ])  # fmt: skip


def cells() -> Iterator[tuple[str, DType]]:
    """Every op with every dtype that it computes in and that ONNX has."""
    for name in computing_ops():
        for held in dtypes_named(OPS[name].computes):
            if held.name in ONNX_NAMES:
                yield name, held


def support(name: str, held: DType, opset: int, *, asks_runtime: bool = False) -> Support:
    """How an op is written for a dtype in an opset."""
    shape: Shape = (3, 3)  # it also has a cross product
    program = one_op_program(name, held, (shape,) * count_of_operands(name), needed_options(name))
    node = program.outputs[0]
    w = new_writer(opset)
    given = [Value(w, source.name, source.dtype, source.shape) for source in node.inputs]
    try:
        write_op(name, given, node.options)
    except LackingError as error:
        return Support(name, held, "none", why=str(error))
    ops = [written.op_type for written in w.nodes if written.op_type != "Cast"]
    runs = asks_runtime and bool(runtime_loads(program_to_onnx(program, opset=opset)))
    return Support(name, held, "composed" if len(ops) > 1 else "one op", w.has_widened, runs)


def needed_options(name: str) -> dict[str, Any]:
    """The options that an op needs to be defined for matrices."""
    return {"axis": 1} if name in ("cumsum", "cumprod") else {}


def lacking_dtypes() -> tuple[DType, ...]:
    """The dtypes that ONNX lacks."""
    return tuple([held for held in DTYPES if held.name not in ONNX_NAMES])


# Known errors or inaccuracies of the reference: (op, dtypes) -> why.
REFERENCE_DIFFERS = {
    ("erf", "float64"): "it computes erf in float32",
    ("gelu", "float64"): "it computes erf in float32",
}
RUNTIME_DIFFERS = {
    ("sigmoid", "float32"): "its Sigmoid is exact in absolute, not in relative terms",
    ("sigmoid", "float64"): "its Sigmoid is exact in absolute, not in relative terms",
    ("sum", "int64"): "its ReduceSum rounds int64 sums beyond 2**53",
    ("xlogy", "float8_e4m3fn"): "its Cast takes 480 for in range",
    ("addcdiv", "float8_e5m2"): "its Cast makes NaN of what rounds up to infinity",
    ("xlogy", "float8_e5m2"): "its Cast makes NaN of what rounds up to infinity",
}
