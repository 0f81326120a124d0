"""The recorder of MindSpore, where MindSpore is installed."""

from __future__ import annotations

import pytest
from recording import recorded

from castwise.conformance.questions import questions
from castwise.conformance.recorders import find_recorder


@pytest.mark.parametrize(
    ("op", "form", "operands", "expected"),
    [
        ("add", "operator", "uint8[3];int8[3]", "int16"),
        ("add", "operator", "float32[3];float64[]", "float64"),
        ("mul", "operator", "float32[3];float64[]", "float32"),
        ("add", "operator", "bool[3];bool[3]", "bool"),
        ("add", "function", "bool[3];bool[3]", "!"),
        ("add", "operator", "uint16[3];int8[3]", "!"),
        ("add", "operator", "int8[3];9223372036854775808", "!range"),
        ("mul", "operator", "int8[3];9223372036854775808", "!range"),
        ("add", "operator", "int8[3];1+1j", None),
        ("add", "operator", "int8[3];np.float64(1)", "float32"),
        ("add", "operator", "int8[3];np.float32[3]", None),
        ("add", "operator", "np.float32[3];int8[3]", None),
        ("add", "augmented", "int8[3];1.5", "float32"),
        ("mul", "function", "int8[];1", "int64"),
        ("mul", "function", "bool[3];complex64[3]", "no-kernel:complex64"),
        ("lt", "operator", "uint16[3];int8[3]", "no-kernel:bool"),
        ("copysign", "function", "int8[3];uint16[3]", "no-kernel"),
        ("sum", "function", "int8[3]", "int64"),
        ("max", "function", "int8[3]", "int8"),
        ("bitwise_not", "operator", "int8[3]", "bool"),
        ("dot", "function", "float32[3];float32[3]", "float32"),
        ("allclose", "function", "float32[3];float32[3]", "bool"),
        ("result_type", "function", "int8[3];1", "int32"),
        ("promote_types", "function", "uint16[3];float64[3]", "float32"),
        ("outer", "function", "uint8[];int8[3]", "int16"),
        ("outer", "function", "uint8[3];int64[]", "uint8"),
        ("inner", "function", "int8[3];int16[3]", "!"),
        ("inner", "function", "int8[3];np.float64(1)", "float32"),
        ("vecdot", "function", "bool[3];bool[3]", "int64"),
        ("vecdot", "function", "bool[];bool[]", None),
        ("cross", "function", "int16[3];int64[3]", "int16"),
        ("cross", "function", "float32[3];float32[]", None),
        ("add", "operator", "int32[3];[1.5, 1.5, 1.5]", "int32"),
        ("add", "operator", "int32[3];[18446744073709551616, 1, 1]", "!range"),
        ("add", "operator", "int32[3];[9223372036854775808, 1.5, 1]", "!range"),
        ("add", "function", "int32[3];[1, 1, 1]", "!"),
        ("inner", "function", "int32[3];[1, 1, 1]", "!"),
        ("eq", "operator", "int32[3];[1, 1, 1]", None),
    ],
)
def test_answers(op: str, form: str, operands: str, expected: str | None) -> None:
    assert recorded("mindspore", op, form, operands) == expected


def test_what_would_end_the_process_is_not_asked() -> None:
    pytest.importorskip("mindspore")
    scope = find_recorder("mindspore").scope
    asked = {q.operands for q in questions(scope, ["mul", "div", "fmod", "dot", "inner", "kron"])}
    assert ("float16[3]", "bfloat16[]") not in asked
    assert ("float16[3]", "bfloat16[3]") in asked
    asked = {q.operands for q in questions(scope, ["outer"])}
    assert ("float16[]", "bfloat16[3]") in asked
    assert ("float16[]", "bfloat16[]") not in asked


def test_there_are_no_modes() -> None:
    pytest.importorskip("mindspore")
    with pytest.raises(ValueError, match="PyNative mode; not 'graph'"):
        find_recorder("mindspore", "graph")
