"""What somebody who writes NumPy every day reads in a report is true: the names of calls, the lines
that a fix changes, what it removes, and the dtype that the program computes in."""

from __future__ import annotations

import json

import numpy as np
import pytest
from under_audit import forget_makers

import castwise as cw
from castwise.auditing import calls
from castwise.auditing.origins import Audit, make_audit
from castwise.report.audit import audit_text
from castwise.report.audit_page import audit_html


@cw.audited
def of_counts() -> None:
    counts = np.arange(3)
    counts.mean(), np.percentile(counts, 50), np.log10(counts + 1)


@cw.audited
def in_float32() -> None:
    x = np.ones((20, 5)).astype(np.float32)
    for _ in range(3):
        x = x * (x > 0)


@cw.audited
def only_made() -> None:
    ids = np.arange(3, dtype=np.uint64) + np.arange(3)
    np.linspace(0, 1, 10, dtype=np.float32)[ids.astype(int)]


@cw.audited
def widening() -> None:
    x = np.ones(4, np.float32)
    np.add.at(x, [0, 1], np.ones(2))
    np.append(x, 1.0), np.hstack([x, 2])
    image = np.ones(4, np.uint8)
    x + (0.3 * image + 0.7 * image)


@cw.audited
def layers() -> None:
    x = np.ones((2, 8), np.float32)
    for n in (8, 4):
        w = np.ones((n, n // 2), np.float32) * np.sqrt(2 / n)
        b = np.zeros(n // 2)
        x = np.maximum(x @ w + b, 0)


@cw.audited
def with_indices() -> None:
    x = np.ones((4, 2), np.float32)
    rows = np.arange(4)
    x[rows] * rows[:, None]
    x * rows[:, None]
    x * np.argsort(np.arange(4))[:, None]
    x * np.arange(2)
    only_an_operand = np.arange(4)
    x * only_an_operand[:, None]


@cw.audited
def with_a_metric() -> None:
    x = np.ones(4, np.float32) * np.ones(4)
    json.dumps({"share": (x > 0).mean()})


def audit(program: object) -> Audit:
    forget_makers()
    with cw.audit() as log:
        program()  # type: ignore[operator]
    return make_audit(log.seen)


@pytest.fixture(scope="module")
def wide() -> Audit:
    return audit(widening)


def test_a_number_of_the_result_leaves_the_cast_in_the_call() -> None:
    found = audit(of_counts)
    assert len(found.findings) == 3
    assert not any(origin.fixes for origin in found.origins)


def test_a_call_has_its_own_name_whatever_op_casts_as_it_does() -> None:
    text = audit_text(audit(of_counts))
    assert "percentile(int64[3]) -> float64" in text
    assert "log10(int64[3]) -> float64" in text


def test_an_array_that_masks_join_is_what_the_program_computes_in() -> None:
    found = audit(in_float32)
    assert found.target.dtype == cw.dtype("float32")
    assert all(finding.is_expected for finding in found.findings)


def test_arrays_that_nothing_computes_with_are_floats_of_the_program_too() -> None:
    assert audit(only_made).target.dtype == cw.dtype("float32")


def test_a_number_that_is_joined_to_an_array_is_an_array(wide: Audit) -> None:
    found = {str(finding).split("(")[0]: finding.result.name for finding in wide.findings}
    assert (found["append"], found["hstack"]) == ("float64", "float64")
    assert not wide.coverage.unexpected


def test_the_method_at_of_a_function_writes(wide: Audit, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "float32[4][...] = float64[2] -> float32" in [str(f) for f in wide.findings]
    monkeypatch.setattr(calls, "_callable_types", {})  # as before any function is called
    called = calls.pending_call(np.add.at)
    assert called is not None
    assert (called.callee.module, called.callee.name) == ("numpy", "add.at")


def test_two_fixes_of_a_line_are_shown_as_one_change(wide: Audit) -> None:
    text = audit_text(wide, width=200)
    both = [
        "np.multiply(0.3, image, dtype=np.float32)",
        "np.multiply(0.7, image, dtype=np.float32)",
    ]
    assert f"+ x + ({' + '.join(both)})" in text
    assert f"+ x + ({' + '.join(both)})" in audit_html(wide)
    assert "Fixing this line removes 3 findings" in text


def test_the_lines_that_feed_each_layer_are_fixed_together() -> None:
    (origin,) = audit(layers).origins
    assert [fix.text for fix in origin.fixes] == [
        "float(np.sqrt(2 / n))",
        "np.zeros(n // 2, dtype=np.float32)",
    ]
    assert origin.removed == 2


def test_integers_that_may_be_indices_are_cast_only_where_they_are_used() -> None:
    found = [fix.text for origin in audit(with_indices).origins for fix in origin.fixes]
    assert sorted(found) == [
        "np.arange(2, dtype=np.float32)",
        "np.arange(4, dtype=np.float32)",
        "np.argsort(np.arange(4)).astype(np.float32)",
        "x * rows[:, None].astype(x.dtype)",
        "x[rows] * rows[:, None].astype(np.float32)",
    ]


def test_a_number_stays_a_python_float() -> None:
    fixes = {
        str(o.findings[0]): [fix.text for fix in o.fixes] for o in audit(with_a_metric).origins
    }
    assert fixes == {
        "float32[4] * float64[4] -> float64": ["np.ones(4, dtype=np.float32)"],
        "mean(bool[4]) -> float64": [],
    }
