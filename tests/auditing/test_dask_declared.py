"""Dask: arrays whose blocks have another dtype than they were declared to have."""

from __future__ import annotations

from pathlib import Path

import pytest
from under_audit import audited, plainly, write

from castwise.auditing.origins import make_audit

# A line with a comment computes an array; the comment is in the line that declared it.
_PROGRAM = """
    import dask
    import dask.array as da
    import numpy as np

    ones = da.ones((4, 4), chunks=2, dtype=np.float32)
    doubled = ones.map_blocks(lambda block: block.astype(np.float64), dtype=np.float32)
    made = da.from_delayed(dask.delayed(np.zeros)(3), (3,), dtype=np.float32)
    doubled.compute()  # ones.map_blocks
    (doubled + 1).compute()  # ones.map_blocks
    dask.compute(doubled)  # ones.map_blocks
    print(np.asarray(made).dtype)  # da.from_delayed
    ones.compute()
    print(np.asarray(ones, dtype=np.float64).dtype, doubled.dtype)
"""


def test_what_is_computed_is_held_against_what_was_declared(tmp_path: Path) -> None:
    pytest.importorskip("dask.array")
    script = write(tmp_path, script=_PROGRAM)
    lines = script.read_text().splitlines()
    planted = {n: line.split("  # ")[1] for n, line in enumerate(lines, 1) if "  # " in line}
    outcome, seen = audited(script.name, cwd=tmp_path)
    assert outcome == plainly(script.name, cwd=tmp_path)
    assert seen.counts.failures == {}
    audit = make_audit(seen)
    found = {
        finding.place.line: lines[origin.place.line - 1]
        for origin in audit.origins
        for finding in origin.findings
    }
    assert found.keys() == planted.keys()
    assert [n for n, made in planted.items() if made not in found[n]] == []
    assert all("declared float32" in str(finding) for finding in audit.findings)
    assert not any(origin.fixes for origin in audit.origins)
