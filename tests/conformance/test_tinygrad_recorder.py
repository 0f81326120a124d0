"""The recorder of tinygrad, where tinygrad is installed."""

from __future__ import annotations

import pytest
from recording import recorded

from castwise.comparing.verify import agrees
from castwise.conformance.recorder import Cell


@pytest.mark.parametrize(
    ("op", "form", "operands", "expected"),
    [
        ("add", "operator", "int8[3];uint8[3]", "int16"),
        ("add", "operator", "int32[3];1.5", "float32*"),
        ("add", "operator", "float32*[3];float16[3]", "float16"),
        ("add", "operator", "uint64[3];int8[3]", "float32*"),
        ("add", "operator", "int8[3];18446744073709551616", "int8"),
        ("add", "operator", "int8[3];1+1j", "!"),
        ("add", "operator", "int8[3];np.int8[3]", "!"),
        ("add", "operator", "int8[3];np.float64(1)", "float32*"),
        ("add", "operator", "np.int8[3];int8[3]", None),
        ("add", "function", "1;int8[3]", "int8"),
        ("add", "augmented", "int8[3];float32[3]", "!"),
        ("add", "augmented", "int32*[3];1", "int32"),
        ("remainder", "augmented", "int8[3];float32[3]", "float32"),
        ("add", "augmented", "int8[];int8[3]", None),
        ("pow", "operator", "int8[3];-1", "!range"),
        ("pow", "operator", "-1;int8[3]", "!range"),
        ("pow", "function", "-1;int8[3]", "!range"),
        ("bitwise_and", "operator", "float32[3];float32[3]", "no-kernel:float32"),
        ("bitwise_left_shift", "operator", "float32[3];1", "!"),
        ("bitwise_left_shift", "operator", "1;int8[3]", "int32*"),
        ("sum", "function", "int8[3]", "int32"),
    ],
)
def test_answers(op: str, form: str, operands: str, expected: str | None) -> None:
    assert recorded("tinygrad", op, form, operands) == expected


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        ("add", "int8[3];1", "int8"),
        ("add", "bool[3];1", "int64*"),
        ("result_type", "1;True", "int64*"),
        ("where", "bool[3];1;2", "int64*"),
        ("add", "int64*[3];int16[3]", "int16"),
        ("sum", "int64*[3]", "int32"),
        ("sum", "int8[3]", "int32"),
        ("argmax", "int8[3]", "int32"),
    ],
)
def test_under_a_default_int(op: str, operands: str, expected: str) -> None:
    mode = "default_int=int64"
    assert recorded("tinygrad", op, "function", operands, mode) == expected
    asked = Cell(op, "function", tuple(operands.split(";")), expected)
    assert agrees(asked, f"tinygrad:{mode}")


def test_the_default_int_is_restored() -> None:
    tinygrad = pytest.importorskip("tinygrad")
    recorded("tinygrad", "add", "function", "int8[3];1", "default_int=int64")
    assert tinygrad.dtypes.default_int is tinygrad.dtypes.int32


def test_there_are_no_other_modes() -> None:
    pytest.importorskip("tinygrad")
    with pytest.raises(ValueError, match=r"tinygrad is recorded as .*; not 'cuda'"):
        recorded("tinygrad", "add", "operator", "int8[3];int8[3]", mode="cuda")
