"""The list of ops: `castwise ops`."""

from __future__ import annotations

from typing import Any

from castwise.report.terminal.colour import Paint, plain
from castwise.report.terminal.columns import in_groups, some_of
from castwise.rules.catalog import dialect_named, dialects
from castwise.rules.dialect import Dialect
from castwise.vocab.ops import ARBITRARY, Op, op, ops


def ops_json(dialect: Dialect | None = None) -> list[dict[str, Any]]:
    """Every op with its facts, or those that were recorded of one dialect's framework."""
    known = [dialect] if dialect else list(map(dialect_named, dialects()))
    return [
        {
            "name": row.name,
            "symbol": row.symbol,
            "family": row.family,
            "operands": [row.arity[0], None if row.arity[1] == ARBITRARY else row.arity[1]],
            "aliases": {d.name: words for d in known if (words := _aliases(d, row))},
            "dialects": [d.name for d in known if row.name not in d.unrecorded],
        }
        for row in _rows(dialect)
    ]


def ops_text(dialect: Dialect | None = None, paint: Paint = plain, width: int = 80) -> str:
    """A line per op, by family: its name, symbol and operands, and either its other names in a
    dialect, or the frameworks that have it."""
    rows = _rows(dialect)
    last = f"also called, in {dialect.name}" if dialect else "recorded from"
    cells = [
        (row.name, row.symbol or "", _operands(row),
         " ".join(_aliases(dialect, row)) if dialect else _having(row))
        for row in rows
    ]  # fmt: skip
    title = ("op", "symbol", "operands", last)
    return in_groups(title, cells, [row.family for row in rows], paint, width)


def _rows(dialect: Dialect | None) -> list[Op]:
    return [row for row in map(op, ops()) if dialect is None or row.name not in dialect.unrecorded]


def _having(row: Op) -> str:
    """The frameworks that an op is recorded from."""
    known = list(map(dialect_named, dialects()))
    every = list(dict.fromkeys(d.framework for d in known))
    found = dict.fromkeys(d.framework for d in known if row.name not in d.unrecorded)
    return some_of(every, list(found))


def _aliases(dialect: Dialect, row: Op) -> list[str]:
    return dialect.naming.aliases.get(row.name, "").split()


def _operands(row: Op) -> str:
    low, high = row.arity
    if high == ARBITRARY:
        return f"{low} or more"
    return str(low) if low == high else f"{low} to {high}"
