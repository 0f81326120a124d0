"""Optimizer states and sums in 16 bits are listed, with their lines and the number of terms."""

from __future__ import annotations

from collections import namedtuple
from pathlib import Path

import numpy as np
import pytest
from under_audit import audited, write

from castwise.auditing.log import LOG
from castwise.auditing.observers import log_returned_state
from castwise.auditing.origins import Audit, make_audit
from castwise.report.audit import audit_text
from castwise.report.audit_json import audit_json


def audit(place: Path, source: str) -> Audit:
    outcome, seen = audited(write(place, script=source).name, cwd=place)
    assert (outcome.status, outcome.stderr, seen.counts.failures) == (0, "", {})
    return make_audit(seen)


def sums(found: Audit) -> dict[str, tuple[int, bool]]:
    return {s.operation: (s.terms, s.rounds_each) for s in found.sections.sixteen_bits.sums}


def test_sums_of_numpy(tmp_path: Path) -> None:
    source = """
    import numpy as np
    x = np.ones((4, 100), np.float16)
    wide = np.zeros(100)
    for _ in range(3):
        total = np.zeros(100, np.float16)
        mean = np.zeros(10, np.float16)
        for _ in range(50):
            total += x[0]
            mean = mean * 0.9 + x[0, :10] * 0.1
            wide += x[0]
            fresh = x[0] + x[1]
    x.sum()
    x.mean(axis=0)
    x[0].cumsum()
    """
    assert sums(audit(tmp_path, source)) == {
        "sum(float16[4,100])": (400, True),
        "cumsum(float16[100])": (100, True),
        "float16[100] += float16[100]": (50, True),
        "float16[10] + float16[10]": (50, True),
    }


def test_states_and_sums_of_torch(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    source = """
    import torch
    model = torch.nn.Linear(8, 8).bfloat16()
    wide = torch.nn.Linear(8, 8)
    adam = torch.optim.Adam(model.parameters())
    other = torch.optim.Adam(wide.parameters())
    ema = torch.zeros(8, dtype=torch.bfloat16)
    for _ in range(20):
        y = model(torch.ones(4, 8).bfloat16())
        (y.sum() + wide(torch.ones(4, 8)).sum()).backward()
        adam.step()
        other.step()
        ema.mul_(0.9).add_(y.detach()[0])
    """
    found = audit(tmp_path, source)
    states = found.sections.sixteen_bits.states
    assert {s.place.line for s in states} == {11}
    assert {(s.owner, s.name, s.dtype.name, s.arrays, s.bytes) for s in states} == {
        ("Adam", "parameters", "bfloat16", 2, 144),
        ("Adam", "exp_avg", "bfloat16", 2, 144),
        ("Adam", "exp_avg_sq", "bfloat16", 2, 144),
    }
    assert sums(found)["add_(bfloat16[8], bfloat16[8])"] == (20, True)
    assert sums(found)["sum(bfloat16[4,8])"] == (32, False)
    assert "Adam: exp_avg bfloat16, 2 arrays, 144 bytes" in audit_text(found)
    assert audit_json(found)["sixteen_bits"]["states"][0]["optimizer"] == "Adam"


def test_a_state_that_a_call_returns() -> None:
    adam = namedtuple("adam", "count mu nu")
    mu = {"w": np.ones(3, np.float16), "b": [np.ones(2, np.float16)]}
    try:
        log_returned_state(7, "optax", "init_fn", (adam(np.int32(1), mu, np.ones(3)), ()))
        log_returned_state(7, "optax", "apply_updates", (np.ones(3, np.float16),))
        assert [(s.name, s.dtype, s.arrays, s.elements) for s in LOG.states.values()] == [
            ("mu", "float16", 2, 5)
        ]
    finally:
        LOG.clear()
