"""The commands that compare: dialects, releases, a framework, an exported model."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from castwise.cli.options import (
    DONE,
    FILE,
    FOUND,
    complete_dialects,
    deliver,
    dialect_argument,
    echo,
    format_option,
    json_option,
    op_option,
    options_as,
    output_option,
    page_width,
    write_text,
)
from castwise.errors import UsageError
from castwise.report.terminal import paint_for_stdout

if TYPE_CHECKING:
    from castwise.comparing.programs import Budget


@click.command()
@click.argument("first", required=False, shell_complete=complete_dialects)
@click.argument("second", required=False, shell_complete=complete_dialects)
@op_option("Compare only this op.")
@click.option("--cells", is_flag=True, help="List every reason, with all its questions.")
@click.option("--all", "is_of_all", is_flag=True, help="Compare every pair of dialects.")
@json_option
@format_option("text", "json", "csv", "md", "html", "svg", "png")
@output_option
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

    Asks both about arrays and 0-d arrays of the dtypes they share, about Python scalars, and about
    augmented assignments such as x += y. Without --op, skips ops that only one of them has been
    recorded for. All formats except text and html list every question. The exit status is 1 if the
    dialects differ.

    With --all, give no dialects. It shows what share of the questions each pair answers
    differently, as a triangle of numbers, or as a heat map in html, svg and png. Dialects that
    differ little are next to each other. Those that answer all questions alike, such as the
    autocast modes of a framework, are then compared on the ops where they differ.

    \b
    Examples:
      castwise diff numpy torch --op add
      castwise diff numpy@1 numpy -o numpy.csv
      castwise diff --all -o distances.svg
    """
    chosen = "json" if as_json else format_
    if is_of_all:
        if first or op or cells:
            raise UsageError("diff --all compares all dialects: give no dialect, --op or --cells.")
        return _diff_all(chosen, output)
    if first is None or second is None:
        raise UsageError("diff needs two dialects, or --all.")
    return _diff_two(first, second, op, cells, chosen, output)


def _diff_two(
    first: str, second: str, op: str | None, cells: bool, format_: str | None, output: Path | None
) -> int:
    from castwise.catalog import dialect_named
    from castwise.comparing.diff import diff as make_diff
    from castwise.report.diff import DIFF_FORMATS, diff_text

    if format_ and format_ not in DIFF_FORMATS:
        known = ", ".join(DIFF_FORMATS)
        raise UsageError(f"{format_} needs diff --all; for two dialects use one of {known}.")
    found = make_diff(dialect_named(first), dialect_named(second), op=op)
    text = partial(diff_text, found, width=page_width(), shows_all=cells)
    deliver(found, DIFF_FORMATS, format_, output, text)
    return FOUND if found.count else DONE


def _diff_all(format_: str | None, output: Path | None) -> int:
    from castwise.catalog import dialects as all_dialects
    from castwise.comparing.diff import distances
    from castwise.report.diff import DISTANCE_FORMATS, distances_text

    found = distances(all_dialects())
    text = partial(distances_text, found, width=page_width())
    deliver(found, DISTANCE_FORMATS, format_, output, text)
    return DONE


@click.command()
@click.argument("framework", shell_complete=complete_dialects)
@op_option("Only changes of this op.")
@click.option("--since", metavar="VERSION", help="Only releases after this one.")
@click.option("--cells", is_flag=True, help="List every group of changes.")
@json_option
@format_option("text", "json", "md", "html")
@output_option
def history(
    framework: str,
    op: str | None,
    since: str | None,
    cells: bool,
    as_json: bool,
    format_: str | None,
    output: Path | None,
) -> int:
    """Tell what each release of a framework changed.

    Compares the recorded answers of each release with those of the one before: results of another
    dtype, calls that are accepted or refused now, kernels that came or went, new dtypes and ops.

    \b
    Examples:
      castwise history torch
      castwise history numpy --op pow
      castwise history torch --since 2.8 -o torch.html
    """
    from castwise.catalog import dialect_named
    from castwise.comparing.history import history as make_history
    from castwise.comparing.history import released_after
    from castwise.engine.ask import find_op
    from castwise.report.diff import HISTORY_FORMATS, history_text

    row = find_op(op, dialect_named(framework)).name if op else None
    found = make_history(framework, row)
    if since:
        found = released_after(found, since)
    text = partial(history_text, found, width=page_width(), shows_all=cells)
    deliver(found, HISTORY_FORMATS, "json" if as_json else format_, output, text)
    return DONE


# A dialect and the framework installed here: its answers, random programs, its compilers.

_AMOUNT = re.compile(r"(\d+)(s|m)?")
_SECONDS = {"s": 1, "m": 60}


class _Programs(NamedTuple):
    """What to run, and on which backends."""

    amount: str
    seed: int
    backends: tuple[str, ...]  # empty: every installed one


