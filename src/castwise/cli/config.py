"""The command that shows the settings."""

from __future__ import annotations

from pathlib import Path

import click

from castwise.cli.options import json_option
from castwise.cli.statuses import DONE
from castwise.report.terminal.colour import paint_for_stdout
from castwise.report.terminal.printing import echo_json, terminal_width


@click.command()
@json_option
def config(as_json: bool) -> int:
    """Show the settings: every key of [tool.castwise], its value here, and where it comes from.

    The settings are in the nearest pyproject.toml with this table, from the working directory
    upwards. An option of a command wins over them, and CASTWISE_DIALECT over the key dialect.

    \b
    Example:
      castwise config --json
    """
    from castwise.report.settings import settings_json, settings_text
    from castwise.settings.effective import settings_of

    found = settings_of(Path.cwd())
    if as_json:
        echo_json(settings_json(found))
    else:
        click.echo(settings_text(found, paint_for_stdout(), min(terminal_width(), 100)))
    return DONE
