"""The state of a processor's floats: the errors that it notices, and whether subnormal floats are
zero to it.

A library that warns about errors reads the same flags after its own loops.
"""

from __future__ import annotations

from castwise.kernels.llvm.instructions import Text

# The bits of the flags: undefined, division by zero, overflow; and an underflow.
_ERRORS = {"aarch64": 0b111, "x86_64": 0b1101}
_UNDERFLOW = {"aarch64": 0b1000, "x86_64": 0b10000}
# What makes subnormal operands and results zero.
_ZEROED = {"aarch64": 1 << 24, "x86_64": 0b1000_0000_0100_0000}
KNOWN_ON = frozenset(_ERRORS)
_X86 = "declare void @llvm.x86.sse.{}(ptr)"


class FloatState:
    """Adds the instructions that a function begins and ends with."""

    def __init__(self, text: Text, architecture: str, *, notices: bool, flushes: bool) -> None:
        self._text, self._is_arm = text, architecture == "aarch64"
        self._flags = _ERRORS[architecture] * notices | _UNDERFLOW[architecture] * flushes
        self._mode = _ZEROED[architecture] * flushes

    def begin(self) -> None:
        """Clears the flags, and sets the mode."""
        text = self._text
        if not self._is_arm:
            text.do("%state = alloca i32", "%before = alloca i32")
            held = self._x86_state()
            text.do(f"store i32 {held}, ptr %before")
            cleared = text.add(f"and i32 {held}, -64")
            self._set_x86(text.add(f"or i32 {cleared}, {self._mode}"))
            return
        text.do('call void asm sideeffect "msr fpsr, $0", "r,~{memory}"(i64 0)')
        if self._mode:
            text.do("%before = alloca i64")
            held = text.add('call i64 asm sideeffect "mrs $0, fpcr", "=r,~{memory}"()')
            text.do(f"store i64 {held}, ptr %before")
            self._set_arm(text.add(f"or i64 {held}, {self._mode}"))

    def end(self) -> str:
        """Reads the flags, restores the mode, and gives whether there was a flag."""
        text = self._text
        if self._is_arm:
            state = text.add('call i64 asm sideeffect "mrs $0, fpsr", "=r,~{memory}"()')
            if self._mode:
                self._set_arm(text.add("load i64, ptr %before"))
        else:
            state = text.add(f"zext i32 {self._x86_state()} to i64")
            self._set_x86(text.add("load i32, ptr %before"))
        flags = text.add(f"and i64 {state}, {self._flags}")
        return text.add(f"icmp ne i64 {flags}, 0")

    def _set_arm(self, state: str) -> None:
        self._text.do(f'call void asm sideeffect "msr fpcr, $0", "r,~{{memory}}"(i64 {state})')

    def _set_x86(self, state: str) -> None:
        self._text.needs.add(_X86.format("ldmxcsr"))
        self._text.do(f"store i32 {state}, ptr %state")
        self._text.do("call void @llvm.x86.sse.ldmxcsr(ptr %state)")

    def _x86_state(self) -> str:
        self._text.needs.add(_X86.format("stmxcsr"))
        self._text.do("call void @llvm.x86.sse.stmxcsr(ptr %state)")
        return self._text.add("load i32, ptr %state")
