"""The list of dtypes: `castwise dtypes`."""

from __future__ import annotations

from typing import Any

from castwise.report.table.text import short_name
from castwise.report.terminal.colour import Paint, plain
from castwise.report.terminal.columns import in_groups, some_of
from castwise.rules.catalog import dialect_named, dialects
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DTYPES, DType, find_dtype

_LONG = 1 << 31  # a whole number beyond it is shown as a power of two


def dtypes_json(dialect: Dialect | None = None) -> list[dict[str, Any]]:
    """Every dtype with its facts, or those of one dialect in its order; the range of a complex one
    is that of a part."""
    known = [dialect] if dialect else list(map(dialect_named, dialects()))
    return [
        {
            "name": row.name,
            "short": _short(row),
            "kind": row.kind,
            "bits": row.bits,
            "min": row.min,
            "max": row.max,
            "dialects": [d.name for d in known if row in d.dtypes],
        }
        for row in (dialect.dtypes if dialect else DTYPES)
    ]


def dtypes_text(dialect: Dialect | None = None, paint: Paint = plain, width: int = 80) -> str:
    """A line per dtype, by kind: its name, short form, bits and range, and the frameworks that have
    it, where no dialect is given."""
    rows = dialect.dtypes if dialect else DTYPES
    cells = [
        (row.name, _short(row) or "", str(row.bits), _range(row), "" if dialect else _having(row))
        for row in rows
    ]
    title = ("dtype", "short", "bits", "range", "" if dialect else "in")
    return in_groups(title, cells, [row.kind for row in rows], paint, width)


def _having(row: DType) -> str:
    """The frameworks of which a dialect has a dtype."""
    known = list(map(dialect_named, dialects()))
    every = list(dict.fromkeys(d.framework for d in known))
    return some_of(every, list(dict.fromkeys(d.framework for d in known if row in d.dtypes)))


def _short(row: DType) -> str | None:
    """The short form that the notation reads, which tables may print otherwise."""
    short = short_name(row)
    return short if short != row.name and find_dtype(short) is row else None


def _range(row: DType) -> str:
    """The least and the greatest value, for people."""
    if row.kind == "bool":
        return "False, True"
    if row.kind == "complex":
        return f"parts of {row.part}"
    if isinstance(row.max, float):
        return (
            f"+-{_number(row.max)}" if row.min < 0 else f"{_number(row.min)} to {_number(row.max)}"
        )
    if row.max < _LONG - 1:
        return f"{row.min} to {row.max}"
    power = int(row.max).bit_length()
    return f"{f'-2**{power}' if row.min else 0} to 2**{power}-1"


def _number(value: float) -> str:
    return f"{value:.6g}" if 1 <= abs(value) < _LONG else f"{value:.3g}"
