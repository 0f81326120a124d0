"""Starts a program under audit in a process of its own, and collects what it saw."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from castwise.auditing import saved
from castwise.errors import UsageError

_GLANCE = 0.2  # seconds between two looks at the program


class Run(NamedTuple):
    """How a program ended, and what was seen of it."""

    status: int
    seen: saved.Data
    seconds: float


def run_audited(
    program: Sequence[str],
    include: Sequence[str] = (),
    watch: Callable[[float, Path], None] | None = None,
) -> Run:
    """Runs `script.py args` or `-m module args` as Python would. `watch` is called now and then
    with the seconds gone and the directory the processes report to.

    Raises UsageError where there is no such script.
    """
    if program[0] == "-m":
        if len(program) < 2:
            raise UsageError("-m needs the name of a module.")
    elif not os.path.isfile(program[0]):
        raise UsageError(f"there is no script {program[0]!r}.")
    with tempfile.TemporaryDirectory(prefix="castwise-") as place:
        directory = Path(place)
        options = {"include": list(include)}
        (directory / "options").write_text(json.dumps(options), encoding="utf-8")
        command = [sys.executable, *subprocess._args_from_interpreter_flags(),  # type: ignore[attr-defined]
                   "-m", "castwise.auditing.child", place, *program]  # fmt: skip
        began = time.monotonic()
        status = _wait(command, began, directory, watch)
        return Run(status, saved.load(directory), time.monotonic() - began)


def _wait(
    command: list[str],
    began: float,
    directory: Path,
    watch: Callable[[float, Path], None] | None,
) -> int:
    """The program's status. Ctrl-C reaches it too, and it decides what to do with it."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = subprocess.Popen(command, preexec_fn=_take_interrupts)
        while True:
            try:
                status = process.wait(_GLANCE)
                break
            except subprocess.TimeoutExpired:
                if watch:
                    watch(time.monotonic() - began, directory)
    finally:
        signal.signal(signal.SIGINT, before)
    return 128 - status if status < 0 else status


def _take_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
