"""How an audited program is waited for."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import processes
from castwise.auditing import launch
from castwise.auditing.launch import run_audited

SLEEPS = """
import os, pathlib, sys, time
pathlib.Path(sys.argv[1]).write_text(str(os.getpid()))
time.sleep(60)
"""


def test_a_program_that_is_watched_no_more_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, told = tmp_path / "sleeps.py", tmp_path / "pid"
    script.write_text(SLEEPS, encoding="utf-8")
    monkeypatch.setattr(processes, "LIMIT", 3)
    with pytest.raises(TimeoutError, match="not done after 3 seconds"):
        run_audited([str(script), str(told)])
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)


def test_later_runs_read_a_copy_of_the_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lines").write_bytes(b"read before\nfor the program\n")
    launch._input_begins.cache_clear()
    with open(tmp_path / "lines", encoding="utf-8") as lines:
        os.lseek(lines.fileno(), len(b"read before\n"), os.SEEK_SET)
        monkeypatch.setattr(sys, "stdin", lines)
        assert launch._input_begins() == 12
        os.read(lines.fileno(), 5)  # what the first run reads
        with os.fdopen(launch._same_input(tmp_path), "rb") as copy:
            assert copy.read() == b"for the program\n"
        assert os.lseek(lines.fileno(), 0, os.SEEK_CUR) == 12 + 5
    launch._input_begins.cache_clear()
