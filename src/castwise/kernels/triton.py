"""Kernels of lowered programs on a GPU: written as Triton's Python, compiled once, kept in memory
and on disk."""

from __future__ import annotations

import contextlib
import functools
import linecache
import math
from collections.abc import Iterator, Sequence
from typing import Any

import triton
import triton.language as tl

from castwise.kernels.program import (
    ANY,
    BFLOAT16,
    BITS,
    BOOL,
    COMPARE,
    CONSTANT,
    CONVERT,
    FIXED,
    FLOAT16,
    FLOAT32,
    LOAD,
    NARROW,
    SELECT,
    WIDEN,
    Layout,
    Lowered,
    Step,
    Strides,
    kernel_layout,
    stored_as,
)
from castwise.kernels.resources import cache_directory, code_key, private_directory
from castwise.vocab.dtypes import DType

# A Triton kernel from a lowered program, as Python text.

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "and": "&", "or": "|", "xor": "^", "shl": "<<",
    "shr": ">>", "idiv": "//", "irem": "%", "eq": "==", "ne": "!=", "lt": "<", "le": "<=",
    "gt": ">", "ge": ">=",
}  # fmt: skip
# A minus sign alone would be a difference from zero, which is never -0. Triton's own floor and ceil
# take subnormal floats for zeros.
_TRUNC = "tl.extra.cuda.libdevice.trunc({0})"
_EXPRESSIONS = {
    WIDEN: "{0}.to(tl.{detail}, bitcast=True).to({type})",
    NARROW: "{0}.to(tl.{detail}).to({type}, bitcast=True)",
    BITS: "{0}.to({type}, bitcast=True)",
    SELECT: "tl.where({0}, {1}, {2})",
    "maximum": "tl.maximum({0}, {1}{nan})",
    "minimum": "tl.minimum({0}, {1}{nan})",
    "fabs": "tl.abs({0})",
    "fneg": "({0} * -1.0)",
    "trunc": _TRUNC,
    "rint": "tl.extra.cuda.libdevice.rint({0})",
    "floor": f"tl.where({_TRUNC} > {{0}}, {_TRUNC} - 1.0, {_TRUNC})",
    "ceil": f"tl.where({_TRUNC} < {{0}}, {_TRUNC} + 1.0, {_TRUNC})",
}


def _type(dtype: DType) -> str:
    """The name of a dtype in Triton's language."""
    return "tl.int1" if dtype is BOOL else f"tl.{dtype}"


def generated(program: Lowered, steps: str, rank: int, *, is_large: bool) -> str:
    """The text of the function `kernel`, for arrays that move along the last of `rank` dimensions
    as `steps` says.

    It takes the addresses of all arrays, results first, then the number of elements, the lengths of
    all dimensions but the first, and the strides in elements of each array that has any.
    `is_large`: its indices need 64 bits.
    """
    count = len(steps)
    names = [f"p{n}" for n in range(count)]
    lengths = [f"n{d}" for d in range(1, rank)]
    moves = [f"s{n}_{d}" for n in range(count) for d in _moving(steps[n], rank)]
    index = ".to(tl.int64)" if is_large else ""
    lines = [
        f"def kernel({', '.join([*names, 'size', *lengths, *moves])}, BLOCK: tl.constexpr):",
        f"    at = tl.program_id(0){index} * BLOCK + tl.arange(0, BLOCK)",
        "    is_there = at < size",
        *[f"    {line}" for line in _indices(rank)],
        *[f"    {line}" for line in _body(program, steps, rank)],
    ]
    return "\n".join([*lines, ""])


def _moving(step: str, rank: int) -> range:
    """The dimensions along which an array needs a stride: the last needs none if it is the next in
    memory, or if the array stays where it is."""
    return range(rank if step == ANY else rank - 1)


