"""Threads that compute the parts of a kernel together.

A worker that has computed something waits for more in native code, without the GIL, before it
sleeps: so the next kernel starts on all threads within a microsecond, where waking a thread takes
fifty. Each worker has a box in memory, into which a leader, the thread that called a kernel, puts
parts. Parts that no worker has begun are the leader's again once its own are done.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import threading
import time
from collections.abc import Sequence
from queue import SimpleQueue
from typing import Any, NamedTuple

from castwise.kernels import disk
from castwise.kernels.llvm import Loaded, compiled, host
from castwise.kernels.threads import fork_safe
from castwise.vocab.architecture import architecture

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
    name = disk.digest(text, host().name)
    kept = disk.read(name)
    code = Loaded(kept or compiled(text), "serve", "lead", "idle")
    if kept is None:
        disk.write(name, code.code)
    idle = ctypes.CFUNCTYPE(None, ctypes.c_int64)(code.address("idle"))
    start = time.perf_counter()
    idle(2000)
    turn = (time.perf_counter() - start) / 2000
    return Native(
        serve=ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(code.address("serve")),
        lead=ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64)(
            code.address("lead")
        ),
        waits=int(_WAITS / turn),
        leads=int(_LEADS / turn),
        code=code,
    )


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
            thread = threading.Thread(
                target=_serve, args=(self.box, calls), name="castwise", daemon=True
            )
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
