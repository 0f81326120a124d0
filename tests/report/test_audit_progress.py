"""The line while a program runs: only on a terminal, and never in the program's way."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

import pytest

from castwise.auditing.records import Event, Seen
from castwise.auditing.saved import seen_to_json
from castwise.report.audit_run import Progress, progress_on_stderr

pty = pytest.importorskip("pty")


class Terminal:
    """A terminal that programs write to, and what they wrote."""

    def __init__(self) -> None:
        self._near, far = pty.openpty()
        self.stream: TextIO = os.fdopen(far, "w", encoding="utf-8")

    def written(self) -> str:
        self.stream.write("|")  # so that there is something to read
        self.stream.flush()
        text = os.read(self._near, 65536).decode()
        while not text.endswith("|"):
            text += os.read(self._near, 65536).decode()
        return text[:-1].replace("\r\n", "\n")

    def close(self) -> None:
        self.stream.close()
        os.close(self._near)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    made = Terminal()
    yield made
    made.close()


def test_there_is_none_where_stderr_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert progress_on_stderr() is None


def test_a_line_is_drawn_after_two_seconds_and_taken_away(
    terminal: Terminal, tmp_path: Path
) -> None:
    with open(tmp_path / "out", "w", encoding="utf-8") as stdout:
        progress = Progress(terminal.stream, stdout)
        progress(1.9, tmp_path)
        assert terminal.written() == ""
        progress(2.1, tmp_path)
        progress(2.2, tmp_path)  # too soon to draw again
        assert terminal.written() == "\r\x1b[Kcastwise: 2 s\r"
        progress.close()
        assert terminal.written() == "\r\x1b[K"


def test_the_line_tells_what_was_seen(terminal: Terminal, tmp_path: Path) -> None:
    for process, count in (("1", 5), ("2", 1000)):
        seen = Seen(events=(Event(1, (), count, 0), Event(2, (), 1, 0)))
        (tmp_path / f"{process}.json").write_text(json.dumps(seen_to_json(seen)))
    (tmp_path / "3.json").write_text("{")
    with open(tmp_path / "out", "w", encoding="utf-8") as stdout:
        Progress(terminal.stream, stdout)(3, tmp_path)
    assert "castwise: 3 s, 1,007 operations on arrays in 2 processes" in terminal.written()


def test_whole_lines_where_the_program_prints_to_the_same_terminal(
    terminal: Terminal, tmp_path: Path
) -> None:
    progress = Progress(terminal.stream, terminal.stream)
    for seconds in (2.1, 9.9, 10.1, 15, 20.2):
        progress(seconds, tmp_path)
    progress.close()
    assert terminal.written() == "castwise: 10 s\ncastwise: 20 s\n"


def test_a_program_that_ends_soon_leaves_no_trace(terminal: Terminal, tmp_path: Path) -> None:
    with open(tmp_path / "out", "w", encoding="utf-8") as stdout:
        progress = Progress(terminal.stream, stdout)
        progress(0.4, tmp_path)
        progress.close()
    assert terminal.written() == ""
