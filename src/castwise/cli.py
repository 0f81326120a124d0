"""The command line: each command parses, calls the library and prints a report."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from castwise import __version__
from castwise.cli_audit import audit
from castwise.cli_port import port
from castwise.cli_programs import Programs, program_options, verify_programs
from castwise.errors import CastwiseError, UsageError, did_you_mean
from castwise.report.terminal.colour import paint_for_stdout
from castwise.report.terminal.printing import deliver, echo_json, terminal_width

# Reports are imported by the command that prints them, so that each starts fast.

_DONE = 0
_FOUND = 1  # a refusal, a difference, drift, a malformed line
_WRONG_USAGE = 2
_INTERRUPTED = 130

Command = TypeVar("Command", bound=Callable[..., Any])

_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_output = click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE"
)


def _format(*names: str) -> Callable[[Command], Command]:
    return click.option(
        "--format",
        "format_",
        type=click.Choice(names),
        help="By default that of the file's ending, or text.",
    )


class _Commands(click.Group):
    """A group that names the nearest command where one is unknown."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name, known = args[0], self.list_commands(ctx)
        if name not in known:
            ctx.fail(f"unknown command {name!r}.{did_you_mean(name, known)}")
        return super().resolve_command(ctx, args)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command and exits with its status; an error is one line on stderr."""
    try:
        status = cli.main(arguments, prog_name="castwise", standalone_mode=False)
    except click.ClickException as error:
        status = _complain(_with_hint(error))
    except click.Abort:
        status = _INTERRUPTED
    except CastwiseError as error:
        status = _complain(str(error))
    except OSError as error:
        status = _complain(f"{error.filename}: {error.strerror}." if error.filename else str(error))
    sys.exit(status)


def _complain(message: str) -> int:
    click.echo(f"castwise: {message}", err=True)
    return _WRONG_USAGE


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
    """Shows every implicit cast in a program, and explains dtype promotion as each tensor
    framework does it.

    \b
    Examples:
      castwise audit train.py
      castwise explain torch "int32[3] + 5.5"
      castwise diff numpy torch --op add
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
    return _DONE


@cli.command(context_settings={"ignore_unknown_options": True})  # "-int32[3]" is no option
@click.argument("dialect")
@click.argument("expression")
@_json
def explain(dialect: str, expression: str, as_json: bool) -> int:
    """Tell how a dialect comes to a result, step by step.

    EXPRESSION is a call or one operator. The exit status is 1 where the dialect refuses.

    \b
    Examples:
      castwise explain torch "add(int32[3], 5.5)"
      castwise explain numpy "uint8[3] + 300"
    """
    from castwise.engine.ask import question_in
    from castwise.report.answers.explanation import explained, explanation_json, explanation_text

    found = explained(question_in(expression, dialect))
    if as_json:
        echo_json(explanation_json(found))
    else:
        click.echo(explanation_text(found, paint_for_stdout(), min(terminal_width(), 100)))
    return _FOUND if found.is_refused else _DONE


@cli.command()
@click.option("--dialect", metavar="DIALECT", help="The dialect of lines that name none.")
def resolve(dialect: str | None) -> int:
    """Answer questions, a line of JSON each, from stdin.

    Each line of stdin is an object, answered by one line on stdout, in order. It has op and
    args, and may have dialect, form ("operator", "function" or "augmented", which is x += y),
    inplace, out (a dtype), alpha and what else a call gives by name: dtype, casting, where,
    initial, rounding_mode, value, delta. Blank lines are skipped. A line that makes no sense is
    answered with a UsageError, the others go on; the exit status is then 1.

    \b
    Example:
      echo '{"op": "add", "args": ["int32[3]", 5.5]}' | castwise resolve --dialect torch
    """
    from castwise.report.answers.json_lines import answer_stream
    from castwise.report.answers.two_processes import TwoProcesses
    from castwise.rules.catalog import dialect_named

    if dialect is not None:
        dialect_named(dialect)  # an unknown one is wrong usage, not an error on every line
    answer = TwoProcesses(dialect).answer_lines
    is_well_formed = answer_stream(sys.stdin.buffer, sys.stdout.buffer, answer)
    return _DONE if is_well_formed else _FOUND


@cli.command()
@click.argument("dialect")
@click.option("--op", default="add", show_default=True, help="The op; any name the dialect has.")
@click.option(
    "--form", type=click.Choice(["operator", "function", "augmented"]), help="How it is called."
)
@click.option(
    "--with",
    "columns",
    type=click.Choice(["arrays", "0-d", "scalars"]),
    multiple=True,
    default=("arrays", "scalars"),
    show_default=True,
    help="What stands in the columns; may be repeated.",
)
@_format("text", "md", "csv", "json", "html", "svg", "png")
@_output
def table(
    dialect: str,
    op: str,
    form: str | None,
    columns: tuple[str, ...],
    format_: str | None,
    output: Path | None,
) -> int:
    """Show what an op gives for every dtype with every dtype.

    \b
    Examples:
      castwise table torch --op div
      castwise table numpy --with 0-d --with scalars -o add.svg
    """
    from castwise.report.table.formats import FORMATS
    from castwise.report.table.table import table as make_table
    from castwise.report.table.text import table_text

    made = make_table(op, dialect, form=form, columns=columns)
    deliver(made, FORMATS, format_, output, lambda paint: table_text(made, paint, terminal_width()))
    return _DONE


