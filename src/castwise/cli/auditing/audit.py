"""The command that audits a program."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from castwise.cli.auditing.configuration import ConfiguredCommand, no_config_option
from castwise.cli.auditing.findings import Wanted, finding_options, judge_of
from castwise.cli.auditing.fixes import Fixes, fix_options, run_with_progress, tried
from castwise.cli.auditing.gate import check_include, check_value_options, with_gate, with_include
from castwise.cli.auditing.misplaced import misplaced_note
from castwise.cli.auditing.other_dialects import OtherDialects, other_dialects
from castwise.report.terminal.colour import paint_for
from castwise.report.terminal.printing import terminal_width

if TYPE_CHECKING:
    from castwise.auditing.judging.audited import Audit
    from castwise.auditing.records.runs import Options

_FILE = click.Path(path_type=Path, dir_okay=False)


def _auditor_options(command: Callable[..., int]) -> Callable[..., int]:
    """Adds the options that say how to audit; the command gets what makes the audit, `audited`."""

    @click.option("--all", "with_all", is_flag=True,
                  help="Show sums that widen small integers too, and expected casts: those of "
                  "integers and masks to the program's own float dtype.")  # fmt: skip
    @click.option("--target", metavar="DTYPE",
                  help="What the program is meant to compute in: float32, bfloat16, float16, "
                  "float64, mps or tpu. What leaves it comes first. Without it, the dtype that "
                  "its arrays show.")  # fmt: skip
    @functools.wraps(command)
    def collected(*, with_all: bool, target: str | None, **given: Any) -> int:
        from castwise.auditing.judging.audited import audit_of
        from castwise.auditing.proving.target import stated_target

        stated = stated_target(target) if target else None
        audited = functools.partial(audit_of, with_accumulators=with_all, target=stated)
        return command(audited=audited, with_all=with_all, **given)

    return collected


def _run_options(command: Callable[..., int]) -> Callable[..., int]:
    """Adds the options that say how to run the program; the command gets `options`."""

    @click.option("--include", multiple=True, metavar="PACKAGE", help="Audit this package too.")
    @click.option("--deep", is_flag=True, help="Look inside libraries and backward passes too.")
    @click.option("--check-values", is_flag=True,
                  help="Look at the values too, and show those that a cast or an operation lost. "
                  "Slow: each operation is computed twice.")  # fmt: skip
    @click.option("--compiled", is_flag=True,
                  help="Run compiled functions without their compilers too, once for each kind of "
                  "arguments, and show dtypes and refusals that differ.")  # fmt: skip
    @functools.wraps(command)
    def collected(
        *, include: tuple[str, ...], deep: bool, check_values: bool, compiled: bool, **given: Any
    ) -> int:
        from castwise.auditing.records.runs import Options

        options = Options(include, is_deep=deep, checks_values=check_values, compares=compiled)
        return command(options=options, **given)

    return collected


@click.command(
    cls=ConfiguredCommand,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@_run_options
@fix_options
@_auditor_options
@finding_options
@other_dialects
@no_config_option
@click.option("-m", "is_module", is_flag=True, help="Run PROGRAM as a module, like python -m.")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def audit(
    options: Options,
    fixes: Fixes,
    audited: Callable[..., Audit],
    wanted: Wanted,
    others: OtherDialects,
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
    from castwise.auditing.running.saved import save_file
    from castwise.report.audit.text import audit_text

    command = ("-m", *program) if is_module else program
    check_include(options.include, command)
    judge = judge_of(wanted)
    enforce = others.enforced
    is_checking = others.enforceable or bool(enforce)
    check_value_options(options, is_checking, judge.hazards)
    options = replace(options, keeps_outcome=fixes.try_fixes, checks=is_checking, enforce=enforce)
    run = run_with_progress(command, options)
    if others.save:
        save_file(run.seen, others.save)
    whole, found = judge.judge(audited(run.seen))
    trial = None
    if fixes.try_fixes:
        found, trial = tried(command, found, run, options, judge.of_later_runs(audited, whole))
    width = min(terminal_width(sys.stderr), 100)
    click.echo(audit_text(found, paint_for(sys.stderr), width), err=True)
    judge.write(whole, found)
    if enforce:
        from castwise.report.port.text import enforced_text

        click.echo(f"\n{enforced_text(run.seen, enforce.dialect, paint_for(sys.stderr))}", err=True)
    if trial:
        from castwise.report.audit.trial import trial_text

        click.echo(f"\n{trial_text(trial, width)}", err=True)
    fixes.apply(found, run, trial)
    if note := misplaced_note(click.get_current_context().command, program):
        click.echo(f"\n{note}", err=True)
    status = with_include(judge.status(found, run.status), run.seen, options.include, command)
    return with_gate(status, found, judge.hazards)
