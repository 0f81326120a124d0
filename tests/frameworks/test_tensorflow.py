"""TensorFlow by default and with NumPy behaviour: what its documents and tables say."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import castwise as cw
from castwise.engine.ask import answer, question_in
from castwise.vocab.dtypes import dtype

DATA = Path(__file__).parent / "data"
MODES = ("tensorflow:np-all", "tensorflow:np-safe")


def asked(expression: str, dialect: str = "tensorflow") -> str:
    """The result of an expression with a star where it is weak, "!" where it is refused, "-" where
    the CPU lacks the kernel."""
    try:
        decision = answer(question_in(expression, dialect))
    except cw.PromotionError:
        return "!"
    return "-" if decision.notes else f"{decision.result}{'*' if decision.is_weak else ''}"


def grid(name: str) -> dict[tuple[str, str], str]:
    """The cells of a table by row and column, all in short names such as u8 and f32*."""
    with (DATA / name).open(newline="") as file:
        header, *rows = csv.reader(file)
    return {
        (_named(row[0]), _named(column)): _named(cell)
        for row in rows
        for column, cell in zip(header[1:], row[1:], strict=True)
    }


def _named(short: str) -> str:
    """A short term of the table, with a whole name for those that castwise refuses as ambiguous."""
    word = short.rstrip("!*")
    return {"b": "bool", "u8": "uint8", "i8": "int8"}.get(word, word) + short[len(word) :]


def operand(short: str) -> str:
    """The notation of an array, which may be weak."""
    star = "*" if short.endswith("*") else ""
    return f"{dtype(short.rstrip('*'))}{star}[3]"


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        # Python numbers take the first tensor's dtype, wrapped where they do not fit.
        ("int8[3] + 300", "int8"),
        ("300 + int8[3]", "int8"),
        ("int32[3] + 1099511627776", "int32"),
        ("uint8[3] + 9223372036854775808", "!"),
        ("uint64[3] + 9223372036854775808", "uint64"),
        ("float32[3] + 18446744073709551616", "float32"),
        ("bfloat16[3] + 18446744073709551616", "!"),
        ("uint64[3] * -1", "!"),
        ("int8[3] + 1.5", "!"),
        ("float32[3] + 1j", "!"),
        ("complex64[3] + 1j", "complex64"),
        # A Python bool is read into some dtypes and not cast to the others.
        ("int32[3] + True", "int32"),
        ("int8[3] + True", "!"),
        ("float16[3] + True", "float16"),
        ("bfloat16[3] + True", "!"),
        # tf.add converts its first operand to a tensor on its own, tf.multiply does not.
        ("add(1, int8[3])", "!"),
        ("add(1, int32[3])", "int32"),
        ("add(2147483648, int64[3])", "int64"),
        ("add(1e39, float32[3])", "!"),
        ("mul(1, int8[3])", "int8"),
        ("mul(2.5, 1)", "float32"),
        ("mul(1, 2.5)", "!"),
        # NumPy arrays are cast to the tensor's dtype.
        ("int32[3] + np.float64[3]", "int32"),
        ("np.float64[3] + int32[3]", "int32"),
        ("add(np.float64[3], int32[3])", "!"),
        ("int32[3] == np.float32[3]", "bool"),
        ("int32[3] == 1.5", "!"),
        # A boolean tensor makes any product boolean, but only by the operator.
        ("bool[3] * float32[3]", "bool"),
        ("bool[3] * 2.5", "bool"),
        ("2.5 * bool[3]", "!"),
        ("bool[3] * 1e39", "!"),
        ("mul(bool[3], float32[3])", "!"),
        # Division is in float32 for 8 and 16 bits, in float64 for 32 and 64.
        ("int16[3] / int16[3]", "float32"),
        ("int32[3] / 2", "float64"),
        ("bool[3] / bool[3]", "!"),
        # The only two dtypes that can be mixed.
        ("bfloat16[3] @ float32[3]", "float32"),
        ("bfloat16[3] + float32[3]", "!"),
        # What tensors lack.
        ("int32[3] << 1", "!"),
        ("bitwise_left_shift(int32[3], 1)", "int32"),
        ("+int32[3]", "!"),
        ("uint8[3] ** 2", "!"),
        ("sqrt(int32[3])", "!"),
        ("mean(int32[3])", "int32"),
        ("cumsum(float32[])", "!"),
    ],
)
def test_plain_tensorflow(expression: str, result: str) -> None:
    assert asked(expression) == result


# NumPy behaviour: the table TensorFlow ships. "i16!" is allowed only by ALL.


@pytest.mark.parametrize("mode", MODES)
def test_the_shipped_table_of_joins(mode: str) -> None:
    for (row, column), cell in grid("tensorflow_joins.csv").items():
        a, b = operand(row), operand(column)
        is_refused = cell.endswith("!") and mode.endswith("safe")
        star = "*" if "*" in cell else ""
        expected = "!" if is_refused else f"{dtype(cell.rstrip('!*'))}{star}"
        assert asked(f"promote_types({a}, {b})", mode) == expected, (a, b)
        if expected != "bool":
            assert asked(f"add({a}, {b})", mode) == expected, (a, b)


@pytest.mark.parametrize(
    ("expression", "in_all", "in_safe"),
    [
        # An integer with a float keeps the float's width.
        ("int64[3] + float16[3]", "float16", "!"),
        ("uint8[3] + float16[3]", "float16", "float16"),
        # Python numbers are weak: 32 bits on their own, but a float with integers is 64 bits.
        ("int8[3] + 1", "int8", "int8"),
        ("bool[3] + 1", "int32*", "int32*"),
        ("bool[3] + 1.5", "float32*", "float32*"),
        ("int32[3] + 1.5", "float64*", "!"),
        ("int32[3] + 1j", "complex128*", "complex128*"),
        ("float32[3] + 1j", "complex64", "!"),
        ("float64[3] + 1j", "complex128", "complex128"),
        ("add(1, 1.5)", "float32*", "float32*"),
        # An int is read as an int32 first, no matter what it is combined with.
        ("int8[3] + 300", "int8", "int8"),
        ("int64[3] + 2147483648", "!", "!"),
        ("float64[3] + 2147483648", "!", "!"),
        ("uint64[3] * -1", "!", "!"),
        # A bool is refused by the conversion, though the table has it.
        ("int8[3] + True", "!", "!"),
        ("result_type(int8[3], True)", "int8", "int8"),
        ("bool[3] + bool[3]", "!", "!"),
        # Weak results lead on: uint64 with a signed integer is a weak float64.
        ("uint64[3] + int8[3]", "float64*", "!"),
        ("float64*[3] + float16[3]", "float16", "float16"),
        ("int32*[3] / 2", "float64*", "float64*"),
        ("maximum(int32*[3], float32*[3])", "float32", "float32"),
        ("abs(complex128*[3])", "float64*", "float64*"),
        ("relu(int32*[3])", "int32", "int32"),
        # == promotes; != and its like do not, nor where, concat or the bits.
        ("int8[3] == float32[3]", "bool", "bool"),
        ("int8[3] != float32[3]", "!", "!"),
        ("int8[3] < 1.5", "!", "!"),
        ("int8[3] & int16[3]", "!", "!"),
        ("concat(int8[3], int16[3])", "!", "!"),
        # NumPy arrays count as tensors where dtypes are promoted, and adapt elsewhere.
        ("uint8[3] + np.int16[3]", "int16", "int16"),
        ("np.float32[3] + int8[3]", "float32", "float32"),
        ("int8[3] < np.float32[3]", "bool", "bool"),
        # A variable keeps its dtype.
        ("add_(float16[3], int64[3])", "float16", "!"),
        ("add_(int8[3], 1.5)", "!", "!"),
        ("bool[3] * float32[3]", "bool", "bool"),
        ("2.5 * bool[3]", "bool", "bool"),
        ("clamp(int8[3], 1, 2.5)", "float64", "!"),
        ("+int32[3]", "int32", "int32"),
    ],
)
def test_numpy_behaviour(expression: str, in_all: str, in_safe: str) -> None:
    assert [asked(expression, mode) for mode in MODES] == [in_all, in_safe]


def test_safe_refuses_in_one_order_what_it_answers_in_another() -> None:
    assert asked("result_type(uint8[3], int8[3], int16[3])", MODES[1]) == "!"
    assert asked("result_type(uint8[3], int16[3], int8[3])", MODES[1]) == "int16"


@pytest.mark.parametrize(
    ("call", "op"),
    [
        ("tf.math.floormod(int32[3], 2)", "remainder"),
        ("truncatemod(int32[3], 2)", "fmod"),
        ("tf.reduce_sum(int32[3])", "sum"),
        ("tf.bitwise.left_shift(int32[3], 1)", "bitwise_left_shift"),
        ("clip_by_value(int32[3], 1, 2)", "clamp"),
    ],
)
def test_tensorflows_own_names(call: str, op: str) -> None:
    assert question_in(call, "tensorflow").op.name == op
    assert asked(call) == "int32"
