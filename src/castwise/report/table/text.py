"""A table as text: for the terminal, as Markdown, as comma-separated values."""

from __future__ import annotations

import csv
import io
import re
import textwrap

from castwise.compare.alike import folded_alike, lacks_kernels
from castwise.compare.outcome import Outcome
from castwise.compare.table import TableData
from castwise.engine.decision import Decision, answer_text
from castwise.report.markdown import markdown_row
from castwise.report.terminal.colour import Paint, plain
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand

REFUSED = "-"
WEAK = "*"
NO_KERNEL = "'"
_GAP = 2  # spaces before a column
MEANINGS = {
    REFUSED: "refused",
    WEAK: "weakly typed",
    NO_KERNEL: "promoted, but no kernel runs it",
}
_SHORT_STEMS = {
    "bool": "bool",
    "int": "i",
    "uint": "u",
    "float": "f",
    "bfloat": "bf",
    "complex": "c",
    "bcomplex": "bc",
}


def short_name(dtype: DType) -> str:
    """The short form of a dtype's name, for tables: the names around it show that i8 counts bits.

    >>> from castwise.vocab.dtypes import dtype
    >>> short_name(dtype("bfloat16")), short_name(dtype("float8_e4m3fn"))
    ('bf16', 'e4m3fn')
    """
    stem, _, tail = dtype.name.partition("_")
    name, bits = re.fullmatch(r"([a-z]+)(\d*)", stem).groups()  # type: ignore[union-attr]
    is_tiny = name in ("int", "uint") and int(bits) < 8  # i4 would read as int32
    return dtype.name if is_tiny else tail or _SHORT_STEMS[name] + bits


def label(operand: Operand) -> str:
    """The header of a column or a row."""
    if operand.dtype is None:
        return str(operand)
    return short_name(operand.dtype) + ("[]" if operand.is_zero_d else "")


def cell_text(outcome: Outcome) -> str:
    """The text of a cell: a short dtype with its marks, or the mark of a refusal."""
    if not isinstance(outcome, Decision):
        return REFUSED
    marks = (WEAK if outcome.is_weak else "") + ("" if outcome.has_kernel else NO_KERNEL)
    return short_name(outcome.result) + marks


def hover_text(outcome: Outcome) -> str:
    """The question and its answer on one line: what a pointer over the cell shows."""
    if not isinstance(outcome, Decision):
        return str(outcome)
    casts = [f"{cast} ({', '.join(cast.hazards) or 'exact'})" for cast in outcome.casts if cast]
    return "; ".join([answer_text(outcome), *casts, *outcome.notes])


def cell_style(outcome: Outcome) -> str:
    """The kind of the result, or "refused"."""
    return outcome.result.kind if isinstance(outcome, Decision) else "refused"


def headers(table: TableData) -> list[str]:
    """The headers of the columns."""
    return [label(operand) for group in table.columns for operand in group] or ["result"]


def column_widths(table: TableData) -> list[int]:
    """The length of the longest text in each column, including its header."""
    lines = [headers(table), *([cell_text(cell) for cell in row] for row in table.cells)]
    return [max(map(len, column)) for column in zip(*lines, strict=True)]


def marks_used(table: TableData) -> list[str]:
    """The marks used in the cells, each with its meaning."""
    used = "".join(cell_text(cell) for row in table.cells for cell in row)
    return [f"{mark} {meaning}" for mark, meaning in MEANINGS.items() if mark in used]


def alike_text(table: TableData) -> list[str]:
    """Which dtypes share a row with another in the table, one sentence per row."""
    marked = {
        row.dtype: NO_KERNEL if row.dtype and lacks_kernels(table, row.dtype) else ""
        for row in table.rows
    }
    apart = "; no two of them join" if table.op.arity[1] > 1 else ""
    _, groups = folded_alike(table)
    return [
        f"{short_name(shown)} stands for {', '.join(short_name(d) + marked[d] for d in others)}"
        f" as well{apart}."
        for shown, others in groups
    ]


def table_text(table: TableData, paint: Paint = plain, width: int = 80) -> str:
    """The table for a terminal, in as many blocks of columns as the width needs."""
    whole = table
    table, _ = folded_alike(whole)
    names = [label(row) for row in table.rows]
    margin = max(map(len, names))
    tops = headers(table)
    widths = column_widths(table)
    lines = [paint(table.title, "title")]
    for block in _blocks(table, widths, width - margin):
        lines += ["", " " * margin + "".join(f"  {tops[c]:>{widths[c]}}" for c in block)]
        for name, row in zip(names, table.cells, strict=True):
            cells = [_padded(row[c], widths[c], paint) for c in block]
            lines.append(f"{name:{margin}}" + "".join(f"  {cell}" for cell in cells))
    notes = [", ".join(marks_used(whole)), *alike_text(whole)]
    below = [line for note in notes for line in textwrap.wrap(note, width)]
    return "\n".join([*lines, "", *(paint(line, "faint") for line in below)] if below else lines)


def _padded(outcome: Outcome, width: int, paint: Paint) -> str:
    return paint(f"{cell_text(outcome):>{width}}", cell_style(outcome))


def _blocks(table: TableData, widths: list[int], room: int) -> list[list[int]]:
    """The columns in blocks that fit the width; a group starts a new block if it would be split."""
    blocks: list[list[int]] = [[]]
    columns = iter(widths)
    used = place = 0
    for group in table.columns or [(None,)]:
        needed = [_GAP + next(columns) for _ in group]
        if used + sum(needed) > room:
            blocks, used = [*blocks, []], 0
        for width in needed:
            if blocks[-1] and used + width > room:
                blocks, used = [*blocks, []], 0
            blocks[-1].append(place)
            used, place = used + width, place + 1
    return [block for block in blocks if block]


def table_markdown(table: TableData) -> str:
    """The table in Markdown, with the short forms."""
    table, _ = folded_alike(table)
    tops = headers(table)
    lines = [markdown_row([table.title, *tops]), markdown_row(["---"] + ["---:"] * len(tops))]
    for operand, row in zip(table.rows, table.cells, strict=True):
        lines.append(markdown_row([label(operand), *map(cell_text, row)]))
    return "\n".join(lines)


def table_csv(table: TableData) -> str:
    """The table as comma-separated values, with the full names in the notation."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    tops = [str(operand) for group in table.columns for operand in group] or ["result"]
    writer.writerow([table.title, *tops])
    for operand, row in zip(table.rows, table.cells, strict=True):
        writer.writerow([operand, *(_full_text(cell) for cell in row)])
    return written.getvalue().rstrip("\n")


def _full_text(outcome: Outcome) -> str:
    if not isinstance(outcome, Decision):
        return REFUSED
    return f"{outcome.result}{WEAK if outcome.is_weak else ''}"
