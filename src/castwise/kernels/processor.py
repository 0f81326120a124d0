"""Kernels of lowered programs on this processor: compiled once, kept in memory and on disk, and
computed by several threads together."""

from __future__ import annotations

import ctypes
import functools
import itertools
import math
import os
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple

from castwise.kernels.llvm import KNOWN_ON, Loaded, compiled, generated, host
from castwise.kernels.program import FLOAT16, Layout, Lowered, Strides, kernel_layout
from castwise.kernels.resources import code_key, fork_safe, get_threads, keep_code, kept_code
from castwise.rules.values import architecture
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


def has_float_state() -> bool:
    """Whether kernels can tell that a float overflowed or is undefined, and can let the processor
    take subnormal floats for zeros."""
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
        indices = itertools.product(*map(range, layout.shape[:outer]))
        offsets = [  # of all arrays from their first elements, in bytes
            [sum(i * s for i, s in zip(index, own, strict=False)) for own in layout.strides]
            for index in indices
        ]
        borders = _borders(layout)
        parts = [_part(layout, outer, *ends, own) for own in offsets for ends in borders]
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
    name = code_key(text, host().name)
    code = kept_code(name)
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
        keep_code(name, loaded.code)
    with _kernels_lock:
        found = _kernels.setdefault(key, loaded)
        _not_on_disk.discard(key)
        if len(_kernels) > _MOST_KERNELS:
            _kernels.popitem(last=False)
        return found


# Threads that compute the parts of a kernel together.
#
# A worker that has computed something waits for more in native code, without the GIL, before it
# sleeps: so the next kernel starts on all threads within a microsecond, where waking a thread takes
# fifty. Each worker has a box in memory, into which a leader, the thread that called a kernel, puts
# parts. Parts that no worker has begun are the leader's again once its own are done.
#
# The native functions: `serve` waits for parts and computes them; `lead` hands parts out, computes
# its own, and collects the results; `idle` waits for some turns.

_WAITS = 2e-4  # seconds that a worker waits for more before it sleeps
_LEADS = 1e-3  # seconds that a leader waits for workers before it lets others run
_PAUSES = {"aarch64": "isb", "x86_64": "pause"}
BOX = 8  # numbers in a box: a line of the cache
ASLEEP = 1  # the place in a box that says whether the worker sleeps
HEAD, ENTRY = 8, 4  # numbers of a job before those of its boxes, and numbers per box
WAKE = -2  # what `lead` returns if workers must be woken; -1 if not all are done yet

