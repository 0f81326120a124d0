"""The LLVM instructions of each step of a lowered program."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from castwise.kernels.program import (
    BITS,
    BOOL,
    COMPARE,
    CONSTANT,
    CONVERT,
    NARROW,
    SELECT,
    WIDEN,
    Step,
    number_of,
    stored_as,
)
from castwise.vocab.dtypes import DType

_FLOATS = {32: "float", 64: "double"}
_BY_SIGN = {"idiv": "div", "irem": "rem"}
_UNARY = {"sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "roundeven",
          "fabs": "fabs"}  # fmt: skip


class Text:
    """The text of a function in the making."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.needs: set[str] = set()  # declarations of the functions that it calls
        self._count = 0

    def add(self, instruction: str) -> str:
        """Adds an instruction with a result, and gives the result's name."""
        self._count += 1
        self.lines.append(f"  %v{self._count} = {instruction}")
        return f"%v{self._count}"

    def do(self, *instructions: str) -> None:
        """Adds instructions without a result."""
        self.lines += [f"  {instruction}" for instruction in instructions]

    def label(self, name: str) -> None:
        """Begins a block."""
        self.lines.append(f"{name}:")

    def call(self, result: str, name: str, held: str, arguments: Sequence[str]) -> str:
        """Calls one of LLVM's own functions, whose arguments have one type."""
        self.needs.add(f"declare {result} @{name}({', '.join([held] * len(arguments))})")
        given = ", ".join([f"{held} {argument}" for argument in arguments])
        return self.add(f"call {result} @{name}({given})")


def type_of(held: DType) -> str:
    """The type of a value."""
    return _FLOATS[held.bits] if held.kind == "float" else f"i{held.bits}"


def stored_type(held: DType) -> str:
    """The type of an element in memory."""
    return "i8" if held is BOOL else type_of(stored_as(held))


def constant_text(step: Step) -> str:
    """A number as LLVM reads it: floats as the bits of a double."""
    number = number_of(step)
    if step.dtype.kind != "float":
        return str(int(number))
    return f"0x{struct.pack('>d', float(number)).hex().upper()}"


def instruction(text: Text, step: Step, sources: Sequence[DType], given: Sequence[str]) -> str:
    """Adds a step with arguments of these dtypes and names, and gives the name of its result."""
    held, does = step.dtype, step.does
    if does == CONSTANT:
        return constant_text(step)
    if does in COMPARE:
        return _compared(text, does, sources[0], given)
    if does in _OTHERS:
        return _OTHERS[does](text, held, sources, given)
    if does in _UNARY:
        return text.call(type_of(held), f"llvm.{_UNARY[does]}.f{held.bits}", type_of(held), given)
    return text.add(f"{_arithmetic(does, held)} {type_of(held)} {', '.join(given)}")


def _arithmetic(does: str, held: DType) -> str:
    if held.kind == "float":
        return f"f{does}"
    if does in _BY_SIGN:
        return f"{'s' if held.is_signed else 'u'}{_BY_SIGN[does]}"
    if does == "shr":
        return "ashr" if held.is_signed else "lshr"
    return does


def _compared(text: Text, does: str, held: DType, given: Sequence[str]) -> str:
    if held.kind == "float":
        word, compare = ("une" if does == "ne" else f"o{does}"), "fcmp"
    else:
        sign = "" if does in ("eq", "ne") else "s" if held.is_signed else "u"
        word, compare = f"{sign}{does}", "icmp"
    return text.add(f"{compare} {word} {type_of(held)} {', '.join(given)}")


def _selected(text: Text, held: DType, sources: Sequence[DType], given: Sequence[str]) -> str:
    kind = type_of(held)
    return text.add(f"select i1 {given[0]}, {kind} {given[1]}, {kind} {given[2]}")


def _bits(text: Text, held: DType, sources: Sequence[DType], given: Sequence[str]) -> str:
    if type_of(sources[0]) == type_of(held):
        return given[0]
    return text.add(f"bitcast {type_of(sources[0])} {given[0]} to {type_of(held)}")


def _negated(text: Text, held: DType, sources: Sequence[DType], given: Sequence[str]) -> str:
    return text.add(f"fneg {type_of(held)} {given[0]}")


def _extreme(does: str) -> Callable[..., str]:
    """maximum and minimum: NaN if one is NaN.

    Not LLVM's own functions of these names: on x86 they lose a NaN beside an integer that was
    converted, whose float LLVM knows to be a number.
    """
    order = "ogt" if does == "maximum" else "olt"

    def added(text: Text, held: DType, sources: Sequence[DType], given: Sequence[str]) -> str:
        kind, (one, other) = type_of(held), given
        if held.kind == "float":
            is_one = text.add(f"fcmp {order} {kind} {one}, {other}")
            found = text.add(f"select i1 {is_one}, {kind} {one}, {kind} {other}")
            is_nan = text.add(f"fcmp uno {kind} {one}, {one}")
            return text.add(f"select i1 {is_nan}, {kind} {one}, {kind} {found}")
        name = f"llvm.{'s' if held.is_signed else 'u'}{does[:3]}.i{held.bits}"
        return text.call(kind, name, kind, given)

    return added


def _widened(text: Text, held: DType, sources: Sequence[DType], given: Sequence[str]) -> str:
    half = text.add(f"bitcast i16 {given[0]} to half")
    return text.add(f"fpext half {half} to {type_of(held)}")


def _narrowed(text: Text, held: DType, sources: Sequence[DType], given: Sequence[str]) -> str:
    half = text.add(f"fptrunc {type_of(sources[0])} {given[0]} to half")
    return text.add(f"bitcast half {half} to i16")


def _converted(text: Text, held: DType, sources: Sequence[DType], given: Sequence[str]) -> str:
    source, target = type_of(sources[0]), type_of(held)
    if held.kind == sources[0].kind == "float":
        word = "fpext" if held.bits > sources[0].bits else "fptrunc"
    elif held.kind == "float":
        word = "sitofp" if sources[0].is_signed and sources[0] is not BOOL else "uitofp"
    elif sources[0].kind == "float":
        name = f"llvm.fpto{'s' if held.is_signed else 'u'}i.sat.i{held.bits}.f{sources[0].bits}"
        return text.call(target, name, source, given)
    elif held.bits == sources[0].bits:
        return given[0]
    elif held.bits < sources[0].bits:
        word = "trunc"
    else:
        word = "sext" if sources[0].is_signed and sources[0] is not BOOL else "zext"
    return text.add(f"{word} {source} {given[0]} to {target}")


_OTHERS: dict[str, Callable[[Text, DType, Sequence[DType], Sequence[str]], str]] = {
    SELECT: _selected,
    BITS: _bits,
    CONVERT: _converted,
    WIDEN: _widened,
    NARROW: _narrowed,
    "fneg": _negated,
    "maximum": _extreme("maximum"),
    "minimum": _extreme("minimum"),
}
