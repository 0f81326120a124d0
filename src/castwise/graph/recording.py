"""The recording backend: its arrays are nodes of a graph, its computations add to it."""

from __future__ import annotations

import functools
import linecache
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from castwise.errors import UsageError
from castwise.execute.alike import LIKE
from castwise.execute.backend import Backend
from castwise.frameworks.catalog import DEFAULT, dialect_named
from castwise.frameworks.dialect import Dialect
from castwise.frameworks.value_rules import Values
from castwise.graph import layouts, shapes
from castwise.graph.ir import CAST, CONSTANT, Node, Origin
from castwise.vocab.dtypes import DTYPES, DType, dtype
from castwise.vocab.live import to_dtype
from castwise.vocab.operands import Scalar
from castwise.vocab.ops import Op, op

_PACKAGE = str(Path(__file__).parents[1])


class Traced:
    """An array of the recording backend: a node, and no values."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

    @property
    def shape(self) -> Any:
        """The sizes, which may be names."""
        return self.node.shape

    @property
    def dtype(self) -> DType:
        """castwise's own dtype object."""
        return self.node.dtype

    def __getitem__(self, key: Any) -> Traced:
        shape = shapes.indexed(self.node.shape, key)
        return layouts.added(self, "getitem", shape, {"key": key})  # type: ignore[no-any-return]


class _Recording:
    name = "graph"
    speaks = DEFAULT
    dtypes = frozenset(DTYPES)
    namespace = layouts
    takes_constants = True

    def __init__(self, dialect: Dialect) -> None:
        self.values = rules_of_nodes(dialect)

    def owns(self, thing: Any) -> bool:
        """Whether something is a node of a graph."""
        return isinstance(thing, Traced)

    def is_concrete(self, array: Any) -> bool:
        """A node has no values."""
        return False

    def dtype_of(self, array: Any) -> DType:
        """The dtype of a node."""
        return array.node.dtype  # type: ignore[no-any-return]

    def native(self, dtype: DType) -> Any:
        """castwise's own dtype object."""
        return dtype

    def make(self, data: Any, dtype: DType | None, *, copy: bool | None, device: Any) -> Any:
        """A constant."""
        if isinstance(data, Traced):
            return data if dtype in (None, data.node.dtype) else self.cast(data, dtype)
        import numpy as np

        array = np.asarray(data)
        made = Traced(Node(CONSTANT, (), to_dtype(array.dtype), tuple(array.shape), value=array,
                           origin=user_origin()))  # fmt: skip
        return made if dtype in (None, made.node.dtype) else self.cast(made, dtype)

    def cast(self, array: Any, dtype: DType) -> Any:
        """A cast node; whether promotion made it shows where the op is known."""
        source = array.node
        return Traced(Node(CAST, (source,), dtype, source.shape, origin=user_origin()))

    def number(self, value: Scalar, dtype: DType) -> Any:
        """A 0-d constant."""
        return Traced(Node(CONSTANT, (), dtype, (), value=value, origin=user_origin()))

    def function(self, op_name: str, dtype: DType) -> Callable[..., Any] | None:
        """What adds a node of the op."""
        row = op(LIKE.get(op_name, op_name))

        def record(*operands: Any, **options: Any) -> Traced:
            if op_name in ("tensordot", "vecdot") or "." in op_name:
                raise UsageError(f"{user_origin()}: {op_name} has no node in a graph: use matmul.")
            given = operands[0] if row.family == "joining" else operands
            inputs = tuple([array.node for array in given])
            shape = shape_of(row, [node.shape for node in inputs], options)
            result = natural_result(row, dtype)
            return Traced(Node(op_name, inputs, result, shape, options, origin=user_origin(),
                               compute=dtype))  # fmt: skip

        return record

    def write(self, array: Any, key: Any, values: Any) -> Any:
        """New values for the whole; a part of an array is not written in a graph."""
        if key is not Ellipsis:
            raise UsageError(
                f"{user_origin()}: x[i] = value has no node in a graph: use where, or concat."
            )
        shape = shapes.broadcast([array.node.shape, values.node.shape])
        return values if shape == values.node.shape else layouts.broadcast_to(values, shape)

    def to_numpy(self, array: Any) -> Any:
        """Refuses: a graph is traced without values."""
        origin = user_origin()
        where = f"{origin}: `{origin.text}`" if origin else "here"
        raise UsageError(
            f"{where} needs the value of a {array.node.type}, and a graph is traced without "
            "values: write it with where, or leave this part out of the traced function."
        )


@functools.lru_cache(maxsize=64)
def recording_under(dialect: Dialect) -> Backend:
    """The recording backend for programs of a dialect."""
    return _Recording(dialect)


def rules_of_nodes(dialect: Dialect) -> Values:
    """What the nodes of a graph compute where arithmetic leaves a choice: as NumPy does, whatever
    the dialect, whose own rules are nodes themselves; save that subnormals are its own."""
    plain = dialect_named(DEFAULT).values
    return replace(plain, subnormals=dialect.values.subnormals)


def natural_result(row: Op, compute: DType) -> DType:
    """The dtype an op computed in a dtype gives, before it is cast to what the dialect decided."""
    if row.result in ("same", "first"):
        return compute
    named = {"bool": "bool", "index": "int64"}.get(row.result)
    return compute.part if row.result == "real" else dtype(named or row.result)


def shape_of(row: Op, given: list[Any], options: dict[str, Any]) -> Any:
    """The shape of an op's result."""
    if row.family == "joining":
        if row.name == "stack":
            return shapes.stacked(given, options.get("axis", 0))
        return shapes.joined(given, options.get("axis", 0))
    if row.name in ("matmul", "dot"):
        return shapes.multiplied(*given) if given[0] and given[1] else shapes.broadcast(given)
    if row.name in ("cumsum", "cumprod"):
        return given[0]
    if row.family == "reductions":
        return shapes.reduced(given[0], options.get("axis"), options.get("keepdims", False))
    if row.name == "allclose":
        return ()
    shape = shapes.broadcast(given)
    return () if row.family == "losses" and options.get("reduction") != "none" else shape


def user_origin() -> Origin | None:
    """The line of the user's own code that runs now: the first frame outside castwise."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back  # type: ignore[assignment]
    if frame is None:
        return None
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Origin(file, line, linecache.getline(file, line).strip())
