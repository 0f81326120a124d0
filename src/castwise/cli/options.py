"""The options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
output_option = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write to this file.",
)


def format_option(*names: str) -> Callable[[Command], Command]:
    """The option that chooses one of some formats."""
    return click.option(
        "--format",
        "format_",
        type=click.Choice(names),
        help="Default: chosen by the file's extension, or text.",
    )
