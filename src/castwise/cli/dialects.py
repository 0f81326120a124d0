"""The commands that show one dialect, and the one that lists them all."""

from __future__ import annotations

from pathlib import Path

import click

from castwise.cli.completing import complete_dialects_or_ops
from castwise.cli.options import (
    chosen_or_missing,
    dialect_argument,
    dialect_first,
    format_option,
    json_option,
    op_option,
    output_option,
)
from castwise.cli.statuses import DONE
from castwise.errors import UsageError
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
@click.argument("dialect", required=False, shell_complete=complete_dialects_or_ops)
@click.argument("named_op", metavar="[OP]", required=False, shell_complete=complete_dialects_or_ops)
@op_option("The op, by any of its names. Default: add.")
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
    dialect: str | None,
    named_op: str | None,
    op: str | None,
    form: str | None,
    columns: tuple[str, ...],
    format_: str | None,
    output: Path | None,
) -> int:
    """Show an op's result dtype for every pair of dtypes.

    DIALECT and OP may come in either order.

    \b
    Examples:
      castwise table torch div
      castwise table numpy --with 0-d --with scalars -o add.svg
    """
    from castwise.report.table.formats import FORMATS
    from castwise.report.table.table import table as make_table
    from castwise.report.table.text import table_text
    from castwise.rules.catalog import dialect_named

    if dialect is None or (named_op is None and _is_op(dialect)):
        dialect, named_op = chosen_or_missing(dialect or ""), dialect
    if named_op is not None:
        if op is not None:
            raise UsageError("the op is given twice: leave out --op or the argument.")
        dialect, op = dialect_first(dialect, named_op)
    made = make_table(op or "add", dialect_named(dialect), form=form, columns=columns)
    deliver(made, FORMATS, format_, output, lambda paint: table_text(made, paint, terminal_width()))
    return DONE


def _is_op(name: str) -> bool:
    from castwise.rules.catalog import is_dialect_name
    from castwise.vocab.ops import known_op

    return not is_dialect_name(name) and known_op(name) is not None


@click.command()
@dialect_argument
@format_option("text", "json", "dot", "html", "svg", "png")
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
