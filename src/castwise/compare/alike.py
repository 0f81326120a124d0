"""A table in which one narrow dtype represents those with the same row and column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from castwise.compare.outcome import Outcome, outcome_of, pair_question
from castwise.compare.table import TableData
from castwise.engine.decision import Decision
from castwise.vocab.dtypes import DType

_FEW = 3  # two that are alike are shown both
_BYTE = 8


class Alike(NamedTuple):
    """A dtype with a row, and those it represents."""

    shown: DType
    others: tuple[DType, ...]


def folded_alike(table: TableData) -> tuple[TableData, list[Alike]]:
    """The table without the rows and columns of dtypes that another represents, and a list of them.

    Only narrow dtypes are left out, of which some framework has seventeen; every format for
    programs has them all.
    """
    groups: dict[object, list[DType]] = {}
    for place, row in enumerate(table.rows):
        if row.dtype is not None and _is_narrow(row.dtype) and _joins_none_alike(table, place):
            groups.setdefault(_key(table, place), []).append(row.dtype)
    alike = [Alike(first, tuple(rest)) for first, *rest in groups.values() if len(rest) + 1 >= _FEW]
    hidden = {dtype for group in alike for dtype in group.others}
    return _without(table, hidden), alike


def lacks_kernels(table: TableData, dtype: DType) -> bool:
    """Whether a dtype with itself promotes, but has no kernel to run."""
    found = [cell for row, _, cell in _cells(table) if row is dtype]
    return any(isinstance(cell, Decision) and not cell.has_kernel for cell in found)


def _is_narrow(dtype: DType) -> bool:
    """Whether it is below a byte, or a float of one byte; bool is not a narrow integer."""
    return dtype.kind != "bool" and dtype.bits <= _BYTE - (dtype.kind == "int")


def _cells(table: TableData) -> Iterator[tuple[DType | None, DType | None, Outcome]]:
    """Each cell with the dtypes of its row and its column; a Python number has none."""
    columns = [operand.dtype for group in table.columns for operand in group] or [None]
    for row, cells in zip(table.rows, table.cells, strict=True):
        for column, cell in zip(columns, cells, strict=True):
            yield row.dtype, column, cell


def _joins_none_alike(table: TableData, place: int) -> bool:
    """Whether a narrow dtype is refused with all the others of its kind, in columns or not."""
    own = table.rows[place]
    others = [row for row in table.rows if _is_sibling(row.dtype, own.dtype)]
    if table.op.arity[1] == 1:
        return True
    pairs = [pair for other in others for pair in ((own, other), (other, own))]
    asked = [pair_question(table.op, *pair, table.dialect, table.form) for pair in pairs]
    return not any(isinstance(outcome_of(question), Decision) for question in asked)


def _key(table: TableData, place: int) -> object:
    """The content of a row and a column, without the dtype's own name."""
    own = table.rows[place].dtype
    cells = [
        (_other(row, own), _other(column, own), _cell_text(cell, own))
        for row, column, cell in _cells(table)
        if own in (row, column) and not _is_sibling(row, own) and not _is_sibling(column, own)
    ]
    return own and own.kind, tuple(cells)


def _is_sibling(dtype: DType | None, own: DType | None) -> bool:
    """Whether it is another narrow dtype of the same kind."""
    if dtype is None or own is None:
        return False
    return dtype is not own and _is_narrow(dtype) and dtype.kind == own.kind


def _other(dtype: DType | None, own: DType | None) -> DType | str | None:
    return "itself" if dtype is own else dtype


def _cell_text(cell: Outcome, own: DType | None) -> object:
    return (_other(cell.result, own), cell.is_weak) if isinstance(cell, Decision) else None


def _without(table: TableData, hidden: set[DType]) -> TableData:
    columns = [operand for group in table.columns for operand in group]
    kept = [place for place, operand in enumerate(columns) if operand.dtype not in hidden] or [0]
    rows = [place for place, operand in enumerate(table.rows) if operand.dtype not in hidden]
    return replace(
        table,
        rows=tuple(table.rows[r] for r in rows),
        columns=tuple(tuple(o for o in group if o.dtype not in hidden) for group in table.columns),
        cells=tuple(tuple(table.cells[r][c] for c in kept) for r in rows),
    )
