"""Joins this process to an audit. Runs in the program's process, before the program.

`castwise audit` starts another process, so that a crash, os._exit or Ctrl-C of the program
loses nothing, and no thread or handler of castwise lives next to the program's own.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import time
import types
from _thread import allocate_lock
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from castwise.auditing import arrays, loading, saved, scopes
from castwise.auditing.arrays import ARRAYS, NUMBERS, is_array_type
from castwise.auditing.compiled_calls import compare_refused
from castwise.auditing.crash import last_crash
from castwise.auditing.launch import DIRECTORY, EMPTY, OUTCOME_FILE, environment, read_options
from castwise.auditing.log import LOG
from castwise.auditing.source import try_edits

_LEAST_WAIT = 1.0  # minimum seconds between two reports of a running process
_SHARE = 0.02  # the share of the run time that reports may take
_AT_ONCE = 0.05  # seconds that immediate reports of new events may take

_directory: Path | None = None
_keeps_outcome = False


def join(place: str, loaded: Collection[str]) -> None:
    """Joins this process, and those it starts, to an audit. `loaded` are the modules Python had
    loaded before castwise."""
    global _directory, _keeps_outcome
    _directory = Path(place)
    options, script = read_options(_directory)
    _keeps_outcome = options.keeps_outcome and _is_first()
    _pass_audit_on(place)
    loading.start(options.include, is_deep=options.is_deep, checks=options.checks)
    LOG.compares = options.compares
    arrays.share_makers(_directory / "sent")
    if options.checks_values:
        from castwise.auditing import values  # most programs need none

        values.start()
    if options.checks:
        # Imported here because most programs need no checks.
        from castwise.auditing.blocks import Attempts, ProcessEnforcement

        if options.notes_attempts:
            scopes.enter_everywhere(Attempts())
        if options.enforce:
            scopes.enter_everywhere(ProcessEnforcement.from_options(options.enforce))
            scopes.enter_modes_everywhere()
    try_edits(options.edits or {})
    loading.observe_main(_directory, script)
    loading.forget_shadowed_modules({name for name in sys.modules if name not in loaded})
    atexit.register(_end)
    os.register_at_fork(after_in_child=_forked)
    LOG.on_event = _report_sometimes


def _is_first() -> bool:
    """Whether this is the program's first process, not one that it started."""
    assert _directory is not None  # set by join
    with suppress(FileExistsError), open(_directory / "first", "x", encoding="utf-8") as file:
        file.write(str(os.getpid()))
    return (_directory / "first").read_text(encoding="utf-8") == str(os.getpid())


def _end() -> None:
    """The last step before Python tears down the program's modules."""
    try:
        LOG.crash = last_crash()
    except Exception as error:
        LOG.failed(error)
    if LOG.compares:
        compare_refused()
    if _keeps_outcome and _directory is not None:
        try:
            _save_arrays(sys.modules["__main__"], _directory)
        except Exception as error:
            LOG.failed(error)
    _report()


_reporting = allocate_lock()
_spent = 0.0
_began = time.monotonic()
_next_report = _began + _LEAST_WAIT


def _report() -> None:
    """Writes what was seen so far. The program goes on even if this fails."""
    global _spent, _next_report
    if _directory is None or not _reporting.acquire(blocking=False):
        return
    began = time.monotonic()
    try:
        if _directory.is_dir():
            saved.save(_directory)
    except Exception as error:
        LOG.failed(error)
    finally:
        now = time.monotonic()
        _spent += now - began
        _next_report = now + max(_LEAST_WAIT, (now - began) / _SHARE)
        _reporting.release()


def _report_sometimes(is_new: bool) -> None:
    """Reports periodically, and at once for new events: the next line may crash."""
    now = time.monotonic()
    if now >= _next_report or (is_new and _spent < _AT_ONCE + _SHARE * (now - _began)):
        _report()


def _forked() -> None:
    """Resets the counts and the clock in a forked child."""
    global _keeps_outcome, _reporting, _spent, _began, _next_report
    _keeps_outcome = False
    _reporting = allocate_lock()  # a thread that the child lacks may have held the parent's lock
    _spent, _began = 0.0, time.monotonic()
    _next_report = _began + _LEAST_WAIT
    LOG.clear()
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.register_after_fork(LOG, _report_at_end)


def _report_at_end(_: object) -> None:
    """Reports at the end of a forked child: multiprocessing runs its finalizers, but not atexit."""
    sys.modules["multiprocessing.util"].Finalize(None, _report, exitpriority=-100)


# Joins the processes that the program starts, through their environment.

_ENVIRONMENT_ARGUMENT = 5  # position in _posixsubprocess.fork_exec, in every Python from 3.10 on


