"""The command that looks at what is installed."""

from __future__ import annotations

from pathlib import Path

import click

from castwise.cli.options import json_option
from castwise.cli.statuses import DONE, FOUND
from castwise.report.terminal.colour import paint_for_stdout
from castwise.report.terminal.printing import echo_json, terminal_width


@click.command()
@json_option
def doctor(as_json: bool) -> int:
    """Show what castwise finds here, and whether something is wrong.

    Lists the installed frameworks with the dialect that each is judged by, the backends, the
    extras, the plugins and the settings. It reads what pip has noted, and imports no framework. The
    exit status is 1 if something is broken; the last lines then say what to do.

    \b
    Example:
      castwise doctor --json
    """
    from castwise.health.checkup import checkup
    from castwise.report.health import checkup_json, checkup_text

    found = checkup(Path.cwd())
    if as_json:
        echo_json(checkup_json(found))
    else:
        click.echo(checkup_text(found, paint_for_stdout(), min(terminal_width(), 100)))
    return FOUND if found.problems else DONE
