"""Applies the fixes in memory, runs the program again, and tells what they change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from castwise.auditing.judging.audited import Audit, audit_of
from castwise.auditing.judging.fixes import Fix
from castwise.auditing.running.launch import Options, Run, run_audited
from castwise.auditing.running.outcome import Change, largest_change
from castwise.auditing.running.saved import Data


class Trial(NamedTuple):
    """A program with its fixes, beside the program as it is."""

    fixes: tuple[Fix, ...]
    status: int
    findings: tuple[int, int]  # before and after
    peak_memory: tuple[int, int]  # in bytes
    change: Change | None


def try_fixes(
    program: Sequence[str],
    audit: Audit,
    first: Run,
    options: Options,
    read: Callable[[Data], Audit] = audit_of,
) -> Trial:
    """The program run once more with every fix of its audit. `read` makes an audit of what is
    seen, as that audit was made."""
    fixes = _apart([origin.fix for origin in audit.origins if origin.fix])
    edits: dict[str, list[tuple[int, int, int, int, str]]] = {}
    for fix in fixes:
        place = fix.place
        edit = (place.line, place.column, place.end_line, place.end_column, fix.text)
        edits.setdefault(place.file, []).append(edit)
    second = run_audited(program, options._replace(edits=edits, is_shown=False))
    again = read(second.seen)
    return Trial(
        tuple(fixes),
        second.status,
        (len(audit.findings), len(again.findings)),
        (first.seen["peak_memory"], second.seen["peak_memory"]),
        largest_change(first.outcome, second.outcome) if first.outcome and second.outcome else None,
    )


def _apart(fixes: list[Fix]) -> list[Fix]:
    """The fixes that do not change one piece of source twice, those of worse origins first."""
    chosen: list[Fix] = []
    for fix in fixes:
        if not any(_meet(fix, other) for other in chosen):
            chosen.append(fix)
    return chosen


def _meet(one: Fix, other: Fix) -> bool:
    a, b = one.place, other.place
    if a.file != b.file:
        return False
    begins, ends = (a.line, a.column), (a.end_line, a.end_column)
    return begins < (b.end_line, b.end_column) and (b.line, b.column) < ends
