"""The recorder of MegEngine, where MegEngine is installed."""

from __future__ import annotations

import pytest
from recording import recorded


@pytest.mark.parametrize(
    ("op", "form", "operands", "expected"),
    [
        ("add", "operator", "bool[3];int32[3]", "float32"),
        ("add", "operator", "int8[3];uint8[3]", "!"),
        ("add", "operator", "int8[3];np.uint8[3]", "int16"),
        ("add", "operator", "uint8[3];np.int8[3]", "!"),
        ("add", "operator", "np.uint8[3];int8[3]", "int16"),
        ("add", "operator", "int8[3];np.float64[3]", "!"),
        ("add", "function", "bfloat16[3];1", "float32"),
        ("add", "function", "complex64[3];complex64[3]", "complex64"),
        ("add", "function", "bool[3];bool[3]", "!"),
        ("add", "function", "uint16[3];uint16[3]", "no-kernel"),
        ("add", "operator", "int8[3];9223372036854775808", "!range"),
        ("add", "operator", "float32[3];9223372036854775808", "float32"),
        ("add", "augmented", "int8[3];1.5", "float32"),
        ("add", "augmented", "complex64[3];complex64[3]", "complex64"),
        ("where", "function", "bool[3];int8[3];uint8[3]", "int16"),
        ("where", "function", "bool[3];int8[3];1", "!"),
        ("where", "function", "int8[3];int8[3];int8[3]", "!"),
        ("result_type", "function", "bool[3];int32[3]", "int32"),
        ("matmul", "operator", "int8[3];int8[3]", "int8"),
        ("matmul", "operator", "int8[3,3];int8[3,3]", "int32"),
        ("matmul", "operator", "int8[3];int8[]", None),
        ("dot", "function", "int8[3];int16[3]", "!"),
        ("reciprocal", "function", "int8[3]", "float32"),
        ("sum", "function", "uint8[3]", "uint8"),
    ],
)
def test_answers(op: str, form: str, operands: str, expected: str | None) -> None:
    assert recorded("megengine", op, form, operands) == expected


def test_there_are_no_modes() -> None:
    pytest.importorskip("megengine")
    with pytest.raises(ValueError, match="no mode 'amp'"):
        recorded("megengine", "add", "operator", "int8[3];int8[3]", mode="amp")
