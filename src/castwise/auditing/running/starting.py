"""Joins the processes that a program starts to its audit, through their environment."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from castwise.auditing.records.as_json import options_from_json, options_to_json
from castwise.auditing.records.runs import Options

DIRECTORY = "CASTWISE_AUDIT"  # the variable with the directory the processes report to
_EMPTY = "CASTWISE_EMPTY_PATH"  # set if PYTHONPATH is set but empty, which differs from unset
_OPTIONS = "options"  # the file with the audit options
_STARTUP = str(Path(__file__).parents[1] / "joining" / "startup")


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
    empty = {_EMPTY: ""} if own_path == "" else {}
    return {DIRECTORY: directory, "PYTHONPATH": paths, **empty}


def pass_audit_on(directory: str) -> None:
    """Joins every process started from now on."""
    # Not through os.environ, which the program can see: processes inherit the environment itself.
    os.unsetenv(_EMPTY)
    for name, value in environment(directory, os.environ.get("PYTHONPATH")).items():
        os.putenv(name, value)
    _pass_audit_on_explicitly(directory)


def _pass_audit_on_explicitly(directory: str) -> None:
    """Adds the variables when the parent passes an explicit environment, as with `env=`."""
    starter: Any = sys.modules.get("_posixsubprocess")
    if starter is None:
        return
    plain = starter.fork_exec

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


_ENVIRONMENT_ARGUMENT = 5  # position in _posixsubprocess.fork_exec, in every Python from 3.10 on


def _with_variables(given: Sequence[bytes], directory: str) -> list[bytes]:
    """An environment as `name=value` entries, with the audit's variables added."""
    mark = b"PYTHONPATH="
    own = [entry[len(mark) :] for entry in given if entry.startswith(mark)]
    names = environment(directory, os.fsdecode(own[0]) if own else None)
    ours = tuple(os.fsencode(f"{name}=") for name in (DIRECTORY, _EMPTY))
    kept = [entry for entry in given if not entry.startswith((mark, *ours))]
    return [*kept, *(os.fsencode(f"{name}={value}") for name, value in names.items())]
