"""What an op gives for every dtype with every dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from castwise.compare.outcome import (
    SCALARS,
    Outcome,
    arranged,
    default_form,
    outcome_of,
    pair_question,
)
from castwise.engine.ask import check_augmented
from castwise.engine.op_names import find_op, spoken
from castwise.errors import UsageError
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.vocab.operands import Operand, array_operand
from castwise.vocab.ops import Op


@dataclass(frozen=True, slots=True)
class TableData:
    """The outcomes of an op over rows and columns of operands."""

    op: Op
    dialect: Dialect
    form: str
    rows: tuple[Operand, ...]
    columns: tuple[tuple[Operand, ...], ...]  # in groups; none where the op takes one operand
    cells: tuple[tuple[Outcome, ...], ...]

    @property
    def title(self) -> str:
        """The question the cells answer, such as "row + column in torch"."""
        words = arranged(self.op, "condition", "row", "column")
        symbol = None if self.form == "function" else self.op.symbol
        if self.form == "augmented":
            symbol = f"{symbol}="
        call = f"{self.op.name}({', '.join(words)})"
        asked = f" {symbol} ".join(words) if len(words) > 1 else f"{symbol}row"
        return f"{asked if symbol else call} in {self.dialect.name}"


def _arrays(dialect: Dialect) -> tuple[Operand, ...]:
    return tuple(array_operand(d, (3,)) for d in dialect.dtypes)


def _zero_d(dialect: Dialect) -> tuple[Operand, ...]:
    return tuple(array_operand(d, ()) for d in dialect.dtypes)


def _scalars(dialect: Dialect) -> tuple[Operand, ...]:
    return SCALARS


# What the columns may be.
COLUMNS: dict[str, Callable[[Dialect], tuple[Operand, ...]]] = {
    "arrays": _arrays,
    "0-d": _zero_d,
    "scalars": _scalars,
}


def table_data(
    op: Any, dialect: str | Dialect | None, form: str | None, columns: Sequence[str]
) -> TableData:
    """The answers of an op for every pair of dtypes of a dialect.

    Raises UsageError for an unknown name.
    """
    resolved = to_dialect(dialect)
    row = find_op(op, resolved)
    chosen = form or spoken(op).form or default_form(row)
    if chosen == "operator" and not row.symbol:
        raise UsageError(f"{row.name} has no operator; leave out form, or say 'function'.")
    if chosen == "augmented":
        check_augmented(row, 2, {})
    for name in columns:
        if name not in COLUMNS:
            raise UsageError(f"columns are {', '.join(COLUMNS)}; not {name[:40]!r}.")
    rows = _arrays(resolved)
    groups = tuple(COLUMNS[name](resolved) for name in columns) if row.arity[1] > 1 else ()
    cells = tuple(
        tuple(
            outcome_of(pair_question(row, left, right, resolved, chosen))
            for group in groups or [(left,)]
            for right in group
        )
        for left in rows
    )
    return TableData(row, resolved, chosen, rows, groups, cells)
