"""How much the dialects differ, for the terminal and as JSON, CSV and Markdown."""

from __future__ import annotations

import csv
import io
import json
import textwrap
from collections.abc import Callable, Iterator

from castwise.compare.distances import OPS, DistancesData
from castwise.report.amounts import percent
from castwise.report.distances.svg import distances_png, distances_svg
from castwise.report.markdown import markdown_row
from castwise.report.terminal.colour import Paint, plain

_EXTREMES = 3  # how many of the nearest and of the farthest pairs are named
TITLE = "How much the dialects differ: questions answered differently, in %"


def distances_text(found: DistancesData, paint: Paint = plain, width: int = 80) -> str:
    """A triangle: each row ends with its dialect's name, which also heads the column below it."""
    cells = [
        [percent(found.between(name, other).share) for other in found.dialects[:place]]
        for place, name in enumerate(found.dialects)
    ]
    room = 1 + max((len(cell) for row in cells for cell in row), default=0)
    lines = [paint(TITLE, "title"), ""]
    for name, row in zip(found.dialects, cells, strict=True):
        lines.append("".join(f"{cell:>{room - 1}} " for cell in row) + paint(name, "title"))
    lines += ["", *_extremes(found), ""]
    about = (
        "The questions are about arrays, 0-d arrays and Python scalars of the dtypes both have, in"
        f" both orders and as x += y, in these ops: {', '.join(OPS.split())}."
    )
    return "\n".join([*lines, *(paint(line, "faint") for line in textwrap.wrap(about, width))])


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
    """The matrix as comma-separated values."""
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(_matrix(found))
    return written.getvalue().rstrip("\n")


def distances_markdown(found: DistancesData) -> str:
    """The matrix in Markdown."""
    head, *rows = _matrix(found)
    rule = ["---"] + ["---:"] * len(found.dialects)
    return "\n".join(map(markdown_row, [head, rule, *rows]))


def distances_json(found: DistancesData) -> str:
    """Every pair with the number of questions and of differences."""
    return json.dumps(
        {
            "ops": OPS.split(),
            "dialects": list(found.dialects),
            "pairs": [
                {"first": a, "second": b, **found.between(a, b)._asdict(),
                 "share": round(found.between(a, b).share, 4)}
                for a, b in found.nearest_first
            ],
        }
    )  # fmt: skip


DISTANCE_FORMATS: dict[str, Callable[[DistancesData], str | bytes]] = {
    "text": distances_text,
    "json": distances_json,
    "csv": distances_csv,
    "md": distances_markdown,
    "svg": distances_svg,
    "png": distances_png,
}