_program_options = options_as(
    "programs",
    _Programs,
    click.option(
        "--programs", "amount", metavar="60s|500",
        help="Run random programs for this long, or this many of them.",
    ),
    click.option(
        "--seed", type=int, default=0, show_default=True, help="The seed of programs and values.",
    ),
    click.option(
        "--backend", "backends", multiple=True, metavar="NAME",
        help="The backend that runs the programs. Default: every installed one.",
    ),
)  # fmt: skip


def _verify_programs(dialect: str, programs: _Programs, *, as_json: bool) -> int:
    """Runs the programs, prints what they found and returns the command's exit status."""
    from castwise.catalog import dialect_named
    from castwise.comparing.programs import check_programs, speaker_for
    from castwise.progress import progress_to
    from castwise.report.verify import checked_json, checked_text

    budget = _parse_budget(programs.amount)
    chosen = dialect_named(dialect)
    speaker = speaker_for(chosen)
    backends = programs.backends or _installed_backends()
    with progress_to(f"Running programs in {speaker.name}", budget.total) as on_progress:
        found = check_programs(chosen, speaker, backends, budget, programs.seed, on_progress)
    echo(checked_json(found) if as_json else checked_text(found, paint_for_stdout()))
    return int(bool(found.unlisted))


def _parse_budget(amount: str) -> Budget:
    """How many programs, or for how long.

    >>> _parse_budget("2m")
    Budget(programs=None, seconds=120)

    Raises UsageError if it is neither.
    """
    from castwise.comparing.programs import Budget

    read = _AMOUNT.fullmatch(amount)
    if read is None or not int(read[1]):
        raise UsageError(f"--programs takes a time (60s, 5m) or a count (500), not {amount!r}.")
    number, unit = int(read[1]), read[2]
    return Budget(seconds=number * _SECONDS[unit]) if unit else Budget(programs=number)


def _installed_backends() -> tuple[str, ...]:
    """The backends whose libraries are installed here."""
    from castwise.arrays.backends import EAGER, backend_named

    found = []
    for name in EAGER:
        try:
            backend_named(name)
        except UsageError:
            continue
        found.append(name)
    return tuple(found)


