"""How much memory the results of a cast take at one time, without keeping them alive."""

from __future__ import annotations

import weakref
from pathlib import Path

import numpy as np
import pytest
from under_audit import audited, write

from castwise.auditing.arrays import AliveResults
from castwise.auditing.origins import make_audit
from castwise.report.audit import audit_text
from castwise.report.audit_json import audit_json


def test_results_count_until_they_are_gone() -> None:
    alive = AliveResults(8)
    one, two = np.ones(10), np.ones(20)
    view, gone = one[2:], weakref.ref(two)
    alive.hold(one, 10)
    alive.hold(two, 20)
    assert (alive.now, alive.peak) == (240, 240)
    del one, two
    assert gone() is None
    assert alive.now == 80  # the view has the first one
    del view
    assert (alive.now, alive.peak) == (0, 240)
    alive.hold(3.5, 1)  # no weak references: it is not counted
    assert alive.now == 0


PROGRAM = """
import {module} as xp
x, half = xp.ones(1000, dtype=xp.float32), xp.ones(1000, dtype=xp.float16)
kept = []
for _ in range(10):
    y = x * half
    kept.append(x + half)
    x += half
    z = y * y
"""


@pytest.mark.parametrize("module", ["numpy", "torch"])
def test_the_report_has_the_most_bytes_beside_the_sum(tmp_path: Path, module: str) -> None:
    pytest.importorskip(module)
    outcome, seen = audited(write(tmp_path, script=PROGRAM.format(module=module)), cwd=tmp_path)
    assert (outcome.status, seen.counts.failures) == (0, {})
    audit = make_audit(seen)
    alive = {finding.op + str(finding.place.line): finding.alive for finding in audit.findings}
    # One result is still there while the next is made; what is written in place is not new.
    assert alive == {"mul6": 8000, "add7": 40_000, "add8": 0}
    assert "10 times, 40.0 kB alive at once" in audit_text(audit, width=200)
    assert {found["alive"] for found in audit_json(audit)["findings"]} == {0, 8000, 40_000}
