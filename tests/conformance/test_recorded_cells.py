"""The engine agrees with every recorded cell, but for the listed differences."""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path

import pytest

from castwise.conformance.differences import Difference, difference_at, differences
from castwise.conformance.index import index_of
from castwise.conformance.recorder import Cell, read_cells
from castwise.report.verify import agrees
from castwise.rules.catalog import dialect_named
from castwise.rules.recorded import RECORDED_OPS

CELLS = sorted((Path(__file__).parents[2] / "conformance" / "cells").glob("*.tsv.gz"))


@functools.cache
def disagreements(path: Path) -> tuple[str, list[Cell]]:
    header, cells = read_cells(path)
    dialect = dialect_named(header["dialect"])
    return header["dialect"], [cell for cell in cells if not agrees(cell, dialect)]


def difference_of(dialect: str, cell: Cell) -> Difference | None:
    return difference_at(dialect, cell.op, cell.form, cell.operands)


def test_there_are_recorded_cells() -> None:
    assert len(CELLS) >= 7


@pytest.mark.parametrize("path", CELLS, ids=lambda path: path.name)
def test_every_recorded_cell_agrees_or_is_a_listed_difference(path: Path) -> None:
    dialect, found = disagreements(path)
    unlisted = [cell for cell in found if difference_of(dialect, cell) is None]
    assert unlisted[:10] == []


def test_the_list_of_recorded_ops_is_that_of_the_cells() -> None:
    assert index_of(CELLS) == RECORDED_OPS.read_text(encoding="utf-8")


def test_every_op_is_recorded_of_some_framework() -> None:
    rows = [line.split("\t") for line in RECORDED_OPS.read_text(encoding="utf-8").splitlines()]
    assert [op for op, frameworks in rows if not frameworks] == []


def test_a_dialect_knows_which_ops_are_not_recorded_of_its_framework() -> None:
    assert "softmax" in dialect_named("numpy@1").unrecorded
    assert "add" not in dialect_named("numpy@1").unrecorded
    assert dialect_named("numpy").vary(framework="mine").unrecorded == ()


def test_each_listed_difference_has_its_recorded_cells_and_no_more() -> None:
    counted: Counter[str] = Counter()
    for path in CELLS:
        dialect, found = disagreements(path)
        counted.update(
            difference.reason
            for cell in found
            if (difference := difference_of(dialect, cell)) is not None
        )
    assert {d.reason: counted[d.reason] for d in differences()} == {
        d.reason: d.recorded for d in differences()
    }
