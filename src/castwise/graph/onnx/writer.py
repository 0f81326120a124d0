"""Writes nodes of ONNX: each value knows its dtype and shape, each op is checked for both."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from castwise.execute.backend import backend_named
from castwise.execute.backends import DEFAULT
from castwise.graph.onnx.dtypes import LackingError, element_type, onnx_package, type_text, wider
from castwise.graph.onnx.runtimes import Runtime
from castwise.graph.program import Shape
from castwise.graph.shapes import arithmetic as shapes
from castwise.graph.shapes.terms import is_quotient, split_quotient, terms_of
from castwise.vocab.dtypes import DType, dtype

INT64, UINT32, BOOL = dtype("int64"), dtype("uint32"), dtype("bool")
_MAIN = {"Where": 1}  # which input has the dtype that is computed in, where it is not the first


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

    def __init__(self, opset: int, runtime: Runtime | None = None) -> None:
        self.opset = opset
        self.runtime = runtime  # for which kernels are chosen; None: for any that follows ONNX
        self.nodes: list[Any] = []
        self.constants: dict[Any, Any] = {}
        self.sources: dict[str, tuple[Value, int]] = {}  # a size's name -> whose which dimension
        self.has_widened = False
        self.prefix = ""  # of the names of what is written now
        self.first = 0  # where in the nodes that begins
        self._sizes: dict[str, Value] = {}
        self._count = 0

    def takes(self, op: str, held: DType, place: int = 0) -> bool:
        """Whether an op of this opset takes a dtype as one of its inputs, and the runtime too."""
        if type_text(held) not in _taken_types(op, self.opset, place):
            return False
        is_main = _has_main_type(op, self.opset, place)
        return self.runtime is None or not is_main or self.runtime.computes(op, held)

    def check_dtype(self, held: DType) -> None:
        """Raises LackingError where ONNX, or the runtime, has no such arrays."""
        element_type(held)
        if self.runtime and held.name in self.runtime.has_no:
            raise LackingError(f"{self.runtime.name} has no {held}")

    def _not_taken(self, op: str, held: DType, place: int) -> LackingError:
        if self.runtime and Writer(self.opset).takes(op, held, place):
            return LackingError(f"{self.runtime.name} has no kernel for {op} in {held}")
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
        kinds = (value.dtype.kind, held.kind)
        if "complex" in kinds:
            from castwise.graph.onnx.complex import cast_complex  # written with this class

            return cast_complex(value, held)
        if kinds != ("int", "bool") and _is_small(value.dtype) and _is_small(held):
            # Runtimes take -0 of 8 bits for true, and some cast between no two small dtypes.
            value = self.widened(value)
        if self.runtime and self.runtime.casts_otherwise(value.dtype, held):
            from castwise.graph.onnx.stand_ins import before_cast  # written with this class

            value = before_cast(value, held)
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
        wide = self._stand_in(op, held, main)
        if wide is held and self.runtime:
            return self._otherwise(op, values, main, dtype, more)
        self.has_widened = True
        taken = [self.cast(v, wide) if v.dtype is held else v for v in values]
        result = self.add(op, *taken, dtype=dtype or wide, **more)
        return result if dtype else self.cast(result, held)

    def _stand_in(self, op: str, held: DType, place: int) -> DType:
        """A dtype that holds the numbers of another and that an op takes; itself if none does."""
        unsigned = [INT64, UINT32] if held.kind == "int" and held.bits < 64 else []
        for wide in (wider(held), *unsigned):
            if wide.holds(held) and self.takes(op, wide, place):
                return wide
        return held if self.runtime else wider(held)

    def _otherwise(
        self, op: str, values: Sequence[Value], main: int, dtype: DType | None, more: Any
    ) -> Value:
        """An op without a kernel in a dtype that none is wider than.

        Raises LackingError where it cannot be written otherwise.
        """
        from castwise.graph.onnx.stand_ins import WRITTEN_OUT, as_signed, as_unsigned

        signed = [as_signed(op, v) or v for v in values]
        if signed[main] is not values[main]:
            result = self.one_op(op, *signed, main=main, dtype=dtype, **more)
            return result if dtype else as_unsigned(op, result)
        if op not in WRITTEN_OUT:
            raise self._not_taken(op, values[main].dtype, main)
        return WRITTEN_OUT[op](*values)

    def comparable(self, op: str, value: Value) -> Value:
        """A value in a dtype that an op takes, in which its numbers have the order they have."""
        if self.takes(op, value.dtype):
            return value
        from castwise.graph.onnx.stand_ins import as_signed

        return as_signed(op, value) or self.cast(value, self._stand_in(op, value.dtype, 0))

    def shape_of(self, shape: Shape) -> Value:
        """A shape as a list of integers, of which some are known only when the graph runs."""
        if all(isinstance(size, int) for size in shape):
            return self.integers([int(size) for size in shape])
        parts = [self.size(size) for size in shape]
        if len(parts) == 1:
            return parts[0]
        return self.add("Concat", *parts, shape=(len(parts),), axis=0)

    def size(self, size: int | str) -> Value:
        """A size as a list of one integer; a text is computed from the sizes of inputs."""
        if isinstance(size, int):
            return self.integers([size])
        if size not in self._sizes:
            products = [self._product(n, names) for names, n in terms_of(size).items() if n]
            self._sizes[size] = functools.reduce(functools.partial(self.add, "Add"), products)
        return self._sizes[size]

    def _product(self, number: int, names: Sequence[str]) -> Value:
        factors = [self.integers([number])] * (number != 1 or not names)
        factors += [self._factor(name) for name in names]
        return functools.reduce(functools.partial(self.add, "Mul"), factors)

    def _factor(self, factor: str) -> Value:
        if is_quotient(factor):
            size, number = split_quotient(factor)
            return self.add("Div", self.size(size), self.integers([number]))
        value, place = self.sources[factor]
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


@functools.lru_cache(maxsize=4096)
def _has_main_type(op: str, opset: int, place: int) -> bool:
    """Whether an input has the dtype that an op computes in."""
    inputs = _schema(op, opset).inputs
    return inputs[min(place, len(inputs) - 1)].type_str == inputs[_MAIN.get(op, 0)].type_str  # type: ignore[no-any-return]


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


def _is_small(held: DType) -> bool:
    """Whether a dtype is one that no processor has."""
    return held.bits < 8 or (held.kind == "float" and held.bits < 16)


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex)) and not hasattr(value, "dtype")


def _no_integers() -> Any:
    import numpy as np

    return np.zeros(0, np.int64)
