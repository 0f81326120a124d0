"""The commands that list what there is: ops and dtypes."""

from __future__ import annotations

from collections.abc import Callable

import click

from castwise.cli.completing import complete_dialects
from castwise.cli.options import dialect_option, json_option
from castwise.cli.statuses import DONE
from castwise.errors import UsageError
from castwise.report.terminal.colour import paint_for_stdout
from castwise.report.terminal.printing import echo_json, terminal_width
from castwise.rules.dialect import Dialect


def _of_a_dialect(command: Callable[..., int]) -> Callable[..., int]:
    """Adds the dialect, as an argument or as an option."""
    command = dialect_option("List only what this dialect has.")(command)
    return click.argument(
        "named", metavar="[DIALECT]", required=False, shell_complete=complete_dialects
    )(command)


@click.command()
@_of_a_dialect
@json_option
def ops(named: str | None, dialect: str | None, as_json: bool) -> int:
    """List the ops, with their symbols, operands and other names.

    With a dialect, lists the ops that were recorded of its framework, and what they are called
    there.

    \b
    Examples:
      castwise ops
      castwise ops --dialect torch --json
    """
    from castwise.report.op_list import ops_json, ops_text

    chosen = _chosen(named, dialect)
    if as_json:
        echo_json(ops_json(chosen))
    else:
        click.echo(ops_text(chosen, paint_for_stdout(), min(terminal_width(), 120)))
    return DONE


@click.command()
@_of_a_dialect
@json_option
def dtypes(named: str | None, dialect: str | None, as_json: bool) -> int:
    """List the dtypes, with their short forms, bits and ranges.

    \b
    Examples:
      castwise dtypes
      castwise dtypes --dialect array-api --json
    """
    from castwise.report.dtype_list import dtypes_json, dtypes_text

    chosen = _chosen(named, dialect)
    if as_json:
        echo_json(dtypes_json(chosen))
    else:
        click.echo(dtypes_text(chosen, paint_for_stdout(), min(terminal_width(), 120)))
    return DONE


def _chosen(named: str | None, dialect: str | None) -> Dialect | None:
    from castwise.rules.catalog import dialect_named

    if named is not None and dialect is not None:
        raise UsageError("the dialect is given twice: leave out --dialect or the argument.")
    name = dialect if named is None else named
    return None if name is None else dialect_named(name)
