"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

HOW_TO_CHOOSE = "Name one, or set `dialect` in [tool.castwise] of pyproject.toml."
Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
output_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to this file.",
)


def dialect_argument(command: Command) -> Command:
    """The dialect that a command is about; without one, that of the settings."""
    return click.argument("dialect", required=False, callback=_or_chosen)(command)


def _or_chosen(ctx: click.Context, parameter: click.Parameter, given: str | None) -> str:
    found = given if given is not None else chosen_here()
    if found is None:
        raise click.MissingParameter(HOW_TO_CHOOSE, ctx, parameter, "'DIALECT'")
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
