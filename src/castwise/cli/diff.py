"""The command that compares dialects with each other."""

from __future__ import annotations

from pathlib import Path

import click

from castwise.cli.completing import complete_dialects
from castwise.cli.options import format_option, json_option, op_option, output_option
from castwise.cli.statuses import DONE, FOUND
from castwise.errors import UsageError
from castwise.report.terminal.printing import deliver, terminal_width


@click.command()
@click.argument("first", required=False, shell_complete=complete_dialects)
@click.argument("second", required=False, shell_complete=complete_dialects)
@op_option("Compare only this op.")
@click.option("--cells", is_flag=True, help="List every reason, with all its questions.")
@click.option("--all", "is_of_all", is_flag=True, help="Compare every pair of dialects.")
@json_option
@format_option("text", "json", "csv", "md", "html", "svg", "png")
@output_option
def diff(
    first: str | None,
    second: str | None,
    op: str | None,
    cells: bool,
    is_of_all: bool,
    as_json: bool,
    format_: str | None,
    output: Path | None,
) -> int:
    """List where two dialects differ, grouped by reason.

    Asks both about arrays and 0-d arrays of the dtypes they share, about Python scalars, and about
    augmented assignments such as x += y. Without --op, skips ops that only one of them has been
    recorded for. All formats except text and html list every question. The exit status is 1 if the
    dialects differ.

    With --all, give no dialects. It shows what share of the questions each pair answers
    differently, as a triangle of numbers, or as a heat map in html, svg and png. Dialects that
    differ little are next to each other. Those that answer all questions alike, such as the
    autocast modes of a framework, are then compared on the ops where they differ.

    \b
    Examples:
      castwise diff numpy torch --op add
      castwise diff numpy@1 numpy -o numpy.csv
      castwise diff --all -o distances.svg
    """
    chosen = "json" if as_json else format_
    if is_of_all:
        if first or op or cells:
            raise UsageError("diff --all compares all dialects: give no dialect, --op or --cells.")
        return _diff_all(chosen, output)
    if first is None or second is None:
        raise UsageError("diff needs two dialects, or --all.")
    return _diff_two(first, second, op, cells, chosen, output)


def _diff_two(
    first: str, second: str, op: str | None, cells: bool, format_: str | None, output: Path | None
) -> int:
    from castwise.report.diff.diff import diff as make_diff
    from castwise.report.diff.formats import DIFF_FORMATS
    from castwise.report.diff.text import diff_text
    from castwise.rules.catalog import dialect_named

    if format_ and format_ not in DIFF_FORMATS:
        known = ", ".join(DIFF_FORMATS)
        raise UsageError(f"{format_} needs diff --all; for two dialects use one of {known}.")
    found = make_diff(dialect_named(first), dialect_named(second), op=op)
    width = min(terminal_width(), 100)
    deliver(
        found,
        DIFF_FORMATS,
        format_,
        output,
        lambda paint: diff_text(found, paint, width, shows_all=cells),
    )
    return FOUND if found.count else DONE


def _diff_all(format_: str | None, output: Path | None) -> int:
    from castwise.report.distances.distances import distances
    from castwise.report.distances.text import DISTANCE_FORMATS, distances_text
    from castwise.rules.catalog import dialects as all_dialects

    found = distances(all_dialects())
    deliver(
        found,
        DISTANCE_FORMATS,
        format_,
        output,
        lambda paint: distances_text(found, paint, min(terminal_width(), 100)),
    )
    return DONE
