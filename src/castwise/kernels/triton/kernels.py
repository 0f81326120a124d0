"""Kernels of lowered programs on a GPU: compiled once, kept in memory and on disk."""

from __future__ import annotations

import contextlib
import functools
import linecache
import math
from collections.abc import Iterator, Sequence
from typing import Any

import triton
import triton.language as tl

from castwise.kernels import store
from castwise.kernels.layouts import Layout, Strides, layout_of
from castwise.kernels.program import BFLOAT16, BOOL, FLOAT16, Lowered, stored_as
from castwise.kernels.triton.generating import generated, moving
from castwise.vocab.dtypes import DType

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
        self._kernel, self._names = kernel, [_named(d) for d in program.arrays]
        self._block = _BLOCKS[max(program.itemsizes)]
        self._grid = (triton.cdiv(size, self._block),)
        self._others = [size, *layout.shape[1:], *_strides(layout, program.itemsizes)]

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
    layout = layout_of(shape, strides, program.itemsizes)
    is_large = math.prod(shape) >= _LARGE
    return Launch(_kernel(program, layout.steps, len(layout.shape), is_large), layout, program)


def converts() -> frozenset[DType]:
    """The small floats that a GPU itself converts to and from float32."""
    return frozenset({FLOAT16, BFLOAT16})


def halves_doubles() -> bool:
    """Whether it converts float64 to float16 with one rounding."""
    return True


def notices_errors() -> bool:
    """Never: a GPU has no flags for float errors."""
    return False


def flushes() -> bool:
    """Not used: the steps that flush cost a GPU nothing."""
    return False


def _strides(layout: Layout, itemsizes: Sequence[int]) -> list[int]:
    """The strides that a kernel takes, in elements."""
    return [
        strides[d] // itemsize
        for itemsize, strides, step in zip(itemsizes, layout.strides, layout.steps, strict=True)
        for d in moving(step, len(layout.shape))
    ]


def _named(held: DType) -> str:
    return "uint8" if held is BOOL else str(stored_as(held).name)


class _Kernel:
    def __init__(self, text: str) -> None:
        name = f"<castwise kernel {store.key_of(text)[:16]}>"
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
    place = store.directory("triton")
    with triton.knobs.cache.scope(), triton.knobs.compilation.scope():
        if place is None:
            triton.knobs.compilation.always_compile = True
        else:
            triton.knobs.cache.dir = str(store.made(place))
        yield
