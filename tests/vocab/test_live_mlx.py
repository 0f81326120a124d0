"""Live MLX arrays and dtypes, where MLX is installed."""

from __future__ import annotations

import pytest
from expecting import expect

from castwise.vocab.live import to_dtype
from castwise.vocab.notation import describe

mx = pytest.importorskip("mlx.core")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("bool_", "bool"), ("uint8", "uint8"), ("bfloat16", "bfloat16"), ("complex64", "complex64")],
)
def test_dtypes(name: str, expected: str) -> None:
    assert to_dtype(getattr(mx, name)).name == expected


def test_arrays() -> None:
    expect(describe(mx.zeros((2, 3), mx.float16)), "float16[2,3]")
    expect(describe(mx.array(1)), "int32[]")