@click.command()
@dialect_argument
@op_option("Check only this op. Can be repeated.", "--op", "ops", multiple=True)
@_program_options
@json_option
@click.option(
    "--html", "html_file", type=FILE, metavar="FILE",
    help="Write every answer that differs as a web page.",
)  # fmt: skip
@click.option(
    "--through", metavar="NAME",
    help="Compare the framework with itself through one of its compilers, exporters or batchers,"
    " over several devices, or through your own module:function. A wrong name lists them.",
)  # fmt: skip
@click.option(
    "--sample", type=click.IntRange(min=1), metavar="N",
    help="With --through or --values, ask at most N questions of each op and form.",
)  # fmt: skip
@click.option(
    "--values", is_flag=True,
    help="Replay what is decided by value: cast by hand as told, and compare bits. With --through,"
    " compare the bits of results too, also of short chains of ops.",
)  # fmt: skip
def verify(
    dialect: str,
    ops: tuple[str, ...],
    programs: _Programs,
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

    With --values alone, replays decisions by value: casts the operands by hand as the decision
    tells, runs the same op on those and compares the bits of the results. It also shows by a value
    that an operand without a cast is not cast, and checks the compute dtype by wider arithmetic.
    What differs is listed by class, with lines to paste.

    The exit status is 1 if something differs and is not a known difference with a reason. It is 2
    if the framework is not installed, or if no framework follows this dialect, as for dialects
    taken from a document and for variations.

    \b
    Examples:
      castwise verify numpy --op add --op pow
      castwise verify torch --programs 60s --backend numpy
      castwise verify torch --values --op mul --sample 100
      castwise verify torch --through torch.compile --sample 20
      castwise verify jax --through jit --op pow
      castwise verify numpy --through dask:cluster --sample 10
      castwise verify torch --through torch.compile --values --op mul --sample 10
      castwise verify torch --through onnx:onnxruntime --sample 4
      castwise verify torch --through mycompiler:compile --json
    """
    is_replay = values and not through
    if not programs.amount and (programs.backends or (programs.seed and not is_replay)):
        raise UsageError("--seed and --backend need --programs: add --programs 60s.")
    if sample and not (through or values):
        raise UsageError("--sample needs --through or --values: else every question is asked.")
    if is_replay:
        if programs.amount or html_file:
            raise UsageError("--values cannot be used with --programs or --html: use --json.")
        return _verify_values(dialect, ops, sample, programs.seed, as_json)
    if through:
        if programs.amount:
            raise UsageError("--through cannot be used with --programs: choose one.")
        return _verify_through(dialect, through, ops, sample, values, as_json, html_file)
    if programs.amount:
        if ops:
            raise UsageError("--op cannot be used with --programs: programs mix all ops.")
        if html_file:
            raise UsageError("--html cannot be used with --programs: use --json.")
        return _verify_programs(dialect, programs, as_json=as_json)
    return _verify_dialect(dialect, ops, as_json, html_file)


def _verify_dialect(
    dialect: str, ops: tuple[str, ...], as_json: bool, html_file: Path | None
) -> int:
    from castwise.catalog import dialect_named
    from castwise.comparing.verify import recorder_for
    from castwise.comparing.verify import verify as make_verification
    from castwise.conformance.recorder import count
    from castwise.progress import progress
    from castwise.report.verify import verification_html, verification_json, verification_text

    chosen = dialect_named(dialect)
    recorder = recorder_for(chosen, ops)
    only = ops or None
    with progress(f"Asking {recorder.name}", count(recorder, only)) as on_question:
        found = make_verification(chosen, recorder, only, on_question)
    if html_file:
        write_text(html_file, verification_html(found))
    echo(verification_json(found) if as_json else verification_text(found, paint_for_stdout()))
    return DONE if found.agrees else FOUND


def _verify_through(
    dialect: str,
    through: str,
    ops: tuple[str, ...],
    sample: int | None,
    values: bool,
    as_json: bool,
    html_file: Path | None,
) -> int:
    from castwise.catalog import dialect_named
    from castwise.comparing.verify import compare_through, prepared, recorder_of_values
    from castwise.conformance.transformations import questions_through, sampled
    from castwise.progress import progress
    from castwise.report.verify import through_html, through_json, through_text

    recorder, transformation = prepared(dialect_named(dialect), through, ops)
    if values:
        recorder = of_values = recorder_of_values(recorder, transformation)
        asked = sampled(of_values.questions(ops or None), sample)
    else:
        asked = questions_through(recorder, ops or None, sample)
    with progress(f"Asking {recorder.name} through {through}", len(asked)) as on_question:
        found = compare_through(recorder, transformation, asked, on_question)
    if html_file:
        write_text(html_file, through_html(found))
    echo(through_json(found) if as_json else through_text(found, paint_for_stdout()))
    return DONE if found.agrees else FOUND


def _verify_values(
    dialect: str, ops: tuple[str, ...], sample: int | None, seed: int, as_json: bool
) -> int:
    """Replays decisions by value, prints what differs and returns the command's exit status."""
    from castwise.catalog import dialect_named
    from castwise.comparing.replay import replay, replayed_part, speaker_of
    from castwise.progress import progress
    from castwise.report.verify import replay_json, replay_text

    part, asked = replayed_part(dialect_named(dialect), ops, sample, seed)
    with progress(f"Replaying {part.dialect} in {part.framework}", len(asked)) as on_question:
        found = replay(part, asked, on_question)
    speaker = speaker_of(part)
    echo(
        replay_json(found, speaker) if as_json else replay_text(found, speaker, paint_for_stdout())
    )
    return DONE if found.agrees else FOUND


# The command that compares an exported model with the function it was made of.


@click.command("check-export")
@click.argument("model", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.argument("reference")
@click.option(
    "--dim", "dims", multiple=True, metavar="NAME=N",
    help="The size of a dimension that has a name in the model. Can be repeated.",
)  # fmt: skip
@click.option("--seed", type=int, default=0, help="The seed of the random inputs.")
@click.option(
    "--inputs", type=click.Path(path_type=Path, dir_okay=False, exists=True), metavar="FILE",
    help="Take the inputs from this .npz file, by their names, or in order.",
)  # fmt: skip
@click.option(
    "--framework", metavar="NAME",
    help="The library whose arrays the function takes. Default: the first one that the file"
    " imports.",
)  # fmt: skip
@click.option("--exact", is_flag=True, help="Compare values bit for bit.")
@json_option
def check_export(
    model: Path,
    reference: str,
    dims: tuple[str, ...],
    seed: int,
    inputs: Path | None,
    framework: str | None,
    exact: bool,
    as_json: bool,
) -> int:
    """Compare an ONNX model with the function it was exported from.

    REFERENCE is FILE.py:FUNCTION, or FILE.py:OBJECT for a callable object such as a module with
    weights. Both get the same inputs, of the dtypes and shapes that the model declares, and the
    model runs in onnxruntime. Every output is compared: dtype, shape, and values within what the
    dtype's precision allows. For a dtype that differs, the report names the first node where it
    does. All casts in the model are listed.

    The exit status is 1 if an output differs, and 2 if one of the two cannot be run.

    \b
    Examples:
      castwise check-export model.onnx model.py:forward
      castwise check-export model.onnx model.py:net --dim batch=8 --exact
      castwise check-export model.onnx model.py:net --inputs sample.npz --json
    """
    from castwise.comparing.exported import Checking, load_reference, require_runtime
    from castwise.comparing.exported import check_export as run_check
    from castwise.report.verify import export_json, export_text

    require_runtime()
    checking = Checking(dict(map(_size, dims)), seed, inputs, exact)
    found = run_check(model, load_reference(reference, framework), checking)
    echo(export_json(found) if as_json else export_text(found, paint_for_stdout()))
    return DONE if found.agrees else FOUND


def _size(text: str) -> tuple[str, int]:
    name, _, size = text.rpartition("=")
    if not name or not size.isdecimal():
        raise UsageError(f"--dim {text}: write NAME=N, such as batch=8.")
    return name, int(size)
