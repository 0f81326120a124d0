"""JSON lines in two processes: the same answers, in the same order."""

from __future__ import annotations

import json
import time

import pytest

from castwise.report import answers
from castwise.report.answers import MANY, TwoProcesses, answer_lines

DTYPES = ("int8", "uint8", "int32", "float16", "float32", "complex64", "nonsense")


def many_lines() -> list[bytes]:
    questions = [
        {"op": op, "args": [f"{a}[3]", f"{b}[]"]}
        for op in ("add", "sub", "div", "pow", "lt", "bitwise_and")
        for a in DTYPES
        for b in DTYPES
    ]
    lines = [json.dumps(question).encode() for question in questions]
    assert len(lines) > MANY
    return lines


def ready(dialect: str) -> TwoProcesses:
    """Two processes, the second of which has started."""
    both = TwoProcesses(dialect)
    until = time.monotonic() + 60
    while not both._has_second() and time.monotonic() < until:
        time.sleep(0.05)
    assert both._has_second()
    return both


def test_both_answer_as_one_does() -> None:
    lines = many_lines()
    both = ready("torch")
    assert both.answer_lines(lines) == answer_lines(lines, "torch")
    assert both.answer_lines(lines[:10]) == answer_lines(lines[:10], "torch")
    assert not both.answer_lines(lines).is_well_formed


def test_one_goes_on_alone_where_the_other_was_ended() -> None:
    lines = many_lines()
    both = ready("numpy")
    assert both._second is not None
    both._second.close()
    assert both.answer_lines(lines) == answer_lines(lines, "numpy")
    assert both.answer_lines(lines) == answer_lines(lines, "numpy")


def test_few_lines_start_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_started", None)
    lines = many_lines()[: MANY - 1]
    assert TwoProcesses("numpy").answer_lines(lines) == answer_lines(lines, "numpy")


def test_one_core_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_started", None)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    lines = many_lines()
    assert TwoProcesses("numpy").answer_lines(lines) == answer_lines(lines, "numpy")
