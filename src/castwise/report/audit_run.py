"""What `castwise audit` shows besides its report: that it runs, and what becomes of the fixes."""

from __future__ import annotations

import difflib
import io
import os
import sys
import tokenize
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from castwise.auditing.fixes import Patch, Unpatched
from castwise.auditing.rerun import Trial
from castwise.auditing.saved import load_process
from castwise.progress import is_plain
from castwise.report.terminal import (
    Paint,
    file_text,
    folded,
    place_text,
    plain,
    size_text,
    terminal_width,
)
from castwise.showing import quantity

# A line on the terminal that shows that a running program is being audited.

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
        room = terminal_width(self._stream) - 1
        text = f"castwise: {self._doing}{seconds:.0f} s{self._seen}"[:room]
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
    return f", {quantity(operations, 'operation')} on arrays{where}"


# The result of trying the fixes, for the terminal.

_LEFT_OUT = 3  # that are named


def trial_text(trial: Trial, width: int = 80) -> str:
    """What the fixes change, measured, and which were withdrawn."""
    if trial.stopped:
        return folded(f"The fixes were not tried: {trial.stopped}.", width)
    if not trial.fixes and not trial.withdrawn:
        return "There are no fixes to try."
    lines = []
    if trial.fixes:
        runs = quantity(trial.runs, "more run")
        lines += [f"With {quantity(len(trial.fixes), 'fix', 'es')}, tried in memory, in {runs}:"]
        lines += _measured(trial, width)
    if trial.withdrawn:
        found = [origin.withdrawn for origin in trial.withdrawn if origin.withdrawn]
        count = sum(len(withdrawn.fixes) for withdrawn in found)
        lines.append(f"Withdrawn: {quantity(count, 'fix', 'es')}.")
        for withdrawn in found:
            where = place_text(withdrawn.fixes[0].place)
            texts = " and ".join(fix.text for fix in withdrawn.fixes)
            lines.append(folded(f"  {where}: with {texts}, {withdrawn.why}.", width, 4))
    return "\n".join(lines)


def _measured(trial: Trial, width: int) -> list[str]:
    before, after = (size_text(peak) for peak in trial.peak_memory)
    lines = [
        f"findings     {trial.findings[0]:,} -> {trial.findings[1]:,}",
        f"peak memory  {before} -> {after}",
        f"results      {_results(trial)}",
    ]
    if trial.left_out and not trial.not_compared:
        named = "; ".join(trial.left_out[:_LEFT_OUT])
        more = f"; and {len(trial.left_out) - _LEFT_OUT:,} more"
        named += more if len(trial.left_out) > _LEFT_OUT else ""
        lines.append(f"left out     what differs between two plain runs: {named}")
    return [folded(f"  {line}", width, 15) for line in lines]


def _results(trial: Trial) -> str:
    if trial.not_compared:
        return f"cannot be compared: {trial.not_compared}"
    if not trial.change or not trial.change.size:
        return "do not change"
    return f"change by at most {trial.change.size:.1e} of their size ({trial.change.where})"


# Fixes in files: as a diff, and what was written.

_STYLES = {"-": "refused", "+": "float", "@": "faint"}
_NO_END = "\\ No newline at end of file\n"


def diff_text(patch: Patch, paint: Paint = plain) -> str:
    """A patch as `patch -p1` and `git apply` take it, if the file is below this directory."""
    before, after = (_lines(content) for content in (patch.before, patch.after))
    name = file_text(patch.file)
    old, new = (f"a/{name}", f"b/{name}") if not os.path.isabs(name) else (name, name)
    lines = list(difflib.unified_diff(before, after, old, new))
    return "".join(_line(line, paint, is_head=n < 2) for n, line in enumerate(lines))


def _line(line: str, paint: Paint, *, is_head: bool) -> str:
    text, end = (line[:-1], "\n") if line.endswith("\n") else (line, f"\n{_NO_END}")
    style = "title" if is_head else _STYLES.get(line[:1])
    return (paint(text, style) if style else text) + end


def _lines(content: bytes) -> list[str]:
    """The lines with their ends, so that a diff keeps them."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    text = content.decode("utf-8" if encoding == "utf-8-sig" else encoding, "replace")
    return list(io.StringIO(text, newline="\n"))


def written_text(written: Sequence[Patch]) -> str:
    """Which files were written, and where."""
    if not written:
        return "No fix was written."
    fixes = quantity(sum(len(patch.fixes) for patch in written), "fix", "es")
    lines = [f"Wrote {fixes} to {quantity(len(written), 'file')}:"]
    for patch in written:
        numbers = ", ".join(str(n) for n in sorted({fix.place.line for fix in patch.fixes}))
        noun = "lines" if "," in numbers else "line"
        lines.append(f"  {file_text(patch.file)}: {noun} {numbers}")
    return "\n".join(lines)


def refused_text(refused: Sequence[Unpatched]) -> str:
    """Which files stay as they are, and why."""
    return "\n".join(f"{file_text(file)} stays as it is: {why}." for file, why in refused)
