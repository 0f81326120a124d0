"""Writes a lowered program, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.kernels.program import ALARM, BOOL, CONSTANT, LOAD, Lowered, Step, stored_as
from castwise.vocab.dtypes import DType


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
            return self._added(Step(CONSTANT, value.dtype, (), _detail(value.number)))
        if value.writer is not self:
            raise NotLoweredError("a value of another program")
        return int(value.number)

    def _added(self, step: Step) -> int:
        if step not in self._known:
            self._known[step] = len(self._steps)
            self._steps.append(step)
        return self._known[step]


def _detail(number: int | float | bool) -> int | str:
    """A number as part of a step. A float is text, because zeros differ and NaN is not itself."""
    return number.hex() if isinstance(number, float) else int(number)


def known(number: int | float | bool, dtype: DType) -> Value:
    """A number."""
    return Value(None, number, dtype)


def step(does: str, dtype: DType, *arguments: Value, detail: str | None = None) -> Value:
    """A step in the program that its arguments belong to."""
    writer = next((argument.writer for argument in arguments if argument.writer), None)
    if writer is None:
        raise NotLoweredError(f"{does} of numbers alone")
    return writer.step(does, dtype, *arguments, detail=detail)
