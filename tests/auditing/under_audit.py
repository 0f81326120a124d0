"""Runs a small program with and without an audit, to see that only the report differs."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

from castwise.auditing import arrays, saved
from castwise.auditing.compile import prepared
from castwise.auditing.launch import environment, write_options
from castwise.auditing.records import Options, Seen
from processes import finished


class Outcome(NamedTuple):
    """How a program ended, and what it wrote."""

    status: int
    stdout: str
    stderr: str


_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def write(directory: Path, **sources: str) -> Path:
    """Writes modules by name; `a__b` is b.py in the package a. Gives the place of the first."""
    places = []
    for name, source in sources.items():
        place = directory.joinpath(*name.split("__", 1)).with_suffix(".py")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(dedent(source), encoding="utf-8")
        places.append(place)
    return places[0]


def plainly(
    *arguments: str | Path, cwd: Path, stdin: str = "", flags: Sequence[str] = ()
) -> Outcome:
    """`python arguments`, without an audit."""
    return _run([*flags, *arguments], {}, cwd, stdin)


def audited(
    *arguments: str | Path,
    cwd: Path,
    stdin: str = "",
    flags: Sequence[str] = (),
    include: Sequence[str] = (),
    options: Options | None = None,
) -> tuple[Outcome, Seen]:
    """The same in an audit, started as `castwise audit` starts it, and what was seen."""
    directory = cwd / ".audit"
    directory.mkdir()
    options = options or Options(tuple(include))
    write_options(options, str(cwd / arguments[0]), directory)
    variables = environment(str(directory), os.environ.get("PYTHONPATH"))
    command = [*flags, *map(str, arguments)]
    if not flags:  # with other flags than this Python's, the process compiles the script itself
        with _in(cwd):
            command = prepared([sys.executable], command, options, directory)[1:]
    outcome = _run(command, variables, cwd, stdin)
    seen = saved.load(directory)
    for file in directory.iterdir():
        file.unlink()
    directory.rmdir()
    return outcome, seen


@contextmanager
def _in(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _run(
    arguments: Sequence[str | Path], variables: dict[str, str], cwd: Path, stdin: str
) -> Outcome:
    done = finished(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONHASHSEED": "0", **variables},
        input=stdin,
    )
    return Outcome(
        done.returncode, _ADDRESS.sub("0x", done.stdout), _ADDRESS.sub("0x", done.stderr)
    )


def same(*arguments: str | Path, cwd: Path, stdin: str = "", flags: Sequence[str] = ()) -> Outcome:
    """Asserts that both ways end alike and that the auditor itself did not fail."""
    plain = plainly(*arguments, cwd=cwd, stdin=stdin, flags=flags)
    outcome, seen = audited(*arguments, cwd=cwd, stdin=stdin, flags=flags)
    assert outcome == plain
    assert seen.counts.failures == {}
    return outcome


def same_script(source: str, cwd: Path, *arguments: str) -> Outcome:
    """As `same`, for the source of a script."""
    return same(write(cwd, script=source).name, *arguments, cwd=cwd)


def forget_makers() -> None:
    """Forgets where every array was made, so that tests do not see each other's."""
    arrays.MADE.clear()
    arrays._scalars.clear()