# A box: its state, whether its worker sleeps, then what to compute: a kernel, the first part,
# how many there are, the bytes of each, the arrays' addresses; and last the result. Its state is 0
# if it is free, 1 while a leader fills it, 2 when it is full, 3 while the worker computes, 4 when
# the result is there.
#
# A job: its stage (0: new, 1: handed out, 2: its own parts are done), the result, the kernel, the
# leader's first part and their number, the bytes of each part, the number of boxes, the place of
# the addresses; then for each box its address, the first part, the number of parts, and what became
# of them: 0 if they are the leader's, 1 if they are in the box, 2 if its worker must be woken.
_TEXT = """
define internal i64 @compute(ptr %kernel, i64 %first, i64 %count, i64 %size, ptr %arrays) {
entry:
  br label %head
head:
  %n = phi i64 [ 0, %entry ], [ %next, %body ]
  %found = phi i64 [ 0, %entry ], [ %both, %body ]
  %more = icmp slt i64 %n, %count
  br i1 %more, label %body, label %end
body:
  %away = mul i64 %n, %size
  %at = add i64 %first, %away
  %part = inttoptr i64 %at to ptr
  %one = call i64 %kernel(ptr %part, ptr %arrays)
  %both = or i64 %found, %one
  %next = add i64 %n, 1
  br label %head
end:
  ret i64 %found
}

define internal ptr @place(ptr %base, i64 %n) alwaysinline {
  %found = getelementptr i64, ptr %base, i64 %n
  ret ptr %found
}

define internal i64 @number(ptr %base, i64 %n) alwaysinline {
  %at = getelementptr i64, ptr %base, i64 %n
  %found = load i64, ptr %at
  ret i64 %found
}

define internal i1 @moves(ptr %box, i64 %from, i64 %to) alwaysinline {
  %pair = cmpxchg ptr %box, i64 %from, i64 %to seq_cst seq_cst
  %found = extractvalue { i64, i1 } %pair, 1
  ret i1 %found
}

define void @idle(i64 %turns) {
entry:
  br label %head
head:
  %left = phi i64 [ %turns, %entry ], [ %fewer, %head ]
  call void asm sideeffect "PAUSE", ""()
  %fewer = sub i64 %left, 1
  %more = icmp sgt i64 %fewer, 0
  br i1 %more, label %head, label %end
end:
  ret void
}

define void @serve(ptr %box, i64 %turns) {
entry:
  %asleep = call ptr @place(ptr %box, i64 1)
  br label %head
head:
  %left = phi i64 [ %turns, %entry ], [ %fewer, %pause ], [ %turns, %compute ], [ %turns, %again ]
  %is_ours = call i1 @moves(ptr %box, i64 2, i64 3)
  br i1 %is_ours, label %compute, label %pause
compute:
  %kernel_number = call i64 @number(ptr %box, i64 2)
  %kernel = inttoptr i64 %kernel_number to ptr
  %first = call i64 @number(ptr %box, i64 3)
  %count = call i64 @number(ptr %box, i64 4)
  %size = call i64 @number(ptr %box, i64 5)
  %arrays_number = call i64 @number(ptr %box, i64 6)
  %arrays = inttoptr i64 %arrays_number to ptr
  %found = call i64 @compute(ptr %kernel, i64 %first, i64 %count, i64 %size, ptr %arrays)
  %result = call ptr @place(ptr %box, i64 7)
  store i64 %found, ptr %result
  store atomic i64 4, ptr %box seq_cst, align 8
  br label %head
pause:
  call void asm sideeffect "PAUSE", ""()
  %fewer = sub i64 %left, 1
  %more = icmp sgt i64 %fewer, 0
  br i1 %more, label %head, label %sleep
sleep:
  store atomic i64 1, ptr %asleep seq_cst, align 8
  %state = load atomic i64, ptr %box seq_cst, align 8
  %is_full = icmp eq i64 %state, 2
  br i1 %is_full, label %unless_woken, label %end
unless_woken:
  ; If a leader saw it asleep, a call to wake up is on its way, and must be waited for.
  %stays = call i1 @moves(ptr %asleep, i64 1, i64 0)
  br i1 %stays, label %again, label %end
again:
  br label %head
end:
  ret void
}

define i64 @lead(ptr %job, i64 %turns) {
entry:
  %stage = call i64 @number(ptr %job, i64 0)
  %kernel_number = call i64 @number(ptr %job, i64 2)
  %kernel = inttoptr i64 %kernel_number to ptr
  %size = call i64 @number(ptr %job, i64 5)
  %boxes = call i64 @number(ptr %job, i64 6)
  %arrays_at = call i64 @number(ptr %job, i64 7)
  %arrays = call ptr @place(ptr %job, i64 %arrays_at)
  %arrays_number = ptrtoint ptr %arrays to i64
  %result = call ptr @place(ptr %job, i64 1)
  %is_new = icmp eq i64 %stage, 0
  br i1 %is_new, label %hand, label %handed

hand:
  %n = phi i64 [ 0, %entry ], [ %next, %hand_next ]
  %to_wake = phi i1 [ false, %entry ], [ %to_wake_next, %hand_next ]
  %more = icmp slt i64 %n, %boxes
  br i1 %more, label %offer, label %hand_end
offer:
  %away = mul i64 %n, 4
  %entry_at = add i64 %away, 8
  %own = call ptr @place(ptr %job, i64 %entry_at)
  %box_number = call i64 @number(ptr %own, i64 0)
  %box = inttoptr i64 %box_number to ptr
  %is_free = call i1 @moves(ptr %box, i64 0, i64 1)
  br i1 %is_free, label %fill, label %hand_next
fill:
  %first = call i64 @number(ptr %own, i64 1)
  %count = call i64 @number(ptr %own, i64 2)
  %p2 = call ptr @place(ptr %box, i64 2)
  store i64 %kernel_number, ptr %p2
  %p3 = call ptr @place(ptr %box, i64 3)
  store i64 %first, ptr %p3
  %p4 = call ptr @place(ptr %box, i64 4)
  store i64 %count, ptr %p4
  %p5 = call ptr @place(ptr %box, i64 5)
  store i64 %size, ptr %p5
  %p6 = call ptr @place(ptr %box, i64 6)
  store i64 %arrays_number, ptr %p6
  store atomic i64 2, ptr %box seq_cst, align 8
  %asleep = call ptr @place(ptr %box, i64 1)
  %sleeps = call i1 @moves(ptr %asleep, i64 1, i64 0)
  %fate = select i1 %sleeps, i64 2, i64 1
  %fate_at = call ptr @place(ptr %own, i64 3)
  store i64 %fate, ptr %fate_at
  br label %hand_next
hand_next:
  %wakes = phi i1 [ false, %offer ], [ %sleeps, %fill ]
  %to_wake_next = or i1 %to_wake, %wakes
  %next = add i64 %n, 1
  br label %hand
hand_end:
  store i64 1, ptr %job
  br i1 %to_wake, label %wake, label %compute
wake:
  ret i64 -2

handed:
  %is_handed = icmp eq i64 %stage, 1
  br i1 %is_handed, label %compute, label %collect_all
compute:
  %own_first = call i64 @number(ptr %job, i64 3)
  %own_count = call i64 @number(ptr %job, i64 4)
  %own_found = call i64 @compute(ptr %kernel, i64 %own_first, i64 %own_count, i64 %size,
                                 ptr %arrays)
  store i64 %own_found, ptr %result
  store i64 2, ptr %job
  br label %collect_all

collect_all:
  br label %collect
collect:
  %m = phi i64 [ 0, %collect_all ], [ %m_next, %collect_next ]
  %m_left = phi i64 [ %turns, %collect_all ], [ %left_next, %collect_next ]
  %m_more = icmp slt i64 %m, %boxes
  br i1 %m_more, label %look, label %done
look:
  %m_away = mul i64 %m, 4
  %m_at = add i64 %m_away, 8
  %m_own = call ptr @place(ptr %job, i64 %m_at)
  %m_first = call i64 @number(ptr %m_own, i64 1)
  %m_count = call i64 @number(ptr %m_own, i64 2)
  %m_fate_at = call ptr @place(ptr %m_own, i64 3)
  %m_fate = load i64, ptr %m_fate_at
  %m_box_number = call i64 @number(ptr %m_own, i64 0)
  %m_box = inttoptr i64 %m_box_number to ptr
  %is_out = icmp ne i64 %m_fate, 0
  br i1 %is_out, label %take_back, label %compute_too
take_back:
  %is_back = call i1 @moves(ptr %m_box, i64 2, i64 0)
  br i1 %is_back, label %compute_too, label %wait
compute_too:
  %too = call i64 @compute(ptr %kernel, i64 %m_first, i64 %m_count, i64 %size, ptr %arrays)
  br label %keep
wait:
  %left = phi i64 [ %m_left, %take_back ], [ %fewer, %pause ]
  %m_state = load atomic i64, ptr %m_box seq_cst, align 8
  %is_done = icmp eq i64 %m_state, 4
  br i1 %is_done, label %read, label %pause
pause:
  call void asm sideeffect "PAUSE", ""()
  %fewer = sub i64 %left, 1
  %waits = icmp sgt i64 %fewer, 0
  br i1 %waits, label %wait, label %not_yet
not_yet:
  ret i64 -1
read:
  %theirs = call i64 @number(ptr %m_box, i64 7)
  store atomic i64 0, ptr %m_box seq_cst, align 8
  br label %keep
keep:
  %found = phi i64 [ %too, %compute_too ], [ %theirs, %read ]
  %left_next = phi i64 [ %m_left, %compute_too ], [ %left, %read ]
  %before = load i64, ptr %result
  %both = or i64 %before, %found
  store i64 %both, ptr %result
  ; The parts are done: should the leader be called again, there are none.
  %count_at = call ptr @place(ptr %m_own, i64 2)
  store i64 0, ptr %count_at
  store i64 0, ptr %m_fate_at
  br label %collect_next
collect_next:
  %m_next = add i64 %m, 1
  br label %collect
done:
  %all = load i64, ptr %result
  ret i64 %all
}
"""


