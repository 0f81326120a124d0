"""A few answers of TensorFlow everybody knows; they need TensorFlow installed."""

from __future__ import annotations

import pytest

from castwise.conformance.questions import GridQuestion
from castwise.conformance.recorder import Recorder, ask
from castwise.conformance.recorders import find_recorder


def recorder(mode: str = "") -> Recorder:
    try:
        return find_recorder("tensorflow", mode)
    except ImportError as error:
        pytest.skip(str(error))


def answer(mode: str, op: str, form: str, operands: str) -> str | None:
    asked = recorder(mode)
    with asked.session():
        return ask(asked, GridQuestion(op, form, tuple(operands.split(";"))))


@pytest.mark.parametrize(
    ("op", "form", "operands", "plain", "np_all", "np_safe"),
    [
        ("add", "operator", "int8[3];int16[3]", "!", "int16", "int16"),
        ("add", "operator", "uint8[3];int8[3]", "!", "int16", "!"),
        ("add", "operator", "int8[3];300", "int8", "int8", "int8"),
        ("add", "operator", "int32[3];1.5", "!", "float64*", "!"),
        ("add", "operator", "int8[3];9223372036854775808", "!range", "!range", "!range"),
        ("add", "operator", "int64[3];2147483648", "int64", "!range", "!range"),
        ("add", "function", "1;int8[3]", "!", "int8", "int8"),
        ("add", "function", "int8[3];1", "int8", "int8", "int8"),
        ("add", "function", "bool[3];bool[3]", "!", "!", "!"),
        ("add", "inplace", "float32[3];int64[3]", "!", "float32", "!"),
        ("add", "inplace", "bool[3];bool[3]", *["no-kernel:bool"] * 3),
        ("add", "augmented", "float32[3];int64[3]", "!", "float32", "!"),
        ("add", "augmented", "float32[];float32[3]", *["float32"] * 3),
        ("div", "augmented", "int32[3];2", *["float64"] * 3),
        ("add", "operator", "uint64[3];int8[3]", "!", "float64*", "!"),
        ("add", "operator", "int8[3];np.float32[3]", "int8", "float32", "float32"),
        ("mul", "operator", "uint8[3];np.int8[3]", "uint8", "int16", None),  # a NumPy array
        ("lt", "operator", "int8[3];float32[3]", "!", "!", "!"),
        ("eq", "operator", "int8[3];float32[3]", "!", "bool", "bool"),
        ("bitwise_and", "operator", "1;int32[3]", "int32", None, None),  # an AttributeError
        ("matmul", "function", "bfloat16[3];float32[3]", *["float32"] * 3),
        ("fmod", "function", "float16[3];float16[3]", *["no-kernel:float16"] * 3),
        ("concat", "function", "int8[];int8[]", None, None, None),
        ("positive", "operator", "int8[3]", "!", "int8", "int8"),
    ],
)
def test_tensorflow(
    op: str, form: str, operands: str, plain: str | None, np_all: str | None, np_safe: str | None
) -> None:
    answers = [answer(mode, op, form, operands) for mode in ("", "np-all", "np-safe")]
    assert answers == [plain, np_all, np_safe]


@pytest.mark.parametrize(
    ("op", "operands", "expected"),
    [
        ("add", "int32*[3];int8[3]", "int8"),
        ("add", "int32*[3];float32*[]", "float32*"),
        ("maximum", "int32*[3];float32*[]", "float32"),
        ("abs", "complex128*[3]", "float64*"),
        ("result_type", "int32*[3];int32*[3]", "int32"),
    ],
)
def test_weak_tensors(op: str, operands: str, expected: str) -> None:
    assert answer("np-all", op, "function", operands) == expected


def test_a_variable_is_never_weak() -> None:
    assert answer("np-all", "add", "inplace", "int32*[3];int32[3]") is None


def test_numpy_behaviour_is_undone() -> None:
    assert answer("np-all", "positive", "operator", "int8[3]") == "int8"
    assert answer("", "positive", "operator", "int8[3]") == "!"


def test_unknown_modes_are_refused() -> None:
    recorder()
    with pytest.raises(ValueError, match="not 'legacy'"):
        find_recorder("tensorflow", "legacy")
