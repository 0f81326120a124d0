"""Integers and masks that become the program's own float dtype are expected; all else is not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from under_audit import forget_makers

import castwise as cw
from castwise.auditing.origins import Audit, make_audit
from castwise.auditing.plans import stated_target
from castwise.auditing.records import Seen
from castwise.auditing.suppressions import failing, without_expected
from castwise.cli.main import main
from castwise.report.audit import audit_text
from castwise.report.audit_json import audit_json, audit_sarif
from castwise.report.audit_page import audit_html

BEGUN = {"half", 'rest["part"]', 'rest["turned"]', 'rest["mean"]'}  # by from_integers


@cw.audited
def in_float64() -> None:
    """What is its own is expected: x is the program's float64."""
    own, rest = dict[str, object](), dict[str, object]()
    ints = np.arange(10)
    x = np.linspace(0, 1, 10)
    own["sum"] = x + ints
    own["mask"] = x * (ints > 3)
    own["op"] = np.exp(ints)
    own["number"] = ints * 0.5
    own["scalar"] = ints * x[1]
    own["complex"] = 1j * x
    own["observed"] = np.cov(ints)
    rest["integers"] = ints.astype(np.uint64) + ints
    ints[:] = x
    narrow = np.zeros(10, np.float32)
    np.add(x, ints, out=narrow, casting="unsafe")


@cw.audited
def from_integers(with_others: bool) -> None:
    """Here float64 begins where integers become floats, whatever is made of them later."""
    rest = dict[str, object]()
    ints = np.arange(10)
    half = ints * 0.5
    rest["part"] = np.split(half, 2)[0] + ints[:5]
    rest["turned"] = 1j * half
    rest["mean"] = ints / np.float64(2)
    if with_others:
        np.zeros(3)


@cw.audited
def in_float16() -> None:
    own, rest = dict[str, object](), dict[str, object]()
    x = np.ones(10, np.float16)
    own["bytes"] = x * np.arange(10, dtype=np.uint8)
    rest["counts"] = x * np.arange(10, dtype=np.int16)


@cw.audited
def two_in_a_line() -> None:
    x = np.ones(10, np.float32)
    y = np.fft.fft(np.arange(10.0)) * np.arange(10)
    y.real + x


@cw.audited
def mixed(x: np.ndarray, counts: np.ndarray) -> np.ndarray:
    return x * counts


def seen_of(program: Callable[..., object], *arguments: object) -> Seen:
    forget_makers()
    with cw.audit() as log:
        program(*arguments)
    return log.seen


def codes(audit: Audit, is_expected: bool) -> set[str]:
    """What the lines of findings begin with."""
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    found = [f.place.line for f in audit.findings if f.is_expected == is_expected]
    return {lines[line - 1].split()[0] for line in found}


@pytest.fixture(scope="module")
def float64() -> Seen:
    return seen_of(in_float64)


def test_numbers_that_become_the_own_float_dtype_are_expected(float64: Seen) -> None:
    stated = make_audit(float64, target=stated_target("float64"))
    own = ["sum", "mask", "op", "number", "scalar", "complex", "observed"]
    assert codes(stated, True) == {f'own["{name}"]' for name in own}
    assert codes(stated, False) == {'rest["integers"]', "ints[:]", "np.add(x,"}
    narrower = make_audit(float64, target=stated_target("float32"))
    assert not any(finding.is_expected for finding in narrower.findings)


def test_the_line_where_float64_begins_is_a_finding() -> None:
    seen = seen_of(from_integers, False)
    found = make_audit(seen)
    assert codes(found, False) == BEGUN
    assert codes(found, True) == set()
    for own in (
        make_audit(seen, target=stated_target("float64")),
        make_audit(seen_of(from_integers, True)),
    ):
        assert codes(own, True) == BEGUN


def test_floats_narrower_than_float64_must_hold_the_integers() -> None:
    found = make_audit(seen_of(in_float16), target=stated_target("float16"))
    assert codes(found, True) == {'own["bytes"]'}
    found = make_audit(seen_of(in_float16), target=stated_target("float32"))
    assert codes(found, True) == set()


def test_reports_count_what_is_expected(float64: Seen) -> None:
    whole = make_audit(float64, target=stated_target("float64"))
    found = without_expected(whole)
    text = " ".join(audit_text(found).split())
    assert "; 7 expected casts." in text
    assert ("7 casts of integers, masks and real numbers to float64 and complex128, this "
            "program's float and complex dtypes, are expected and not listed; --all lists them."
            in text)  # fmt: skip
    assert "own[" not in text
    told = audit_json(found)
    marked = [entry for entry in told["findings"] if entry.get("expected")]
    assert (len(marked), told["coverage"]["expected"]) == (7, 7)
    assert len(told["findings"]) == len(whole.findings)
    assert "<summary>7 expected casts</summary>" in audit_html(found)
    assert len(audit_sarif(found)["runs"][0]["results"]) == len(found.findings)
    levels = [result["level"] for result in audit_sarif(whole)["runs"][0]["results"]]
    assert levels.count("note") == 7
    listed = audit_text(whole)
    assert "exp(int64[10]) -> float64, expected" in listed
    assert "; 7 findings are expected." in " ".join(listed.split())


def test_only_a_named_hazard_counts_what_is_expected(float64: Seen) -> None:
    whole = make_audit(float64, target=stated_target("float64"))
    assert not any(finding.is_expected for finding in failing(whole, ["any"]))
    named = without_expected(whole, ["loses-precision"])
    lossy = [finding for finding in whole.findings if "loses-precision" in finding.hazards]
    assert (
        len(failing(named, ["loses-precision"]))
        == len(lossy)
        > len(failing(without_expected(whole), ["loses-precision"]))
    )
    assert len(named.expected_findings) == 2  # the mask and the complex numbers


def test_a_gate_on_every_finding_passes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    script, known = tmp_path / "program.py", str(tmp_path / "known.json")
    script.write_text("import numpy as np\ny = np.zeros(3) + np.arange(3)\n")
    for options, status in (
        (["--fail-on", "any", "--write-baseline", known], 0),
        (["--fail-on", "loses-precision"], 1),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["audit", *options, str(script)])
        assert ended.value.code == status
    told = capfd.readouterr().err
    assert told.startswith("No findings in 3 operations on arrays; 1 expected cast.\n1 cast of ")
    assert "1 finding fails --fail-on loses-precision." in told
    assert len(json.loads(Path(known).read_text())["findings"]) == 1


def test_floats_that_come_from_code_that_is_not_observed_are_the_programs_own() -> None:
    forget_makers()
    with cw.audit() as log:
        mixed(np.ones(3), np.arange(3))
    assert log.findings == []
    assert len(log.audit.expected_findings) == 1
    with cw.audit() as log:
        mixed(np.ones(3, np.float32), np.arange(3))
    assert len(log.findings) == 1


def test_what_begins_in_one_line_without_a_fix_is_one_entry() -> None:
    found = make_audit(seen_of(two_in_a_line))
    lines = [origin.place.line for origin in found.origins]
    assert len(found.findings) > len(lines) == len(set(lines))
