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
dialect_argument = click.argument("dialect", shell_complete=complete_dialects)


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
