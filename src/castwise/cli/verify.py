"""The command that compares a dialect with its framework."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

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
@click.option(
    "--through",
    metavar="NAME",
    help="Compare the framework with itself through one of its compilers, exporters or batchers,"
    " over several devices, or through your own module:function. A wrong name lists them.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --through, ask at most N questions of each op and form.",
)
@click.option(
    "--values",
    is_flag=True,
    help="With --through, compare the bits of results too, also of short chains of ops.",
)
def verify(
    dialect: str,
    ops: tuple[str, ...],
    programs: Programs | None,
    as_json: bool,
    html_file: Path | None,
    through: str | None,
    sample: int | None,
    values: bool,
) -> int:
    """Compare a dialect with the framework installed here.

    Asks the framework every question the dialect has a rule for, and lists the answers that
    differ. With --programs, runs random programs in the framework and as castwise tensors
    instead, and lists the steps that differ in dtype, shape, values, refusals or aliasing.

    With --through, asks the framework and a function that a compiler, an exporter, a tracer or a
    batcher made of the same calls, and lists the answers that differ, with a line to paste each.
    The dialect only says which framework, and in which mode. Arrays that are spread over
    processes, devices or a cluster are also asked whether they have the dtype they declare. With
    --values, asks with operands of several values, and for two ops in a row such as (x + y) - y,
    and compares the results bit for bit: a compiler may drop the rounding between two ops.

    The exit status is 1 if something differs and is not a known difference with a reason. It is 2
    if the framework is not installed, or if no framework follows this dialect, as for dialects
    taken from a document and for variations.

    \b
    Examples:
      castwise verify numpy --op add --op pow
      castwise verify torch --programs 60s --backend numpy
      castwise verify torch --through torch.compile --sample 20
      castwise verify jax --through jit --op pow
      castwise verify numpy --through dask:cluster --sample 10
      castwise verify torch --through torch.compile --values --op mul --sample 10
      castwise verify torch --through onnx:onnxruntime --sample 4
      castwise verify torch --through mycompiler:compile --json
    """
    if sample and not through:
        raise UsageError("--sample needs --through: without it, every question is asked.")
    if values and not through:
        raise UsageError("--values needs --through: programs compare values, see --programs.")
    if through:
        if programs is not None:
            raise UsageError("--through cannot be used with --programs: choose one.")
        asking = _Asking(through, ops, sample, values)
        return _verify_through(dialect, asking, as_json, html_file)
    if programs is not None:
        if ops:
            raise UsageError("--op cannot be used with --programs: programs mix all ops.")
        if html_file:
            raise UsageError("--html cannot be used with --programs: use --json.")
        return verify_programs(dialect, programs, as_json=as_json)
    return _verify_dialect(dialect, ops, as_json, html_file)


def _verify_dialect(
    dialect: str, ops: tuple[str, ...], as_json: bool, html_file: Path | None
) -> int:
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
        _write(html_file, verification_html(found))
    _print(verification_json(found) if as_json else verification_text(found, paint_for_stdout()))
    return DONE if found.agrees else FOUND


class _Asking(NamedTuple):
    """What is asked through a transformation."""

    through: str
    ops: tuple[str, ...]
    sample: int | None
    values: bool


def _verify_through(dialect: str, asking: _Asking, as_json: bool, html_file: Path | None) -> int:
    from castwise.compare.through import compare_through, prepared, recorder_of_values
    from castwise.conformance.through.asking import questions_through, sampled
    from castwise.report.terminal.progress import progress
    from castwise.report.verify.through import through_html, through_json, through_text
    from castwise.rules.catalog import dialect_named

    recorder, transformation = prepared(dialect_named(dialect), asking.through, asking.ops)
    if asking.values:
        recorder = of_values = recorder_of_values(recorder, transformation)
        asked = sampled(of_values.questions(asking.ops or None), asking.sample)
    else:
        asked = questions_through(recorder, asking.ops or None, asking.sample)
    with progress(f"Asking {recorder.name} through {asking.through}", len(asked)) as on_question:
        found = compare_through(recorder, transformation, asked, on_question)
    if html_file:
        _write(html_file, through_html(found))
    _print(through_json(found) if as_json else through_text(found, paint_for_stdout()))
    return DONE if found.agrees else FOUND


def _write(file: Path, page: str) -> None:
    file.write_text(f"{page}\n", encoding="utf-8")


def _print(result: dict[str, Any] | str) -> None:
    """Prints a result: JSON, or text."""
    if isinstance(result, str):
        click.echo(result)
    else:
        echo_json(result)
