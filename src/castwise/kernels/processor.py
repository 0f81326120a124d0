"""Kernels of lowered programs on this processor: compiled once, kept in memory and on disk."""

from __future__ import annotations

import ctypes
import itertools
import math
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence

from castwise.kernels import disk
from castwise.kernels.llvm import KNOWN_ON, Loaded, compiled, generated, host
from castwise.kernels.program import FLOAT16, Layout, Lowered, Strides, kernel_layout
from castwise.kernels.threads import fork_safe, get_threads
from castwise.kernels.workers import Job
from castwise.vocab.architecture import architecture
from castwise.vocab.dtypes import DType

_MOST_KERNELS = 512
_MOST_LAUNCHES = 1024
_MOST_RANK = 4  # dimensions that a kernel loops over
_MOST_PARTS = 256  # calls of a kernel for arrays of more dimensions
_PER_THREAD = 1 << 17  # elements below which another thread costs more than it saves
# A kernel takes the numbers of a part and the arrays' addresses. The call lets go of the GIL.
_PROTOTYPE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
_Key = tuple[Lowered, str, int]
_kernels: OrderedDict[_Key, Loaded] = OrderedDict()
_not_on_disk: set[_Key] = set()
_broken: set[_Key] = set()
_launches: dict[tuple[object, ...], Launch] = {}
_kernels_lock = fork_safe(threading.Lock())


def converts() -> frozenset[DType]:
    """The small floats that this processor itself converts to and from float32."""
    has_half = architecture() == "aarch64" or host().has_f16c
    return frozenset({FLOAT16}) if has_half else frozenset()


def halves_doubles() -> bool:
    """Whether it converts float64 to float16 with one rounding."""
    return architecture() == "aarch64"


def notices_errors() -> bool:
    """Whether kernels can tell that a float overflowed or is undefined."""
    return architecture() in KNOWN_ON


def flushes() -> bool:
    """Whether this processor can take subnormal floats for zeros."""
    return architecture() in KNOWN_ON


def launch_for(
    program: Lowered, shape: tuple[int, ...], strides: Strides, *, may_compile: bool = True
) -> Launch | None:
    """What computes a program for arrays of a shape with these strides, results first; None if its
    kernel would have to be compiled, and may not be."""
    key = (program, shape, strides, get_threads())
    found = _launches.get(key)
    if found is None:
        layout = kernel_layout(shape, strides, program.itemsizes)
        if math.prod(layout.shape[:-_MOST_RANK]) > _MOST_PARTS:
            return None  # a library walks such arrays faster
        kernel = _kernel(program, layout.steps, min(len(layout.shape), _MOST_RANK), may_compile)
        if kernel is None:
            return None
        if len(_launches) >= _MOST_LAUNCHES:
            _launches.clear()
        found = _launches[key] = Launch(kernel, layout)
    return found


class Launch:
    """A kernel with everything that it takes but the addresses of the arrays."""

    def __init__(self, kernel: Loaded, layout: Layout) -> None:
        self._kernel = kernel  # whose code must stay in memory
        # Dimensions that are too many for a kernel are walked here, one index at a time.
        outer = max(len(layout.shape) - _MOST_RANK, 0)
        parts = [
            _part(layout, outer, start, end, offsets)
            for offsets in _offsets(layout, outer)
            for start, end in _borders(layout)
        ]
        count, address = len(layout.strides), kernel.address("kernel")
        self._compute: Callable[[Sequence[int]], int] = (
            Job(address, parts, get_threads(), count) if len(parts) > 1
            else _alone(address, parts[0], count)
        )  # fmt: skip

    def __call__(self, addresses: Sequence[int]) -> bool:
        """Computes all elements; False if the results do not count, because there was an alarm."""
        return not self._compute(addresses)


def _part(layout: Layout, outer: int, start: int, end: int, offsets: Sequence[int]) -> list[int]:
    """The numbers that a kernel takes for a part of the elements."""
    numbers = [end - start, *layout.shape[outer + 1 :]]
    for strides, offset in zip(layout.strides, offsets, strict=True):
        own = strides[outer:]
        numbers += [offset + start * own[0], *own]
    return numbers


def _alone(address: int, part: Sequence[int], arrays: int) -> Callable[[Sequence[int]], int]:
    """A kernel that this thread computes."""
    call, given = _PROTOTYPE(address), (ctypes.c_int64 * len(part))(*part)
    addresses_type = ctypes.c_int64 * arrays
    return lambda addresses: call(given, addresses_type(*addresses))


def _offsets(layout: Layout, outer: int) -> list[list[int]]:
    """The distances of all arrays from their first elements, for each index of the outer
    dimensions."""
    indices = itertools.product(*[range(length) for length in layout.shape[:outer]])
    return [
        [sum(i * s for i, s in zip(index, own, strict=False)) for own in layout.strides]
        for index in indices
    ]


def _borders(layout: Layout) -> list[tuple[int, int]]:
    """The parts of the first dimension that a kernel loops over, one per thread. No two threads
    write to the same line of the cache."""
    length, *others = layout.shape[max(len(layout.shape) - _MOST_RANK, 0) :]
    most = length * math.prod(others) // _PER_THREAD
    count = max(min(get_threads(), most, length), 1)
    ends = [(length * n // count + 63) // 64 * 64 for n in range(count)]
    borders = [min(end, length) for end in ends] + [length]
    return [(start, end) for start, end in itertools.pairwise(borders) if start < end or count == 1]


def _kernel(program: Lowered, steps: str, rank: int, may_compile: bool) -> Loaded | None:
    """The kernel for arrays that move as `steps` says: from memory, from disk, or compiled."""
    key = (program, steps, rank)
    with _kernels_lock:
        found = _kernels.get(key)
        if found is not None:
            _kernels.move_to_end(key)
            return found
        if key in _broken or (not may_compile and key in _not_on_disk):
            return None
    text = generated(program, steps, rank, host().processor)
    name = disk.digest(text, host().name)
    code = disk.read(name)
    if code is None and not may_compile:
        _not_on_disk.add(key)
        return None
    try:
        loaded = Loaded(code or compiled(text), "kernel")
    except RuntimeError as error:  # LLVM's: the plain path computes as well
        warnings.warn(f"castwise could not compile a kernel: {error}", RuntimeWarning, stacklevel=2)
        _broken.add(key)
        return None
    if code is None:
        disk.write(name, loaded.code)
    with _kernels_lock:
        found = _kernels.setdefault(key, loaded)
        _not_on_disk.discard(key)
        if len(_kernels) > _MOST_KERNELS:
            _kernels.popitem(last=False)
        return found
