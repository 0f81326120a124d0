"""The command that compares a dialect with its framework."""

from __future__ import annotations

from pathlib import Path

import click

from castwise.cli.options import dialect_argument, json_option, op_option
from castwise.cli.programs import Programs, program_options, verify_programs
from castwise.cli.statuses import DONE, FOUND
from castwise.errors import UsageError
from castwise.report.terminal.colour import paint_for_stdout
from castwise.report.terminal.printing import echo_json


@click.command()
@dialect_argument
@op_option("Check only this op. Can be repeated.", "--op", "ops", multiple=True)
@program_options
@json_option
@click.option(
    "--html",
    "html_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write every answer that differs as a web page.",
)
def verify(
    dialect: str,
    ops: tuple[str, ...],
    programs: Programs | None,
    as_json: bool,
    html_file: Path | None,
) -> int:
    """Compare a dialect with the framework installed here.

    Asks the framework every question the dialect has a rule for, and lists the answers that
    differ. With --programs, runs random programs in the framework and as castwise tensors
    instead, and lists the steps that differ in dtype, shape, values, refusals or aliasing.

    The exit status is 1 if something differs and is not a known difference with a reason. It is 2
    if the framework is not installed, or if no framework follows this dialect, as for dialects
    taken from a document and for variations.

    \b
    Examples:
      castwise verify numpy --op add --op pow
      castwise verify torch --programs 60s --backend numpy
    """
    if programs is not None:
        if ops:
            raise UsageError("--op cannot be used with --programs: programs mix all ops.")
        if html_file:
            raise UsageError("--html cannot be used with --programs: use --json.")
        return verify_programs(dialect, programs, as_json=as_json)
    from castwise.compare.verify import recorder_for
    from castwise.compare.verify import verify as make_verification
    from castwise.conformance.recorder import count
    from castwise.report.terminal.progress import progress
    from castwise.report.verify.html import verification_html
    from castwise.report.verify.text import verification_json, verification_text
    from castwise.rules.catalog import dialect_named

    chosen = dialect_named(dialect)
    recorder = recorder_for(chosen, ops)
    only = ops or None
    with progress(f"Asking {recorder.name}", count(recorder, only)) as on_question:
        found = make_verification(chosen, recorder, only, on_question)
    if html_file:
        html_file.write_text(verification_html(found) + "\n", encoding="utf-8")
    if as_json:
        echo_json(verification_json(found))
    else:
        click.echo(verification_text(found, paint_for_stdout()))
    return DONE if found.agrees else FOUND