def _pass_audit_on(directory: str) -> None:
    # Not through os.environ, which the program can see: processes inherit the environment itself.
    os.unsetenv(EMPTY)
    for name, value in environment(directory, os.environ.get("PYTHONPATH")).items():
        os.putenv(name, value)
    starter: Any = sys.modules.get("_posixsubprocess")
    if starter is None:
        return
    plain = starter.fork_exec  # gets the environment that a program gives, as with `env=`

    def fork_exec(*arguments: Any) -> Any:
        place = _ENVIRONMENT_ARGUMENT
        if len(arguments) > place and type(arguments[place]) is list:
            given = _with_variables(arguments[place], directory)
            arguments = (*arguments[:place], given, *arguments[place + 1 :])
        return plain(*arguments)

    starter.fork_exec = fork_exec
    parts: Any = subprocess
    parts._USE_POSIX_SPAWN = False  # posix_spawn always passes an environment
    if hasattr(parts, "_fork_exec"):
        parts._fork_exec = fork_exec


def _with_variables(given: Sequence[bytes], directory: str) -> list[bytes]:
    """An environment as `name=value` entries, with the audit's variables added."""
    mark = b"PYTHONPATH="
    own = [entry.removeprefix(mark) for entry in given if entry.startswith(mark)]
    names = environment(directory, os.fsdecode(own[0]) if own else None)
    ours = tuple(os.fsencode(f"{name}=") for name in (DIRECTORY, EMPTY))
    kept = [entry for entry in given if not entry.startswith((mark, *ours))]
    return [*kept, *(os.fsencode(f"{name}={value}") for name, value in names.items())]


# What a program leaves behind at its end, for comparing two runs: the arrays and numbers that its
# main module holds, directly or in lists, dictionaries and objects.

_MOST_VALUES = 100_000  # per array; a larger one is sampled evenly
_MOST_IN_ALL = 1_000_000
_MOST_THINGS = 10_000  # that are looked at
_DEEPEST = 8
_CODE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, type)


def _save_arrays(main_module: types.ModuleType, directory: Path) -> None:
    """Writes the final values, for the comparing process."""
    found: dict[str, tuple[list[float], bool, bool]] = {}
    left = _MOST_IN_ALL
    for name, thing in _things(main_module):
        with suppress(Exception):  # an array that cannot be read, as on a device that is gone
            values, is_exact = _values(thing)
            if values and left > 0:
                found[name] = (values, is_exact, type(thing) in NUMBERS)
                left -= len(values)
    (directory / OUTCOME_FILE).write_text(json.dumps(found), encoding="utf-8")


def _things(main_module: types.ModuleType) -> Iterator[tuple[str, Any]]:
    """The numbers of a module, and the arrays in it, each with the expression that names it."""
    own = [(n, thing) for n, thing in list(vars(main_module).items()) if not n.startswith("__")]
    yield from [(name, thing) for name, thing in own if type(thing) in NUMBERS]
    waiting = [(name, thing, 0) for name, thing in own]
    visited: set[int] = set()
    while waiting and len(visited) < _MOST_THINGS:
        name, thing, depth = waiting.pop(0)
        if is_array_type(type(thing)):
            yield name, thing
        elif depth < _DEEPEST and id(thing) not in visited:
            visited.add(id(thing))
            waiting += [(name + part, inner, depth + 1) for part, inner in _parts(thing)]


def _parts(thing: Any) -> Iterable[tuple[str, Any]]:
    """What a list, dictionary or object holds; no code of the program runs for it."""
    kind = type(thing)  # isinstance would ask an object that stands for another
    if issubclass(kind, _CODE) or kind in (str, bytes, *NUMBERS):
        return []
    if issubclass(kind, (list, tuple)):
        items = tuple.__iter__(thing) if issubclass(kind, tuple) else list.__iter__(thing)
        return [(f"[{place}]", inner) for place, inner in enumerate(items)]
    if issubclass(kind, dict):
        return [(f"[{k!r}]", inner) for k, inner in dict.items(thing) if type(k) in (str, int)]
    try:
        held = object.__getattribute__(thing, "__dict__")
    except (AttributeError, TypeError):
        return []
    return [(f".{name}", inner) for name, inner in dict.items(held)] if type(held) is dict else []


def _values(thing: Any) -> tuple[list[float], bool]:
    """The values of an array or number, and whether they are integers or bools."""
    if type(thing) in NUMBERS:
        is_complex = isinstance(thing, complex)
        values = [thing.real, thing.imag] if is_complex else [float(thing)]
        return values, isinstance(thing, int)
    hook = ARRAYS[type(thing)].hook
    values = list(hook.arrays.values(thing)) if hook.arrays.values else []
    step = max(1, len(values) // _MOST_VALUES)
    is_exact = not any(kind in str(thing.dtype) for kind in ("float", "complex"))
    return [float(value) for value in values[::step]], is_exact
