"""Live tinygrad tensors and dtypes, where tinygrad is installed."""

from __future__ import annotations

import pytest
from expecting import expect

from castwise.vocab.live import to_dtype
from castwise.vocab.notation import describe

tinygrad = pytest.importorskip("tinygrad")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("bool", "bool"),
        ("char", "int8"),
        ("int8", "int8"),
        ("uchar", "uint8"),
        ("short", "int16"),
        ("ushort", "uint16"),
        ("int", "int32"),
        ("uint32", "uint32"),
        ("long", "int64"),
        ("ulong", "uint64"),
        ("fp8e4m3", "float8_e4m3fn"),
        ("fp8e5m2fnuz", "float8_e5m2fnuz"),
        ("half", "float16"),
        ("bfloat16", "bfloat16"),
        ("float32", "float32"),
        ("double", "float64"),
        ("weakint", "int32"),
    ],
)
def test_dtypes(name: str, expected: str) -> None:
    assert to_dtype(getattr(tinygrad.dtypes, name)).name == expected


def test_tensors_may_be_weak() -> None:
    with tinygrad.Context(DEV="PYTHON"):
        ones = tinygrad.Tensor.full((3,), 1, dtype=tinygrad.dtypes.int8)
        expect(describe(ones), "int8[3]")
        expect(describe(ones + 1), "int8[3]")
        expect(describe(ones + 1.5), "float32*[3]")
        expect(describe(tinygrad.Tensor(1)), "int32*[]")
