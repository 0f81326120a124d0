"""The recorder of PaddlePaddle, if it is installed."""

from __future__ import annotations

import pytest
from recording import recorded


@pytest.mark.parametrize(
    ("op", "form", "operands", "expected"),
    [
        ("add", "operator", "float32[3];float64[3]", "float64"),
        ("add", "operator", "int32[3];int64[3]", "!"),
        ("add", "function", "uint32[3];complex64[3]", "!"),
        ("add", "function", "float16[3];float16[3]", "no-kernel:float16"),
        ("add", "operator", "float16[3];1.5", "float16"),
        ("add", "function", "float32[3];1.5", "!"),
        ("add", "function", "1;int32[3]", "!"),
        ("eq", "function", "int32[3];1", "bool"),
        ("eq", "function", "1;int32[3]", "!"),
        ("atan2", "function", "float32[3];1.5", "!"),
        ("logaddexp", "function", "float32[3];1.5", "!"),
        ("pow", "function", "int32[3];1.5", "int32"),
        ("pow", "function", "1.5;int32[3]", "!"),
        ("add", "inplace", "float32[3];float64[3]", "float64"),
        ("add", "inplace", "uint64[3];uint8[3]", "!"),
        ("add", "inplace", "float32[];float32[3]", None),
        ("add", "augmented", "float32[];float32[3]", "float32"),
        ("add", "augmented", "float32[3];1", "float32"),
        ("add", "augmented", "int32[3];np.float32(1)", "int32"),
        ("add", "operator", "int32[3];np.float32(1)", "int32"),
        ("add", "operator", "int32[3];np.int8(1)", "!"),
        ("add", "operator", "float32[3];np.uint16[3]", "float32"),
        ("add", "function", "int32[3];np.int32[3]", None),
        ("lt", "operator", "int32[3];9223372036854775808", None),
        ("maximum", "function", "float16[3];float16[3]", "no-kernel:float16"),
        ("eq", "function", "uint16[3];uint16[3]", "no-kernel:bool"),
        ("bitwise_and", "function", "int32[3];float32[3]", "!"),
        ("bitwise_and", "function", "float32[3];float32[3]", "no-kernel"),
        ("hypot", "function", "bool[3];uint8[3]", None),
        ("pow", "operator", "int32[3];2", "int32"),
        ("pow", "operator", "int32[3];-1", None),
        ("positive", "function", "uint16[3]", "uint16"),
        ("promote_types", "function", "uint8[3];int8[3]", "int16"),
        ("promote_types", "function", "int64[3];float16[3]", "no-kernel:float16"),
        ("concat", "function", "float32[3];float64[3]", "!"),
        ("hypot", "function", "bool[3];bool[3]", "no-kernel"),
        ("outer", "function", "float32[3];float64[]", "float64"),
        ("outer", "function", "float16[3];float16[]", "no-kernel:float16"),
        ("outer", "function", "int32[3];1", "!"),
        ("inner", "function", "int32[3];int64[3]", "!"),
        ("inner", "function", "int8[];int8[3]", "no-kernel:int8"),
        ("inner", "function", "int8[3];int8[3]", "no-kernel"),
        ("kron", "function", "int8[3];int32[3]", "!"),
        ("vecdot", "function", "int32[3];int32[3]", "int64"),
        ("vecdot", "function", "bool[3];bool[3]", "no-kernel"),
        ("vecdot", "function", "bool[3];int32[3]", None),
        ("cross", "function", "float16[3];float16[3]", "no-kernel:float16"),
    ],
)
def test_answers(op: str, form: str, operands: str, expected: str | None) -> None:
    assert recorded("paddle", op, form, operands) == expected


def test_there_are_no_modes() -> None:
    pytest.importorskip("paddle")
    with pytest.raises(ValueError, match="no mode 'static'"):
        recorded("paddle", "add", "operator", "int8[3];int8[3]", mode="static")
