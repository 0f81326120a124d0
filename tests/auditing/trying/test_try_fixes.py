"""--try-fixes: the program again, with its fixes in memory."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from castwise.auditing.judging.audited import audit_of
from castwise.auditing.records.runs import Options, Outcome, ValueChange
from castwise.auditing.running.launch import run_audited
from castwise.auditing.running.outcome import largest_change
from castwise.auditing.trying.trial import Trial, try_fixes

PROGRAM = """
import numpy as np
image = np.arange(3_000_000, dtype=np.uint8)
scaled = image / 255
mean = np.float32(0.25)
result = scaled - mean
print("mean", result.mean())
"""


def tried(program: str, directory: Path) -> Trial:
    script = directory / "program.py"
    script.write_text(program)
    options = Options(keeps_outcome=True)
    run = run_audited([str(script)], options)
    return try_fixes([str(script)], audit_of(run.seen), run, options)


def test_fixes_are_tried_and_measured(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trial = tried(PROGRAM, tmp_path)
    assert trial.status == 0
    assert trial.findings == (1, 0)
    assert trial.peak_memory[1] < trial.peak_memory[0]
    assert trial.change is not None
    assert 0 < trial.change.size < 1e-6
    assert (tmp_path / "program.py").read_text() == PROGRAM  # nothing was written
    assert capfd.readouterr().out.count("mean") == 1  # the second run is not shown


def test_a_program_without_findings_has_nothing_to_try(tmp_path: Path) -> None:
    trial = tried("import numpy as np\nx = np.ones(3) + 1\n", tmp_path)
    assert trial.fixes == ()
    assert trial.change is not None
    assert trial.change.size == 0


def test_a_change_is_measured_against_the_largest_value() -> None:
    before = Outcome({"x": [0.0, 100.0]}, [])
    assert largest_change(before, Outcome({"x": [1.0, 100.0]}, [])) == ValueChange(0.01, "x")


def test_other_values_than_before_are_an_infinite_change() -> None:
    before = Outcome({"x": [1.0]}, [])
    for after in ([1.0, 2.0], [math.nan]):
        change = largest_change(before, Outcome({"x": after}, []))
        assert change is not None
        assert math.isinf(change.size)


def test_numbers_inside_words_are_not_printed_numbers(tmp_path: Path) -> None:
    from castwise.auditing.running.outcome import load_outcome

    assert load_outcome(tmp_path, "float64 v1.5 1e-3 (-2.5, 7)").printed == [0.001, -2.5, 7.0]
