"""The options of `castwise audit` that try, show and write fixes."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from castwise.errors import UsageError
from castwise.report.terminal.colour import paint_for_stdout

if TYPE_CHECKING:
    from castwise.auditing.judging.audited import Audit
    from castwise.auditing.records.findings import Fix
    from castwise.auditing.records.runs import Options, Run
    from castwise.auditing.records.seen import Seen
    from castwise.auditing.trying.trial import Trial


class Fixes(NamedTuple):
    """What to do with the fixes."""

    try_fixes: bool
    fix: bool
    diff: bool

    def apply(self, audit: Audit, run: Run, trial: Trial | None) -> None:
        """Shows the fixes as a diff, or writes them. Of fixes that were tried, only those that did
        no harm."""
        from castwise.auditing.fixing.writing import patches
        from castwise.report.audit.patches import diff_text, refused_text

        if not self.fix and not self.diff:
            return
        made, refused = patches(_chosen(audit, trial), run.seen)
        if self.diff:
            shown = "".join(diff_text(patch, paint_for_stdout()) for patch in made)
            click.echo(shown, nl=False)
        elif run.status:
            click.echo(f"\nNo fix was written: the program ended with status {run.status}, and its "
                       "fixes are proven only up to there.", err=True)  # fmt: skip
            return
        else:
            refused += _write(made)
        if refused:
            click.echo(f"\n{refused_text(refused)}", err=True)


def _write(made: Sequence[Any]) -> list[Any]:
    from castwise.auditing.fixing.writing import write
    from castwise.report.audit.patches import written_text

    written, refused = write(made)
    click.echo(f"\n{written_text(written)}", err=True)
    return refused


def _chosen(audit: Audit, trial: Trial | None) -> list[Fix]:
    """The fixes that go together; those of worse origins take precedence."""
    from castwise.auditing.fixing.applying import hindrance

    if trial is not None:
        return list(trial.fixes)
    chosen: dict[Fix, None] = {}
    for origin in audit.origins:
        if hindrance(origin.fixes, list(chosen)) is None:
            chosen.update(dict.fromkeys(origin.fixes))
    return list(chosen)


_OPTIONS = (
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


def fix_options(command: Callable[..., int]) -> Callable[..., int]:
    """Adds these options to a command as one argument, `fixes`."""

    @functools.wraps(command)
    def collected(**given: Any) -> int:
        chosen = Fixes(*(given.pop(name) for name in Fixes._fields))
        if chosen.fix and chosen.diff:
            raise UsageError("--fix writes files and --diff writes none: give one of them.")
        return command(fixes=chosen, **given)

    for option in reversed(_OPTIONS):
        collected = option(collected)
    return collected


def run_with_progress(
    command: Sequence[str], options: Options, doing: str = "", limit: float | None = None
) -> Run:
    """Runs a program under audit, with a line of progress on a terminal."""
    from castwise.auditing.running.launch import run_audited
    from castwise.report.audit.progress import progress_on_stderr

    sys.stdout.flush()
    progress = progress_on_stderr(doing)
    try:
        return run_audited(command, options, progress, limit)
    finally:
        if progress:
            progress.close()


def tried(
    command: Sequence[str],
    audit: Audit,
    first: Run,
    options: Options,
    read: Callable[[Seen], Audit],
) -> tuple[Audit, Trial]:
    """The audit without the fixes that do harm, and what the others do."""
    from castwise.auditing.trying.trial import try_fixes

    run = functools.partial(run_with_progress, command)
    return try_fixes(command, audit, first, options, read, run)
