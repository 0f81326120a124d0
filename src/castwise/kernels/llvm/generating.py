"""LLVM IR from a lowered program: loops over the dimensions, with the steps inside."""

from __future__ import annotations

from typing import NamedTuple

from castwise.kernels.layouts import ANY, FIXED
from castwise.kernels.llvm.float_state import FloatState
from castwise.kernels.llvm.instructions import Text, instruction, stored_type
from castwise.kernels.program import ALARM, BOOL, LOAD, Lowered

# What one iteration reads and writes does not depend on another, also where a result is written
# over an operand: this lets LLVM compute several elements at once without checking addresses.
_ACCESS = ", align 1, !llvm.access.group !0"


class Processor(NamedTuple):
    """What a kernel's text depends on."""

    architecture: str
    vector: int  # the bytes of a vector


def generated(program: Lowered, steps: str, rank: int, processor: Processor) -> str:
    """A module with the function `kernel`, for arrays that move along the last of `rank` dimensions
    as `steps` says.

    The function takes two addresses of 64-bit integers. The first are the lengths of the
    dimensions, then for each array, results first, the bytes to its first element here and its
    strides in bytes. The second are the addresses of the arrays. It returns 0, or another number
    if the results do not count.
    """
    return _Kernel(program, steps, rank, processor).module()


