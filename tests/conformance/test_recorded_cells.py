"""The engine agrees with every recorded cell, but for the listed differences."""

from __future__ import annotations

import functools
from collections import Counter
from pathlib import Path

import pytest

from castwise.conformance.differences import Difference, difference_at, differences
from castwise.conformance.recorder import Cell, read_cells
from castwise.frameworks.catalog import dialect_named, dialects
from castwise.report.verify import agrees
from castwise.vocab.ops import OPS

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


def test_a_dialect_names_the_ops_that_are_not_recorded_of_its_framework() -> None:
    recorded: dict[str, set[str]] = {}
    for path in CELLS:
        header, cells = read_cells(path)
        framework = dialect_named(header["dialect"]).framework
        recorded.setdefault(framework, set()).update(cell.op for cell in cells)
    for spoken in map(dialect_named, dialects()):
        unrecorded = [op for op in OPS if op not in recorded[spoken.framework]]
        assert spoken.unrecorded.split() == unrecorded, spoken.name


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
