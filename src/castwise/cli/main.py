"""The command line: each command parses, calls the library and prints a report."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from castwise.cli.options import DONE, INTERRUPTED, WRONG_USAGE
from castwise.errors import CastwiseError, NearestVersionWarning, did_you_mean
from castwise.version import __version__

# File -> the commands that it defines. It is imported only when one of them runs, and a command
# imports only the reports it prints, so that each starts fast.
_COMMANDS = {
    "answers": "config dialects doctor dtypes explain explorer lattice ops resolve table",
    "audit": "audit port",
    "comparing": "check-export diff history verify",
}
_FILES = {command: file for file, own in _COMMANDS.items() for command in own.split()}


class _Commands(click.Group):
    """A group that suggests the nearest command when it does not know the one given."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_FILES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _FILES:
            return None
        file = importlib.import_module(f"castwise.cli.{_FILES[cmd_name]}")
        command: click.Command = getattr(file, cmd_name.replace("-", "_"))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in _FILES:
            ctx.fail(f"unknown command {name!r}.{did_you_mean(name, _FILES)}")
        return super().resolve_command(ctx, args)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command and exits with its status; an error is one line on stderr."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("default", category=NearestVersionWarning)
            warnings.showwarning = _shown_in_a_line
            status = cli.main(arguments, prog_name="castwise", standalone_mode=False)
    except click.ClickException as error:
        status = _complain(_with_hint(error))
    except click.Abort:
        status = INTERRUPTED
    except CastwiseError as error:
        status = _complain(str(error))
    except OSError as error:
        status = _complain(f"{error.filename}: {error.strerror}." if error.filename else str(error))
    sys.exit(status)


def _shown_in_a_line(
    message: Warning | str, category: type[Warning], *place: Any, **more: Any
) -> None:
    """Shows a warning that is about what was typed as one line, any other as Python does."""
    if issubclass(category, NearestVersionWarning):
        click.echo(f"castwise: {message}", err=True)
    else:
        click.echo(warnings.formatwarning(message, category, *place[:2]), err=True, nl=False)


def _complain(message: str) -> int:
    click.echo(f"castwise: {message}", err=True)
    return WRONG_USAGE


def _with_hint(error: click.ClickException) -> str:
    message = error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{message} See '{context.command_path} --help'." if context else message


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> int:
    """Show every implicit cast in a program, and explain dtype promotion as each tensor
    framework does it.

    \b
    Examples:
      castwise audit train.py
      castwise explain torch "int32[3] + 5.5"
      castwise diff numpy torch --op add
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return DONE
