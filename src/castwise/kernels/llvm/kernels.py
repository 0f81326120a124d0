"""Kernels of lowered programs on this processor: compiled once, kept in memory and on disk."""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence

from castwise.kernels import store
from castwise.kernels.emitter import Traits
from castwise.kernels.layouts import Layout, Memory, layout_of
from castwise.kernels.llvm.compiling import Loaded, compiled, host
from castwise.kernels.llvm.errors import NOTICED_ON
from castwise.kernels.llvm.generating import generated
from castwise.kernels.program import FLOAT16, Lowered
from castwise.kernels.threads import get_threads, run_all
from castwise.vocab.architecture import architecture

_MOST_KERNELS = 512
_MOST_RANK = 4
_PER_THREAD = 1 << 17  # elements below which another thread costs more than it saves
_Key = tuple[Lowered, str, int]
_kernels: OrderedDict[_Key, Loaded] = OrderedDict()
_not_on_disk: set[_Key] = set()
_lock = threading.Lock()


def traits_here(**others: bool) -> Traits:
    """What this processor can do."""
    is_arm = architecture() == "aarch64"
    converts = frozenset({FLOAT16}) if is_arm or host().has_f16c else frozenset()
    return Traits(converts=converts, halves_doubles=is_arm, **others)


def notices_errors() -> bool:
    """Whether kernels can tell that a float overflowed or is undefined."""
    return architecture() in NOTICED_ON


def run(
    program: Lowered, shape: tuple[int, ...], arrays: Sequence[Memory], *, may_compile: bool = True
) -> bool | None:
    """Computes a program for all elements of a shape; the results come first among the arrays.

    It returns False if the results do not count, because there was an alarm, and None if the kernel
    would have to be compiled, and may not be.
    """
    layout = _layout(shape, arrays)
    if len(layout.shape) > _MOST_RANK:
        return _run_outer(program, layout, arrays, may_compile)
    kernel = _kernel(program, layout.steps, len(layout.shape), may_compile)
    if kernel is None:
        return None
    return not run_all(_parts(kernel, layout, [array.address for array in arrays]))


def _layout(shape: tuple[int, ...], arrays: Sequence[Memory]) -> Layout:
    return layout_of(
        shape, tuple([array.strides for array in arrays]),
        tuple([array.itemsize for array in arrays]),
    )  # fmt: skip


def _run_outer(
    program: Lowered, layout: Layout, arrays: Sequence[Memory], may_compile: bool
) -> bool | None:
    """One run for each index of the first dimension, where there are too many for a kernel."""
    is_right: bool | None = True
    for at in range(layout.shape[0]):
        moved = [
            Memory(array.address + at * strides[0], strides[1:], array.itemsize)
            for array, strides in zip(arrays, layout.strides, strict=True)
        ]
        found = run(program, layout.shape[1:], moved, may_compile=may_compile)
        if found is None:
            return None
        is_right = found and is_right
    return is_right


def _parts(kernel: Loaded, layout: Layout, addresses: list[int]) -> list[Callable[[], int]]:
    """The calls that compute equal parts of the first dimension, one per thread."""
    length, *others = layout.shape
    inner = 1
    for other in others:
        inner *= other
    most = max(length * inner // _PER_THREAD, 1)
    count = max(min(get_threads(), most, length), 1)
    ends = [_border(length * n // count, length) for n in range(count + 1)]
    return [_call(kernel, layout, addresses, start, end) for start, end in itertools.pairwise(ends)]


def _border(at: int, length: int) -> int:
    """An index where two threads do not write to the same line of the cache."""
    return at if at in (0, length) else min((at + 63) // 64 * 64, length)


def _call(
    kernel: Loaded, layout: Layout, addresses: list[int], start: int, end: int
) -> Callable[[], int]:
    numbers = [end - start, *layout.shape[1:]]
    for address, strides in zip(addresses, layout.strides, strict=True):
        numbers += [address + start * strides[0], *strides]
    given = (ctypes.c_int64 * len(numbers))(*numbers)
    return lambda: int(kernel.call(given))


def _kernel(program: Lowered, steps: str, rank: int, may_compile: bool) -> Loaded | None:
    """The kernel for arrays that move as `steps` says: from memory, from disk, or compiled."""
    key = (program, steps, rank)
    with _lock:
        found = _kernels.get(key)
        if found is not None:
            _kernels.move_to_end(key)
            return found
        if not may_compile and key in _not_on_disk:
            return None
    text = generated(program, steps, rank, architecture())
    name = store.key_of(text, host().name)
    code = store.read(name)
    if code is None and not may_compile:
        _not_on_disk.add(key)
        return None
    if code is None:
        code = compiled(text)
        store.write(name, code)
    loaded = Loaded(code)
    with _lock:
        found = _kernels.setdefault(key, loaded)
        _not_on_disk.discard(key)
        if len(_kernels) > _MOST_KERNELS:
            _kernels.popitem(last=False)
        return found
