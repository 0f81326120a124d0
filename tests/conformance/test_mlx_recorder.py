"""The recorder of MLX, where MLX is installed."""

from __future__ import annotations

import pytest
from recording import recorded


@pytest.mark.parametrize(
    ("op", "form", "operands", "expected"),
    [
        ("add", "operator", "int8[3];uint8[3]", "int16"),
        ("add", "operator", "bool[3];bool[]", "bool"),
        ("add", "function", "int64[3];1.5", "float32"),
        ("add", "function", "int8[3];300", "!range"),
        ("add", "operator", "float32[3];9223372036854775808", "!range"),
        ("add", "operator", "int8[3];np.float32[3]", "int8"),
        ("add", "operator", "np.float32[3];int8[3]", "float32"),
        ("add", "operator", "np.complex128(1);int8[3]", "complex128"),
        ("add", "operator", "np.float32[3];bfloat16[3]", "!"),
        ("add", "augmented", "int8[3];float32[3]", "float32"),
        ("div", "augmented", "int8[3];int8[3]", "!"),
        ("bitwise_and", "function", "int8[3];float32[3]", "!"),
        ("bitwise_and", "operator", "1;int8[3]", None),
        ("matmul", "operator", "int8[3];int8[3]", "!"),
        ("matmul", "operator", "float32[3];float32[]", None),
        ("sum", "function", "int8[3]", "int32"),
        ("sum", "function", "int8[]", "int8"),
        ("result_type", "function", "int8[3];1", None),
        ("can_cast", "function", "float32[3];int8[3]", "!"),
    ],
)
def test_answers(op: str, form: str, operands: str, expected: str | None) -> None:
    assert recorded("mlx", op, form, operands) == expected


def test_there_are_no_modes() -> None:
    pytest.importorskip("mlx")
    with pytest.raises(ValueError, match="no mode 'x64'"):
        recorded("mlx", "add", "operator", "int8[3];int8[3]", mode="x64")