class Native(NamedTuple):
    """The functions of the text above, and how many turns of theirs take how long."""

    serve: Any
    lead: Any
    waits: int
    leads: int
    code: Loaded  # must stay in memory


@functools.cache
def native() -> Native:
    """The functions, compiled for this processor."""
    text = _TEXT.replace("PAUSE", _PAUSES.get(architecture(), ""))
    name = code_key(text, host().name)
    kept = kept_code(name)
    code = Loaded(kept or compiled(text), "serve", "lead", "idle")
    if kept is None:
        keep_code(name, code.code)
    idle = ctypes.CFUNCTYPE(None, ctypes.c_int64)(code.address("idle"))
    start = time.perf_counter()
    idle(2000)
    turn = (time.perf_counter() - start) / 2000
    serve = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(code.address("serve"))
    lead = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(code.address("lead"))
    return Native(serve, lead, int(_WAITS / turn), int(_LEADS / turn), code)


class _Worker:
    """A thread that computes what leaders put into its box; it starts when it is first needed."""

    def __init__(self) -> None:
        self.box = (ctypes.c_int64 * BOX)()
        self.address = ctypes.addressof(self.box)
        self.reset()

    def reset(self) -> None:
        """Forgets the thread, which the child of a fork has not."""
        self.box[:] = [0] * BOX
        self.box[ASLEEP] = 1
        self._calls: SimpleQueue[None] | None = None

    def wake(self) -> None:
        """Lets the thread look into its box. Only the leader that found it asleep calls this."""
        if self._calls is None:
            calls: SimpleQueue[None] = SimpleQueue()
            given = (self.box, calls)
            thread = threading.Thread(target=_serve, args=given, name="castwise", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # too many threads, or Python is about to end
                self.box[ASLEEP] = 1
            else:
                self._calls = calls
        else:
            self._calls.put(None)


def _serve(box: Any, calls: SimpleQueue[None]) -> None:
    """What the thread of a worker does."""
    found, address = native(), ctypes.addressof(box)
    while True:
        found.serve(address, found.waits)
        calls.get()


_workers: list[_Worker] = []
_lock = fork_safe(threading.Lock())


def _worker(number: int) -> _Worker:
    with _lock:
        while len(_workers) <= number:
            _workers.append(_Worker())
        return _workers[number]


def _reset_all() -> None:
    for worker in _workers:
        worker.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all)


