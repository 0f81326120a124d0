"""--try-fixes: the program again, with its fixes in memory; those that do harm are withdrawn."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from castwise.auditing import rerun
from castwise.auditing.launch import run_audited
from castwise.auditing.origins import Audit, make_audit
from castwise.auditing.records import FinalValues, Options, Outcome, Run
from castwise.auditing.rerun import Trial, differences, read_ending, try_fixes, why_not_comparable
from castwise.report.audit import audit_text
from castwise.report.audit_json import audit_json, audit_sarif
from castwise.report.audit_run import trial_text

PROGRAM = """
import numpy as np
image = np.arange(3_000_000, dtype=np.uint8)
scaled = image / 255
mean = np.float32(0.25)
result = scaled - mean
print("mean", result.mean())
"""
# Four fixes: one crashes, one changes a value, two do what they promise.
HARMFUL = """
import numpy as np

x = np.full(1000, 1e-3, np.float32)
good = np.linspace(0, 1, 1000)
crashes = np.ones(1000)
changes = np.full(1000, 1e8)
also_good = np.ones(1000)
a = x * good
b = x * crashes
if b.dtype == np.float32:
    raise TypeError("no float32 here")
c = (x + changes) - 1e8
d = x - also_good
print(f"{a.sum():.4f} {c.sum()}")
"""
UNSEEDED = """
import numpy as np
x = np.random.rand(100).astype(np.float32)
y = x * np.ones(100)
print(y.sum())
"""


def tried(program: str, directory: Path) -> tuple[Audit, Trial]:
    script = directory / "program.py"
    script.write_text(program)
    options = Options(keeps_outcome=True)
    run = run_audited([str(script)], options)
    return try_fixes([str(script)], make_audit(run.seen), run, options)


def test_fixes_are_tried_and_measured(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    audit, trial = tried(PROGRAM, tmp_path)
    assert len(trial.fixes) == 1
    assert not trial.withdrawn
    assert trial.findings == (1, 0)
    assert trial.peak_memory[1] < trial.peak_memory[0]
    assert trial.change is not None
    assert 0 < trial.change.size < 1e-6
    assert (tmp_path / "program.py").read_text() == PROGRAM  # nothing was written
    assert capfd.readouterr().out.count("mean") == 1  # the other runs are not shown
    assert "results      change by at most" in trial_text(trial)
    assert audit.origins[0].fixes == trial.fixes


def test_what_does_harm_is_withdrawn_and_the_rest_is_kept(tmp_path: Path) -> None:
    audit, trial = tried(HARMFUL, tmp_path)
    assert sorted(fix.place.line for fix in trial.fixes) == [5, 8]
    assert trial.findings == (4, 2)
    crash = "program.py:12 raises TypeError: no float32 here (exit status 1)"
    whys = {o.place.line: o.withdrawn.why for o in trial.withdrawn if o.withdrawn}
    assert whys[6] == crash
    assert whys[7].startswith("c changes by ")
    # No report offers them as fixes.
    text = audit_text(audit, width=300)
    assert f"np.ones(1000, dtype=np.float32) was withdrawn: with it, {crash}." in text
    assert "+ crashes" not in text
    found = {f["origin"]["line"]: f for f in audit_json(audit)["findings"]}
    assert found[6]["fixes"] == []
    assert found[6]["withdrawn"]["why"] == crash
    assert "withdrawn" not in found[5]
    results = audit_sarif(audit)["runs"][0]["results"]
    assert sum("fixes" in result for result in results) == 2
    assert "Withdrawn: 2 fixes." in trial_text(trial)


def test_a_program_without_a_seed_is_told_from_a_changed_one(tmp_path: Path) -> None:
    audit, trial = tried(UNSEEDED, tmp_path)
    assert len(trial.fixes) == 1
    assert "between two plain runs. Fix the seed" in trial.not_compared
    assert "results      cannot be compared: x changes by" in trial_text(trial)
    assert audit.origins[0].fixes


def test_a_program_without_findings_has_nothing_to_try(tmp_path: Path) -> None:
    _, trial = tried("import numpy as np\nx = np.ones(3) + 1\n", tmp_path)
    assert trial_text(trial) == "There are no fixes to try."


def test_the_search_ends_after_some_runs_and_when_it_is_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "program.py"
    script.write_text(HARMFUL)
    options = Options(keeps_outcome=True)
    first = run_audited([str(script)], options)
    audit = make_audit(first.seen)

    def pretended(options: Options, doing: str, limit: float | None) -> Run:
        return replace(first, status=1 if options.edits else 0)

    monkeypatch.setattr(rerun, "MOST_RUNS", 2)
    judged, trial = try_fixes([str(script)], audit, first, options, run=pretended)
    assert not trial.fixes
    assert trial.runs == 3
    whys = [origin.withdrawn.why for origin in judged.origins if origin.withdrawn]
    assert whys.count("not tried, after 2 runs") == 4

    def interrupted(options: Options, doing: str, limit: float | None) -> Run:
        return replace(first, status=130)

    judged, trial = try_fixes([str(script)], audit, first, options, run=interrupted)
    assert judged is audit
    assert trial_text(trial) == "The fixes were not tried: the trial was interrupted."

    def endless(options: Options, doing: str, limit: float | None) -> Run:
        if limit is not None:
            raise TimeoutError
        return first

    judged, trial = try_fixes([str(script)], audit, first, options, run=endless)
    assert not trial.fixes


def outcome(printed: str = "", **arrays: list[float]) -> Outcome:
    return Outcome({name: FinalValues(values) for name, values in arrays.items()}, printed)


SAME = [
    ("loss 0.51234", "loss 0.51235"),  # the last digit
    ("[1.0 2.5e-9]", "[1.0 3.1e-9]"),  # of the size of the array
    ("x float64 0.5", "x float32 0.5"),
    ("array([0.1, 0.2])", "array([0.1, 0.2], dtype=float32)"),
    ("[0.10000000 2.]\n", "[0.1\n 2. ]\n"),
    ("nan inf", "nan inf"),
]
OTHER = [
    ("loss 0.5", "loss 0.6"),
    ("accuracy 0.91", "accuracy 0.92"),
    ("step 1000 loss 0.500001", "step 1000 loss 0.501001"),
    ("7 images", "8 images"),
    ("done", "failed"),
    ("a\nb", "a\nb\nc"),
    ("1.5", "nan"),
    ("float64x 2", "float32x 3"),
]


@pytest.mark.parametrize(("before", "after"), SAME)
def test_outputs_that_are_alike(before: str, after: str) -> None:
    assert not differences(outcome(before), outcome(after), 1e-5).found


@pytest.mark.parametrize(("before", "after"), OTHER)
def test_outputs_that_are_not(before: str, after: str) -> None:
    assert differences(outcome(before), outcome(after), 1e-5).found


def test_arrays_change_by_a_share_of_their_largest_value() -> None:
    before = outcome(x=[0.0, 100.0])
    found = differences(before, outcome(x=[1.0, 100.0]), 0.1)
    assert (found.found, found.largest.size if found.largest else None) == ({}, 0.01)
    for after in ([1.0], [0.0, float("nan")], [20.0, 100.0]):
        assert differences(before, outcome(x=after), 0.1).found
    exact = Outcome({"labels": FinalValues([1e6, 2.0], is_exact=True)}, "")
    assert differences(exact, Outcome({"labels": FinalValues([1e6, 3.0])}, ""), 0.1).found


def test_a_time_is_left_out_and_the_rest_is_compared() -> None:
    first = outcome("loss 0.25000 x 1.5\ntook 0.123 s")
    second = outcome("loss 0.25000 x 1.5\ntook 0.317 s")
    noise = differences(first, second, 1e-5)
    assert why_not_comparable(first, second, noise) == ""
    changed = outcome("loss 0.75000 x 1.5\ntook 0.2 s")
    (text,) = differences(first, changed, 1e-5, noise.found).found.values()
    assert text == (
        "line 1 of its output changes from 'loss 0.25000 x 1.5' to 'loss 0.75000 x 1.5'"
    )


def test_the_line_of_an_error_is_the_programs_own() -> None:
    said = (
        'Traceback (most recent call last):\n  File "/a.py", line 3, in f\n    f()\n'
        '  File "/lib/b.py", line 9, in g\n    g()\nValueError: no\n'
    )
    assert read_ending(said, ["/a.py"]) == ("ValueError: no", "a.py:3")
