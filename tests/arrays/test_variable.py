"""Variable: it is assigned to, and keeps its dtype, in all the ways of writing to it."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import castwise as cw

TABLES = Path(__file__).parents[1] / "documents" / "data" / "rfc431"
MODES = ("tensorflow:all", "tensorflow:safe", "tensorflow:none")
NUMBERS: dict[str, Any] = {"i*": 1, "f*": 1.5, "c*": 1 + 1j}


def cells(table: str) -> list[tuple[str, str, str]]:
    """The row, column and text of each cell of a table, in the RFC's short names."""
    with (TABLES / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        rows = {row.pop(""): row for row in csv.DictReader(file)}
    return [
        tuple(re.sub(r"\b(b|u8|i8)\b", _named, text) for text in (name, column, cell))
        for name, row in rows.items()
        for column, cell in row.items()
    ]


def _named(short: re.Match[str]) -> str:
    """A term that castwise refuses, because NumPy reads it otherwise, as a whole name."""
    return {"b": "bool", "u8": "uint8", "i8": "int8"}[short[0]]


PROPOSED = cells("assign_add-proposed")


def operand(short: str, dialect: str) -> Any:
    return NUMBERS.get(short) or cw.asarray([1, 1, 1], dtype=short, dialect=dialect)


def outcome(variable: cw.Variable, value: Any, method: str) -> str:
    """The dtype after an assignment, or "-" if it is refused, as in the tables."""
    before, values = variable.dtype, variable.tolist()
    try:
        assert getattr(variable, method)(value) is variable
    except cw.PromotionError:
        assert (variable.dtype, variable.tolist()) == (before, values)
        return "-"
    assert variable.dtype is before
    assert str(variable.array.dtype) == before.name
    return before.name


def expected(cell: str, mode: str) -> str:
    """What a mode answers: S marks the cells SAFE and ALL allow, A those that only ALL allows."""
    short, _, needed = cell.partition(" ")
    allowed = {"": MODES, "S": MODES[:2], "A": MODES[:1]}[needed]
    return cw.dtype(short).name if short != "-" and mode in allowed else "-"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", ["assign_sub", "assign", "__iadd__", "__isub__"])
def test_the_proposed_table_holds_for_what_is_like_assign_add(mode: str, method: str) -> None:
    found, wanted = {}, {}
    for row, column, cell in PROPOSED:
        variable = cw.Variable([1, 1, 1], dtype=row, dialect=mode)
        found[row, column] = outcome(variable, operand(column, mode), method)
        wanted[row, column] = expected(cell, mode)
    assert len(found) == 15 * 18
    assert found == wanted


def test_values_are_added_taken_away_and_replaced() -> None:
    v = cw.Variable([1, 2, 3], dtype="float32", dialect="tensorflow:all")
    view = v[:2]
    v.assign_add(cw.asarray([1, 1, 1], dtype="int8"))
    assert v.tolist() == [2, 3, 4]
    v.assign_sub(0.5)
    assert v.tolist() == [1.5, 2.5, 3.5]
    v.assign(cw.asarray([7, 8, 9], dtype="bfloat16"))
    assert v.tolist() == [7, 8, 9]
    v.assign(1)
    assert v.tolist() == [1, 1, 1]
    assert view.tolist() == [1, 1]


def test_it_owns_its_values() -> None:
    data = np.asarray([1.0, 2.0])
    v = cw.Variable(data)
    v.assign_add(1)
    assert data.tolist() == [1, 2]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("method", ["assign", "assign_add", "assign_sub"])
def test_a_number_out_of_range_is_refused(mode: str, method: str) -> None:
    v = cw.Variable([1], dtype="int8", dialect=mode)
    assert outcome(v, 1000, method) == "-"
    assert outcome(v, 100, method) == "int8"


@pytest.mark.parametrize("dialect", ["mlx", "megengine", "paddle", "mindspore"])
def test_it_keeps_its_dtype_where_a_tensor_would_not(dialect: str) -> None:
    value = cw.asarray([0.5], dtype="float32", dialect=dialect)
    for write in ("__iadd__", "__imul__", "add_", "mul_", "assign_add", "assign"):
        v = cw.Variable([1], dtype="float16", dialect=dialect)
        with pytest.raises(cw.PromotionError, match=r"keeps its dtype\. Cast the value: x\.astype"):
            getattr(v, write)(value)
        assert (v.dtype.name, v.tolist()) == ("float16", [1])


def test_it_keeps_its_shape() -> None:
    v = cw.Variable([1], dtype="int32", dialect="mlx")
    with pytest.raises(cw.UsageError, match="gives the shape"):
        v.assign_add(cw.asarray([1, 2], dtype="int32", dialect="mlx"))
    assert v.shape == (1,)


def test_it_computes_as_a_tensor_does() -> None:
    v = cw.Variable([1, 2], dtype="int32", dialect="torch")
    assert type(v + 1.5) is cw.Tensor
    assert (v + 1.5).dtype.name == "float32"
    assert isinstance(v, cw.Tensor)


def test_a_value_of_another_dialect_is_refused() -> None:
    v = cw.Variable([1], dtype="int32", dialect="torch")
    value = cw.asarray([1], dtype="int32", dialect="numpy")
    for method in ("assign", "assign_add"):
        with pytest.raises(cw.UsageError, match="do not mix: choose one"):
            getattr(v, method)(value)


@pytest.mark.parametrize("mode", ["all", "safe", "none"])
def test_constants_of_the_rfcs_modes_have_tensorflows_default_dtypes(mode: str) -> None:
    made = [cw.asarray(data, dialect=f"tensorflow:{mode}") for data in (1, 1.0, True, 1j, 2**40)]
    names = [tensor.dtype.name for tensor in made]
    assert names == ["int32", "float32", "bool", "complex128", "int64"]
    assert cw.Variable([1.0], dialect=f"tensorflow:{mode}").dtype.name == "float32"
    # A number with bools still counts as in the RFC's table.
    assert cw.resolve("add", "bool[3]", 1, dialect=f"tensorflow:{mode}").result.name == "int64"
