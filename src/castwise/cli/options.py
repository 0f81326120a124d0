"""The options and arguments that several commands share."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from castwise.cli.completing import complete_dialects, complete_ops

Command = TypeVar("Command", bound=Callable[..., Any])
_DIALECT = re.compile(r"[\w@.:=/ -]+")  # what a dialect's name, or the path of a file, is made of

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
output_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to this file.",
)


def dialect_option(help_text: str) -> Callable[[Command], Command]:
    """The option that names a dialect."""
    return click.option(
        "-d", "--dialect", metavar="DIALECT", shell_complete=complete_dialects, help=help_text
    )


def op_option(help_text: str, *names: str, **settings: Any) -> Callable[[Command], Command]:
    """The option that names an op."""
    return click.option(
        *(names or ("--op",)), metavar="OP", shell_complete=complete_ops, help=help_text, **settings
    )


def dialect_argument(command: Command) -> Command:
    """The dialect that a command is about; without one, that of the settings."""
    return click.argument(
        "dialect", required=False, callback=_or_chosen, shell_complete=complete_dialects
    )(command)


def _or_chosen(ctx: click.Context, parameter: click.Parameter, given: str | None) -> str:
    return given if given is not None else chosen_or_missing()


def chosen_or_missing(rest: str = "") -> str:
    """The dialect of a command that names none; the error for a missing one if none is chosen.
    `rest` is what else the command line has."""
    from castwise.rules.default import DEFAULT

    found = chosen_here()
    if found is None:
        context = click.get_current_context()
        example = " ".join(filter(None, [context.command_path, DEFAULT, rest]))
        raise click.MissingParameter(
            f"Name one, as in {example}, or set `dialect` in [tool.castwise] of pyproject.toml.",
            context,
            param_hint="'DIALECT'",
            param_type="argument",
        )
    return found


def chosen_here() -> str | None:
    """The dialect of a command that names none, as CASTWISE_DIALECT or [tool.castwise] says."""
    from castwise.settings.effective import chosen_dialect  # a command that names one reads no file

    return chosen_dialect(Path.cwd())


def format_option(*names: str) -> Callable[[Command], Command]:
    """The option that chooses one of some formats."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(names),
        help="Default: chosen by the file's extension, or text.",
    )


def dialect_first(first: str, second: str) -> tuple[str, str]:
    """Two arguments, of which one is a dialect and may come second."""
    from castwise.rules.catalog import is_dialect_name

    if is_dialect_name(first):
        return first, second
    is_second = is_dialect_name(second) or not _DIALECT.fullmatch(first)
    return (second, first) if is_second else (first, second)


def missing(name: str) -> click.MissingParameter:
    """The error for an argument that is not given."""
    context = click.get_current_context()
    return click.MissingParameter(ctx=context, param_hint=f"'{name}'", param_type="argument")
