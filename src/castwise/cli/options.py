"""What several commands share: options, arguments, exit statuses, and how a result is printed."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

from castwise.errors import UsageError
from castwise.report.terminal import Paint, paint_for_stdout, terminal_width

# What the shell completes: the names of dialects and of ops.

Completions = list[CompletionItem]


def complete_dialects(ctx: click.Context, param: click.Parameter, incomplete: str) -> Completions:
    """The dialects whose names begin so, with what each is."""
    from castwise.catalog import dialect_abouts, other_names

    known = {name: about.partition(":")[0] for name, about in dialect_abouts().items()}
    others = {name: framework for name, framework in other_names().items() if name != framework}
    return [
        CompletionItem(name, help=about)
        for name, about in {**known, **others}.items()
        if name.startswith(incomplete)
    ]


def complete_ops(ctx: click.Context, param: click.Parameter, incomplete: str) -> Completions:
    """The ops whose names begin so, with the family of each."""
    from castwise.vocab.ops import op, ops

    return [
        CompletionItem(name, help=op(name).family) for name in ops() if name.startswith(incomplete)
    ]


def complete_dialects_or_ops(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> Completions:
    """Both, where either may come first."""
    return [*complete_dialects(ctx, param, incomplete), *complete_ops(ctx, param, incomplete)]


# Options and arguments.

Command = TypeVar("Command", bound=Callable[..., Any])
_DIALECT = re.compile(r"[\w@.:=/ -]+")  # what a dialect's name, or the path of a file, is made of

FILE = click.Path(path_type=Path, dir_okay=False)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
output_option = click.option(
    "-o", "--output", type=FILE, metavar="FILE", help="Write to this file."
)


def options_as(
    name: str, record: Any, *options: Callable[[Any], Any]
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Adds options to a command, which gets their values as one argument of this name: a record
    whose fields are named as the options are."""

    def with_options(command: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(command)
        def collected(**given: Any) -> int:
            values = {field: given.pop(field) for field in record._fields}
            return command(**{name: record(**values)}, **given)

        for option in reversed(options):
            collected = option(collected)
        return collected

    return with_options


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
        "dialect",
        required=False,
        callback=lambda ctx, parameter, given: chosen_or_missing() if given is None else given,
        shell_complete=complete_dialects,
    )(command)


def chosen_or_missing(rest: str = "") -> str:
    """The dialect of a command that names none; the error for a missing one if none is chosen.
    `rest` is what else the command line has."""
    from castwise.catalog import DEFAULT

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
    from castwise.settings import command_dialect  # a command that names one reads no file

    return command_dialect(Path.cwd())


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
    from castwise.catalog import is_dialect_name

    if is_dialect_name(first):
        return first, second
    is_second = is_dialect_name(second) or not _DIALECT.fullmatch(first)
    return (second, first) if is_second else (first, second)


def missing(name: str) -> click.MissingParameter:
    """The error for an argument that is not given."""
    context = click.get_current_context()
    return click.MissingParameter(ctx=context, param_hint=f"'{name}'", param_type="argument")


# The exit statuses of the command line.

DONE = 0
FOUND = 1  # a refusal, a difference, drift, a malformed line
WRONG_USAGE = 2
INTERRUPTED = 130


# How a result is printed, or written to a file.

T = TypeVar("T")


def page_width(most: int = 100) -> int:
    """The width of a page of text: that of the terminal, but no more than a line can be read."""
    return min(terminal_width(), most)


def echo(result: dict[str, Any] | list[Any] | str) -> None:
    """Prints a result: a text, or JSON, indented where a person reads it."""
    import json  # help and text do not need it

    is_text = isinstance(result, str)
    click.echo(result if is_text else json.dumps(result, indent=2 if sys.stdout.isatty() else None))


def write_text(file: Path, text: str) -> None:
    """Writes a file that ends with its line."""
    file.write_text(f"{text}\n", encoding="utf-8")


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
        _echo_format(formats[chosen](made))
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


def _echo_format(content: str | bytes) -> None:
    is_picture = isinstance(content, bytes)
    if is_picture and sys.stdout.isatty():
        raise UsageError("a picture cannot be printed to the terminal: write it to a file with -o.")
    click.echo(content, nl=not is_picture)
