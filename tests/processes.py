"""Processes that tests start: each has a time limit, and the signals that end processes end it.
Those of the tests themselves take little memory.

A shell's `&` and nohup have signals ignored, and what a process ignores its children ignore too.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
COMPILED_KEPT = 40  # of so many calls; more take memory, fewer time
LIMIT = 600  # seconds, several times what any of them takes on a busy machine


def finished(command: Sequence[str | Path], **options: Any) -> subprocess.CompletedProcess[str]:
    """A command that ran to its end, and what it printed."""
    told = {"capture_output": True, "text": True, "check": False, "timeout": LIMIT, **options}
    with _default_signals():
        return subprocess.run(command, **told)  # type: ignore[call-overload,no-any-return]


@contextmanager
def started(command: Sequence[str | Path], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """A command under way; at the limit it is killed, which ends every wait for it."""
    with _default_signals():
        process = subprocess.Popen(command, **options)
    timer = threading.Timer(LIMIT, process.kill)
    timer.start()
    try:
        with process:
            yield process
    finally:
        timer.cancel()


def compiled_let_go(things: Iterable[T]) -> Iterator[T]:
    """The things one by one; now and then what JAX has compiled for them is let go. It keeps all,
    some three megabytes for each op on arrays of new dtypes and shapes."""
    for number, thing in enumerate(things, start=1):
        yield thing
        if number % COMPILED_KEPT == 0 and "jax" in sys.modules:
            sys.modules["jax"].clear_caches()


def limited(wait: Callable[..., Any]) -> Callable[..., Any]:
    """What waits for an audited program, no longer than the limit."""

    def waiting(*arguments: Any) -> Any:
        *others, watch = arguments

        def watching(seconds: float, directory: Path) -> None:
            if seconds > LIMIT:
                raise TimeoutError(f"the audited program was not done after {LIMIT} seconds")
            if watch:
                watch(seconds, directory)

        return wait(*others, watching)

    return waiting


@contextmanager
def _default_signals() -> Iterator[None]:
    """A process that is started meanwhile begins with the signals' defaults: a handler, unlike
    SIG_IGN, is not inherited."""
    ending = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.signal(number, signal.default_int_handler) for number in ending}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
