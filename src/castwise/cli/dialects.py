"""The commands that show one dialect, and the one that lists them all."""

from __future__ import annotations

from pathlib import Path

import click

from castwise.cli.options import dialect_argument, format_option, json_option, output_option
from castwise.cli.statuses import DONE
from castwise.report.terminal.colour import paint_for_stdout
from castwise.report.terminal.printing import deliver, echo_json, terminal_width


@click.command()
@json_option
def dialects(as_json: bool) -> int:
    """List the dialects, with their version and evidence.

    \b
    Example:
      castwise dialects --json
    """
    from castwise.report.dialect_list import dialects_json, dialects_text

    if as_json:
        echo_json(dialects_json())
    else:
        click.echo(dialects_text(paint_for_stdout(), min(terminal_width(), 120)))
    return DONE


@click.command()
@dialect_argument
@click.option("--op", default="add", show_default=True, help="The op, by any of its names.")
@click.option(
    "--form", type=click.Choice(["operator", "function", "augmented"]), help="How the op is called."
)
@click.option(
    "--with",
    "columns",
    type=click.Choice(["arrays", "0-d", "scalars"]),
    multiple=True,
    default=("arrays", "scalars"),
    show_default=True,
    help="What the columns show. Can be repeated.",
)
@format_option("text", "md", "csv", "json", "html", "svg", "png")
@output_option
def table(
    dialect: str,
    op: str,
    form: str | None,
    columns: tuple[str, ...],
    format_: str | None,
    output: Path | None,
) -> int:
    """Show an op's result dtype for every pair of dtypes.

    \b
    Examples:
      castwise table torch --op div
      castwise table numpy --with 0-d --with scalars -o add.svg
    """
    from castwise.report.table.formats import FORMATS
    from castwise.report.table.table import table as make_table
    from castwise.report.table.text import table_text

    made = make_table(op, dialect, form=form, columns=columns)
    deliver(made, FORMATS, format_, output, lambda paint: table_text(made, paint, terminal_width()))
    return DONE


@click.command()
@dialect_argument
@format_option("text", "json", "dot", "svg", "png")
@output_option
def lattice(dialect: str, format_: str | None, output: Path | None) -> int:
    """Show which dtypes promote to which, as text or as a picture.

    \b
    Examples:
      castwise lattice numpy
      castwise lattice torch -o torch.svg
    """
    from castwise.report.lattice.lattice import lattice as make_lattice
    from castwise.report.lattice.text import LATTICE_FORMATS, lattice_text

    made = make_lattice(dialect)
    width = min(terminal_width(), 100)
    deliver(made, LATTICE_FORMATS, format_, output, lambda paint: lattice_text(made, paint, width))
    return DONE
