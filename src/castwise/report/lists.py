"""The list of dialects, `castwise dialects`, and one of them."""

from __future__ import annotations

import re
import textwrap
from html import escape
from typing import Any

from castwise.catalog.dialects import dialect_named, dialects, layers
from castwise.report.page import card, dtype_html, faint, paragraph
from castwise.report.table import short_name
from castwise.report.terminal import Paint, in_groups, plain, some_of
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DTYPES, DType, find_dtype
from castwise.vocab.ops import ARBITRARY, Op, op, ops


def dialects_json() -> list[dict[str, Any]]:
    """Every dialect with its facts, and then those that are recorded as differences from others."""
    return [
        {
            "name": dialect.name,
            "version": dialect.version,
            "about": dialect.about,
            "evidence": dialect.evidence.source,
            "dtypes": [dtype.name for dtype in dialect.dtypes],
        }
        for dialect in map(dialect_named, (*dialects(), *layers()))
    ]


def dialects_text(paint: Paint = plain, width: int = 80) -> str:
    """One row per dialect: its name, its version, what it is and the evidence for it; then the
    releases and modes that are recorded as differences from them."""
    rows = _rows([dialect_named(name) for name in dialects()], paint, width)
    return "\n".join([rows, "", *_layer_lines(paint, width)])


def _layer_lines(paint: Paint, width: int) -> list[str]:
    """The names of the layers, a paragraph for each framework."""
    names: dict[str, list[str]] = {}
    for layer in layers().values():
        names.setdefault(layer.framework, []).append(layer.name)
    lines = [paint("Recorded as differences from these", "title")]
    for framework in sorted(names):
        listed = ", ".join(sorted(names[framework], key=_order))
        lines += textwrap.wrap(listed, width, initial_indent="  ", subsequent_indent="  ")
    return lines


def _order(name: str) -> tuple[bool, list[int], str]:
    """Releases by their numbers, then modes."""
    return ":" in name, list(map(int, re.findall(r"\d+", name.partition(":")[0]))), name


def dialect_text(dialect: Dialect) -> str:
    """A dialect as in the list of them all."""
    return _rows([dialect], plain, 80)


def dialect_card(dialect: Dialect) -> str:
    """A dialect in a notebook, with its dtypes."""
    version = f' <span class="faint">version {escape(dialect.version)}</span>'
    return card(
        f"{escape(dialect.name)}{version * bool(dialect.version)}",
        paragraph(dialect.about),
        f"<p>{' '.join(map(dtype_html, dialect.dtypes))}</p>",
        faint(f"Evidence: {dialect.evidence.source}."),
    )


def _rows(shown: list[Dialect], paint: Paint, width: int) -> str:
    names = max(len(dialect.name) for dialect in shown) + 2
    versions = max(len(dialect.version) for dialect in shown) + 2
    margin = names + versions
    room = max(width - margin, 30)  # names of variations may be long
    lines = []
    for dialect in shown:
        head = paint(dialect.name.ljust(names), "title") + dialect.version.ljust(versions)
        about, *more = textwrap.wrap(dialect.about, room) or [""]
        lines += [head + about, *(" " * margin + line for line in more)]
        for line in textwrap.wrap(f"Evidence: {dialect.evidence.source}.", room):
            lines.append(" " * margin + paint(line, "faint"))
    return "\n".join(lines)


# The list of dtypes: `castwise dtypes`.

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


# The list of ops: `castwise ops`.


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
        for row in _op_rows(dialect)
    ]


def ops_text(dialect: Dialect | None = None, paint: Paint = plain, width: int = 80) -> str:
    """A line per op, by family: its name, symbol and operands, and either its other names in a
    dialect, or the frameworks that have it."""
    rows = _op_rows(dialect)
    last = f"also called, in {dialect.name}" if dialect else "recorded from"
    cells = [
        (row.name, row.symbol or "", _operands(row),
         " ".join(_aliases(dialect, row)) if dialect else _ops_having(row))
        for row in rows
    ]  # fmt: skip
    title = ("op", "symbol", "operands", last)
    return in_groups(title, cells, [row.family for row in rows], paint, width)


def _op_rows(dialect: Dialect | None) -> list[Op]:
    return [row for row in map(op, ops()) if dialect is None or row.name not in dialect.unrecorded]


def _ops_having(row: Op) -> str:
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
