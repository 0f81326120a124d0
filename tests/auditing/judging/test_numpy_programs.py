"""What somebody who writes NumPy every day reads in a report is true: the names of calls, the lines
that a fix changes, what it removes, and the dtype that the program computes in."""

from __future__ import annotations

import numpy as np
from under_audit import forget_makers

import castwise as cw
from castwise.auditing.judging.audited import Audit, audit_of


@cw.audited
def of_counts() -> None:
    counts = np.arange(3)
    counts.mean(), np.percentile(counts, 50), np.log10(counts + 1)


def audit(program: object) -> Audit:
    forget_makers()
    with cw.audit() as log:
        program()  # type: ignore[operator]
    return audit_of(log.seen)


def test_a_number_of_the_result_leaves_the_cast_in_the_call() -> None:
    found = audit(of_counts)
    assert len(found.findings) == 3
    assert [origin.fixes for origin in found.origins] == [(), (), ()]