def _indices(rank: int) -> list[str]:
    """The index of each dimension, the last changing fastest."""
    lines, rest = [], "at"
    for d in range(rank - 1, 0, -1):
        lines += [f"i{d} = {rest} % n{d}", f"r{d} = {rest} // n{d}"]
        rest = f"r{d}"
    return [*lines, f"i0 = {rest}"]


def _place(n: int, step: str, rank: int) -> str:
    parts = [f"i{d} * s{n}_{d}" for d in _moving(step, rank)]
    if step not in (ANY, FIXED):
        parts.append(f"i{rank - 1}")
    return " + ".join([f"p{n}", *parts])


def _body(program: Lowered, steps: str, rank: int) -> list[str]:
    lines, first = [], len(program.results)
    for number, step in enumerate(program.steps):
        if step.does == LOAD:
            n = first + int(step.detail or 0)
            is_one = steps[n] == FIXED and rank == 1
            mask = "" if is_one else ", mask=is_there"
            text = f"tl.load({_place(n, steps[n], rank)}{mask})"
            if step.dtype is BOOL:
                text = f"({text} != 0)"
        else:
            sources = [program.steps[k].dtype for k in step.arguments]
            text = _expression(step, sources, [f"v{k}" for k in step.arguments])
        lines.append(f"v{number} = {text}")
    for n, number in enumerate(program.outputs):
        value = f"v{number}"
        if program.steps[number].dtype is BOOL:
            value = f"{value}.to(tl.uint8)"
        lines.append(f"tl.store({_place(n, steps[n], rank)}, {value}, mask=is_there)")
    return lines


def _expression(step: Step, sources: Sequence[DType], given: Sequence[str]) -> str:
    dtype, does = step.dtype, step.does
    if does == CONSTANT:
        number = step.number
        text = repr(number) if math.isfinite(number) else f"float('{number}')"
        return f"tl.full((1,), {text}, {_type(dtype)})"
    if does == CONVERT:
        return _converted(dtype, sources[0], given[0])
    if does in _EXPRESSIONS:
        nan = ", propagate_nan=tl.PropagateNan.ALL" if dtype.kind == "float" else ""
        return _EXPRESSIONS[does].format(*given, detail=step.detail, type=_type(dtype), nan=nan)
    if does == "sqrt":
        return f"tl.sqrt_rn({given[0]})" if dtype is FLOAT32 else f"tl.sqrt({given[0]})"
    if does == "div" and dtype is FLOAT32:
        return f"tl.div_rn({', '.join(given)})"  # the operator is an approximation
    found = f"({f' {_SYMBOLS[does]} '.join(given)})"
    return found if does in COMPARE else f"{found}.to({_type(dtype)})"


def _converted(dtype: DType, source: DType, value: str) -> str:
    """A cast; floats out of an integer's range become its limits, and NaN becomes 0."""
    if dtype is FLOAT32 and source.kind == "int" and source.bits > dtype.mantissa_bits:
        # Without the sum, Triton casts an integer to a small float at once, and so rounds once.
        return f"({value}.to({_type(dtype)}) + 0.0)"
    if dtype.kind != "int" or source.kind != "float":
        return f"{value}.to({_type(dtype)})"
    least, most = int(dtype.min), int(dtype.max)
    whole = f"tl.where({value} != {value}, 0.0, {value}).to({_type(dtype)})"
    for test, end in ((f"{value} >= {float(most + 1)!r}", most), (f"{value} < {least!r}.0", least)):
        whole = f"tl.where({test}, tl.full((1,), {end}, {_type(dtype)}), {whole})"
    return whole


# Compiled kernels, and what launches them.

_MOST_KERNELS = 512
_MOST_LAUNCHES = 1024
_BLOCKS = {1: 4096, 2: 2048, 4: 1024, 8: 1024}  # elements per program, by their bytes
_LARGE = 1 << 31  # elements from which an index needs 64 bits


class _Pointer:
    """An address, as Triton takes it from any library."""

    __slots__ = ("address", "dtype")

    def __init__(self, address: int, dtype: str) -> None:
        self.address, self.dtype = address, dtype

    def data_ptr(self) -> int:
        """The address."""
        return self.address


