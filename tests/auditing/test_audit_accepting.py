"""Comments, baselines and --fail-on: which findings count, and what the status is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from castwise.auditing.suppressions import (
    failing,
    hazards_named,
    read_baseline,
    without_ignored,
    without_known,
    write_baseline,
)
from castwise.cli.main import main
from castwise.errors import UsageError
from castwise.report.audit import audit_text
from report_example import audited, line_of, script

WIDE = """
bias = np.zeros(100){origin}
y = x + bias{finding}
z = y * x
"""
LOSSY = "y = np.ones(3, dtype=np.int64) + np.ones(3, dtype=np.float32){comment}\n"


# The comment after the first finding, and the ops whose findings are left.
COMMENTED = [
    ("  # castwise: ignore", ["mul"]),
    ("  # a reason. castwise: ignore", ["add", "mul"]),  # it must begin the comment
    ("  # castwise: ignore[widens]", ["mul"]),
    ("  # castwise: ignore[widens, not-on-device] since it is small", ["mul"]),
    ("  # castwise: ignore[loses-range]", ["add", "mul"]),
    ("; '# castwise: ignore'", ["add", "mul"]),
    ("", ["add", "mul"]),
]


def test_a_comment_accepts_the_finding_on_its_line(tmp_path: Path) -> None:
    """Each comment in its own module, all in one program."""
    modules = [f"commented_{number}" for number in range(len(COMMENTED))]
    for module, (comment, _) in zip(modules, COMMENTED, strict=True):
        written = script(WIDE.format(origin="", finding=comment), tmp_path)
        written.rename(tmp_path / f"{module}.py")
    found = without_ignored(audited(f"import {', '.join(modules)}", tmp_path)).findings
    left = [sorted(f.op for f in found if Path(f.place.file).stem == m) for m in modules]
    assert left == [ops for _, ops in COMMENTED]


def test_a_comment_at_the_origin_accepts_all_that_comes_of_it(tmp_path: Path) -> None:
    program = WIDE.format(origin="  # castwise: ignore[widens]", finding="")
    found = without_ignored(audited(program, tmp_path))
    assert (found.findings, found.ignored) == ([], 2)
    assert "Ignored: 2 findings, by comments in the source." in audit_text(found)
    assert audit_text(found).startswith("No findings left")


def test_a_comment_takes_off_the_hazards_it_names(tmp_path: Path) -> None:
    whole = audited(LOSSY.format(comment=""), tmp_path)
    assert set(whole.findings[0].hazards) == {"widens", "loses-precision", "not-on-device"}
    program = LOSSY.format(comment="  # castwise: ignore[loses-precision]")
    found = without_ignored(audited(program, tmp_path))
    assert found.ignored == 0
    assert found.findings[0].hazards == ("widens", "not-on-device")


def test_a_comment_with_an_unknown_hazard_is_told(tmp_path: Path) -> None:
    program = WIDE.format(origin="", finding="  # castwise: ignore[widen]")
    found = without_ignored(audited(program, tmp_path))
    assert len(found.findings) == 2
    (remark,) = found.remarks
    line = line_of("x + bias", tmp_path / "program.py")
    assert f":{line}: castwise: ignore[widen] names no hazard. Did you mean 'widens'?" in remark


TWICE = """
bias = np.zeros(100)
y = x + bias
{between}
y = x + bias
{more}
"""


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baseline, next to which the program is written again."""
    file = tmp_path_factory.mktemp("baseline") / "known.json"
    write_baseline(audited(TWICE.format(between="", more=""), file.parent).findings, file)
    return file


def test_a_baseline_knows_findings_whose_lines_moved(known: Path) -> None:
    moved = audited(TWICE.format(between="\n\n", more=""), known.parent)
    found = without_known(moved, read_baseline(known))
    assert (found.findings, found.baselined) == ([], 2)
    assert "Known: 2 findings, in the baseline." in audit_text(found)


def test_a_baseline_counts_lines_that_look_alike(known: Path) -> None:
    third = audited(TWICE.format(between="", more="y = x + bias"), known.parent)
    found = without_known(third, read_baseline(known))
    assert [finding.place.line for finding in found.findings] == [10]


def test_other_code_is_new(known: Path) -> None:
    new = "y = x - bias\ny = bias + x\ny = x[0] + image / 2"
    other = audited(TWICE.format(between="", more=new), known.parent)
    found = without_known(other, read_baseline(known))
    assert {finding.place.line for finding in found.findings} == {10, 11, 12}


def test_a_baseline_names_files_from_where_it_lies(known: Path) -> None:
    told = json.loads(known.read_text())
    assert {entry["file"] for entry in told["findings"]} == {"program.py"}


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"castwise_baseline": 99, "findings": []}'])
def test_a_file_that_is_no_baseline_is_wrong_usage(text: str, tmp_path: Path) -> None:
    file = tmp_path / "known.json"
    file.write_text(text)
    with pytest.raises(UsageError, match="--write-baseline"):
        read_baseline(file)


def test_fail_on_takes_a_list_of_hazards() -> None:
    assert hazards_named(["widens,wraps", "any"]) == ("widens", "wraps", "any")
    with pytest.raises(UsageError, match=r"no hazard 'wides'\. Did you mean 'widens'"):
        hazards_named(["wides"])


def test_failing_findings_have_one_of_the_hazards(tmp_path: Path) -> None:
    found = audited(WIDE.format(origin="", finding="") + LOSSY.format(comment=""), tmp_path)
    assert len(failing(found, ["loses-precision"])) == 1
    assert len(failing(found, ["any"])) == 3
    assert failing(found, ["wraps"]) == []
    assert failing(found, []) == []


def status_of(*arguments: str) -> int:
    with pytest.raises(SystemExit) as exit_:
        main(["audit", *arguments])
    return int(exit_.value.code or 0)


def test_the_status_is_1_where_a_finding_fails(tmp_path: Path) -> None:
    program = str(script(WIDE.format(origin="", finding=""), tmp_path))
    assert status_of(program) == 0
    assert status_of("--fail-on", "widens", program) == 1
    assert status_of("--fail-on", "wraps", program) == 0
    known = str(tmp_path / "known.json")
    assert status_of("--write-baseline", known, program) == 0
    assert status_of("--baseline", known, "--fail-on", "any", program) == 0


def test_a_program_that_fails_keeps_its_status(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = script(WIDE.format(origin="", finding="") + "raise SystemExit(7)", tmp_path)
    assert status_of("--fail-on", "any", str(program)) == 7
    assert "2 findings fail --fail-on any." in capfd.readouterr().err


def test_wrong_options_are_found_before_the_program_runs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    program = str(script("print('ran')", tmp_path))
    assert status_of("--fail-on", "wides", program) == 2
    assert status_of("--baseline", str(tmp_path / "none"), program) == 2
    assert status_of("--sarif", str(tmp_path / "none" / "x.sarif"), program) == 2
    printed = capfd.readouterr()
    assert printed.out == ""
    assert "its directory does not exist" in printed.err


def test_files_are_written(tmp_path: Path) -> None:
    program = str(script(WIDE.format(origin="", finding=""), tmp_path))
    files = {name: str(tmp_path / f"r.{name}") for name in ("json", "sarif", "html")}
    options = [part for name, file in files.items() for part in (f"--{name}", file)]
    assert status_of(*options, program) == 0
    assert len(json.loads(Path(files["json"]).read_text())["findings"]) == 2
    assert len(json.loads(Path(files["sarif"]).read_text())["runs"][0]["results"]) == 2
    assert Path(files["html"]).read_text().startswith("<!doctype html>")
