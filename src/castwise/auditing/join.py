"""Joins this process to an audit. Runs in the program's process, before the program.

`castwise audit` starts another process, so that a crash, os._exit or Ctrl-C of the program
loses nothing, and no thread or handler of castwise lives next to the program's own.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from _thread import allocate_lock
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from castwise.auditing import arrays, loading, saved, scopes
from castwise.auditing.compiled_calls import compare_refused
from castwise.auditing.crash import last_crash
from castwise.auditing.launch import pass_audit_on, read_options, save_arrays
from castwise.auditing.log import LOG
from castwise.auditing.records import Options
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
    pass_audit_on(place)
    loading.start(options.include, is_deep=options.is_deep, checks=options.checks)
    LOG.compares = options.compares
    arrays.start(_directory / "sent")
    if options.checks_values:
        _begin_checks_of_values()
    if options.checks:
        _begin_checks(options)
    try_edits(options.edits or {})
    loading.observe_main(_directory, script)
    loading.forget_shadowed_modules({name for name in sys.modules if name not in loaded})
    atexit.register(_end)
    os.register_at_fork(after_in_child=_forked)
    LOG.on_event = _report_sometimes


def _begin_checks(options: Options) -> None:
    # Imported here because most programs need no checks.
    from castwise.auditing.blocks import Attempts, ProcessEnforcement

    if options.notes_attempts:
        scopes.enter_everywhere(Attempts())
    if options.enforce:
        scopes.enter_everywhere(ProcessEnforcement.from_options(options.enforce))
        scopes.enter_modes_everywhere()


def _begin_checks_of_values() -> None:
    from castwise.auditing import values  # most programs need none

    values.start()


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
            save_arrays(sys.modules["__main__"], _directory)
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
