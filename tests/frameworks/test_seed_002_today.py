"""Seed 002, TensorFlow's RFC 431: the five tables of what TensorFlow does today, and their text."""

from __future__ import annotations

import pytest
from rfc431_tables import SCALARS, operand, read_table

from asking import run
from castwise.vocab.dtypes import dtype

# A dash in these tables is any error, a missing kernel among them, so the tests `run`.
ADD = read_table("add-current")
FORMS = {"operator": "{} + {}", "function": "tf.add({}, {})"}
OTHER = {"operator": "fn", "function": "op"}  # the mark of cells that the other form alone has


def answered(form: str, cell: str) -> str:
    short, _, only = cell.partition(" ")
    return "!" if short == "-" or only == OTHER[form] else dtype(short).name


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("row", ADD)
def test_the_table_of_add(row: str, form: str) -> None:
    """A blank cell says nothing, and of two Python numbers `+` is Python's own."""
    cells = {
        column: cell
        for column, cell in ADD[row].items()
        if cell and (form == "function" or not {row, column} <= SCALARS.keys())
    }
    found = {c: run(FORMS[form].format(operand(row), operand(c)), "tensorflow") for c in cells}
    assert found == {column: answered(form, cell) for column, cell in cells.items()}


ASKED = {
    "assign_add-current": ("{} += {}", "{}[3]", "{}[3]"),
    "assign_add_np-current": ("{} += {}", "{}[3]", "np.{}[3]"),
    "add_tensor_np-current": ("tf.add({}, {})", "{}[3]", "np.{}[3]"),
    "add_np_tensor-current": ("tf.add({}, {})", "np.{}[3]", "{}[3]"),
}


@pytest.mark.parametrize(
    ("name", "row"), [(name, row) for name in ASKED for row in read_table(name)]
)
def test_the_tables_of_variables_and_numpy_arrays(name: str, row: str) -> None:
    asked, first, second = ASKED[name]
    cells = read_table(name)[row]
    if "np" in name:
        # The RFC's '-' for NumPy's bfloat16 no longer holds: it is an array like any other.
        cells.pop("bf16")
        if first.startswith("np") and row == "bf16":
            return
    found = {
        column: run(asked.format(operand(row, first), operand(column, second)), "tensorflow")
        for column in cells
    }
    assert found == {column: answered("function", cell) for column, cell in cells.items()}


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("tf.add(float32[], 3)", "float32"),
        ("tf.add(3, float32[])", "!"),
        ("3 + float32[]", "float32"),
        ("tf.add(np.float64=3.1[], int32[])", "!"),
        ("tf.add(int32[], np.float64=3.1[])", "int32"),  # 4, worse than an exception
        ("int32[] + np.float64=1.5[]", "int32"),  # tf.Variable(1) + np.array(1.5) is 2
        ("int32[] += np.float64=1.5[]", "int32"),
        ("int32[] += 1.5", "!"),
        ("float32[] += 1j", "!"),
        ("float32[] += 1", "float32"),
        ("int32[] += int64[]", "!"),
        ("int16[3] / int16[3]", "float32"),
        ("int32[3] / int32[3]", "float64"),
    ],
)
def test_the_examples_of_the_text(question: str, answer: str) -> None:
    assert run(question, "tensorflow") == answer
