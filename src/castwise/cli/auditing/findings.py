"""The options that handle findings: which files they go to, and which of them fail the run."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from castwise.cli.auditing.sizes import Size
from castwise.errors import UsageError

if TYPE_CHECKING:
    from castwise.auditing.accepting.baseline import Baseline
    from castwise.auditing.judging.audited import Audit
    from castwise.auditing.records.seen import Seen

Command = TypeVar("Command", bound=Callable[..., Any])

_FILE = click.Path(path_type=Path, dir_okay=False)


class Wanted(NamedTuple):
    """The values of the options."""

    json_file: Path | None
    sarif_file: Path | None
    html_file: Path | None
    fail_on: tuple[str, ...]
    ignore: tuple[str, ...]
    baseline: Path | None
    write_baseline: Path | None
    min_bytes: int
    with_all: bool


def finding_options(command: Command) -> Command:
    """Adds the options of Wanted to a command, which gets them as one argument, `wanted`."""

    @functools.wraps(command)
    def collected(**given: Any) -> Any:
        wanted = Wanted(**{name: given.pop(name) for name in Wanted._fields})
        return command(wanted=wanted, **given)

    options = [
        click.option("--json", "json_file", type=_FILE, metavar="FILE",
                     help="Write the findings as JSON."),
        click.option("--sarif", "sarif_file", type=_FILE, metavar="FILE",
                     help="Write the findings as SARIF."),
        click.option("--html", "html_file", type=_FILE, metavar="FILE",
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
        click.option("--baseline", type=_FILE, metavar="FILE",
                     help="Leave out the findings listed in this file."),
        click.option("--write-baseline", type=_FILE, metavar="FILE",
                     help="Write the findings to a file for --baseline."),
        click.option("--min-bytes", type=Size(), default=0, metavar="SIZE",
                     help="Hide findings whose results are smaller, in all runs together: 1000, "
                     "10kB, 1MB, 1MiB. --fail-on does not count them."),
    ]  # fmt: skip
    for option in reversed(options):
        collected = option(collected)
    return collected  # type: ignore[return-value]


class Judge(NamedTuple):
    """The options, checked before the program runs, because a run may take hours."""

    wanted: Wanted
    hazards: tuple[str, ...]
    ignored: tuple[str, ...]
    known: Baseline | None

    def judge(self, audit: Audit) -> tuple[Audit, Audit]:
        """The audit without the findings that comments and --ignore accept, then also without those
        that are expected or in the baseline, and the small ones."""
        from castwise.auditing.accepting.accepted import (
            without_expected,
            without_ignored,
            without_known,
            without_small,
        )

        whole = without_ignored(audit, self.ignored)
        counted = whole if self.wanted.with_all else without_expected(whole, self.hazards)
        counted = without_known(counted, self.known) if self.known else counted
        return whole, without_small(counted, self.wanted.min_bytes)

    def of_later_runs(self, audited: Callable[..., Audit], whole: Audit) -> Callable[[Seen], Audit]:
        """What judges the program again, with its fixes: they do not change what it is meant to
        compute in."""
        return lambda seen: self.judge(audited(seen, target=whole.target))[1]

    def write(self, whole: Audit, counted: Audit) -> None:
        """Writes the requested files."""
        import json

        wanted = self.wanted
        if wanted.json_file:
            from castwise.report.audit.json import audit_json

            _write(wanted.json_file, json.dumps(audit_json(counted), indent=2))
        if wanted.sarif_file:
            from castwise.report.audit.sarif import audit_sarif

            _write(wanted.sarif_file, json.dumps(audit_sarif(counted), indent=2))
        if wanted.html_file:
            from castwise.report.audit.page.html import audit_html

            _write(wanted.html_file, audit_html(counted))
        if wanted.write_baseline:
            from castwise.auditing.accepting.baseline import write_baseline

            write_baseline(whole.findings, wanted.write_baseline)

    def status(self, audit: Audit, of_program: int) -> int:
        """The command's exit status: the program's own, or 1 if findings make it fail."""
        from castwise.auditing.accepting.accepted import (
            failing,
            failing_compilations,
            failing_losses,
        )

        counts = failing, failing_losses, failing_compilations
        found = [one for failed in counts for one in failed(audit, self.hazards)]
        if not found:
            return of_program
        failures = "1 finding fails" if len(found) == 1 else f"{len(found):,} findings fail"
        click.echo(f"\n{failures} --fail-on {','.join(self.hazards)}.", err=True)
        return of_program or 1


def judge_of(wanted: Wanted) -> Judge:
    """The judge for these options.

    Raises UsageError for an unknown hazard, a baseline that cannot be read, a missing directory.
    """
    from castwise.auditing.accepting.accepted import hazards_named
    from castwise.auditing.accepting.baseline import read_baseline

    outputs = (wanted.json_file, wanted.sarif_file, wanted.html_file, wanted.write_baseline)
    for file in outputs:
        if file and not file.absolute().parent.is_dir():
            raise UsageError(f"cannot write {str(file)!r}: its directory does not exist.")
    hazards = hazards_named(wanted.fail_on)
    ignored = hazards_named(wanted.ignore, "--ignore", beside=())
    both = ",".join(hazard for hazard in hazards if hazard in ignored)
    if both:
        raise UsageError(f"--fail-on {both} and --ignore {both} contradict each other.")
    known = read_baseline(wanted.baseline) if wanted.baseline else None
    return Judge(wanted, hazards, ignored, known)


def _write(file: Path, text: str) -> None:
    file.write_text(f"{text}\n", encoding="utf-8")
