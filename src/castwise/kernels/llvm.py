"""Writes lowered programs as LLVM IR, compiles it for this processor, and loads it."""

from __future__ import annotations

import functools
import itertools
import struct
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

from llvmlite import binding as llvm

from castwise.kernels.program import (
    ALARM,
    ANY,
    BITS,
    BOOL,
    COMPARE,
    CONSTANT,
    CONVERT,
    FIXED,
    LOAD,
    NARROW,
    SELECT,
    WIDEN,
    Lowered,
    Step,
    stored_as,
)
from castwise.kernels.resources import fork_safe
from castwise.rules.values import architecture
from castwise.vocab.dtypes import DType

# The LLVM instructions of each step of a lowered program.

_FLOATS = {32: "float", 64: "double"}
_BY_SIGN = {"idiv": "div", "irem": "rem"}
# The instructions of a step; {last} is the result of the one before.
_INSTRUCTIONS = {
    SELECT: ["select i1 {0}, {type} {1}, {type} {2}"],
    WIDEN: ["bitcast i16 {0} to half", "fpext half {last} to {type}"],
    NARROW: ["fptrunc {source} {0} to half", "bitcast half {last} to i16"],
    "fneg": ["fneg {type} {0}"],
}
_UNARY = {
    "rint": "roundeven",
    **{does: does for does in ("sqrt", "floor", "ceil", "trunc", "fabs")},
}


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

    def call(self, result: str, name: str, given: str, arguments: Sequence[str]) -> str:
        """Calls one of LLVM's own functions, whose arguments have one type."""
        self.needs.add(f"declare {result} @{name}({', '.join([given] * len(arguments))})")
        typed = ", ".join([f"{given} {argument}" for argument in arguments])
        return self.add(f"call {result} @{name}({typed})")


def value_type(dtype: DType) -> str:
    """The type of a value."""
    return _FLOATS[dtype.bits] if dtype.kind == "float" else f"i{dtype.bits}"


def _stored_type(dtype: DType) -> str:
    """The type of an element in memory."""
    return "i8" if dtype is BOOL else value_type(stored_as(dtype))


def instruction(text: Text, step: Step, sources: Sequence[DType], given: Sequence[str]) -> str:
    """Adds a step with arguments of these dtypes and names, and gives the name of its result."""
    dtype, does, kind = step.dtype, step.does, value_type(step.dtype)
    if does == CONSTANT:
        if dtype.kind != "float":
            return str(int(step.number))
        # LLVM reads a float as the bits of a double.
        return f"0x{struct.pack('>d', float(step.number)).hex().upper()}"
    if does in COMPARE:
        return _compared(text, does, sources[0], given)
    if does in _BY_FUNCTION:
        return _BY_FUNCTION[does](text, dtype, sources, given)
    if does in _INSTRUCTIONS:
        last, source = "", value_type(sources[0])
        for template in _INSTRUCTIONS[does]:
            last = text.add(template.format(*given, last=last, source=source, type=kind))
        return last
    if does in _UNARY:
        return text.call(kind, f"llvm.{_UNARY[does]}.f{dtype.bits}", kind, given)
    return text.add(f"{_arithmetic(does, dtype)} {kind} {', '.join(given)}")


def _arithmetic(does: str, dtype: DType) -> str:
    if dtype.kind == "float":
        return f"f{does}"
    if does in _BY_SIGN:
        return f"{'s' if dtype.is_signed else 'u'}{_BY_SIGN[does]}"
    if does == "shr":
        return "ashr" if dtype.is_signed else "lshr"
    return does


def _compared(text: Text, does: str, dtype: DType, given: Sequence[str]) -> str:
    if dtype.kind == "float":
        word, compare = ("une" if does == "ne" else f"o{does}"), "fcmp"
    else:
        sign = "" if does in ("eq", "ne") else "s" if dtype.is_signed else "u"
        word, compare = f"{sign}{does}", "icmp"
    return text.add(f"{compare} {word} {value_type(dtype)} {', '.join(given)}")


def _bits(text: Text, dtype: DType, sources: Sequence[DType], given: Sequence[str]) -> str:
    if value_type(sources[0]) == value_type(dtype):
        return given[0]
    return text.add(f"bitcast {value_type(sources[0])} {given[0]} to {value_type(dtype)}")


