"""A line on the terminal that shows that a running program is being audited."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO

from castwise.auditing.running.saved import load_process
from castwise.report.amounts import counted
from castwise.report.terminal.colour import is_plain
from castwise.report.terminal.printing import terminal_width

_PATIENCE = 2.0  # seconds a program runs before the line appears
_REDRAW = 0.5  # seconds between two updates of the line
_LINES = 10.0  # seconds between two lines that stay on the terminal
_COUNT = 2.0  # seconds between two counts of what was seen
_CLEAR = "\r\x1b[K"


class Progress:
    """A callback for a running program: it updates one line, or prints a new one now and then.

    The program writes to the same terminal. If its stdout goes there too, redrawing a line would
    cut the program's lines in two, so whole lines are printed instead.
    """

    def __init__(self, stream: TextIO, stdout: TextIO, doing: str = "") -> None:
        self._stream = stream
        self._doing = f"{doing}, " if doing else ""
        is_shared = not doing and _is_same(stream, stdout)  # other runs are not shown
        self._redraws = not (is_plain(stream) or is_shared)
        self._next_draw = _PATIENCE if self._redraws else _LINES
        self._next_count = 0.0
        self._seen = ""
        self._is_drawn = False

    def __call__(self, seconds: float, directory: Path) -> None:
        if seconds < self._next_draw:
            return
        if seconds >= self._next_count:
            self._seen = _seen_in(directory)
            self._next_count = seconds + _COUNT
        self._next_draw = seconds + (_REDRAW if self._redraws else _LINES)
        text = f"castwise: {self._doing}{seconds:.0f} s{self._seen}"[
            : terminal_width(self._stream) - 1
        ]
        # The cursor goes back to the start, where the program's next line on stderr begins.
        self._stream.write(f"{_CLEAR}{text}\r" if self._redraws else f"{text}\n")
        self._stream.flush()
        self._is_drawn = self._redraws

    def close(self) -> None:
        """Removes the line."""
        if self._is_drawn:
            self._stream.write(_CLEAR)
            self._stream.flush()


def progress_on_stderr(doing: str = "") -> Progress | None:
    """The progress of a program, or None if stderr is not a terminal. `doing` says what it runs
    for."""
    return Progress(sys.stderr, sys.stdout, doing) if sys.stderr.isatty() else None


def _is_same(one: TextIO, other: TextIO) -> bool:
    if not other.isatty():
        return False
    return os.path.samestat(os.fstat(one.fileno()), os.fstat(other.fileno()))


def _seen_in(directory: Path) -> str:
    """What the processes have reported so far; they report about once a second."""
    operations, processes = 0, 0
    for file in directory.glob("*.json"):
        try:
            seen = load_process(file)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # not the report of a process
        operations += sum(event.count for event in seen.events)
        processes += 1
    if not operations:
        return ""
    where = f" in {processes} processes" if processes > 1 else ""
    return f", {counted(operations, 'operation')} on arrays{where}"
