"""The recorder of OneFlow, where OneFlow is installed."""

from __future__ import annotations

import pytest
from recording import recorded


@pytest.mark.parametrize(
    ("op", "form", "operands", "expected"),
    [
        ("add", "operator", "int8[3];float64[]", "int8"),
        ("add", "operator", "uint8[3];int8[3]", "no-kernel:int16"),
        ("add", "function", "uint64[3];int8[3]", "no-kernel:int128"),
        ("add", "function", "uint16[3];int8[3]", "no-kernel:int32"),
        ("lt", "function", "uint8[3];int8[3]", "no-kernel"),
        ("add", "operator", "int8[3];9223372036854775808", "!range"),
        ("add", "function", "int8[3];9223372036854775808", "!range"),
        ("mul", "operator", "int8[3];True", "!"),
        ("mul", "operator", "int8[3];1+1j", "!"),
        ("mul", "operator", "int8[3];np.float32[3]", "!"),
        ("mul", "operator", "np.float32[3];int8[3]", "float32"),
        ("add", "augmented", "int8[3];float32[3]", "int8"),
        ("sub", "augmented", "int8[3];float32[3]", "!"),
        ("sub", "augmented", "int8[];int8[3]", None),
        ("pow", "augmented", "int32[3];int32[3]", "float32"),
        ("maximum", "function", "int8[3];1", "!"),
        ("floor_divide", "function", "int8[3];int8[]", None),
        ("matmul", "operator", "float32[3];float32[3]", "!"),
        ("matmul", "operator", "uint8[3,3];float32[3,3]", "uint8"),
        ("where", "function", "bool[3];float32[3];1.5", "float64"),
        ("dot", "function", "int32[3];float32[3]", "!"),
        ("sum", "function", "int8[3]", "int64"),
        ("sum", "function", "int8[]", "int8"),
        ("sum", "function", "uint64[3]", "no-kernel:uint64"),
        ("argmax", "function", "int8[]", "!"),
        ("addcdiv", "function", "bool[3];bool[3];bool[3]", "int64"),
        ("addcdiv", "inplace", "bool[3];uint8[3];uint8[3]", "bool"),
        ("cross", "function", "float32[3];float32[3]", "float32"),
        ("cross", "function", "int32[3];int8[3]", "no-kernel:int32"),
        ("cross", "function", "float32[];float32[]", "!"),
    ],
)
def test_answers(op: str, form: str, operands: str, expected: str | None) -> None:
    assert recorded("oneflow", op, form, operands) == expected


def test_there_are_no_modes() -> None:
    pytest.importorskip("oneflow")
    with pytest.raises(ValueError, match="no mode 'graph'"):
        recorded("oneflow", "add", "operator", "int8[3];int8[3]", mode="graph")