class Job:
    """A kernel with all its parts, which it computes on several threads whenever it is called."""

    def __init__(
        self, kernel: int, parts: Sequence[Sequence[int]], threads: int, arrays: int
    ) -> None:
        size = len(parts[0])
        self._parts = (ctypes.c_int64 * (size * len(parts)))(*[n for part in parts for n in part])
        shares = min(threads, len(parts))
        ends = [len(parts) * n // shares for n in range(shares + 1)]
        first = ctypes.addressof(self._parts)
        entries: list[int] = []
        self._workers = [_worker(n) for n in range(shares - 1)]
        spans = itertools.pairwise(ends[1:])
        for worker, (start, end) in zip(self._workers, spans, strict=True):
            entries += [worker.address, first + 8 * size * start, end - start, 0]
        self._place = HEAD + len(entries)
        numbers = [0, 0, kernel, first, ends[1], 8 * size, shares - 1, self._place, *entries]
        self._type = ctypes.c_int64 * (self._place + arrays)
        self._template = self._type(*numbers)
        self._lead, self._turns = native().lead, native().leads

    def __call__(self, addresses: Sequence[int]) -> int:
        """What the kernel returned for arrays at these addresses, for all parts."""
        job = self._type.from_buffer_copy(self._template)
        job[self._place :] = addresses  # type: ignore[call-overload] # any sequence will do
        found: int = self._lead(job, self._turns)
        return found if found >= 0 else self._finished(job, found)

    def _finished(self, job: Any, found: int) -> int:
        """The result of a job that has to wait. Nothing interrupts it, because workers may still
        write into the arrays."""
        interrupt = None
        while found < 0:
            try:
                if found == WAKE:
                    self._wake(job)
                found = self._lead(job, self._turns)
                if found < 0:
                    time.sleep(0)
            except BaseException as error:
                interrupt = error
        if interrupt:
            raise interrupt
        return found

    def _wake(self, job: Any) -> None:
        for n, worker in enumerate(self._workers):
            fate = HEAD + ENTRY * n + 3
            if job[fate] == 2:
                worker.wake()
                job[fate] = 1
