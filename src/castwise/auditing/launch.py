"""Starts a program under audit in its own process, and collects what it saw."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import pkgutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from castwise.auditing import saved
from castwise.auditing.compile import prepared
from castwise.auditing.records import FinalValues, Options, Outcome, Run, Seen
from castwise.auditing.saved import options_from_json, options_to_json
from castwise.errors import UsageError, did_you_mean

# How the processes of a program know of its audit: by variables, and a file with its options.

DIRECTORY = "CASTWISE_AUDIT"  # the variable with the directory the processes report to
EMPTY = "CASTWISE_EMPTY_PATH"  # set if PYTHONPATH is set but empty, which differs from unset
OUTCOME_FILE = "arrays"  # the file with the final values of a program's arrays
_OPTIONS = "options"  # the file with the audit options
_STARTUP = str(Path(__file__).with_name("startup"))


def write_options(options: Options, script: str, directory: Path) -> None:
    """Writes the audit options for the processes of a program."""
    text = json.dumps(options_to_json(options, script))
    (directory / _OPTIONS).write_text(text, encoding="utf-8")


def read_options(directory: Path) -> tuple[Options, str]:
    """Reads what write_options wrote: the options and the script."""
    return options_from_json(json.loads((directory / _OPTIONS).read_text(encoding="utf-8")))


def environment(directory: str, own_path: str | None) -> dict[str, str]:
    """The variables that join a Python process to an audit; `own_path` is its PYTHONPATH."""
    paths = os.pathsep.join([_STARTUP, own_path] if own_path else [_STARTUP])
    empty = {EMPTY: ""} if own_path == "" else {}
    return {DIRECTORY: directory, "PYTHONPATH": paths, **empty}


# Runs the program, and waits for it.

_GLANCE = 0.2  # seconds between two checks of the program
_AS_IT_IS = Options()
_STDERR = "stderr"  # the file with what a program says that is not shown
_MOST_STDERR = 1 << 16
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


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

    def watch_within_limit(seconds: float, directory: Path) -> None:
        if watch:
            watch(seconds, directory)
        if limit is not None and seconds > limit:
            raise TimeoutError(f"not done after {limit:.0f} seconds")

    _check(program)
    _input_begins()
    with tempfile.TemporaryDirectory(prefix="castwise-") as place:
        directory = Path(place)
        write_options(options, os.path.abspath(program[0]), directory)
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        command = prepared([sys.executable, *flags], program, options, directory)
        began = time.monotonic()
        status, printed = _wait(command, options, directory, watch_within_limit)
        said = _file_end(directory / _STDERR)
        outcome = _load_outcome(directory, printed, said) if options.keeps_outcome else None
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


def _file_end(file: Path) -> str:
    """The last part of what a program said, which has its traceback."""
    if not file.exists():
        return ""
    with open(file, "rb") as said:
        said.seek(max(0, said.seek(0, os.SEEK_END) - _MOST_STDERR))
        return said.read().decode("utf-8", "replace")


def _load_outcome(directory: Path, printed: str, said: str) -> Outcome:
    """The outcome of a run that reported to a directory."""
    place = directory / OUTCOME_FILE
    data = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    return Outcome({name: FinalValues(*fields) for name, fields in data.items()}, printed, said)


def _input_and_stderr(options: Options, directory: Path) -> tuple[int | None, int | None]:
    """Two streams of a program; None is castwise's own. A program that is not shown gets the input
    of the first run again if that is a file, and none otherwise: it must not wait for a person."""
    if options.is_shown:
        return None, None
    stderr = os.open(directory / _STDERR, os.O_WRONLY | os.O_CREAT, 0o600)
    return _same_input(directory), stderr


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
    stdin, stderr = _input_and_stderr(options, directory)
    began = time.monotonic()
    process = subprocess.Popen(
        command,
        stdin=stdin,
        stdout=subprocess.PIPE if options.keeps_outcome else None,
        stderr=stderr,
        env={**os.environ, **variables},
    )
    for stream in (stdin, stderr):
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


# The packages that an audit is asked to include: whether they exist, and whether they were
# audited. A gate that audited nothing would pass whatever the program does.


def check_names(names: Iterable[str], option: str) -> None:
    """Raises UsageError for a name that no import can match: one with a dot, or no identifier."""
    for name in names:
        top = name.partition(".")[0]
        if name.isidentifier():
            continue
        if all(part.isidentifier() for part in name.split(".")):
            raise UsageError(f"{option} takes a top-level package, not {name!r}: write {top}.")
        packages = _installed_by(name)
        hint = f" {name} installs {' and '.join(packages)}." if packages else ""
        raise UsageError(f"{option} takes a package as `import` names it, not {name!r}.{hint}")


def _installed_by(distribution: str) -> list[str]:
    """The packages that a distribution installs, which may have other names: scikit-learn's is
    sklearn."""
    from importlib.metadata import PackageNotFoundError, files  # slow to load, and seldom needed

    try:
        found_files = files(distribution) or ()
    except (PackageNotFoundError, ValueError):
        return []
    found = {file.parts[0] for file in found_files if file.name == "__init__.py"}
    return sorted(name for name in found if name.isidentifier() and not name.startswith("_"))


def check_found(names: Iterable[str], option: str, places: Sequence[str]) -> None:
    """Raises UsageError for a package that cannot be imported: with `places` before Python's own
    path, as a program that starts there would."""
    for name in names:
        with _also_in(places):
            if not _is_there(name):
                raise UsageError(f"{option}: there is no package {name!r} here.{_nearest(name)} "
                                 "The program's own modules are audited anyway.")  # fmt: skip


def reasons_not_audited(
    names: Iterable[str], option: str, seen: Seen, places: Sequence[str] = ()
) -> list[str]:
    """A sentence for each package of which no source was audited, with what to do about it."""
    left = [name for name in names if name not in seen.facts.included]
    with _also_in(places):
        return [f"{option} {name}: nothing of it was audited, {_reason(name)}" for name in left]


def _reason(name: str) -> str:
    if _is_there(name):
        return ("because no Python source of it was imported. Leave the option out, or run "
                "something that uses the package.")  # fmt: skip
    hint = _nearest(name) or " Name one that can be imported."
    return f"because there is no such package.{hint}"


def _is_there(name: str) -> bool:
    with suppress(ValueError):  # raised for a module that was made by hand
        return importlib.util.find_spec(name) is not None
    return True


def _nearest(name: str) -> str:
    found = {module.name for module in pkgutil.iter_modules()} - sys.stdlib_module_names
    return did_you_mean(name, found)


@contextmanager
def _also_in(places: Sequence[str]) -> Iterator[None]:
    before = sys.path[:]
    sys.path[:0] = places
    try:
        yield
    finally:
        sys.path[:] = before
