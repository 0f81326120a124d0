"""Live OneFlow dtypes and tensors are recognised."""

from __future__ import annotations

from typing import Any

import pytest

from castwise.vocab.dtypes import dtype
from castwise.vocab.live import to_dtype
from castwise.vocab.notation import describe

oneflow: Any = pytest.importorskip("oneflow")


@pytest.mark.parametrize(
    "name", ["bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
)
def test_every_dtype(name: str) -> None:
    assert to_dtype(getattr(oneflow, name)) is dtype(name)
    assert to_dtype(f"oneflow.{name}") is dtype(name)


def test_tensors() -> None:
    assert str(describe(oneflow.ones(2, 3, dtype=oneflow.int8))) == "int8[2,3]"
    assert str(describe(oneflow.tensor(1.5))) == "float32[]"
