"""Starts a program under audit in its own process, and collects what it saw."""

from __future__ import annotations

import functools
import os
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from castwise.auditing.records.runs import Options, Run
from castwise.auditing.running import saved
from castwise.auditing.running.main_file import prepared
from castwise.auditing.running.outcome import load_outcome
from castwise.auditing.running.starting import environment, write_options
from castwise.errors import UsageError

_GLANCE = 0.2  # seconds between two checks of the program
_AS_IT_IS = Options()
_SAID = "stderr"  # the file with what a program says that is not shown
_SAID_AT_MOST = 1 << 16


def run_audited(
    program: Sequence[str],
    options: Options = _AS_IT_IS,
    watch: Callable[[float, Path], None] | None = None,
    limit: float | None = None,
) -> Run:
    """Runs `script.py args` or `-m module args` as Python would. `watch` is called periodically
    with the elapsed seconds and the directory the processes report to; if it raises, the program is
    terminated.

    Raises UsageError if there is no such script, and TimeoutError after `limit` seconds.
    """
    _check(program)
    _input_begins()
    with tempfile.TemporaryDirectory(prefix="castwise-") as place:
        directory = Path(place)
        write_options(options, os.path.abspath(program[0]), directory)
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        command = prepared([sys.executable, *flags], program, options, directory)
        began = time.monotonic()
        status, printed = _wait(command, options, directory, _watched(watch, limit))
        said = _end_of(directory / _SAID)
        outcome = load_outcome(directory, printed, said) if options.keeps_outcome else None
        return Run(status, saved.load(directory), time.monotonic() - began, outcome)


def _check(program: Sequence[str]) -> None:
    if program[0] == "-m":
        if len(program) < 2:
            raise UsageError("-m needs the name of a module.")
    elif not os.path.isfile(program[0]):
        raise UsageError(f"there is no script {program[0]!r}.")
    if sys.flags.ignore_environment or sys.flags.no_site:
        raise UsageError(
            "an audit needs environment variables and Python's site module, and this Python "
            "ignores them. Run castwise without -I, -E and -S."
        )


def _watched(
    watch: Callable[[float, Path], None] | None, limit: float | None
) -> Callable[[float, Path], None]:
    def watched(seconds: float, directory: Path) -> None:
        if watch:
            watch(seconds, directory)
        if limit is not None and seconds > limit:
            raise TimeoutError(f"not done after {limit:.0f} seconds")

    return watched


def _end_of(file: Path) -> str:
    """The last part of what a program said, which has its traceback."""
    if not file.exists():
        return ""
    with open(file, "rb") as said:
        said.seek(max(0, said.seek(0, os.SEEK_END) - _SAID_AT_MOST))
        return said.read().decode("utf-8", "replace")


class _Streams(NamedTuple):
    """The standard streams of a program; None is castwise's own."""

    stdin: int | None
    stdout: int | None
    stderr: int | None


def _streams(options: Options, directory: Path) -> _Streams:
    """A program that is not shown gets the input of the first run again if that is a file, and none
    otherwise: it must not wait for a person."""
    stdout = subprocess.PIPE if options.keeps_outcome else None
    if options.is_shown:
        return _Streams(None, stdout, None)
    stderr = os.open(directory / _SAID, os.O_WRONLY | os.O_CREAT, 0o600)
    return _Streams(_same_input(directory), stdout, stderr)


@functools.cache
def _input_begins() -> int | None:
    """Where castwise's input begins, if it is a file; asked before the first program reads it."""
    with suppress(OSError, ValueError, AttributeError):
        number = sys.stdin.fileno()
        if stat.S_ISREG(os.fstat(number).st_mode):
            return os.lseek(number, 0, os.SEEK_CUR)
    return None


def _same_input(directory: Path) -> int:
    """A copy of castwise's input. The position in its own input is that of whoever started it."""
    begins = _input_begins()
    if begins is None:
        return subprocess.DEVNULL
    number = sys.stdin.fileno()
    size = max(0, os.fstat(number).st_size - begins)
    copy = directory / "input"
    copy.write_bytes(os.pread(number, size, begins))
    return os.open(copy, os.O_RDONLY)


def _wait(
    command: list[str],
    options: Options,
    directory: Path,
    watch: Callable[[float, Path], None],
) -> tuple[int, str]:
    """The program's exit status and, if kept, its output. Ctrl-C reaches the program too, which
    decides how to handle it."""
    printed: list[bytes] = []
    variables = environment(str(directory), os.environ.get("PYTHONPATH"))
    streams = _streams(options, directory)
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        stdin=streams.stdin,
        stdout=streams.stdout,
        stderr=streams.stderr,
        env={**os.environ, **variables},
    )
    for stream in (streams.stdin, streams.stderr):
        if stream is not None and stream >= 0:  # subprocess.DEVNULL is negative
            os.close(stream)
    arguments = (process.stdout, printed, options.is_shown)
    # A daemon: a process that the program started may keep the pipe open after it was ended.
    reader = threading.Thread(target=_pass_on, args=arguments, daemon=True)
    reader.start()
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, _: process.send_signal(number))
    try:
        while True:
            try:
                status = process.wait(_GLANCE)
                break
            except subprocess.TimeoutExpired:
                watch(time.monotonic() - began, directory)
        reader.join()
    except BaseException:  # nobody would wait for the program any more
        process.kill()
        process.wait()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    text = b"".join(printed).decode("utf-8", "replace")
    return 128 - status if status < 0 else status, text


def _pass_on(pipe: IO[bytes] | None, printed: list[bytes], is_shown: bool) -> None:
    """Keeps a program's output, and shows it as it arrives."""
    if pipe is None:
        return
    with pipe:
        while part := os.read(pipe.fileno(), 1 << 16):
            printed.append(part)
            if is_shown:
                sys.stdout.buffer.write(part)
                sys.stdout.buffer.flush()


_SIGNALS = (signal.SIGINT, signal.SIGTERM)
