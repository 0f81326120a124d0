"""The float errors that a processor notices: overflow, division by zero, undefined results.

A library that warns about them reads the same flags after its own loops.
"""

from __future__ import annotations

from castwise.kernels.llvm.instructions import Text

# The bits of the flags in the processor's register.
_FLAGS = {"aarch64": 0b111, "x86_64": 0b1101}
NOTICED_ON = frozenset(_FLAGS)
_X86 = "declare void @llvm.x86.sse.{}(ptr)"


def clear_errors(text: Text, architecture: str) -> None:
    """Adds what resets the flags."""
    if architecture == "aarch64":
        text.do('call void asm sideeffect "msr fpsr, $0", "r,~{memory}"(i64 0)')
        return
    text.needs.add(_X86.format("ldmxcsr"))
    text.do("%state = alloca i32")
    before = _x86_state(text)
    text.do(f"store i32 {text.add(f'and i32 {before}, -64')}, ptr %state")
    text.do("call void @llvm.x86.sse.ldmxcsr(ptr %state)")


def read_errors(text: Text, architecture: str) -> str:
    """Adds what reads the flags, and gives whether there was an error."""
    if architecture == "aarch64":
        state = text.add('call i64 asm sideeffect "mrs $0, fpsr", "=r,~{memory}"()')
    else:
        state = text.add(f"zext i32 {_x86_state(text)} to i64")
    flags = text.add(f"and i64 {state}, {_FLAGS[architecture]}")
    return text.add(f"icmp ne i64 {flags}, 0")


def _x86_state(text: Text) -> str:
    text.needs.add(_X86.format("stmxcsr"))
    text.do("call void @llvm.x86.sse.stmxcsr(ptr %state)")
    return text.add("load i32, ptr %state")
