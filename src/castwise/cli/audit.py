"""The commands that run a program under audit: `castwise audit` and `castwise port`.

Their options come first, in groups, each with what it does around a run. The two commands are last.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.core import ParameterSource

from castwise.auditing.records import DIFFERS, LOST
from castwise.cli.options import (
    FILE,
    WRONG_USAGE,
    complete_dialects,
    complete_ops,
    options_as,
    write_text,
)
from castwise.errors import UsageError
from castwise.report.terminal import paint_for, paint_for_stdout, terminal_width
from castwise.settings import KEYS, Project, find_project

if TYPE_CHECKING:
    from castwise.auditing.origins import Audit
    from castwise.auditing.port import Port
    from castwise.auditing.records import Fix, Options, Run, Seen
    from castwise.auditing.rerun import Trial
    from castwise.auditing.suppressions import Baseline

# Defaults for a command's options, from [tool.castwise] in pyproject.toml.


class _ConfiguredCommand(click.Command):
    """A command whose options have their defaults in [tool.castwise]; the command line wins."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Reads the file first, unless --no-config or --help is given."""
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        help_option = self.get_help_option(ctx)
        is_help = help_option is not None and given.get(str(help_option.name))
        is_off = given.get("no_config") or is_help
        project = None if is_off else find_project(Path.cwd())
        if project is None:
            return super().parse_args(ctx, args)
        ctx.default_map = _defaults(self, given, project)
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            raise _with_file(error, ctx, project) from None


_no_config_option = click.option(
    "--no-config",
    is_flag=True,
    expose_value=False,
    help="Ignore [tool.castwise] in pyproject.toml.",
)


def _defaults(command: click.Command, given: Mapping[str, Any], project: Project) -> dict[str, Any]:
    """The defaults of a command's parameters, by their names. It leaves keys of others alone."""
    own = {key: v for key, v in project.values.items() if command.name in KEYS[key].commands}
    names = {opt: option.name for option in command.params for opt in option.opts}
    defaults = {str(names[f"--{key}"]): value for key, value in own.items()}
    if given.get("write_baseline"):
        defaults.pop("baseline", None)  # the file is about to be written, and may not exist yet
    return defaults


def _with_file(error: click.BadParameter, ctx: click.Context, project: Project) -> Exception:
    """An error about a value of the file names the file; one about an argument stays as it is."""
    name = error.param.name if error.param else None
    if name is None or ctx.get_parameter_source(name) is not ParameterSource.DEFAULT_MAP:
        return error
    (key,) = [key for key in project.values if f"--{key}" in error.param.opts]  # type: ignore[union-attr]
    return UsageError(f"{project.file}: {key}: {error.message}")


# Amounts of memory as a person writes them.

_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(?:([kmgt])(i?))?b?", re.IGNORECASE)
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def parse_size(text: str) -> int:
    """Bytes.

    >>> parse_size("1000"), parse_size("10kB"), parse_size("1.5 MB"), parse_size("1MiB")
    (1000, 10000, 1500000, 1048576)

    Raises ValueError if it is no size.
    """
    read = _SIZE.fullmatch(text.strip())
    if read is None:
        raise ValueError(text)
    number, unit, is_binary = read.groups(default="")
    return int(float(number) * (1024 if is_binary else 1000) ** _POWERS[unit.lower()])


