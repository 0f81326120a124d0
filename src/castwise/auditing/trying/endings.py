"""How a run ended: its status, and the error and line that ended it."""

from __future__ import annotations

import re
import signal
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from castwise.auditing.records.runs import Run

_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'^\s+File "(?P<file>.*)", line (?P<line>\d+)')
_LONGEST = 200  # characters of an error that are shown
INTERRUPTED = 128 + signal.SIGINT


class Ending(NamedTuple):
    """The error that ended a program; empty texts if there is none."""

    error: str
    place: str  # file:line

    @property
    def kind(self) -> str:
        """The error's type."""
        return self.error.partition(":")[0]


def ending_of(said: str, files: Collection[str]) -> Ending:
    """The last traceback in what a program said, and its innermost line in one of the files."""
    _, found, text = said.rpartition(_TRACEBACK)
    if not found:
        lines = said.strip().splitlines()
        return Ending(lines[-1][:_LONGEST] if lines else "", "")
    place, error = "", ""
    for line in text.splitlines()[1:]:
        frame = _FRAME.match(line)
        if frame and frame["file"] in files:
            place = f"{Path(frame['file']).name}:{frame['line']}"
        elif line and not line[0].isspace():
            error = line[:_LONGEST]
            break
    return Ending(error, place)


def crash_text(run: Run, files: Collection[str]) -> str:
    """How a run ended that should have ended otherwise."""
    ending = ending_of(run.outcome.said if run.outcome else "", files)
    if run.status > 128 and not ending.error:
        return f"it is ended by {_signal_name(run.status - 128)}"
    where = f"{ending.place} " if ending.place else "it "
    if ending.error:
        return f"{where}raises {ending.error} (exit status {run.status})"
    return f"it exits with status {run.status}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
