"""A lowered program: what is computed for one element, as typed steps.

Each step has one dtype and does one thing, with one rounding at most. A code generator turns the
steps into a loop over all elements. Small floats and integers below a byte are in the program as
the integers that hold their bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from castwise.vocab.dtypes import DType, dtype, dtypes_of

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
INT32, UINT32 = dtype("int32"), dtype("uint32")
FLOAT16, BFLOAT16 = dtype("float16"), dtype("bfloat16")
FLOAT32, FLOAT64 = dtype("float32"), dtype("float64")
_STORED_AS = {8: dtype("uint8"), 16: dtype("uint16")}
# Dtypes that steps compute in; the elements of all others are stored as their bits.
COMPUTED = frozenset(
    dtypes_of("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64")
)


class Step(NamedTuple):
    """One step: what it does, the dtype of its result, and its arguments."""

    does: str
    dtype: DType
    arguments: tuple[int, ...] = ()
    detail: int | str | None = None  # a float is hexadecimal text


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
        return tuple([held.itemsize for held in self.arrays])

    @property
    def has_alarm(self) -> bool:
        """Whether a run may end with "these results do not count"."""
        is_watching = self.notices_float_errors or self.flushes
        return is_watching or any(step.does == ALARM for step in self.steps)

    def __str__(self) -> str:
        lines = [f"  %{n} = {_text(step)}" for n, step in enumerate(self.steps)]
        given = ", ".join(map(str, self.operands))
        stored = ", ".join(f"%{n} as {d}" for n, d in zip(self.outputs, self.results, strict=True))
        return "\n".join([f"({given})", *lines, f"  store {stored}"])


def _text(step: Step) -> str:
    detail = [] if step.detail is None else [repr(step.detail)]
    return f"{step.does} {step.dtype}({', '.join([f'%{n}' for n in step.arguments] + detail)})"


def number_of(step: Step) -> int | float:
    """The number of a constant."""
    assert step.detail is not None
    return float.fromhex(step.detail) if isinstance(step.detail, str) else step.detail


def stored_as(held: DType) -> DType:
    """The dtype in which an element is loaded and stored: itself, or integers with its bits."""
    return held if held in COMPUTED else _STORED_AS[held.itemsize * 8]
