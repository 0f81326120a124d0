"""The engine agrees with the recorded cells, except for the listed differences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

import pytest

import cells
from castwise.catalog import dialect_named
from castwise.comparing.verify import (
    DeliberateDifference,
    agrees,
    answer_for,
    difference_at,
    differences,
)
from castwise.conformance.questions import read_operand
from castwise.conformance.recorder import Cell
from castwise.rules.dialect import RECORDED_CELLS, recorded_cells
from castwise.vocab.ops import OPS
from index import index_text


def test_there_are_recorded_cells() -> None:
    assert len(cells.FILES) >= 7


def test_each_recorded_cell_agrees_or_is_a_listed_difference(cell_file: cells.Recorded) -> None:
    dialect = dialect_named(cell_file.dialect)
    unlisted = [
        (cell, answer_for(cell, dialect))
        for cell in cell_file.asked()
        if not agrees(cell, dialect)
        and difference_at(cell_file.dialect, cell.op, cell.form, cell.operands) is None
    ]
    cells.fail_where_different(cell_file.dialect, unlisted)


def test_a_differing_cell_is_shown_in_full() -> None:
    right = "concat\tfunction\tint8[3];float16[3];bfloat16[3]\tfloat32"
    wrong = "concat\tfunction\tcomplex64[3];float16[3];bfloat16[3]\t!range"
    planted = cells.Recorded(
        {"dialect": "torch"}, [cells.Group("concat", "function", [right, *[wrong] * 22])]
    )
    with pytest.raises(pytest.fail.Exception) as failed:
        test_each_recorded_cell_agrees_or_is_a_listed_difference(planted)
    lines = str(failed.value).splitlines()
    assert lines[:4] == [
        "22 recorded cells of torch have another answer",
        "  concat(complex64[3], float16[3], bfloat16[3]), form function",
        "      castwise: complex64",
        "      recorded: !range",
    ]
    assert lines[-1] == "  and 2 more"


def test_the_list_of_recorded_cells_is_that_of_the_cells() -> None:
    files = [(file.dialect, file.counts()) for file in map(cells.recorded, cells.FILES)]
    assert index_text(files) == RECORDED_CELLS.read_text(encoding="utf-8")


def test_every_op_is_recorded_of_some_framework() -> None:
    recorded = {op for counts in recorded_cells().values() for op in counts}
    assert [op for op in OPS if op not in recorded] == []


def test_a_dialect_knows_which_ops_are_not_recorded_of_its_framework() -> None:
    assert "softmax" in dialect_named("numpy@1").unrecorded
    assert "add" not in dialect_named("numpy@1").unrecorded
    assert dialect_named("numpy").vary(framework="mine").unrecorded == ()


@pytest.mark.usefixtures("all_cells")
def test_each_listed_difference_has_its_recorded_cells_and_no_more() -> None:
    counted: Counter[str] = Counter()
    for file in map(cells.recorded, cells.FILES):
        dialect = dialect_named(file.dialect)
        counted.update(
            difference.reason for cell, difference in listed(file) if not agrees(cell, dialect)
        )
    assert {d.reason: counted[d.reason] for d in differences()} == {
        d.reason: d.recorded for d in differences()
    }


@pytest.mark.usefixtures("all_cells")
def test_each_dtype_and_each_role_is_in_the_share(cell_file: cells.Recorded) -> None:
    assert kinds(cell_file.asked()) == kinds(cell_file.share())


def kinds(some: Iterable[Cell]) -> set[object]:
    """The dtypes and roles of the operands, without their values."""
    specs = [read_operand(text) for text in {text for cell in some for text in cell.operands}]
    roles = {(bool(s.shape), s.is_numpy, s.is_scalar, s.is_weak, type(s.value)) for s in specs}
    return {spec.dtype for spec in specs} | roles


def listed(file: cells.Recorded) -> Iterator[tuple[Cell, DeliberateDifference]]:
    """The cells of a file that a listed difference names, whether they differ or not."""
    for group in file.groups:
        named = [d for d in differences() if d.op.fullmatch(group.op)]
        if any(d.form.fullmatch(group.form) and d.dialect.fullmatch(file.dialect) for d in named):
            for cell in group.cells():
                found = difference_at(file.dialect, cell.op, cell.form, cell.operands)
                if found is not None:
                    yield cell, found
