"""A table, which prints as a report: `castwise table`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from castwise.compare.table import TableData, table_data
from castwise.errors import PromotionError
from castwise.report.table.html import table_card
from castwise.report.table.text import table_text
from castwise.rules.catalog import is_dialect_name
from castwise.rules.dialect import Dialect
from castwise.showing import line_of


@dataclass(frozen=True, slots=True, repr=False)
class Table(TableData):
    """The outcomes of an op over rows and columns of operands; its text is the table.

    >>> print(table("lt", "array-api", columns=["scalars"]))  # doctest: +ELLIPSIS
    row < column in array-api
    <BLANKLINE>
          True     1   1.5    1j
    bool     -     -     -     -
    i8       -  bool     -     -
    ...
    """

    def __str__(self) -> str:
        return table_text(self)

    def __repr__(self) -> str:
        cells = [cell for row in self.cells for cell in row]
        refused = sum(isinstance(cell, PromotionError) for cell in cells)
        return line_of("Table", self.title, f"{len(cells):,} answers, {refused:,} refused")

    def _repr_html_(self) -> str:
        return table_card(self)


def table(
    op: Any = "add",
    dialect: Any = None,
    *,
    form: str | None = None,
    columns: Sequence[str] = ("arrays", "scalars"),
) -> Table:
    """The answers of an op for every pair of dtypes of a dialect.

    The op and the dialect may be given in either order. The rows are arrays. The columns are the
    named groups: "arrays", "0-d" and "scalars".

    >>> "int16" in str(table("add", "array-api"))
    False
    >>> "i16" in str(table("add", "array-api"))
    True

    Raises UsageError for an unknown name.
    """
    if isinstance(op, Dialect) or is_dialect_name(op):  # in the order of the command line
        op, dialect = "add" if dialect is None else dialect, op
    made = table_data(op, dialect, form, columns)
    return Table(made.op, made.dialect, made.form, made.rows, made.columns, made.cells)
