"""The benchmarks of generated kernels: their arguments, and what they take for equal."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castwise as cw

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Imports a script of the benchmarks by name; none stays imported."""
    monkeypatch.syspath_prepend(str(FOLDER))
    before = set(sys.modules)
    yield importlib.import_module
    for path in FOLDER.glob("*.py"):
        if path.stem not in before:
            sys.modules.pop(path.stem, None)


@pytest.mark.parametrize("name", ["cpu_pairs", "chains", "gpu", "first_call", "picture"])
def test_arguments_are_explained(
    name: str, benchmarks: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [name, "--help"])
    with pytest.raises(SystemExit) as ended:
        benchmarks(name).main()
    assert ended.value.code == 0
    assert "--" in capsys.readouterr().out


def test_equal_means_the_same_dtype_and_bits_but_any_nan(benchmarks: Any) -> None:
    digest = benchmarks("peers").digest
    nans = np.array([0x7FC00000, 0xFFC00001], "uint32").view("float32")
    assert digest(nans) == digest(nans[::-1].copy())
    halves = np.array([0x7E00, 0xFE01], "uint16").view("float16")
    assert digest(halves) == digest(cw.asarray(halves[::-1].copy()))
    zeros = np.zeros(2, "float32")
    assert digest(zeros) != digest(-zeros)
    assert digest(zeros) != digest(zeros.view("int32"))
