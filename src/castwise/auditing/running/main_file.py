"""The compiled script that a process runs instead of the user's."""

from __future__ import annotations

import importlib.util
import os
import warnings
from collections.abc import Sequence
from marshal import dumps, loads  # now: the program finds one that hides the observers
from pathlib import Path
from types import CodeType
from typing import NamedTuple

from castwise.auditing.records.runs import Options
from castwise.auditing.rewriting.marks import full_path
from castwise.auditing.rewriting.trying import with_edits
from castwise.auditing.running.compiling import Sites, UnobservedFunctions, compiled

_HEADER = importlib.util.MAGIC_NUMBER + bytes(12)  # of a .pyc not checked against its source


class MainScript(NamedTuple):
    """A script with its observers, and the arguments it believes to have."""

    path: str
    source: bytes
    argv: list[str]
    orig_argv: list[str]
    sites: Sites
    unobserved: UnobservedFunctions


def prepared(
    python: Sequence[str], program: Sequence[str], options: Options, folder: Path
) -> list[str]:
    """The command that runs a script with its observers, so that its process need not compile it
    and start again; or the plain command, whose process does that itself.

    A script whose compilation warns or fails is left to its own process: its filters and its
    stderr are the program's.
    """
    plain = [*python, *program]
    if program[0] == "-m":
        return plain
    path = os.path.join(os.getcwd(), program[0])  # made absolute as Python does
    try:
        source = Path(path).read_bytes()
        new = with_edits(source, (options.edits or {}).get(full_path(path), ()))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            entry = compiled(new, path, is_main=True, checks=options.checks)
    except Exception:
        return plain
    code, sites, unobserved = entry
    meant = MainScript(path, source, [*program], plain, sites, unobserved)
    return [*python, write_main(folder / "main.pyc", code, meant), *program[1:]]


def write_main(file: Path, code: CodeType, meant: MainScript) -> str:
    """Writes a compiled script for a process to run, and returns its path."""
    file.write_bytes(_HEADER + dumps(code))
    file.with_suffix(".bin").write_bytes(dumps(tuple(meant)))
    return str(file)


def read_main(file: Path) -> MainScript:
    """Reads what write_main wrote, once."""
    details = file.with_suffix(".bin")
    meant = MainScript(*loads(details.read_bytes()))
    details.unlink()
    return meant
