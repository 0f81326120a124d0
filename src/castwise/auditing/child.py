"""Runs the user's program under audit: started by `castwise audit` in a process of its own.

A process of its own, so that a crash, os._exit or Ctrl-C of the program loses nothing, and no
thread or handler of castwise lives beside the program's own.
"""

from __future__ import annotations

import atexit
import builtins
import importlib.util
import json
import os
import sys
import time
import types
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any, NoReturn

from castwise.auditing import loading, saved
from castwise.auditing.log import LOG
from castwise.auditing.outcome import save_arrays

DIRECTORY = "CASTWISE_AUDIT"  # the environment variable that says where the processes report
_STARTUP = str(Path(__file__).with_name("startup"))
_LEAST_WAIT = 1.0  # seconds between two reports of a running process
_SHARE = 0.02  # of the time may go into them

_directory: Path | None = None
_keeps_outcome = False


def main(arguments: list[str]) -> NoReturn:
    """`DIRECTORY script.py ...` or `DIRECTORY -m module ...`"""
    place, *program = arguments
    join(Path(place))
    if program[0] == "-m":
        _run(lambda: _run_module(program[1], program[2:]))
    else:
        _run(lambda: _run_script(program[0], program[1:]))


def join(directory: Path) -> None:
    """Makes this process part of an audit, and those it starts."""
    global _directory, _keeps_outcome
    _directory = directory
    options = json.loads((directory / "options").read_text(encoding="utf-8"))
    loading.start(options["include"])
    loading.EDITS.update(options["edits"] or {})
    _keeps_outcome = options["keeps_outcome"]
    atexit.register(_report)
    os.register_at_fork(after_in_child=_forked)
    LOG.on_event = _report_sometimes
    # Not os.environ, which the program can see: children get the environment of the process.
    os.putenv(DIRECTORY, str(directory))
    paths = [_STARTUP, os.environ.get("PYTHONPATH")]
    os.putenv("PYTHONPATH", os.pathsep.join(path for path in paths if path))


def _report() -> None:
    if _directory is not None and _directory.is_dir():
        saved.save(_directory)


_next_report = time.monotonic() + _LEAST_WAIT


def _report_sometimes() -> None:
    global _next_report
    now = time.monotonic()
    if now >= _next_report:
        _report()
        after = time.monotonic()
        _next_report = after + max(_LEAST_WAIT, (after - now) / _SHARE)


def _forked() -> None:
    """A forked child starts its own count; multiprocessing ends it without atexit."""
    LOG.clear()
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, _report, exitpriority=-100)


def _run_script(path: str, arguments: list[str]) -> tuple[types.CodeType, types.ModuleType]:
    full = os.path.abspath(path)
    sys.argv = [path, *arguments]
    sys.path[0] = os.path.dirname(full)
    code = loading.audited_code(Path(full).read_bytes(), full)
    main_module = types.ModuleType("__main__")
    main_module.__dict__.update(
        __file__=full,
        __builtins__=builtins,
        __cached__=None,
        __loader__=SourceFileLoader("__main__", full),
    )
    return code, main_module


def _run_module(name: str, arguments: list[str]) -> tuple[types.CodeType, types.ModuleType]:
    sys.argv = ["-m", *arguments]
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = importlib.util.find_spec(f"{name}.__main__")
    if spec is None or spec.origin is None or spec.loader is None:
        raise SystemExit(f"castwise: no module named {name!r} can be run.")
    sys.argv[0] = spec.origin
    code = spec.loader.get_code(spec.name)  # type: ignore[attr-defined]
    main_module = types.ModuleType("__main__")
    main_module.__dict__.update(
        __file__=spec.origin, __builtins__=builtins, __cached__=spec.cached,
        __loader__=spec.loader, __package__=spec.parent, __spec__=spec,
    )  # fmt: skip
    return code, main_module


def _run(prepare: Any) -> NoReturn:
    """Runs the program and ends as it would: its status, its traceback without castwise's part."""
    try:
        code, main_module = prepare()
        sys.modules["__main__"] = main_module
        exec(code, main_module.__dict__)
        if _keeps_outcome and _directory is not None:
            save_arrays(main_module, _directory)
    except SystemExit:
        raise
    except BaseException as error:
        sys.excepthook(type(error), error, _of_program(error))
        sys.stdout.flush()
        raise SystemExit(130 if isinstance(error, KeyboardInterrupt) else 1) from None
    raise SystemExit(0)


def _of_program(error: BaseException) -> types.TracebackType | None:
    """The traceback from the program's first frame on, as it would be without castwise."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    error.__traceback__ = trace
    return trace


if __name__ == "__main__":
    from castwise.auditing.child import main as run_as_module  # not as __main__, which it replaces

    run_as_module(sys.argv[1:])
