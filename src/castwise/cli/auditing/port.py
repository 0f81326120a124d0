"""The command that shows what would change for a program in another dialect."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from castwise.cli.auditing.configuration import ConfiguredCommand, no_config_option
from castwise.cli.auditing.gate import check_include, with_include
from castwise.cli.completing import complete_dialects
from castwise.report.terminal.colour import paint_for

if TYPE_CHECKING:
    from castwise.auditing.porting.port import Port

_FILE = click.Path(path_type=Path, dir_okay=False, allow_dash=True)
_PAGE = click.Path(path_type=Path, dir_okay=False)
_SAVED = ".json"


@click.command(
    cls=ConfiguredCommand,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option(
    "--from",
    "source",
    metavar="DIALECT",
    shell_complete=complete_dialects,
    help="Default: the one that ran most.",
)
@click.option(
    "--to",
    "target",
    metavar="DIALECT",
    required=True,
    shell_complete=complete_dialects,
    help="The dialect to ask.",
)
@click.option("--include", multiple=True, metavar="PACKAGE", help="Include this package too.")
@click.option("--json", "json_file", type=_FILE, metavar="FILE", help="Write JSON. `-` is stdout.")
@click.option("--html", "html_file", type=_PAGE, metavar="FILE", help="Write a web page.")
@no_config_option
@click.option("-m", "is_module", is_flag=True, help="Run PROGRAM as a module, like python -m.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def port(
    source: str | None,
    target: str,
    include: tuple[str, ...],
    json_file: Path | None,
    html_file: Path | None,
    is_module: bool,
    program: tuple[str, ...],
) -> int:
    """Show what would change for a program in another dialect.

    PROGRAM is a script with its arguments, or a .json file written by `castwise audit --save`. A
    script runs as it would without castwise. For each operation it ran, the other dialect may
    answer the same, give another dtype or other values, or refuse.

    The report goes to stderr if a program runs, and to stdout otherwise. The exit status is 1 if
    something changes, and the program's own otherwise.

    \b
    Examples:
      castwise port --from torch --to paddle train.py --epochs 1
      castwise port --from numpy@1 --to numpy@2 analysis.py
      castwise audit --save seen.json train.py; castwise port --to jax seen.json
    """
    from castwise.auditing.porting.port import port_of
    from castwise.auditing.records.runs import Options
    from castwise.auditing.running.launch import run_audited
    from castwise.auditing.running.saved import load_file
    from castwise.report.port.text import port_text
    from castwise.rules.catalog import dialect_named

    for name in filter(None, (source, target)):
        dialect_named(name)  # fails for an unknown one before the program runs
    command = ("-m", *program) if is_module else program
    is_saved = not is_module and program[0].endswith(_SAVED)
    if is_saved:
        seen, status = load_file(Path(program[0])), 0
    else:
        options = Options(include, checks=True, notes_attempts=True)
        check_include(include, command)
        run = run_audited(command, options)
        seen, status = run.seen, run.status
    found = port_of(seen, target, source)
    _write(found, json_file, html_file)
    stream = sys.stdout if is_saved and str(json_file) != "-" else sys.stderr
    click.echo(port_text(found, paint_for(stream)), file=stream)
    if status:
        click.echo(f"The program exited with status {status}. castwise did not see what it would "
                   "have done after that.", err=True)  # fmt: skip
    status = 1 if found.changes else status
    return status if is_saved else with_include(status, seen, include, command)


def _write(found: Port, json_file: Path | None, html_file: Path | None) -> None:
    """Writes the files that are wanted."""
    import json

    from castwise.report.port.html import port_html
    from castwise.report.port.json import port_json

    if json_file:
        text = json.dumps(port_json(found), indent=2)
        if str(json_file) == "-":
            click.echo(text)
        else:
            json_file.write_text(text + "\n", encoding="utf-8")
    if html_file:
        html_file.write_text(port_html(found) + "\n", encoding="utf-8")