def _extreme(does: str) -> Callable[..., str]:
    """maximum and minimum: NaN if one is NaN.

    Not LLVM's own functions of these names: on x86 they lose a NaN beside an integer that was
    converted, whose float LLVM knows to be a number.
    """
    order = "ogt" if does == "maximum" else "olt"

    def added(text: Text, dtype: DType, sources: Sequence[DType], given: Sequence[str]) -> str:
        kind, (one, other) = value_type(dtype), given
        if dtype.kind == "float":
            is_one = text.add(f"fcmp {order} {kind} {one}, {other}")
            found = text.add(f"select i1 {is_one}, {kind} {one}, {kind} {other}")
            is_nan = text.add(f"fcmp uno {kind} {one}, {one}")
            return text.add(f"select i1 {is_nan}, {kind} {one}, {kind} {found}")
        name = f"llvm.{'s' if dtype.is_signed else 'u'}{does[:3]}.i{dtype.bits}"
        return text.call(kind, name, kind, given)

    return added


def _converted(text: Text, dtype: DType, sources: Sequence[DType], given: Sequence[str]) -> str:
    source, target = value_type(sources[0]), value_type(dtype)
    if dtype.kind == sources[0].kind == "float":
        word = "fpext" if dtype.bits > sources[0].bits else "fptrunc"
    elif dtype.kind == "float":
        word = "sitofp" if sources[0].is_signed and sources[0] is not BOOL else "uitofp"
    elif sources[0].kind == "float":
        name = f"llvm.fpto{'s' if dtype.is_signed else 'u'}i.sat.i{dtype.bits}.f{sources[0].bits}"
        return text.call(target, name, source, given)
    elif dtype.bits == sources[0].bits:
        return given[0]
    elif dtype.bits < sources[0].bits:
        word = "trunc"
    else:
        word = "sext" if sources[0].is_signed and sources[0] is not BOOL else "zext"
    return text.add(f"{word} {source} {given[0]} to {target}")


_BY_FUNCTION: dict[str, Callable[[Text, DType, Sequence[DType], Sequence[str]], str]] = {
    BITS: _bits, CONVERT: _converted,
    "maximum": _extreme("maximum"), "minimum": _extreme("minimum"),
}  # fmt: skip

# The state of a processor's floats: the errors that it notices, and whether subnormal floats are
# zero to it.
#
# A library that warns about errors reads the same flags after its own loops.

# The bits of the flags: undefined, division by zero, overflow; and an underflow.
_ERRORS = {"aarch64": 0b111, "x86_64": 0b1101}
_UNDERFLOW = {"aarch64": 0b1000, "x86_64": 0b10000}
# What makes subnormal operands and results zero.
_ZEROED = {"aarch64": 1 << 24, "x86_64": 0b1000_0000_0100_0000}
KNOWN_ON = frozenset(_ERRORS)
_X86 = "declare void @llvm.x86.sse.{}(ptr)"


class _FloatState:
    """Adds the instructions that a function begins and ends with."""

    def __init__(self, text: Text, architecture: str, program: Lowered) -> None:
        self._text, self._is_arm = text, architecture == "aarch64"
        errors = _ERRORS[architecture] * program.notices_float_errors
        self._flags = errors | _UNDERFLOW[architecture] * program.flushes
        self._mode = _ZEROED[architecture] * program.flushes

    def begin(self) -> None:
        """Clears the flags, and sets the mode."""
        text = self._text
        if not self._is_arm:
            text.do("%state = alloca i32", "%before = alloca i32")
            state = self._x86_state()
            text.do(f"store i32 {state}, ptr %before")
            cleared = text.add(f"and i32 {state}, -64")
            self._set_x86(text.add(f"or i32 {cleared}, {self._mode}"))
            return
        text.do('call void asm sideeffect "msr fpsr, $0", "r,~{memory}"(i64 0)')
        if self._mode:
            text.do("%before = alloca i64")
            state = text.add('call i64 asm sideeffect "mrs $0, fpcr", "=r,~{memory}"()')
            text.do(f"store i64 {state}, ptr %before")
            self._set_arm(text.add(f"or i64 {state}, {self._mode}"))

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


