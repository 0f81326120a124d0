"""Lines that ran with arrays of several frameworks, as those of a package do under its tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from castwise.auditing.finding.operations import framework_of
from castwise.auditing.judging.origins import DtypeOrigin
from castwise.auditing.proving.plans import NO_PLAN
from castwise.auditing.records.findings import Finding
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.records.seen import Seen


def apart_by_dtypes(origins: Iterable[DtypeOrigin], seen: Seen) -> Iterator[DtypeOrigin]:
    """The origins, with one entry per dtypes for a line that ran with arrays of several frameworks.
    It has no fix: each framework spells it in its own way."""
    frameworks: dict[SourcePlace, set[str]] = {}
    for event in seen.events:
        if event.arrays:
            frameworks.setdefault(seen.site(event).place, set()).add(framework_of(event))
    for origin in origins:
        places = [origin.place, *(fix.place for fix in origin.fixes)]
        ran_in = set().union(*(frameworks.get(place, set()) for place in places))
        yield from _apart(origin, tuple(sorted(ran_in))) if len(ran_in) > 1 else [origin]


def _apart(origin: DtypeOrigin, ran_in: tuple[str, ...]) -> list[DtypeOrigin]:
    groups: dict[object, list[Finding]] = {}
    for finding in origin.findings:
        dtypes = tuple(operand.dtype or operand.kind for operand in finding.operands)
        groups.setdefault((finding.op, dtypes, finding.result), []).append(finding)
    return [
        replace(origin, findings=tuple(group), plan=NO_PLAN, frameworks=ran_in)
        for group in groups.values()
    ]
