"""Kernels give the bits of the plain path, for random ops, dtypes, dialects, shapes and strides."""

from __future__ import annotations

import random

import numpy as np
import pytest
from random_ops import Signature, compare, prepared_for, run_cases

from castwise.arrays import fusing


def test_random_ops_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setitem(fusing.COSTS, "cpu", fusing.Costs(0, 0))
    done, wrong = run_cases(240, seed=16, each=12)
    assert not wrong
    assert done["cases"] >= 240


@pytest.mark.parametrize("op", ["maximum", "minimum"])
@pytest.mark.parametrize(
    ("dialect", "operands"),
    [
        ("torch", ("bfloat16", "uint8")),  # NaN beside an integer stays
        ("torch", ("int8", "float32")),
        ("tensorflow", ("float32", 1)),  # what is subnormal is flushed
        ("tensorflow", ("float32", "float32")),
    ],
)
def test_the_larger_and_the_smaller_are_those_of_the_plain_path(
    op: str, dialect: str, operands: tuple[str, str | int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("llvmlite")
    monkeypatch.setitem(fusing.COSTS, "cpu", fusing.Costs(0, 0))
    signature = Signature(dialect, op, operands, "function")
    prepared = prepared_for(signature, "numpy", "cpu")
    assert prepared
    pick, rng = random.Random(1), np.random.default_rng(1)
    assert not [
        found for _ in range(300) if (found := compare(signature, prepared, "cpu", pick, rng))
    ]
