"""What somebody who writes NumPy every day reads in a report is true: the names of calls, the lines
that a fix changes, what it removes, and the dtype that the program computes in."""

from __future__ import annotations

import numpy as np
from under_audit import forget_makers

import castwise as cw
from castwise.auditing.judging.audited import Audit, audit_of
from castwise.report.audit.text import audit_text


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


def audit(program: object) -> Audit:
    forget_makers()
    with cw.audit() as log:
        program()  # type: ignore[operator]
    return audit_of(log.seen)


def test_a_number_of_the_result_leaves_the_cast_in_the_call() -> None:
    found = audit(of_counts)
    assert len(found.findings) == 3
    assert [origin.fixes for origin in found.origins] == [(), (), ()]


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
