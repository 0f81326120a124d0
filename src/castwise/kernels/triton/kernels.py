"""Kernels of lowered programs on a GPU: compiled once, kept in memory and on disk."""

from __future__ import annotations

import contextlib
import functools
import linecache
from collections.abc import Iterator, Sequence
from typing import Any

import triton
import triton.language as tl

from castwise.kernels import store
from castwise.kernels.emitter import Traits
from castwise.kernels.layouts import Layout, Memory, layout_of
from castwise.kernels.program import BFLOAT16, BOOL, FLOAT16, Lowered, stored_as
from castwise.kernels.triton.generating import generated, moving
from castwise.vocab.dtypes import DType

_MOST_KERNELS = 512
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


def run(
    program: Lowered, shape: tuple[int, ...], arrays: Sequence[Memory], *, may_compile: bool = True
) -> bool | None:
    """Computes a program for all elements of a shape; the results come first among the arrays.

    It returns None if the kernel would have to be compiled, and may not be.
    """
    layout = layout_of(
        shape, tuple([array.strides for array in arrays]),
        tuple([array.itemsize for array in arrays]),
    )  # fmt: skip
    size = functools.reduce(lambda x, y: x * y, layout.shape, 1)
    kernel = _kernel(program, layout.steps, len(layout.shape), size >= _LARGE)
    if not may_compile and not kernel.is_compiled:
        return None
    held = (*program.results, *program.operands)
    pointers = [
        _Pointer(array.address, _named(d)) for array, d in zip(arrays, held, strict=True)
    ]  # fmt: skip
    kernel.launch(
        size, _block(arrays), [*pointers, size, *layout.shape[1:], *_strides(layout, arrays)]
    )
    return True


def traits_here(**others: bool) -> Traits:
    """What a GPU can do."""
    return Traits(converts=frozenset({FLOAT16, BFLOAT16}), **others)


def notices_errors() -> bool:
    """Never: a GPU has no flags for float errors."""
    return False


def _block(arrays: Sequence[Memory]) -> int:
    return _BLOCKS[max(array.itemsize for array in arrays)]


def _strides(layout: Layout, arrays: Sequence[Memory]) -> list[int]:
    """The strides that a kernel takes, in elements."""
    return [
        strides[d] // array.itemsize
        for array, strides, step in zip(arrays, layout.strides, layout.steps, strict=True)
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

    def launch(self, size: int, block: int, arguments: Sequence[Any]) -> None:
        """Runs the kernel on the current stream."""
        with contextlib.nullcontext() if self.is_compiled else _kept():
            # No fusion of a product and a sum: it would leave out a rounding.
            self._function[(triton.cdiv(size, block),)](
                *arguments, BLOCK=block, enable_fp_fusion=False
            )
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
