"""Parts of kernels that several threads compute: each once, whoever else computes at the time."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

pytest.importorskip("llvmlite")
from castwise.kernels import processor
from castwise.kernels.processor import Job

_KERNEL = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p)
Kernel = Callable[[int, int], int]


def job_of(kernel: Kernel, parts: int, threads: int) -> tuple[Job, object]:
    """A job whose kernel is a Python function of the part and the first address; and what must
    stay in memory meanwhile."""

    def called(part: ctypes._Pointer[ctypes.c_int64], arrays: int) -> int:
        return kernel(part[0], ctypes.c_int64.from_address(arrays).value)

    held = _KERNEL(called)
    address = ctypes.cast(held, ctypes.c_void_p).value
    assert address
    return Job(address, [[n, 7] for n in range(parts)], threads, 1), held


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("parts", [2, 3, 8, 37])
def test_each_part_is_computed_once(parts: int, threads: int) -> None:
    seen: list[tuple[int, int]] = []

    def kernel(part: int, address: int) -> int:
        seen.append((part, address))
        return 1 << part

    job, held = job_of(kernel, parts, threads)
    for address in range(50):
        seen.clear()
        assert job([address]) == (1 << parts) - 1
        assert sorted(seen) == [(part, address) for part in range(parts)]
    del held


def test_threads_do_compute() -> None:
    both = threading.Barrier(2, timeout=20)

    def kernel(part: int, address: int) -> int:
        both.wait()  # of one thread alone, the second part would wait for the first for ever
        return 0

    job, held = job_of(kernel, 2, 2)
    for _ in range(5):
        assert job([0]) == 0
        time.sleep(0.002)  # the worker falls asleep
    del held


def test_several_leaders_share_the_workers() -> None:
    def lead(seed: int) -> None:
        pick, seen = random.Random(seed), []

        def kernel(part: int, address: int) -> int:
            seen.append(part)
            if pick.random() < 0.1:
                time.sleep(1e-4)
            return 1 << part

        jobs = [job_of(kernel, parts, threads) for parts, threads in [(2, 2), (5, 3), (3, 4)]]
        for _ in range(100):
            job, _held = pick.choice(jobs)
            seen.clear()
            found = job([0])
            assert found == (1 << len(seen)) - 1
            time.sleep(pick.choice([0, 0, 0, 5e-4]))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lead, range(4), timeout=60))


def test_an_interrupt_waits_for_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    leader, begun, waited = threading.get_ident(), threading.Event(), threading.Event()

    def kernel(part: int, address: int) -> int:
        if threading.get_ident() == leader:
            begun.wait(30)  # or the leader would compute both parts
        else:
            begun.set()
            waited.wait(30)
        done.append(part)
        return 0

    def interrupted(seconds: float) -> None:
        waited.set()
        raise KeyboardInterrupt

    job, held = job_of(kernel, 2, 2)
    monkeypatch.setattr(processor, "time", SimpleNamespace(sleep=interrupted))
    with pytest.raises(KeyboardInterrupt):
        job([0])
    assert sorted(done) == [0, 1]
    del held


def test_without_a_thread_the_leader_computes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(processor, "_workers", [])
    monkeypatch.setattr(threading.Thread, "start", fails)
    job, held = job_of(lambda part, address: 1 << part, 4, 4)
    assert job([0]) == 15
    monkeypatch.undo()
    assert job([0]) == 15
    del held


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python warns about forks with threads")
def test_a_fork_makes_its_own_threads() -> None:
    both = threading.Barrier(2, timeout=15)
    job, held = job_of(lambda part, address: both.wait() and 0, 2, 2)
    assert job([0]) == 0
    child = os.fork()
    if child == 0:
        signal.alarm(20)  # it would wait for threads that it does not have
        os._exit(job([0]) != 0)
    assert os.waitpid(child, 0)[1] == 0
    del held
