"""Live MegEngine dtypes and tensors are recognised."""

from __future__ import annotations

from typing import Any

import pytest

from castwise.vocab.dtypes import dtype
from castwise.vocab.live import to_dtype
from castwise.vocab.notation import describe

megengine: Any = pytest.importorskip("megengine")


@pytest.mark.parametrize(
    "name", ["bool", "uint8", "uint16", "int8", "int16", "int32", "float16", "float32"]
)
def test_tensors_of_every_dtype(name: str) -> None:
    tensor = megengine.functional.ones((2, 3)).astype(name)
    assert to_dtype(tensor.dtype) is dtype(name)
    assert str(describe(tensor)) == f"{name}[2,3]"


def test_bfloat16_and_complex() -> None:
    bfloat16 = megengine.core.tensor.dtype.bfloat16
    one = megengine.tensor(1.5)
    assert to_dtype(bfloat16) is dtype("bfloat16")
    assert str(describe(one.astype(bfloat16))) == "bfloat16[]"
    assert str(describe(megengine.functional.complex(one, one))) == "complex64[]"
    assert str(describe(megengine.Parameter([1.5]))) == "float32[1]"
