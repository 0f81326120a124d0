"""Live MindSpore dtypes and tensors are recognised."""

from __future__ import annotations

import pytest
from expecting import expect

from castwise.catalog import dialect_named
from castwise.vocab.dtypes import dtype
from castwise.vocab.live import is_plain_array, to_dtype
from castwise.vocab.notation import describe

mindspore = pytest.importorskip("mindspore")


@pytest.mark.parametrize("name", [d.name for d in dialect_named("mindspore").dtypes])
def test_every_dtype_of_mindspore(name: str) -> None:
    live = getattr(mindspore, "bool_" if name == "bool" else name)
    assert to_dtype(live) is dtype(name)
    assert to_dtype(f"mindspore.{name}") is dtype(name)
    assert to_dtype(f"ms.{name}") is dtype(name)
    expect(describe(mindspore.Tensor([1, 1, 1], live)), f"{name}[3]")
    expect(describe(mindspore.Tensor(1, live)), f"{name}[]")


def test_a_parameter_is_a_tensor() -> None:
    tensor = mindspore.Tensor([1.5], mindspore.bfloat16)
    expect(describe(mindspore.Parameter(tensor)), "bfloat16[1]")
    assert is_plain_array(tensor)
