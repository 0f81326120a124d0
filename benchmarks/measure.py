"""What the benchmarks share: a timer, and the machine their results were measured on."""

from __future__ import annotations

import contextlib
import importlib
import platform
import time
from collections.abc import Callable
from pathlib import Path


def nanoseconds(
    call: Callable[[], object], number: int, clock: Callable[[], int] = time.perf_counter_ns
) -> float:
    """The time of one call, over a loop of them; of time.thread_time_ns, that of this thread."""
    start = clock()
    for _ in range(number):
        call()
    return (clock() - start) / number


def machine() -> dict[str, str]:
    """The processor and the system."""
    return {"cpu": _cpu(), "system": platform.platform(terse=True)}


def versions(*packages: str) -> dict[str, str]:
    """The version of Python, of castwise, and of those packages that are installed."""
    found = {"python": platform.python_version()}
    for name in ("castwise", *packages):
        with contextlib.suppress(ImportError):
            found[name] = importlib.import_module(name).__version__
    return found


def _cpu() -> str:
    """The processor's name, where the system tells it."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
