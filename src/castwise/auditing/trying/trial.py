"""Applies the fixes in memory, runs the program again, and compares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from castwise.auditing.fixing.applying import edits_of, overlap
from castwise.auditing.judging.audited import Audit, audit_of
from castwise.auditing.records.events import Seen
from castwise.auditing.records.findings import Fix
from castwise.auditing.records.runs import Options, Run, ValueChange
from castwise.auditing.running.launch import run_audited
from castwise.auditing.running.outcome import largest_change


@dataclass(frozen=True, slots=True)
class Trial:
    """A program with its fixes, compared with the original."""

    fixes: tuple[Fix, ...]
    status: int
    findings: tuple[int, int]  # before and after
    peak_memory: tuple[int, int]  # in bytes
    change: ValueChange | None


def try_fixes(
    program: Sequence[str],
    audit: Audit,
    first: Run,
    options: Options,
    read: Callable[[Seen], Audit] = audit_of,
) -> Trial:
    """Runs the program again with every fix of its audit. `read` turns what is seen into an audit,
    as for the first run."""
    fixes = _without_overlaps(fix for origin in audit.origins for fix in origin.fixes)
    second = run_audited(program, replace(options, edits=edits_of(fixes), is_shown=False))
    again = read(second.seen)
    return Trial(
        tuple(fixes),
        second.status,
        (len(audit.findings), len(again.findings)),
        (first.seen.facts.peak_memory, second.seen.facts.peak_memory),
        largest_change(first.outcome, second.outcome) if first.outcome and second.outcome else None,
    )


def _without_overlaps(fixes: Iterable[Fix]) -> list[Fix]:
    """The fixes that do not overlap in the source; those of worse origins take precedence."""
    chosen: list[Fix] = []
    for fix in fixes:
        if not any(overlap(fix, other) for other in chosen):
            chosen.append(fix)
    return chosen
