"""How much of a program its audit is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from castwise.auditing.finding.steps import Step
from castwise.auditing.finding.writes import is_write
from castwise.auditing.records.findings import Coverage
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.records.seen import Seen


def coverage_of(steps: Iterable[Step], seen: Seen) -> Coverage:
    """The coverage of an audit, from the steps in the user's source."""
    count, unclear, unexpected, asked = 0, Counter[str](), Counter[str](), Counter[str]()
    by_dtypes = Counter[str]()
    calls: Counter[tuple[SourcePlace, str]] = Counter()
    for step in steps:
        event, operation, why = step.event, step.operation, step.unclear
        if operation is not None and is_write(operation) and not operation.casts:
            continue  # it is seen only because a fix might make it cast
        if why:
            unclear[why] += event.count
            calls[step.located.place, why] += event.count
            continue
        count += event.count
        if step.is_seen and event.call:
            by_dtypes[event.call.name] += event.count
        if operation is None:
            continue
        if not operation.is_expected:
            unexpected[str(operation.question)] += event.count
        elif operation.is_asked and operation.casts:
            asked[str(operation.question)] += event.count
    return Coverage(
        count, unclear, seen.unobserved, unexpected, seen.counts.quiet, seen.counts.late,
        Counter(seen.counts.failures), seen.facts.processes, len(seen.files), asked,
        by_dtypes, tuple((place, why, runs) for (place, why), runs in calls.most_common()),
    )  # fmt: skip
