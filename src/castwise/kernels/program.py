"""A lowered program: what is computed for one element, as typed steps.

Each step has one dtype and does one thing, with one rounding at most. A code generator turns the
steps into a loop over all elements. Small floats and integers below a byte are in the program as
the integers that hold their bits.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from castwise.vocab.dtypes import DType, dtype, dtypes_named

# What a step does. The arguments of a step are numbers of earlier steps.
LOAD = "load"  # an element of an operand, whose number is the detail
CONSTANT = "constant"  # a number
CONVERT = "convert"  # to another dtype: floats to integers saturate, and NaN becomes 0
# The bits of a small float to a float, and a float to those bits, where a processor can do it. The
# detail is the name of the small dtype.
WIDEN, NARROW = "widen", "narrow"
BITS = "bits"  # the same bits in another dtype of the same width
SELECT = "select"  # the second argument where the first is true, else the third
ALARM = "alarm"  # the program's results do not count if this is true for any element
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
# The others, by their names: add, sub, mul, div, maximum and minimum; idiv and irem of integers,
# towards zero, whose divisor is never 0, nor -1; and, or, xor, shl and shr, whose count is below
# the width; sqrt, floor, ceil, trunc, rint, fabs and fneg of floats.

BOOL = dtype("bool")
FLOAT16, BFLOAT16 = dtype("float16"), dtype("bfloat16")
FLOAT32, FLOAT64 = dtype("float32"), dtype("float64")
# The integers of a width in bits.
SIGNED = {bits: dtype(f"int{bits}") for bits in (8, 16, 32, 64)}
UNSIGNED = {bits: dtype(f"uint{bits}") for bits in (8, 16, 32, 64)}
INT32, UINT32 = SIGNED[32], UNSIGNED[32]
# Dtypes that steps compute in; the elements of all others are stored as their bits.
COMPUTED = frozenset(
    dtypes_named("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64")
)


class Step(NamedTuple):
    """One step: what it does, the dtype of its result, and its arguments."""

    does: str
    dtype: DType
    arguments: tuple[int, ...] = ()
    detail: int | str | None = None  # a float is hexadecimal text

    @property
    def number(self) -> int | float:
        """The number of a constant."""
        assert self.detail is not None
        return float.fromhex(self.detail) if isinstance(self.detail, str) else self.detail

    def __str__(self) -> str:
        detail = [] if self.detail is None else [repr(self.detail)]
        given = ", ".join([f"%{n}" for n in self.arguments] + detail)
        return f"{self.does} {self.dtype}({given})"


@dataclass(frozen=True, eq=False)
class Lowered:
    """A program for one element of each operand.

    `operands` and `results` are the dtypes of the arrays. `outputs` are the numbers of the steps
    whose values are stored, one per result.
    """

    operands: tuple[DType, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    results: tuple[DType, ...]
    # Whether an overflow or an undefined result must be noticed, because the dialect warns of it.
    notices_float_errors: bool = False
    # Whether subnormal floats are zeros to the processor. Where it made a result zero, an alarm
    # ends the run: processors differ in which results round up to a normal number.
    flushes: bool = False
    _facts: tuple[object, ...] = field(init=False, repr=False)
    _hash: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Computed once: programs are the keys of kernels, and are looked up in every call.
        facts = (self.operands, self.steps, self.outputs, self.results, self.notices_float_errors,
                 self.flushes)  # fmt: skip
        object.__setattr__(self, "_facts", facts)
        object.__setattr__(self, "_hash", hash(facts))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Lowered) and self._facts == other._facts)

    @property
    def arrays(self) -> tuple[DType, ...]:
        """The dtypes of all arrays, results first."""
        return (*self.results, *self.operands)

    @property
    def itemsizes(self) -> tuple[int, ...]:
        """The bytes of an element of each array."""
        return tuple([dtype.itemsize for dtype in self.arrays])

    @property
    def has_alarm(self) -> bool:
        """Whether a run may end with "these results do not count"."""
        is_watching = self.notices_float_errors or self.flushes
        return is_watching or any(step.does == ALARM for step in self.steps)

    def __str__(self) -> str:
        lines = [f"  %{n} = {step}" for n, step in enumerate(self.steps)]
        given = ", ".join(map(str, self.operands))
        stored = ", ".join(f"%{n} as {d}" for n, d in zip(self.outputs, self.results, strict=True))
        return "\n".join([f"({given})", *lines, f"  store {stored}"])


def stored_as(dtype: DType) -> DType:
    """The dtype in which an element is loaded and stored: itself, or integers with its bits."""
    return dtype if dtype in COMPUTED else UNSIGNED[dtype.itemsize * 8]


# Writes a lowered program, step by step.


class NotLoweredError(Exception):
    """Raised while a program is written: there is no step for an op, a dtype or a rule."""


class Value:
    """The result of a step, or a known number, which becomes a step when it is used.

    `dtype` is what it stands for. The step itself has the dtype that elements are stored as.
    """

    __slots__ = ("cast_from", "dtype", "number", "wide", "writer")
    shape = ()  # a program is about one element

    def __init__(self, writer: Writer | None, number: Any, dtype: DType) -> None:
        self.writer, self.number, self.dtype = writer, number, dtype
        self.cast_from: DType | None = None  # the dtype before casts, if there were any
        self.wide: Value | None = None  # of a small float, the float32 that it is without rounding

    @property
    def is_known(self) -> bool:
        """Whether it is a known number."""
        return self.writer is None

    def standing_for(self, dtype: DType) -> Value:
        """The same bits, as an element of another dtype that is stored alike."""
        return Value(self.writer, self.number, dtype)


class Writer:
    """A program in the making."""

    def __init__(self) -> None:
        self._operands: list[DType] = []
        self._steps: list[Step] = []
        self._known: dict[Step, int] = {}
        self.flushes = False  # subnormal floats must be zeros to the processor

    def operand(self, dtype: DType) -> Value:
        """An element of the next operand."""
        if dtype.kind == "complex" or dtype.bits > 64:
            raise NotLoweredError(f"{dtype}")
        self._operands.append(dtype)
        step = Step(LOAD, stored_as(dtype), (), len(self._operands) - 1)
        return Value(self, self._added(step), dtype)

    def step(self, does: str, dtype: DType, *arguments: Value, detail: str | None = None) -> Value:
        """The result of a step; the same step on the same arguments is written once."""
        numbers = tuple([self._number(argument) for argument in arguments])
        return Value(self, self._added(Step(does, dtype, numbers, detail)), dtype)

    def alarm(self, condition: Value) -> None:
        """Makes all results void if the condition holds for any element."""
        self._added(Step(ALARM, BOOL, (self._number(condition),)))

    def finished(self, results: Sequence[Value], *, notices_float_errors: bool) -> Lowered:
        """The whole program."""
        return Lowered(
            tuple(self._operands),
            tuple(self._steps),
            tuple([self._number(result) for result in results]),
            tuple([result.dtype for result in results]),
            notices_float_errors,
            self.flushes,
        )

    def _number(self, value: Value) -> int:
        if value.writer is None:
            number = value.number
            # A float is text, because zeros differ and NaN is not itself.
            detail = number.hex() if isinstance(number, float) else int(number)
            return self._added(Step(CONSTANT, value.dtype, (), detail))
        if value.writer is not self:
            raise NotLoweredError("a value of another program")
        return int(value.number)

    def _added(self, step: Step) -> int:
        if step not in self._known:
            self._known[step] = len(self._steps)
            self._steps.append(step)
        return self._known[step]


def known(number: int | float | bool, dtype: DType) -> Value:
    """A number."""
    return Value(None, number, dtype)


def wrapped(number: int, dtype: DType) -> int:
    """An integer modulo the width of a dtype."""
    low = number & ((1 << dtype.bits) - 1)
    return low - (1 << dtype.bits) if low > dtype.max else low


def step(does: str, dtype: DType, *arguments: Value, detail: str | None = None) -> Value:
    """A step in the program that its arguments belong to."""
    writer = next((argument.writer for argument in arguments if argument.writer), None)
    if writer is None:
        raise NotLoweredError(f"{does} of numbers alone")
    return writer.step(does, dtype, *arguments, detail=detail)


# How operands lie in memory: dimensions merged where that changes nothing, in the order that
# walks through memory forwards.

Strides = tuple[tuple[int, ...], ...]  # in bytes, of several arrays
UNIT, FIXED, ANY = "1", "0", "s"  # the next element is the next in memory, the same, or elsewhere


class Place(NamedTuple):
    """How the elements of an array lie in memory, wherever that is: its shape, the distances in
    bytes along each dimension, and the device."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: str = "cpu"


