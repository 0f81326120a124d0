"""Kernels give the bits of the plain path, for random ops, dtypes, dialects, shapes and strides."""

from __future__ import annotations

import pytest
from random_ops import run_cases

from castwise.execute.fusing import kernels


def test_random_ops_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setitem(kernels.COSTS, "cpu", kernels.Costs(0, 0))
    done, wrong = run_cases(240, seed=16, each=12)
    assert not wrong
    assert done["cases"] >= 240