def launch_for(
    program: Lowered, shape: tuple[int, ...], strides: Strides, *, may_compile: bool = True
) -> Launch | None:
    """What computes a program for arrays of a shape with these strides, results first; None if its
    kernel would have to be compiled, and may not be."""
    found = _launch(program, shape, strides)
    return found if may_compile or found.is_compiled else None


class Launch:
    """A kernel with everything that it takes but the addresses of the arrays."""

    def __init__(self, kernel: _Kernel, layout: Layout, program: Lowered) -> None:
        size = math.prod(layout.shape)
        self._kernel = kernel
        self._names = ["uint8" if d is BOOL else stored_as(d).name for d in program.arrays]
        self._block = _BLOCKS[max(program.itemsizes)]
        self._grid = (triton.cdiv(size, self._block),)
        arrays = zip(program.itemsizes, layout.strides, layout.steps, strict=True)
        moves = [  # in elements
            strides[d] // itemsize
            for itemsize, strides, step in arrays
            for d in _moving(step, len(layout.shape))
        ]
        self._others = [size, *layout.shape[1:], *moves]

    @property
    def is_compiled(self) -> bool:
        """Whether a first call compiled it."""
        return self._kernel.is_compiled

    def __call__(self, addresses: Sequence[int]) -> bool:
        """Computes all elements, on the current stream."""
        pointers = [_Pointer(a, name) for a, name in zip(addresses, self._names, strict=True)]
        self._kernel.launch(self._grid, self._block, [*pointers, *self._others])
        return True


@functools.lru_cache(maxsize=_MOST_LAUNCHES)
def _launch(program: Lowered, shape: tuple[int, ...], strides: Strides) -> Launch:
    layout = kernel_layout(shape, strides, program.itemsizes)
    is_large = math.prod(shape) >= _LARGE
    return Launch(_kernel(program, layout.steps, len(layout.shape), is_large), layout, program)


class _Kernel:
    """A kernel's function, which Triton compiles when it first runs."""

    def __init__(self, text: str) -> None:
        name = f"<castwise kernel {code_key(text)[:16]}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        scope: dict[str, Any] = {"tl": tl, "__name__": "castwise.kernels.triton.generated"}
        exec(compile(text, name, "exec"), scope)
        self._function = triton.jit(scope["kernel"])
        self.is_compiled = False

    def launch(self, grid: tuple[int], block: int, arguments: Sequence[Any]) -> None:
        """Runs the kernel on the current stream."""
        with contextlib.nullcontext() if self.is_compiled else _kept():
            # No fusion of a product and a sum: it would leave out a rounding.
            self._function[grid](*arguments, BLOCK=block, enable_fp_fusion=False)
        self.is_compiled = True


@functools.lru_cache(maxsize=_MOST_KERNELS)
def _kernel(program: Lowered, steps: str, rank: int, is_large: bool) -> _Kernel:
    return _Kernel(generated(program, steps, rank, is_large=is_large))


@contextlib.contextmanager
def _kept() -> Iterator[None]:
    """Lets Triton keep what it compiles in castwise's own directory, or nowhere."""
    place = cache_directory("triton")
    with triton.knobs.cache.scope(), triton.knobs.compilation.scope():
        if place is None:
            triton.knobs.compilation.always_compile = True
        else:
            triton.knobs.cache.dir = str(private_directory(place))
        yield


# What a GPU does itself, so that a program need not spell it out.


def converts() -> frozenset[DType]:
    """The small floats that a GPU itself converts to and from float32."""
    return frozenset({FLOAT16, BFLOAT16})


def halves_doubles() -> bool:
    """Whether it converts float64 to float16 with one rounding."""
    return True


def has_float_state() -> bool:
    """Never: a GPU has no flags for float errors, and the steps that flush cost it nothing."""
    return False