class _Size(click.ParamType):  # type: ignore[type-arg]  # not generic before click 8.3
    """The type of an option that takes an amount of memory."""

    name = "size"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        try:
            return parse_size(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a size: write 1000, 10kB, 1MB or 1MiB.", param, ctx)


# Which findings count, where they are written, and which of them fail the run.


class _FindingOptions(NamedTuple):
    """The values of the options."""

    json_file: Path | None
    sarif_file: Path | None
    html_file: Path | None
    fail_on: tuple[str, ...]
    ignore: tuple[str, ...]
    baseline: Path | None
    write_baseline: Path | None
    min_bytes: int


_finding_options = options_as(
    "findings",
    _FindingOptions,
    click.option("--json", "json_file", type=FILE, metavar="FILE",
                 help="Write the findings as JSON."),
    click.option("--sarif", "sarif_file", type=FILE, metavar="FILE",
                 help="Write the findings as SARIF."),
    click.option("--html", "html_file", type=FILE, metavar="FILE",
                 help="Write the findings as a web page."),
    click.option(
        "--fail-on", multiple=True, metavar="HAZARD,...",
        help="Exit with 1 if a finding has one of these hazards; `any` means every finding "
        "that is not expected.",
    ),
    click.option(
        "--ignore", multiple=True, metavar="HAZARD,...",
        help="Accept these hazards on every line, as `# castwise: ignore[HAZARD]` does on one.",
    ),
    click.option("--baseline", type=FILE, metavar="FILE",
                 help="Leave out the findings listed in this file."),
    click.option("--write-baseline", type=FILE, metavar="FILE",
                 help="Write the findings to a file for --baseline."),
    click.option("--min-bytes", type=_Size(), default=0, metavar="SIZE",
                 help="Hide findings whose results are smaller, in all runs together: 1000, "
                 "10kB, 1MB, 1MiB. --fail-on does not count them."),
)  # fmt: skip


class _Selection(NamedTuple):
    """The same, checked before the program runs, because a run may take hours."""

    options: _FindingOptions
    with_all: bool
    hazards: tuple[str, ...]
    ignored: tuple[str, ...]
    known: Baseline | None

    def select(self, audit: Audit) -> tuple[Audit, Audit]:
        """The audit without the findings that comments and --ignore accept, then also without those
        that are expected or in the baseline, and the small ones."""
        from castwise.auditing.suppressions import (
            without_expected,
            without_ignored,
            without_known,
            without_small,
        )

        whole = without_ignored(audit, self.ignored)
        listed = whole if self.with_all else without_expected(whole, self.hazards)
        listed = without_known(listed, self.known) if self.known else listed
        return whole, without_small(listed, self.options.min_bytes)

    def write(self, whole: Audit, listed: Audit) -> None:
        """Writes the requested files."""
        import json

        wanted = self.options
        if wanted.json_file:
            from castwise.report.audit_json import audit_json

            write_text(wanted.json_file, json.dumps(audit_json(listed), indent=2))
        if wanted.sarif_file:
            from castwise.report.audit_json import audit_sarif

            write_text(wanted.sarif_file, json.dumps(audit_sarif(listed), indent=2))
        if wanted.html_file:
            from castwise.report.audit_page import audit_html

            write_text(wanted.html_file, audit_html(listed))
        if wanted.write_baseline:
            from castwise.auditing.suppressions import write_baseline

            write_baseline(whole.findings, wanted.write_baseline)

    def status(self, audit: Audit, of_program: int) -> int:
        """The command's exit status: the program's own, or 1 if findings make it fail."""
        from castwise.auditing.suppressions import failing, failing_compilations, failing_losses

        kinds = failing, failing_losses, failing_compilations
        found = [one for failed in kinds for one in failed(audit, self.hazards)]
        if not found:
            return of_program
        failures = "1 finding fails" if len(found) == 1 else f"{len(found):,} findings fail"
        click.echo(f"\n{failures} --fail-on {','.join(self.hazards)}.", err=True)
        return of_program or 1


def _make_selection(options: _FindingOptions, with_all: bool) -> _Selection:
    """What these options select.

    Raises UsageError for an unknown hazard, a baseline that cannot be read, a missing directory.
    """
    from castwise.auditing.suppressions import hazards_named, read_baseline

    outputs = (options.json_file, options.sarif_file, options.html_file, options.write_baseline)
    for file in outputs:
        if file and not file.absolute().parent.is_dir():
            raise UsageError(f"cannot write {str(file)!r}: its directory does not exist.")
    hazards = hazards_named(options.fail_on)
    ignored = hazards_named(options.ignore, "--ignore", beside=())
    both = ",".join(hazard for hazard in hazards if hazard in ignored)
    if both:
        raise UsageError(f"--fail-on {both} and --ignore {both} contradict each other.")
    known = read_baseline(options.baseline) if options.baseline else None
    return _Selection(options, with_all, hazards, ignored, known)


# The options of `castwise audit` that try, show and write fixes.


class _Fixes(NamedTuple):
    """What to do with the fixes."""

    try_fixes: bool
    fix: bool
    diff: bool

    def apply(self, audit: Audit, run: Run, trial: Trial | None) -> None:
        """Shows the fixes as a diff, or writes them. Of fixes that were tried, only those that did
        no harm."""
        from castwise.auditing.fixes import patches, write
        from castwise.report.audit_run import diff_text, refused_text, written_text

        if not self.fix and not self.diff:
            return
        made, refused = patches(_compatible_fixes(audit, trial), run.seen)
        if self.diff:
            shown = "".join(diff_text(patch, paint_for_stdout()) for patch in made)
            click.echo(shown, nl=False)
        elif run.status:
            click.echo(f"\nNo fix was written: the program ended with status {run.status}, and its "
                       "fixes are proven only up to there.", err=True)  # fmt: skip
            return
        else:
            written, unwritten = write(made)
            click.echo(f"\n{written_text(written)}", err=True)
            refused += unwritten
        if refused:
            click.echo(f"\n{refused_text(refused)}", err=True)


def _compatible_fixes(audit: Audit, trial: Trial | None) -> list[Fix]:
    """The fixes that go together; those of worse origins take precedence."""
    from castwise.auditing.source import hindrance

    if trial is not None:
        return list(trial.fixes)
    chosen: dict[Fix, None] = {}
    for origin in audit.origins:
        if hindrance(origin.fixes, list(chosen)) is None:
            chosen.update(dict.fromkeys(origin.fixes))
    return list(chosen)


_fix_options = options_as(
    "fixes",
    _Fixes,
    click.option(
        "--try-fixes", is_flag=True,
        help="Run the program again, with its fixes in memory, and withdraw those that crash it, "
        "add findings or change its results.",
    ),
    click.option(
        "--fix", is_flag=True,
        help="Write the fixes into the program's files; with --try-fixes, those that passed.",
    ),
    click.option("--diff", is_flag=True, help="Print the fixes as a diff, and write nothing."),
)  # fmt: skip


def _run_with_progress(
    command: Sequence[str], options: Options, doing: str = "", limit: float | None = None
) -> Run:
    """Runs a program under audit, with a line of progress on a terminal."""
    from castwise.auditing.launch import run_audited
    from castwise.report.audit_run import progress_on_stderr

    sys.stdout.flush()
    progress = progress_on_stderr(doing)
    try:
        return run_audited(command, options, progress, limit)
    finally:
        if progress:
            progress.close()


# A run that audited nothing fails, because a gate on it would pass whatever the program does.

_INCLUDE = "--include"


def _check_include(include: Sequence[str], command: Sequence[str]) -> None:
    """Raises UsageError for a package that the command's program cannot import; before it runs,
    because a run may take hours."""
    from castwise.auditing.launch import check_found, check_names

    if not include:
        return
    check_names(include, _INCLUDE)
    check_found(include, _INCLUDE, [_place_of(command)])


def _check_value_options(options: Options, hazards: Sequence[str]) -> None:
    """Raises UsageError for options that --check-values does not go with, or that need it or
    --compiled."""
    if options.checks_values and options.checks:
        raise UsageError("--check-values does not work together with --enforce and --enforceable.")
    if LOST in hazards and not options.checks_values:
        raise UsageError(f"--fail-on {LOST} needs --check-values.")
    if DIFFERS in hazards and not options.compares:
        raise UsageError(f"--fail-on {DIFFERS} needs --compiled.")


def _place_of(command: Sequence[str]) -> str:
    """The directory that Python puts first on the path of a program."""
    is_module = command[0] == "-m"
    return os.getcwd() if is_module else os.path.dirname(os.path.abspath(command[0]))


def _status_with_include(
    status: int, seen: Seen, include: Sequence[str], command: Sequence[str]
) -> int:
    """The exit status of a command: its own, or that of wrong usage if a package that was asked for
    was not audited. A program that failed may not have come that far, and a package named in
    pyproject.toml need not be used by every program of a project."""
    from castwise.auditing.launch import reasons_not_audited

    source = click.get_current_context().get_parameter_source("include")
    if status or source is not ParameterSource.COMMANDLINE:
        return status
    return _failed(status, reasons_not_audited(include, _INCLUDE, seen, [_place_of(command)]))


def _status_with_gate(status: int, audit: Audit, hazards: Sequence[str]) -> int:
    """The exit status: the given one, or that of wrong usage if --fail-on checked no operation."""
    inside = audit.inside.seen if audit.inside else 0
    if status or not hazards or audit.coverage.seen or audit.coverage.not_understood or inside:
        return status
    reason = (
        f"--fail-on {','.join(hazards)} checked nothing: no operation on arrays was seen. If an "
        "installed package does the computing, add --include PACKAGE."
    )
    return _failed(status, [reason])


def _failed(status: int, reasons: Sequence[str]) -> int:
    for reason in reasons:
        click.echo(f"\ncastwise: {reason}", err=True)
    return status or (WRONG_USAGE if reasons else 0)


# Options of castwise written after the program, which gets them.


def _misplaced_note(command: click.Command, program: Sequence[str]) -> str | None:
    """A sentence on the program's arguments that are also options of castwise, or None."""
    own = {name for option in command.params for name in option.opts if name.startswith("--")}
    script, *arguments = program
    if "--" in arguments:
        arguments = arguments[: arguments.index("--")]
    given = [argument.partition("=")[0] for argument in arguments]
    names = " ".join(dict.fromkeys(name for name in given if name in own))
    if not names:
        return None
    return (f"Note: {names} after {script} went to the program. castwise's own options go before "
            f"it: castwise {command.name} {names} ... {script}")  # fmt: skip


# The options of `castwise audit` for other dialects: enforce one now, or ask one later.


class _OtherDialects(NamedTuple):
    """What to do with dialects other than the one that runs."""

    save: Path | None  # the file for castwise port
    enforce: str | None
    differs: str
    allow: tuple[str, ...]
    enforceable: bool


_dialect_options = options_as(
    "others",
    _OtherDialects,
    click.option(
        "--save", type=FILE, metavar="FILE",
        help="Write the recorded operations to a file for castwise port.",
    ),
    click.option(
        "--enforce", metavar="DIALECT", shell_complete=complete_dialects,
        help="Raise an error before an operation that this dialect refuses. "
        "`strict` refuses every implicit cast.",
    ),
    click.option(
        "--differs", type=click.Choice(["raise", "report"]), default="report", show_default=True,
        help="What to do if the enforced dialect gives another dtype.",
    ),
    click.option(
        "--allow", multiple=True, metavar="OP|FILE:LINE", shell_complete=complete_ops,
        help="Do not enforce this op, or this line. Can be repeated.",
    ),
    click.option(
        "--enforceable", is_flag=True,
        help="Let cw.enforce inside the program also check the modules it imports.",
    ),
)  # fmt: skip


# How the program runs under audit.


class _RunOptions(NamedTuple):
    """What is audited, and how closely."""

    include: tuple[str, ...]
    deep: bool
    check_values: bool
    compiled: bool


_run_options = options_as(
    "run_options",
    _RunOptions,
    click.option("--include", multiple=True, metavar="PACKAGE", help="Audit this package too."),
    click.option("--deep", is_flag=True, help="Look inside libraries and backward passes too."),
    click.option("--check-values", is_flag=True,
                 help="Look at the values too, and show those that a cast or an operation lost. "
                 "Slow: each operation is computed twice."),
    click.option("--compiled", is_flag=True,
                 help="Run compiled functions without their compilers too, once for each kind of "
                 "arguments, and show dtypes and refusals that differ."),
)  # fmt: skip


# The commands.

_program_command = functools.partial(
    click.command,
    cls=_ConfiguredCommand,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
_is_module_option = click.option(
    "-m", "is_module", is_flag=True, help="Run PROGRAM as a module, like python -m."
)
_program_argument = click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)


@_program_command()
@_run_options
@_fix_options
@click.option("--all", "with_all", is_flag=True,
              help="Show sums that widen small integers too, and expected casts: those of "
              "integers and masks to the program's own float dtype.")  # fmt: skip
@click.option("--target", metavar="DTYPE",
              help="What the program is meant to compute in: float32, bfloat16, float16, float64, "
              "mps or tpu. Findings that leave it come first. Default: inferred from the "
              "program's arrays.")  # fmt: skip
@_finding_options
@_dialect_options
@_no_config_option
@_is_module_option
@_program_argument
def audit(
    run_options: _RunOptions,
    fixes: _Fixes,
    with_all: bool,
    target: str | None,
    findings: _FindingOptions,
    others: _OtherDialects,
    is_module: bool,
    program: tuple[str, ...],
) -> int:
    """Run a program and show every implicit cast in it.

    PROGRAM is a script with its arguments. Put castwise's own options before it; [tool.castwise] in
    pyproject.toml has their defaults. The program runs as it would without castwise, and its exit
    status becomes the command's. The report goes to stderr.

    To accept a finding, put the comment `# castwise: ignore` or `# castwise: ignore[widens]` on its
    line, or on the line where the dtype comes from.

    \b
    Examples:
      castwise audit examples/image_pipeline.py
      castwise audit --try-fixes --diff train.py
      castwise audit --include mypackage -m mypackage.train --epochs 1
      castwise audit --fail-on any --baseline known.json tests/run.py
      castwise audit --enforce tensorflow:safe --allow train.py:12 train.py
    """
    from castwise.auditing.origins import make_audit
    from castwise.auditing.plans import stated_target
    from castwise.auditing.records import Options
    from castwise.auditing.saved import save_file
    from castwise.report.audit import audit_text
    from castwise.report.audit_run import trial_text

    if fixes.fix and fixes.diff:
        raise UsageError("--fix writes files and --diff writes none: give one of them.")
    stated = stated_target(target) if target else None
    include, deep, check_values, compiled = run_options
    command = ("-m", *program) if is_module else program
    _check_include(include, command)
    selection = _make_selection(findings, with_all)
    enforce = None
    if others.enforce:
        from castwise.auditing.blocks import enforced_dialect

        enforce = enforced_dialect(others.enforce, others.differs, others.allow)
    options = Options(
        include,
        is_deep=deep,
        checks_values=check_values,
        compares=compiled,
        keeps_outcome=fixes.try_fixes,
        checks=others.enforceable or bool(enforce),
        enforce=enforce,
    )
    _check_value_options(options, selection.hazards)
    run = _run_with_progress(command, options)
    if others.save:
        save_file(run.seen, others.save)
    audited = functools.partial(make_audit, with_accumulators=with_all)
    whole, found = selection.select(audited(run.seen, target=stated))
    trial = None
    if fixes.try_fixes:
        from castwise.auditing.rerun import try_fixes

        def read(seen: Seen) -> Audit:
            """A later run: its fixes do not change what the program is meant to compute in."""
            return selection.select(audited(seen, target=whole.target))[1]

        again = functools.partial(_run_with_progress, command)
        found, trial = try_fixes(command, found, run, options, read, again)
    width = min(terminal_width(sys.stderr), 100)
    click.echo(audit_text(found, paint_for(sys.stderr), width), err=True)
    selection.write(whole, found)
    if enforce:
        from castwise.report.port import enforced_text

        click.echo(f"\n{enforced_text(run.seen, enforce.dialect, paint_for(sys.stderr))}", err=True)
    if trial:
        click.echo(f"\n{trial_text(trial, width)}", err=True)
    fixes.apply(found, run, trial)
    if note := _misplaced_note(click.get_current_context().command, program):
        click.echo(f"\n{note}", err=True)
    status = selection.status(found, run.status)
    status = _status_with_include(status, run.seen, include, command)
    return _status_with_gate(status, found, selection.hazards)


@_program_command()
@click.option(
    "--from", "source", metavar="DIALECT", shell_complete=complete_dialects,
    help="The dialect the program is written for. Default: the one that ran most operations.",
)  # fmt: skip
@click.option(
    "--to", "target", metavar="DIALECT", required=True, shell_complete=complete_dialects,
    help="The dialect to port to.",
)  # fmt: skip
@click.option("--include", multiple=True, metavar="PACKAGE", help="Include this package too.")
@click.option(
    "--json", "json_file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write JSON. `-` is stdout.",
)  # fmt: skip
@click.option("--html", "html_file", type=FILE, metavar="FILE", help="Write a web page.")
@_no_config_option
@_is_module_option
@_program_argument
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
    from castwise.auditing.launch import run_audited
    from castwise.auditing.port import make_port
    from castwise.auditing.records import Options
    from castwise.auditing.saved import load_file
    from castwise.catalog import dialect_named
    from castwise.report.port import port_text

    for name in filter(None, (source, target)):
        dialect_named(name)  # fails for an unknown one before the program runs
    command = ("-m", *program) if is_module else program
    is_saved = not is_module and program[0].endswith(".json")
    if is_saved:
        seen, status = load_file(Path(program[0])), 0
    else:
        options = Options(include, checks=True, notes_attempts=True)
        _check_include(include, command)
        run = run_audited(command, options)
        seen, status = run.seen, run.status
    found = make_port(seen, target, source)
    _write_port(found, json_file, html_file)
    stream = sys.stdout if is_saved and str(json_file) != "-" else sys.stderr
    click.echo(port_text(found, paint_for(stream)), file=stream)
    if status:
        click.echo(f"The program exited with status {status}. castwise did not see what it would "
                   "have done after that.", err=True)  # fmt: skip
    status = 1 if found.changes else status
    return status if is_saved else _status_with_include(status, seen, include, command)


def _write_port(found: Port, json_file: Path | None, html_file: Path | None) -> None:
    import json

    from castwise.report.port import port_html, port_json

    if json_file:
        text = json.dumps(port_json(found), indent=2)
        if str(json_file) == "-":
            click.echo(text)
        else:
            write_text(json_file, text)
    if html_file:
        write_text(html_file, port_html(found))
