"""Printing to the terminal or a pipe, and writing to files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO, TypeVar

import click

from castwise.errors import UsageError
from castwise.report.terminal.colour import Paint, paint_for_stdout

T = TypeVar("T")


def echo_json(value: Any) -> None:
    import json  # imported late: help and text do not need it

    click.echo(json.dumps(value, indent=2 if sys.stdout.isatty() else None))


def deliver(
    made: T,
    formats: Mapping[str, Callable[[T], str | bytes]],
    format_: str | None,
    output: Path | None,
    text: Callable[[Paint], str],
) -> None:
    """Writes or prints in the requested format; `text` makes the text for the terminal."""
    chosen = format_ or (_format_of(output, formats) if output else "text")
    if output is None and chosen == "text":
        click.echo(text(paint_for_stdout()))
    elif output is None:
        _echo(formats[chosen](made))
    else:
        written = formats[chosen](made)
        output.write_bytes(written if isinstance(written, bytes) else f"{written}\n".encode())


def _format_of(output: Path, formats: Mapping[str, object]) -> str:
    """The format for a file's extension, or text if it has none."""
    ending = output.suffix.lstrip(".")
    if ending in ("", "txt"):
        return "text"
    if ending not in formats:
        raise UsageError(f"{output.name}: unknown format. Use one of {', '.join(formats)}.")
    return ending


def _echo(content: str | bytes) -> None:
    is_picture = isinstance(content, bytes)
    if is_picture and sys.stdout.isatty():
        raise UsageError("a picture cannot be printed to the terminal: write it to a file with -o.")
    click.echo(content, nl=not is_picture)


def terminal_width(stream: TextIO | None = None) -> int:
    """The width of the terminal, at least 40; 80 if there is none or its width is unknown."""
    stream = stream or sys.stdout
    if not stream.isatty():
        return 80
    said = os.environ.get("COLUMNS", "")
    columns = int(said) if said.isdigit() else os.get_terminal_size(stream.fileno()).columns
    return max(40, columns or 80)
