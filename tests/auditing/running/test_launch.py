"""How an audited program is waited for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import processes
from castwise.auditing.running.launch import run_audited

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
