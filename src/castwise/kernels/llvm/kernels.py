"""Kernels of lowered programs on this processor: compiled once, kept in memory and on disk."""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import threading
import warnings
from collections import OrderedDict
from collections.abc import Sequence

from castwise.kernels import store
from castwise.kernels.layouts import Layout, Strides, layout_of
from castwise.kernels.llvm.compiling import Loaded, compiled, host
from castwise.kernels.llvm.float_state import KNOWN_ON
from castwise.kernels.llvm.generating import generated
from castwise.kernels.program import FLOAT16, Lowered
from castwise.kernels.threads import fork_safe, get_threads, run_all
from castwise.vocab.architecture import architecture
from castwise.vocab.dtypes import DType

_MOST_KERNELS = 512
_MOST_LAUNCHES = 1024
_MOST_RANK = 4  # dimensions that a kernel loops over
_MOST_PARTS = 256  # calls of a kernel for arrays of more dimensions
_PER_THREAD = 1 << 17  # elements below which another thread costs more than it saves
_Key = tuple[Lowered, str, int]
_kernels: OrderedDict[_Key, Loaded] = OrderedDict()
_not_on_disk: set[_Key] = set()
_broken: set[_Key] = set()
_launches: dict[tuple[object, ...], Launch] = {}
_lock = fork_safe(threading.Lock())


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
        layout = layout_of(shape, strides, program.itemsizes)
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
        self._call = kernel.call
        self._kernel = kernel  # whose code must stay in memory
        # Dimensions that are too many for a kernel are walked here, one index at a time.
        outer = max(len(layout.shape) - _MOST_RANK, 0)
        inner = layout.shape[outer:]
        self._parts = [
            _Part(inner, [s[outer:] for s in layout.strides], start, end, offsets)
            for offsets in _offsets(layout, outer)
            for start, end in _borders(layout)
        ]
        self._is_parallel = len(self._parts) > 1

    def __call__(self, addresses: Sequence[int]) -> bool:
        """Computes all elements; False if the results do not count, because there was an alarm."""
        if not self._is_parallel:
            return not self._call(self._parts[0].given(addresses))
        calls = [functools.partial(self._call, part.given(addresses)) for part in self._parts]
        return not run_all(calls)


class _Part:
    """A part of the elements, which one thread computes."""

    def __init__(
        self, shape: Sequence[int], strides: Sequence[Sequence[int]], start: int, end: int,
        offsets: Sequence[int],
    ) -> None:  # fmt: skip
        self._numbers = [end - start, *shape[1:]]
        self._places: list[tuple[int, int]] = []  # of addresses, and what is added to them
        for own, offset in zip(strides, offsets, strict=True):
            self._places.append((len(self._numbers), offset + start * own[0]))
            self._numbers += [0, *own]
        self._type = ctypes.c_int64 * len(self._numbers)

    def given(self, addresses: Sequence[int]) -> object:
        """The numbers that a kernel takes; each call has its own, so threads may call at once."""
        given = self._type(*self._numbers)
        for (place, offset), address in zip(self._places, addresses, strict=True):
            given[place] = address + offset
        return given


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
    with _lock:
        found = _kernels.get(key)
        if found is not None:
            _kernels.move_to_end(key)
            return found
        if key in _broken or (not may_compile and key in _not_on_disk):
            return None
    text = generated(program, steps, rank, architecture())
    name = store.key_of(text, host().name)
    code = store.read(name)
    if code is None and not may_compile:
        _not_on_disk.add(key)
        return None
    try:
        loaded = Loaded(code or compiled(text))
    except RuntimeError as error:  # LLVM's: the plain path computes as well
        warnings.warn(f"castwise could not compile a kernel: {error}", RuntimeWarning, stacklevel=2)
        _broken.add(key)
        return None
    if code is None:
        store.write(name, loaded.code)
    with _lock:
        found = _kernels.setdefault(key, loaded)
        _not_on_disk.discard(key)
        if len(_kernels) > _MOST_KERNELS:
            _kernels.popitem(last=False)
        return found