@cli.command()
@click.argument("dialect")
@_format("text", "json", "dot", "svg", "png")
@_output
def lattice(dialect: str, format_: str | None, output: Path | None) -> int:
    """Show which dtype becomes which: as text, or as a picture.

    \b
    Examples:
      castwise lattice numpy
      castwise lattice torch -o torch.svg
    """
    from castwise.report.lattice.lattice import lattice as make_lattice
    from castwise.report.lattice.text import LATTICE_FORMATS, lattice_text

    made = make_lattice(dialect)
    width = min(terminal_width(), 100)
    deliver(made, LATTICE_FORMATS, format_, output, lambda paint: lattice_text(made, paint, width))
    return _DONE


@cli.command()
@click.argument("first", required=False)
@click.argument("second", required=False)
@click.option("--op", help="Only this op.")
@click.option("--cells", is_flag=True, help="List every reason, and every question below it.")
@click.option("--all", "is_of_all", is_flag=True, help="How far each dialect is from each.")
@_json
@_format("text", "json", "csv", "md", "svg", "png")
@_output
def diff(
    first: str | None,
    second: str | None,
    op: str | None,
    cells: bool,
    is_of_all: bool,
    as_json: bool,
    format_: str | None,
    output: Path | None,
) -> int:
    """List where two dialects differ, grouped by reason.

    Asks about arrays and 0-d arrays of the dtypes both have, about Python scalars, and about
    arithmetic such as x += y. Without --op, ops that are recorded of only one are left out. The
    exit status is 1 where they differ. All formats but text list every question.

    With --all, no dialects are named: it shows what share of the questions each pair of them
    answers differently, as a triangle of numbers, or as a heat map in svg and png.

    \b
    Examples:
      castwise diff numpy torch --op add
      castwise diff numpy@1 numpy -o numpy.csv
      castwise diff --all -o distances.svg
    """
    chosen = "json" if as_json else format_
    if is_of_all:
        if first or op or cells:
            raise UsageError("diff --all is of all dialects and its own ops: name none of either.")
        return _diff_all(chosen, output)
    if first is None or second is None:
        raise UsageError("diff wants two dialects, or --all.")
    return _diff_two(first, second, op, cells, chosen, output)


def _diff_two(
    first: str, second: str, op: str | None, cells: bool, format_: str | None, output: Path | None
) -> int:
    from castwise.compare.diff import count
    from castwise.report.diff.diff import diff as make_diff
    from castwise.report.diff.formats import DIFF_FORMATS
    from castwise.report.diff.text import diff_text
    from castwise.report.terminal.progress import progress
    from castwise.rules.catalog import dialect_named

    if format_ and format_ not in DIFF_FORMATS:
        raise UsageError(f"{format_} is for diff --all; two dialects: {', '.join(DIFF_FORMATS)}.")
    total = count(dialect_named(first), dialect_named(second), op)
    with progress(f"{first} and {second}", total) as on_question:
        found = make_diff(first, second, op=op, on_question=on_question)
    width = min(terminal_width(), 100)
    deliver(
        found,
        DIFF_FORMATS,
        format_,
        output,
        lambda paint: diff_text(found, paint, width, shows_all=cells),
    )
    return _FOUND if found.count else _DONE


def _diff_all(format_: str | None, output: Path | None) -> int:
    from castwise.compare.distances import count
    from castwise.report.distances.distances import distances
    from castwise.report.distances.text import DISTANCE_FORMATS, distances_text
    from castwise.report.terminal.progress import progress
    from castwise.rules.catalog import dialects as all_dialects

    names = all_dialects()
    with progress("Asking all dialects", count(names)) as on_question:
        found = distances(names, on_question)
    deliver(
        found,
        DISTANCE_FORMATS,
        format_,
        output,
        lambda paint: distances_text(found, paint, min(terminal_width(), 100)),
    )
    return _DONE


@cli.command()
@_json
def dialects(as_json: bool) -> int:
    """List the dialects, with their version and evidence.

    \b
    Example:
      castwise dialects --json
    """
    from castwise.report.dialect_list import dialects_json, dialects_text

    if as_json:
        echo_json(dialects_json())
    else:
        click.echo(dialects_text(paint_for_stdout(), min(terminal_width(), 120)))
    return _DONE


@cli.command()
@click.argument("dialect")
@click.option("--op", "ops", multiple=True, help="Only this op; may be repeated.")
@program_options
@_json
def verify(dialect: str, ops: tuple[str, ...], programs: Programs | None, as_json: bool) -> int:
    """Compare a dialect with the framework installed here.

    Asks the framework everything the dialect claims to know and lists the drift. With
    --programs, runs random programs in the framework and as tensors instead, and lists the
    steps that differ in dtype, shape, values, refusals or aliasing. The exit status is 1 where
    something differs that is not listed with a reason, 2 where the framework is not installed or
    none speaks the dialect: one that comes from a document, or a variation.

    \b
    Examples:
      castwise verify numpy --op add --op pow
      castwise verify torch --programs 60s --backend numpy
    """
    if programs is not None:
        if ops:
            raise UsageError("--op limits the questions; programs mix all ops: leave it away.")
        return verify_programs(dialect, programs, as_json=as_json)
    from castwise.compare.verify import recorder_for
    from castwise.compare.verify import verify as make_verification
    from castwise.conformance.recorder import count
    from castwise.report.terminal.progress import progress
    from castwise.report.verify.text import verification_json, verification_text
    from castwise.rules.catalog import dialect_named

    spoken = dialect_named(dialect)
    recorder = recorder_for(spoken, ops)
    asked = ops or None
    with progress(f"Asking {recorder.name}", count(recorder, asked)) as on_question:
        found = make_verification(spoken, recorder, asked, on_question)
    if as_json:
        echo_json(verification_json(found))
    else:
        click.echo(verification_text(found, paint_for_stdout()))
    return _DONE if found.agrees else _FOUND


cli.add_command(audit)
cli.add_command(port)