# LLVM IR from a lowered program: loops over the dimensions, with the steps inside.

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
        text, program = self.text, self.program
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
        watched = program.notices_float_errors or program.flushes
        state = _FloatState(text, self.processor.architecture, program) if watched else None
        if state:
            state.begin()
        self._loop(0, bases)
        if state:
            self._raise_alarm(state.end())
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
            width = self.processor.vector // max(dtype.itemsize for dtype in self.program.results)
            hints.append(f'!"llvm.loop.vectorize.width", i32 {width}')
        numbers = "".join(f", !{n}" for n in range(2, 2 + len(hints)))
        entries = [f"!{n} = !{{{hint}}}" for n, hint in enumerate(hints, 2)]
        return ["!0 = distinct !{}", f"!1 = distinct !{{!1{numbers}}}", *entries]

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
        return self.text.add(f"getelementptr {_stored_type(self.arrays[n])}, ptr {base}, i64 {at}")

    def _loaded(self, n: int, place: str) -> str:
        dtype = self.arrays[n]
        found = self.text.add(f"load {_stored_type(dtype)}, ptr {place}{_ACCESS}")
        return self.text.add(f"icmp ne i8 {found}, 0") if dtype is BOOL else found

    def _loaded_before(self, bases: list[str]) -> dict[int, str]:
        """The operands that are the same along the last dimension."""
        operands = range(len(self.program.results), len(bases))
        return {n: self._loaded(n, bases[n]) for n in operands if self.steps[n] == FIXED}

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
                self._raise_alarm(given[0])
                names.append("")
            else:
                sources = [program.steps[number].dtype for number in step.arguments]
                names.append(instruction(self.text, step, sources, given))
        for n, number in enumerate(program.outputs):
            self._store(n, names[number], self._place(n, bases[n], at))

    def _store(self, n: int, value: str, place: str) -> None:
        dtype = self.arrays[n]
        if dtype is BOOL:
            value = self.text.add(f"zext i1 {value} to i8")
        self.text.do(f"store {_stored_type(dtype)} {value}, ptr {place}{_ACCESS}")

    def _raise_alarm(self, condition: str) -> None:
        """Notes an alarm, if a condition holds."""
        before = self.text.add("load i1, ptr %alarm")
        self.text.do(f"store i1 {self.text.add(f'or i1 {before}, {condition}')}, ptr %alarm")


# The compiler for this processor, and what it compiled in memory.

_library_numbers = itertools.count()
_lock = fork_safe(threading.Lock())  # LLVM's contexts are not for several threads


class _Host:
    """This processor, as LLVM sees it."""

    def __init__(self) -> None:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.initialize_native_asmparser()  # for the instructions that read float errors
        self.cpu = llvm.get_host_cpu_name()
        features = llvm.get_host_cpu_features()
        self.features = features.flatten()
        self.has_f16c = bool(features.get("f16c", False))
        # Where vectors may be longer than 32 bytes, LLVM itself mostly chooses 32.
        self.processor = Processor(architecture(), 32 if features.get("avx2", False) else 16)
        self.triple = llvm.get_process_triple()
        target = llvm.Target.from_triple(self.triple)
        # On x86-64, memset or a constant may be further away than the small model can reach.
        model = "large" if architecture() == "x86_64" else "small"
        self.machine = target.create_target_machine(
            cpu=self.cpu, features=self.features, opt=3, reloc="pic", codemodel=model
        )
        self.linker = llvm.create_lljit_compiler(self.machine)

    @property
    def name(self) -> str:
        """Everything that compiled code depends on, besides its IR."""
        version = ".".join(map(str, llvm.llvm_version_info))
        return f"{self.triple} {self.cpu} {self.features} LLVM {version}"


@functools.cache
def host() -> _Host:
    """This processor."""
    return _Host()


def compiled(text: str) -> bytes:
    """The object file of a module in LLVM IR."""
    with _lock:
        here = host()
        module = llvm.parse_assembly(text)
        module.triple = here.triple
        module.data_layout = str(here.machine.target_data)
        options = llvm.create_pipeline_tuning_options(speed_level=3)
        options.loop_vectorization = True
        options.slp_vectorization = True
        options.loop_unrolling = True
        builder = llvm.create_pass_builder(here.machine, options)
        builder.getModulePassManager().run(module, builder)
        return bytes(here.machine.emit_object(module))


class Loaded:
    """Compiled functions in memory, which are freed with this object."""

    def __init__(self, code: bytes, *functions: str) -> None:
        self.code = code
        with _lock:
            # LLVM calls memset, and on old processors floorf and the like.
            library = llvm.JITLibraryBuilder().add_object_img(code).add_current_process()
            for function in functions:
                library.export_symbol(function)
            self._tracker = library.link(host().linker, f"castwise {next(_library_numbers)}")

    def address(self, function: str) -> int:
        """The address of a function."""
        return int(self._tracker[function])
