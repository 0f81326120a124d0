"""How much the dialects differ, for the terminal and as JSON, CSV and Markdown."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Callable, Iterator
from typing import Any

from castwise.compare.distances import DistancesData
from castwise.report.amounts import percent
from castwise.report.distances.html import distances_html
from castwise.report.distances.svg import CLOSER, TITLE, distances_png, distances_svg
from castwise.report.markdown import markdown_row
from castwise.report.terminal.colour import Paint, plain

_EXTREMES = 3  # how many of the nearest and of the farthest pairs are named


def distances_text(found: DistancesData, paint: Paint = plain, width: int = 80) -> str:
    """A triangle: each row ends with its dialect's name, which also heads the column below it.

    Dialects that the ops do not tell apart have another triangle, in the ops where they differ.
    """
    lines = [
        paint(f"{TITLE}: questions answered differently, in %", "title"),
        "",
        *_triangle(found, paint),
        "",
        *_extremes(found),
        "",
    ]
    about = (
        "The questions are about arrays, 0-d arrays and Python scalars of the dtypes both have, in"
        f" both orders and as x += y, in these ops: {', '.join(found.ops)}. Dialects that differ"
        " little are next to each other."
    )
    lines += [paint(line, "faint") for line in textwrap.wrap(about, width)]
    for group in found.closer:
        ops = f"The ops: {', '.join(group.ops)}."
        lines += ["", paint(CLOSER, "title"), "", *_triangle(group, paint), ""]
        lines += [paint(line, "faint") for line in textwrap.wrap(ops, width)]
    return "\n".join(lines)


def _triangle(found: DistancesData, paint: Paint) -> Iterator[str]:
    cells = [
        [percent(found.between(name, other).share) for other in found.dialects[:place]]
        for place, name in enumerate(found.dialects)
    ]
    room = max((len(cell) for row in cells for cell in row), default=0)
    for name, row in zip(found.dialects, cells, strict=True):
        yield "".join(f"{cell:>{room}} " for cell in row) + paint(name, "title")


def _extremes(found: DistancesData) -> Iterator[str]:
    """The nearest and the farthest pairs, one line each."""
    pairs = found.nearest_first
    for word, named in (("Nearest", pairs[:_EXTREMES]), ("Farthest", pairs[: -_EXTREMES - 1 : -1])):
        yield f"{word}:"
        for a, b in named:
            yield f"  {100 * found.between(a, b).share:5.1f} %  {a} and {b}"


def _matrix(found: DistancesData) -> Iterator[list[str]]:
    """The whole matrix with a header row, in % with one decimal."""
    yield ["differ, %", *found.dialects]
    for name in found.dialects:
        shares = [
            0.0 if other == name else found.between(name, other).share for other in found.dialects
        ]
        yield [name, *(f"{100 * share:.1f}" for share in shares)]


def distances_csv(found: DistancesData) -> str:
    """The matrix as comma-separated values; it is one table, of all dialects."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(_matrix(found))
    return written.getvalue().rstrip("\n")


def distances_markdown(found: DistancesData) -> str:
    """The matrix in Markdown, and those of dialects that its ops do not tell apart."""
    tables = []
    for data in (found, *found.closer):
        head, *rows = _matrix(data)
        rule = ["---"] + ["---:"] * len(data.dialects)
        tables.append("\n".join(map(markdown_row, [head, rule, *rows])))
    return "\n\n".join(tables)


def distances_json(found: DistancesData) -> str:
    """Every pair with the number of questions and of differences."""
    return json.dumps({**_as_json(found), "closer": [_as_json(group) for group in found.closer]})


def _as_json(found: DistancesData) -> dict[str, Any]:
    pairs = [(a, b, found.between(a, b)) for a, b in found.nearest_first]
    return {
        "ops": list(found.ops),
        "dialects": list(found.dialects),
        "pairs": [
            {"first": a, "second": b, **far._asdict(), "share": round(far.share, 4)}
            for a, b, far in pairs
        ],
    }


DISTANCE_FORMATS: dict[str, Callable[[DistancesData], str | bytes]] = {
    "text": distances_text,
    "json": distances_json,
    "csv": distances_csv,
    "md": distances_markdown,
    "html": distances_html,
    "svg": distances_svg,
    "png": distances_png,
}
