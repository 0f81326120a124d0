"""The command that tells what releases changed."""

from __future__ import annotations

from pathlib import Path

import click

from castwise.cli.completing import complete_dialects
from castwise.cli.options import format_option, json_option, op_option, output_option
from castwise.cli.statuses import DONE
from castwise.report.terminal.printing import deliver, terminal_width


@click.command()
@click.argument("framework", shell_complete=complete_dialects)
@op_option("Only changes of this op.")
@click.option("--since", metavar="VERSION", help="Only releases after this one.")
@click.option("--cells", is_flag=True, help="List every group of changes.")
@json_option
@format_option("text", "json", "md", "html")
@output_option
def history(
    framework: str,
    op: str | None,
    since: str | None,
    cells: bool,
    as_json: bool,
    format_: str | None,
    output: Path | None,
) -> int:
    """Tell what each release of a framework changed.

    Compares the recorded answers of each release with those of the one before: results of another
    dtype, calls that are taken or refused now, kernels that came or went, new dtypes and ops.

    \b
    Examples:
      castwise history torch
      castwise history numpy --op pow
      castwise history torch --since 2.8 -o torch.html
    """
    from castwise.compare.history import history as made
    from castwise.compare.history import released_after
    from castwise.engine.op_names import find_op
    from castwise.report.history.formats import HISTORY_FORMATS
    from castwise.report.history.text import history_text
    from castwise.rules.catalog import dialect_named

    row = find_op(op, dialect_named(framework)).name if op else None
    found = made(framework, row)
    if since:
        found = released_after(found, since)
    deliver(
        found,
        HISTORY_FORMATS,
        "json" if as_json else format_,
        output,
        lambda paint: history_text(found, paint, min(terminal_width(), 100), shows_all=cells),
    )
    return DONE
