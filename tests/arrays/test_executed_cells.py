"""Recorded cells carried out on NumPy arrays: what is computed has the dtype the framework gave."""

from __future__ import annotations

from executed_cells import NOT_COMPUTED, can_be_executed, executed, in_silence

import cells
from castwise.catalog import dialect_named
from castwise.comparing.verify import difference_at
from castwise.conformance.recorder import Cell
from castwise.vocab.notation import REFUSED
from cells import Recorded

STANDARDS_OWN = "array-api"
# One cell in so many is carried out, more of the standard's, and more with --all-cells; the steps
# are prime, so that no column of a table is missed.
STEP, STEP_OF_ALL = 1009, 503
STANDARDS_STEP, STANDARDS_STEP_OF_ALL = 211, 13
# (framework, op): these the framework computes, and castwise on NumPy does not.
UNCOMPUTED = {
    ("megengine", "concat"): "it joins 0-d arrays",
    ("tensorflow", "matmul"): "its NumPy functions multiply by 0-d arrays",
    ("mindspore", "floor_divide"): "of complex numbers",
    ("mlx", "floor_divide"): "of complex numbers",
    ("mindspore", "remainder"): "of complex numbers",
    ("mindspore", "max"): "of complex numbers",
    ("paddle", "remainder"): "of complex numbers",
    ("paddle", "div"): "in bool",
    ("mindspore", "bitwise_not"): "of floats",
    ("oneflow", "bitwise_and"): "of floats",
    ("oneflow", "bitwise_or"): "of floats",
    ("oneflow", "bitwise_xor"): "of floats",
    ("mindspore", "pow"): "an integer to a negative integer power",
    ("mlx", "pow"): "an integer to a negative integer power",
    ("oneflow", "pow"): "an integer to a negative integer power",
    ("paddle", "pow"): "an integer to a negative integer power",
    ("tinygrad", "pow"): "an integer to a negative integer power",
    # Taken to have no kernel for complex numbers, and refused.
    ("mlx", "huber_loss"): "of complex numbers",
    ("paddle", "hypot"): "of complex numbers",
    ("paddle", "poisson_nll_loss"): "of complex numbers",
}


def test_a_recorded_cell_carried_out_gives_the_recorded_dtype_or_refusal(
    cell_file: Recorded,
) -> None:
    dialect = dialect_named(cell_file.dialect)
    chosen = [*cell_file.every(step_of(cell_file.dialect))]
    sample = [cell for cell in chosen if can_be_executed(cell)]
    wrong = []
    with in_silence():
        for cell in sample:
            found = executed(cell, dialect)
            is_listed = difference_at(dialect.name, cell.op, cell.form, cell.operands)
            if not is_same(cell, found) and not is_listed:
                wrong.append((cell, found))
    assert len(sample) > len(chosen) / 2
    computed = [x for x in wrong if not is_uncomputed(dialect.framework, *x)]
    cells.fail_where_different(dialect.name, computed)


def step_of(dialect: str) -> int:
    if dialect != STANDARDS_OWN:
        return STEP_OF_ALL if cells.takes_all else STEP
    return STANDARDS_STEP_OF_ALL if cells.takes_all else STANDARDS_STEP


def is_same(cell: Cell, found: str) -> bool:
    if cell.op == "result_type":  # a dtype is not weak
        return found == cell.answer.removesuffix("*") or both_refuse(cell, found)
    return found == cell.answer or both_refuse(cell, found)


def both_refuse(cell: Cell, found: str) -> bool:
    return found.startswith(REFUSED) and cell.answer.startswith(REFUSED)


def is_uncomputed(framework: str, cell: Cell, found: str) -> bool:
    is_refused = found == REFUSED and "complex" in ";".join(cell.operands)
    return (framework, cell.op) in UNCOMPUTED and (found == NOT_COMPUTED or is_refused)