class _Kernel:
    """The text of one kernel."""

    def __init__(self, program: Lowered, steps: str, rank: int, processor: Processor) -> None:
        self.program, self.steps, self.rank = program, steps, rank
        self.processor, self.text = processor, Text()
        self.arrays = program.arrays
        self.lengths: list[str] = []
        self.strides: list[list[str]] = []

    def module(self) -> str:
        """The whole module."""
        text = self.text
        program = self.program
        flushing = ' "denormal-fp-math"="preserve-sign,preserve-sign"' * program.flushes
        text.lines += [f"define i64 @kernel(ptr %given, ptr %arrays){flushing} {{", "entry:"]
        text.do("%alarm = alloca i1", "store i1 0, ptr %alarm")
        text.do(*[f"%at{level} = alloca i64" for level in range(self.rank)])
        self.lengths = [self._given(n) for n in range(self.rank)]
        bases = []
        for n in range(len(self.arrays)):
            start = self.rank + n * (self.rank + 1)
            place = text.add(f"getelementptr ptr, ptr %arrays, i64 {n}")
            array = text.add(f"load ptr, ptr {place}")
            bases.append(text.add(f"getelementptr i8, ptr {array}, i64 {self._given(start)}"))
            self.strides.append([self._given(start + 1 + d) for d in range(self.rank)])
        if program.notices_float_errors or program.flushes:
            state = FloatState(
                text, self.processor.architecture,
                notices=program.notices_float_errors, flushes=program.flushes,
            )  # fmt: skip
            state.begin()
            self._loop(0, bases)
            self._sound(state.end())
        else:
            self._loop(0, bases)
        alarm = text.add("load i1, ptr %alarm")
        text.do(f"ret i64 {text.add(f'zext i1 {alarm} to i64')}")
        return "\n".join([*sorted(text.needs), *text.lines, "}", *self._metadata(), ""])

    def _metadata(self) -> list[str]:
        """What LLVM is told about the loop over elements."""
        # Four vectors at a time: more loads are under way at once, which LLVM's own choice of two
        # leaves undone.
        hints = ['!"llvm.loop.parallel_accesses", !0', '!"llvm.loop.interleave.count", i32 4']
        if ANY not in self.steps:
            # As many elements as a vector of the result has. LLVM itself may choose the number of
            # the narrowest operand, and then stores go back and forth between lines of the cache,
            # which takes up to three times as long (int64 + int8 on a Neoverse N1).
            width = self.processor.vector // max(held.itemsize for held in self.program.results)
            hints.append(f'!"llvm.loop.vectorize.width", i32 {width}')
        listed = "".join(f", !{n}" for n in range(2, 2 + len(hints)))
        told = [f"!{n} = !{{{hint}}}" for n, hint in enumerate(hints, 2)]
        return ["!0 = distinct !{}", f"!1 = distinct !{{!1{listed}}}", *told]

    def _given(self, number: int) -> str:
        place = self.text.add(f"getelementptr i64, ptr %given, i64 {number}")
        return self.text.add(f"load i64, ptr {place}")

    def _loop(self, level: int, bases: list[str]) -> None:
        """A loop over one dimension, with the further ones inside."""
        text, is_last = self.text, level == self.rank - 1
        fixed = self._loaded_before(bases) if is_last else {}
        text.do(f"store i64 0, ptr %at{level}", f"br label %head{level}")
        text.label(f"head{level}")
        at = text.add(f"load i64, ptr %at{level}")
        more = text.add(f"icmp slt i64 {at}, {self.lengths[level]}")
        text.do(f"br i1 {more}, label %body{level}, label %end{level}")
        text.label(f"body{level}")
        if is_last:
            self._element(at, bases, fixed)
        else:
            moved = [self._moved(n, level, base, at) for n, base in enumerate(bases)]
            self._loop(level + 1, moved)
        text.do(f"store i64 {text.add(f'add nsw i64 {at}, 1')}, ptr %at{level}")
        text.do(f"br label %head{level}{', !llvm.loop !1' if is_last else ''}")
        text.label(f"end{level}")

    def _moved(self, n: int, level: int, base: str, at: str) -> str:
        """The address of an array at an index of a dimension."""
        bytes_away = self.text.add(f"mul nsw i64 {at}, {self.strides[n][level]}")
        return self.text.add(f"getelementptr i8, ptr {base}, i64 {bytes_away}")

    def _place(self, n: int, base: str, at: str) -> str:
        """The address of an element along the last dimension."""
        if self.steps[n] == FIXED:
            return base
        if self.steps[n] == ANY:
            return self._moved(n, self.rank - 1, base, at)
        return self.text.add(f"getelementptr {stored_type(self.arrays[n])}, ptr {base}, i64 {at}")

    def _loaded(self, n: int, place: str) -> str:
        held = self.arrays[n]
        found = self.text.add(f"load {stored_type(held)}, ptr {place}{_ACCESS}")
        return self.text.add(f"icmp ne i8 {found}, 0") if held is BOOL else found

    def _loaded_before(self, bases: list[str]) -> dict[int, str]:
        """The operands that are the same along the last dimension."""
        first = len(self.program.results)
        return {
            n: self._loaded(n, base)
            for n, base in enumerate(bases)
            if n >= first and self.steps[n] == FIXED
        }

    def _element(self, at: str, bases: list[str], fixed: dict[int, str]) -> None:
        """All steps for one element."""
        program, first = self.program, len(self.program.results)
        names: list[str] = []
        for step in program.steps:
            given = [names[number] for number in step.arguments]
            if step.does == LOAD:
                n = first + int(step.detail or 0)
                names.append(fixed.get(n) or self._loaded(n, self._place(n, bases[n], at)))
            elif step.does == ALARM:
                self._sound(given[0])
                names.append("")
            else:
                sources = [program.steps[number].dtype for number in step.arguments]
                names.append(instruction(self.text, step, sources, given))
        for n, number in enumerate(program.outputs):
            self._store(n, names[number], self._place(n, bases[n], at))

    def _store(self, n: int, value: str, place: str) -> None:
        held = self.arrays[n]
        if held is BOOL:
            value = self.text.add(f"zext i1 {value} to i8")
        self.text.do(f"store {stored_type(held)} {value}, ptr {place}{_ACCESS}")

    def _sound(self, condition: str) -> None:
        """Remembers an alarm, if a condition holds."""
        before = self.text.add("load i1, ptr %alarm")
        self.text.do(f"store i1 {self.text.add(f'or i1 {before}, {condition}')}, ptr %alarm")
