"""Writes nodes of ONNX: each value knows its dtype and shape, each op is checked for both."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from castwise.execute.backend import backend_named
from castwise.execute.backends import DEFAULT
from castwise.graph import shapes
from castwise.graph.ir import Shape
from castwise.graph.onnx_dtypes import LackingError, element_type, onnx_package, type_text, wider
from castwise.vocab.dtypes import DType, dtype

INT64, BOOL = dtype("int64"), dtype("bool")


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A value of the ONNX graph: its name there, with what castwise knows of it."""

    writer: Writer
    name: str
    dtype: DType
    shape: Shape
    number: Any = None  # of a constant without dimensions

    if TYPE_CHECKING:  # onnx_arrays sets these, as its functions need this class

        def __add__(self, other: Any) -> Value: ...
        def __neg__(self) -> Value: ...

        __sub__ = __mul__ = __truediv__ = __and__ = __or__ = __add__
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __add__
        __invert__ = __neg__

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)


class Writer:
    """The nodes and constants of an ONNX graph in the making."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.nodes: list[Any] = []
        self.constants: dict[Any, Any] = {}
        self.sources: dict[str, tuple[Value, int]] = {}  # a size's name -> whose which dimension
        self.has_widened = False
        self.prefix = ""  # of the names of what is written now
        self.first = 0  # where in the nodes that begins
        self._sizes: dict[str, Value] = {}
        self._count = 0

    def takes(self, op: str, held: DType, place: int = 0) -> bool:
        """Whether an op of this opset takes a dtype as one of its inputs."""
        return type_text(held) in _taken_types(op, self.opset, place)

    def _not_taken(self, op: str, held: DType, place: int) -> LackingError:
        newest = onnx_package().defs.onnx_opset_version()
        takers = (n for n in range(self.opset + 1, newest + 1) if Writer(n).takes(op, held, place))
        later = next(takers, None)
        hint = f"; write opset={later}" if later else ""
        return LackingError(f"ONNX's op {op} takes no {held} in opset {self.opset}{hint}")

    def add(
        self,
        op: str,
        *inputs: Value,
        dtype: DType | None = None,
        shape: Shape | None = None,
        **attributes: Any,
    ) -> Value:
        """The value of a new node; its dtype is the first input's and its shape the broadcast.

        Raises LackingError where this opset has no such op, or not for these dtypes.
        """
        for place, value in enumerate(inputs):
            if not self.takes(op, value.dtype, place):
                raise self._not_taken(op, value.dtype, place)
        held = dtype or inputs[0].dtype
        made = shapes.broadcast([v.shape for v in inputs]) if shape is None else shape
        return self.add_untyped(op, [v.name for v in inputs], held, made, **attributes)

    def add_untyped(
        self, op: str, names: Sequence[str], held: DType, shape: Shape, **attributes: Any
    ) -> Value:
        """The first value of a new node, whose inputs are not looked at."""
        name = self.new_name()
        helper = onnx_package().helper
        self.nodes.append(helper.make_node(op, list(names), [name], **attributes))
        return Value(self, name, held, shape)

    def new_name(self) -> str:
        """A name that no parameter of a function can have."""
        self._count += 1
        return f"{self.prefix}.{self._count}"

    def constant(self, value: Any, held: DType) -> Value:
        """A constant, written once however often it is used."""
        array = backend_named(DEFAULT).number(value, held) if _is_number(value) else value
        array = backend_named(DEFAULT).make(array, held, copy=None, device=None)
        number = array.item() if array.shape == () else None
        key = (held, array.shape, array.tobytes())
        if key not in self.constants:
            element_type(held)
            name = f"constant.{len(self.constants)}"
            try:
                self.constants[key] = onnx_package().numpy_helper.from_array(array, name)
            except RuntimeError:  # an older onnx writes no arrays of small dtypes
                wide = self.constant(backend_named(DEFAULT).cast(array, wider(held)), wider(held))
                return replace(self.cast(wide, held), number=number)
        return Value(self, self.constants[key].name, held, tuple(array.shape), number)

    def integers(self, numbers: Sequence[int]) -> Value:
        """A list of integers, such as axes."""
        return self.constant(list(numbers) or _no_integers(), INT64)

    def cast(self, value: Value, held: DType) -> Value:
        """The value in another dtype; itself where it has it."""
        if value.dtype is held:
            return value
        if "complex" in (value.dtype.kind, held.kind):
            from castwise.graph.onnx_complex import cast_complex  # written with this class

            return cast_complex(value, held)
        options: dict[str, Any] = {}
        if held.bits == 8 and held.kind == "float":
            options["saturate"] = 0  # out of range becomes inf or NaN, as everywhere else
            if held.specials == "fnu":
                options["round_mode"] = "nearest"
                value = self._positive(value)
        return self.add("Cast", value, dtype=held, to=element_type(held), **options)

    def _positive(self, value: Value) -> Value:
        """The value with NaN for what is not positive, which ONNX leaves undefined."""
        wide = self.cast(value, dtype("float64" if value.dtype.bits > 32 else "float32"))
        zero, nan = (self.constant(number, wide.dtype) for number in (0.0, float("nan")))
        is_positive = self.add("Greater", wide, zero, dtype=BOOL)
        return self.add("Where", is_positive, wide, nan, dtype=wide.dtype)

    def widened(self, value: Value) -> Value:
        """The value in a dtype that is computed in without rounding or wrapping in between."""
        wide = wider(value.dtype)
        self.has_widened = self.has_widened or wide is not value.dtype
        return self.cast(value, wide)

    def one_op(
        self, op: str, *values: Value, main: int = 0, dtype: DType | None = None, **more: Any
    ) -> Value:
        """One op of ONNX, in a wider dtype and back where it does not take that of its main input.

        `dtype` is the result's where it is not the main input's.
        """
        held = values[main].dtype
        if all(self.takes(op, v.dtype, n) for n, v in enumerate(values)):
            return self.add(op, *values, dtype=dtype or held, **more)
        wide = [value if value.dtype is not held else self.widened(value) for value in values]
        result = self.add(op, *wide, dtype=dtype or wider(held), **more)
        return result if dtype else self.cast(result, held)

    def shape_of(self, shape: Shape) -> Value:
        """A shape as a list of integers, of which some are known only when the graph runs."""
        if all(isinstance(size, int) for size in shape):
            return self.integers([int(size) for size in shape])
        parts = [self.size(size) for size in shape]
        if len(parts) == 1:
            return parts[0]
        return self.add("Concat", *parts, shape=(len(parts),), axis=0)

    def size(self, size: int | str) -> Value:
        """A size as a list of one integer; a text names sizes of inputs, joined by + and *."""
        if isinstance(size, int) or size.isdigit():
            return self.integers([int(size)])
        if size not in self._sizes:
            self._sizes[size] = self._computed_size(size)
        return self._sizes[size]

    def _computed_size(self, size: str) -> Value:
        for sign, op in (("+", "Add"), ("*", "Mul")):
            first, _, rest = size.partition(sign)
            if rest:
                return self.add(op, self.size(first), self.size(rest))
        value, place = self.sources[size]
        if not self.takes("Shape", value.dtype):
            value = self.widened(value)
        return self.add("Shape", value, dtype=INT64, shape=(1,), start=place, end=place + 1)


@functools.lru_cache(maxsize=4096)
def _taken_types(op: str, opset: int, place: int) -> frozenset[str]:
    """The types that an op of an opset takes as one of its inputs.

    Raises LackingError where it has no such op.
    """
    schema = _schema(op, opset)
    formal = schema.inputs[min(place, len(schema.inputs) - 1)]
    allowed = {c.type_param_str: c.allowed_type_strs for c in schema.type_constraints}
    return frozenset(allowed.get(formal.type_str, [formal.type_str]))


def _schema(op: str, opset: int) -> Any:
    defs = onnx_package().defs
    try:
        return defs.get_schema(op, max_inclusive_version=opset, domain="")
    except defs.SchemaError:
        pass
    try:
        newest = defs.get_schema(op, domain="").since_version
    except defs.SchemaError:
        raise LackingError(f"the installed onnx has no op {op}; a newer one does") from None
    raise LackingError(f"it needs ONNX's op {op}: write opset={newest} or newer")


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex)) and not hasattr(value, "dtype")


def _no_integers() -> Any:
    import numpy as np

    return np.zeros(0, np.int64)
