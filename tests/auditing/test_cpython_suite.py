"""Python's own tests of its language have the same outcomes under audit."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from under_audit import Outcome, audited, plainly

import cells

MODULES = ["test_grammar", "test_generators", "test_super"]
LONG = ["test_coroutines", "test_traceback"]  # most of the time of all of them


def results(outcome: Outcome) -> dict[str, str]:
    """Each test and how it ended, from what `unittest -v` prints."""
    found = re.findall(
        r"^(\w+ \([\w.]+\)|Doctest: \S+)[\s\S]*? \.\.\. (\w+)", outcome.stderr, re.MULTILINE
    )
    return dict(found)


@pytest.mark.skipif(
    importlib.util.find_spec("test.test_grammar") is None, reason="this Python has no test package"
)
@pytest.mark.parametrize("module", [*MODULES, *(LONG if cells.takes_all else ())])
def test_python_s_own_tests_have_the_same_outcomes(module: str, tmp_path: Path) -> None:
    command = ("-m", "unittest", "-v", f"test.{module}")
    plain = plainly(*command, cwd=tmp_path)
    outcome, seen = audited(*command, cwd=tmp_path, include=["test"])
    assert results(outcome) == results(plain)
    assert len(results(plain)) > 20
    assert outcome.status == plain.status
    assert any(module in file for file in seen.files)
    assert seen.counts.failures == {}