class Layout(NamedTuple):
    """The dimensions that a kernel loops over, outermost first, and for each array the distance in
    bytes between two elements along each. `steps` says how each array moves along the last."""

    shape: tuple[int, ...]
    strides: Strides
    steps: str


@functools.lru_cache(maxsize=1024)
def kernel_layout(shape: tuple[int, ...], strides: Strides, itemsizes: tuple[int, ...]) -> Layout:
    """The layout of arrays of one shape, each with its own strides (0 where it is broadcast). The
    first is the result, whose order counts most."""
    order = sorted(
        [n for n, length in enumerate(shape) if length != 1],
        key=lambda n: tuple(-abs(own[n]) for own in strides),
    )
    lengths: list[int] = []
    moves: list[list[int]] = [[] for _ in strides]
    for n in order:
        current = [own[n] for own in strides]
        if lengths and all(m[-1] == c * shape[n] for m, c in zip(moves, current, strict=True)):
            lengths[-1] *= shape[n]
            moves = [[*move[:-1], stride] for move, stride in zip(moves, current, strict=True)]
        else:
            lengths.append(shape[n])
            moves = [[*move, stride] for move, stride in zip(moves, current, strict=True)]
    if not lengths:
        lengths, moves = [1], [[size] for size in itemsizes]
    return Layout(tuple(lengths), tuple(map(tuple, moves)), _steps(moves, itemsizes))


def _steps(moves: list[list[int]], itemsizes: tuple[int, ...]) -> str:
    """One of the three for each array. If one jumps, all that move count as jumping, so that there
    are few kernels of one program."""
    found = [
        FIXED if move[-1] == 0 else UNIT if move[-1] == size else ANY
        for move, size in zip(moves, itemsizes, strict=True)
    ]
    if ANY in found:
        found = [FIXED if kind == FIXED else ANY for kind in found]
    return "".join(found)


def broadcast_strides(
    shape: tuple[int, ...], own: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[int, ...]:
    """The strides of an array of the shape `own`, in a larger shape that it is broadcast to."""
    lead = len(shape) - len(own)
    return (0,) * lead + tuple([
        0 if length == 1 else stride for length, stride in zip(own, strides, strict=True)
    ])  # fmt: skip
