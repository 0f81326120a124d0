"""Writes ONNX nodes: each value knows its dtype and shape, and each op is checked for its dtypes.

A `Value` has the operators of numbers, and a `Writer` adds the nodes behind them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from castwise.arrays.backends import DEFAULT_BACKEND, backend_named
from castwise.graph import shapes
from castwise.graph.onnx.runtimes import (
    LackingError,
    Runtime,
    element_type,
    first_listing,
    has_main_type,
    is_listed,
    onnx_package,
    wider,
)
from castwise.graph.program import Shape
from castwise.graph.sizes import is_quotient, size_terms, split_quotient
from castwise.vocab.dtypes import DType, dtype

INT64, UINT32, UINT64, BOOL = (dtype(name) for name in ("int64", "uint32", "uint64", "bool"))


# Values, with the operators of numbers.


def _operator(op: str, **more: Any) -> Callable[[Any, Any], Value]:
    """An ONNX op as an operator, whose other side may be a number."""
    return lambda value, other: called(op, value, other, **more)


def _reflected(op: str) -> Callable[[Any, Any], Value]:
    """The operator with the number on the left."""
    return lambda value, other: called(op, other, value)


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """A value of the ONNX graph: its name there, and what castwise knows about it."""

    writer: Writer
    name: str
    dtype: DType
    shape: Shape
    number: Any = None  # the value of a 0-d constant

    __add__, __radd__ = _operator("Add"), _reflected("Add")
    __sub__, __rsub__ = _operator("Sub"), _reflected("Sub")
    __mul__, __rmul__ = _operator("Mul"), _reflected("Mul")
    __truediv__, __rtruediv__ = _operator("Div"), _reflected("Div")
    __pow__, __rpow__ = _operator("Pow"), _reflected("Pow")
    __and__, __rand__ = _operator("And"), _reflected("And")
    __or__, __ror__ = _operator("Or"), _reflected("Or")
    __lt__, __le__ = _operator("Less", dtype=BOOL), _operator("LessOrEqual", dtype=BOOL)
    __gt__, __ge__ = _operator("Greater", dtype=BOOL), _operator("GreaterOrEqual", dtype=BOOL)
    __hash__ = object.__hash__

    def __eq__(self, other: Any) -> Value:  # type: ignore[override]
        return called("Equal", self, other, dtype=BOOL)

    def __ne__(self, other: Any) -> Value:  # type: ignore[override]
        return called("Not", called("Equal", self, other, dtype=BOOL))

    def __neg__(self) -> Value:
        return called("Neg", self)

    def __invert__(self) -> Value:
        return called("Not", self)

    @property
    def ndim(self) -> int:
        """How many dimensions it has."""
        return len(self.shape)


def same(first: Any, *others: Any) -> list[Value]:
    """Values and numbers, with the numbers as values of the same dtype."""
    every = (first, *others)
    known = next(v for v in every if isinstance(v, Value))
    return [v if isinstance(v, Value) else known.writer.constant(v, known.dtype) for v in every]


def called(op: str, *operands: Any, **more: Any) -> Value:
    """The value of one ONNX op on values and numbers."""
    values = same(*operands)
    return values[0].writer.one_op(op, *values, **more)


# The writer, which adds the nodes and checks their dtypes.


@dataclass(frozen=True, slots=True)
class StandIns:
    """Functions that write out, with a writer, what ONNX or a runtime lacks."""

    cast_complex: Callable[[Value, DType], Value]
    before_cast: Callable[[Value, DType], Value]  # for casts that a runtime does differently
    written_out: Mapping[str, Callable[..., Value]]  # ONNX op -> a version without its kernel


class Writer:
    """The nodes and constants of an ONNX graph under construction."""

    def __init__(self, opset: int, runtime: Runtime | None, stand_ins: StandIns) -> None:
        self.opset = opset
        self.stand_ins = stand_ins
        self.runtime = runtime  # the runtime to choose kernels for; None: any that follows ONNX
        self.nodes: list[Any] = []
        self.constants: dict[Any, Any] = {}
        self.sources: dict[str, tuple[Value, int]] = {}  # a size's name -> a value, dimension
        self.has_widened = False
        self.prefix = ""  # of the names of the current nodes
        self.first = 0  # where the current nodes start
        self._sizes: dict[str, Value] = {}
        self._count = 0

    def takes(self, op: str, held: DType, place: int = 0) -> bool:
        """Whether an op of this opset, and the runtime, take a dtype as one of its inputs."""
        if not is_listed(op, held, self.opset, place):
            return False
        is_main = has_main_type(op, self.opset, place)
        return self.runtime is None or not is_main or self.runtime.computes(op, held)

    def check_dtype(self, held: DType) -> None:
        """Raises LackingError if ONNX, or the runtime, has no such arrays."""
        element_type(held)
        if self.runtime and held.name in self.runtime.has_no:
            raise LackingError(f"{self.runtime.name} has no {held}")

    def _not_accepted(self, op: str, held: DType, place: int) -> LackingError:
        if self.runtime and is_listed(op, held, self.opset, place):
            return LackingError(f"{self.runtime.name} has no kernel for {op} in {held}")
        later = first_listing(op, held, self.opset, place)
        hint = f"; write opset={later}" if later else ""
        return LackingError(f"ONNX's op {op} does not take {held} in opset {self.opset}{hint}")

    def add(
        self,
        op: str,
        *inputs: Value,
        dtype: DType | None = None,
        shape: Shape | None = None,
        **attributes: Any,
    ) -> Value:
        """The value of a new node, with the first input's dtype and the broadcast shape.

        Raises LackingError if this opset lacks the op, or lacks it for these dtypes.
        """
        for place, value in enumerate(inputs):
            if not self.takes(op, value.dtype, place):
                raise self._not_accepted(op, value.dtype, place)
        held = dtype or inputs[0].dtype
        made = shapes.broadcast([v.shape for v in inputs]) if shape is None else shape
        return self.add_untyped(op, [v.name for v in inputs], held, made, **attributes)

    def add_untyped(
        self, op: str, names: Sequence[str], held: DType, shape: Shape, **attributes: Any
    ) -> Value:
        """The first value of a new node, whose inputs are not checked."""
        name = self.new_name()
        helper = onnx_package().helper
        self.nodes.append(helper.make_node(op, list(names), [name], **attributes))
        return Value(self, name, held, shape)

    def top_k(
        self, value: Value, count: Value, shape: Shape, **attributes: Any
    ) -> tuple[Value, Value]:
        """The values of a node with the op TopK, and their places."""
        values = self.add("TopK", value, count, shape=shape, **attributes)
        places = Value(self, self.new_name(), INT64, shape)
        self.nodes[-1].output.append(places.name)
        return values, places

    def inner(self) -> Writer:
        """A writer for the body of a loop, which can use the constants of the graph."""
        made = Writer(self.opset, self.runtime, self.stand_ins)
        made.constants, made.prefix = self.constants, self.new_name()
        return made

    def new_name(self) -> str:
        """A name that no parameter of a function can have."""
        self._count += 1
        return f"{self.prefix}.{self._count}"

    def constant(self, value: Any, held: DType) -> Value:
        """A constant, written only once."""
        numpy = backend_named(DEFAULT_BACKEND)
        is_number = isinstance(value, (bool, int, float, complex)) and not hasattr(value, "dtype")
        array = numpy.number(value, held) if is_number else value
        array = numpy.make(array, held, copy=None, device=None)
        number = array.item() if array.shape == () else None
        key = (held, array.shape, array.tobytes())
        if key not in self.constants:
            element_type(held)
            name = f"constant.{len(self.constants)}"
            try:
                self.constants[key] = onnx_package().numpy_helper.from_array(array, name)
            except RuntimeError:  # older versions of onnx cannot write arrays of small dtypes
                wide = self.constant(numpy.cast(array, wider(held)), wider(held))
                return replace(self.cast(wide, held), number=number)
        return Value(self, self.constants[key].name, held, tuple(array.shape), number)

    def integers(self, numbers: Sequence[int]) -> Value:
        """A list of integers, such as axes."""
        import numpy as np

        return self.constant(list(numbers) or np.zeros(0, np.int64), INT64)

    def filled(self, number: Any, held: DType, shape: Shape) -> Value:
        """A number for each element of a shape."""
        return self.one_op("Expand", self.constant(number, held), self.sizes(shape), shape=shape)

    def cast(self, value: Value, held: DType) -> Value:
        """The value in another dtype; itself if it already has it."""
        if value.dtype is held:
            return value
        kinds = (value.dtype.kind, held.kind)
        if "complex" in kinds:
            return self.stand_ins.cast_complex(value, held)
        if kinds != ("int", "bool") and _is_small(value.dtype) and _is_small(held):
            # Runtimes treat 8-bit -0 as true, and some cannot cast between two small dtypes.
            value = self.widened(value)
        if self.runtime and self.runtime.casts_differently(value.dtype, held):
            value = self.stand_ins.before_cast(value, held)
        options: dict[str, Any] = {}
        if held.bits == 8 and held.kind == "float":
            options["saturate"] = 0  # out of range becomes inf or NaN, as everywhere else
            if held.specials == "fnu":
                options["round_mode"] = "nearest"
                value = self._positive(value)
        return self.add("Cast", value, dtype=held, to=element_type(held), **options)

    def _positive(self, value: Value) -> Value:
        """The value with NaN for numbers that are not positive, which ONNX leaves undefined."""
        wide = self.cast(value, dtype("float64" if value.dtype.bits > 32 else "float32"))
        zero, nan = (self.constant(number, wide.dtype) for number in (0.0, float("nan")))
        is_positive = self.add("Greater", wide, zero, dtype=BOOL)
        return self.add("Where", is_positive, wide, nan, dtype=wide.dtype)

    def widened(self, value: Value) -> Value:
        """The value in a dtype wide enough to compute without intermediate rounding or wrapping."""
        wide = wider(value.dtype)
        self.has_widened = self.has_widened or wide is not value.dtype
        return self.cast(value, wide)

    def one_op(
        self, op: str, *values: Value, main: int = 0, dtype: DType | None = None, **more: Any
    ) -> Value:
        """One ONNX op, in a wider dtype and back if it does not take that of its main input.

        `dtype` is the result dtype if it is not the main input's.
        """
        held = values[main].dtype
        if all(self.takes(op, v.dtype, n) for n, v in enumerate(values)):
            return self.add(op, *values, dtype=dtype or held, **more)
        wide = self._wider_dtype(op, held, main)
        if wide is held and self.runtime:
            return self._by_other_ops(op, values, main, dtype, more)
        self.has_widened = True
        widened = [self.cast(v, wide) if v.dtype is held else v for v in values]
        result = self.add(op, *widened, dtype=dtype or wide, **more)
        return result if dtype else self.cast(result, held)

    def _wider_dtype(self, op: str, held: DType, place: int) -> DType:
        """A dtype that an op takes and that holds all numbers of another; itself if there is
        none."""
        unsigned = [INT64, UINT32] if held.kind == "int" and held.bits < 64 else []
        for wide in (wider(held), *unsigned):
            if wide.holds(held) and self.takes(op, wide, place):
                return wide
        return held if self.runtime else wider(held)

    def _by_other_ops(
        self, op: str, values: Sequence[Value], main: int, dtype: DType | None, more: Any
    ) -> Value:
        """An op that has no kernel in any dtype that is wide enough, written with other ops.

        Raises LackingError if that is not possible.
        """
        signed = [_as_signed(op, v) or v for v in values]
        if signed[main] is not values[main]:
            result = self.one_op(op, *signed, main=main, dtype=dtype, **more)
            return result if dtype else _flipped(op, self.cast(result, UINT64))
        written_out = self.stand_ins.written_out.get(op)
        if written_out is None:
            raise self._not_accepted(op, values[main].dtype, main)
        return written_out(*values, **more)

    def comparable(self, op: str, value: Value) -> Value:
        """A value in a dtype that an op takes, with the order of its numbers unchanged."""
        if self.takes(op, value.dtype):
            return value
        return _as_signed(op, value) or self.cast(value, self._wider_dtype(op, value.dtype, 0))

    def sizes(self, shape: Shape) -> Value:
        """A shape as a list of integers, some of which may be known only when the graph runs."""
        if all(isinstance(size, int) for size in shape):
            return self.integers([int(size) for size in shape])
        parts = [self.size(size) for size in shape]
        if len(parts) == 1:
            return parts[0]
        return self.add("Concat", *parts, shape=(len(parts),), axis=0)

    def size(self, size: int | str) -> Value:
        """A size as a list of one integer; a symbolic one is computed from the sizes of inputs."""
        if isinstance(size, int):
            return self.integers([size])
        if size not in self._sizes:
            products = [self._product(n, names) for names, n in size_terms(size).items() if n]
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


def _is_small(held: DType) -> bool:
    """Whether a dtype is one that no processor computes in."""
    return held.bits < 8 or (held.kind == "float" and held.bits < 16)


# uint64 as int64, for runtimes without its kernels.

# Ops that compare numbers, and ops that move them or compute what wraps.
_ORDERING = frozenset({"ArgMax", "ArgMin", "ReduceMax", "ReduceMin", "TopK"})
_WRAPPING = frozenset({"Where", "Trilu", "CumSum", "CumProd", "Einsum"})


def _as_signed(op: str, x: Value) -> Value | None:
    """uint64 as int64, in a form that an op treats like uint64; None if there is none."""
    if x.dtype is not UINT64 or op not in _ORDERING | _WRAPPING:
        return None
    return x.writer.cast(_flipped(op, x), INT64)


def _flipped(op: str, x: Value) -> Value:
    """For ops that compare: the highest bit flipped, which gives the order of signed integers."""
    return called("BitwiseXor", x, 2**63) if op in _ORDERING else x
