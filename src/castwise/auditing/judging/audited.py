"""A program's audit: findings grouped by the line that caused them, worst first."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from castwise.auditing.finding.findings import key_of, merged
from castwise.auditing.finding.operations import framework_of
from castwise.auditing.finding.steps import steps_of
from castwise.auditing.fixing.fixes import is_explicit
from castwise.auditing.judging.coverage import coverage_of
from castwise.auditing.judging.inside_findings import find_inside
from castwise.auditing.judging.losses import LostValues, losses_of
from castwise.auditing.proving.plans import NO_PLAN, Plan, Planner
from castwise.auditing.proving.replay import Log
from castwise.auditing.proving.target import Target, inferred_target
from castwise.auditing.records.events import Seen
from castwise.auditing.records.findings import Coverage, Finding, Fix, InsideCoverage
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.rewriting.source import text_at
from castwise.engine.decision import HAZARDS


@dataclass(frozen=True, slots=True)
class DtypeOrigin:
    """A line where a dtype was made, the findings it caused, and what removes them."""

    place: SourcePlace
    code: str
    findings: tuple[Finding, ...]
    plan: Plan = NO_PLAN
    is_explicit: bool = False  # the program names the dtype
    frameworks: tuple[str, ...] = ()  # if several ran the line, so that no fix suits all

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """What to change, together."""
        return self.plan.fixes

    @property
    def bytes(self) -> int:
        """The bytes that the fixes save in the results of its findings."""
        return sum(self.saved_by(finding) for finding in self.findings)

    def saved_by(self, finding: Finding) -> int:
        """The bytes that the fixes save in the results of one finding."""
        return self.plan.saved[key_of(finding)]

    @property
    def removed(self) -> int:
        """How many of its findings the fixes remove."""
        return sum(key_of(finding) in self.plan.removed for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything to report about a program."""

    origins: tuple[DtypeOrigin, ...]
    coverage: Coverage
    versions: dict[str, str]
    inside: InsideCoverage | None = None  # None: not observed inside libraries
    ignored: int = 0  # how many findings comments in the source accept
    baselined: int = 0  # how many findings are in the baseline
    losses: tuple[LostValues, ...] | None = None  # None: no values were looked at
    remarks: tuple[str, ...] = ()  # about invalid comments

    @property
    def findings(self) -> list[Finding]:
        """All findings, by origin."""
        return [finding for origin in self.origins for finding in origin.findings]

    @property
    def bytes(self) -> int:
        """The bytes that the fixes save in all results."""
        return sum(origin.bytes for origin in self.origins)

    @property
    def hazards(self) -> dict[str, int]:
        """How many findings have each hazard, in the order of HAZARDS."""
        counts = Counter(hazard for finding in self.findings for hazard in finding.hazards)
        return {hazard: counts[hazard] for hazard in HAZARDS if counts[hazard]}

    @property
    def temporaries(self) -> int:
        """The bytes of temporary arrays made for cast operands."""
        return sum(finding.temporaries for finding in self.findings)

    @property
    def makers_of_temporaries(self) -> list[str]:
        """The frameworks that make such temporaries."""
        makers = [framework_of(f.operation.event) for f in self.findings if f.temporaries]
        return list(dict.fromkeys(makers))


def audit_of(seen: Seen, *, with_accumulators: bool = False, target: Target | None = None) -> Audit:
    """The audit of what was seen."""
    for file in seen.files:
        linecache.checkcache(file)  # the file may have changed since the last audit
    log = Log(steps_of((*seen.events, *seen.inside), seen), with_accumulators=with_accumulators)
    found = {p: f for p, f in log.findings.items() if log.steps[p].event.inside is None}
    inside = None
    if seen.facts.is_deep:
        more, inside = find_inside(log, seen)
        found |= more
    coverage = coverage_of(log.steps[: len(seen.events)], seen)
    target = target or inferred_target(log.steps, found.values())
    origins = _origins(merged(found.values()), Planner(log, found, target), seen)
    losses = losses_of(seen) if seen.facts.checks_values else None
    return Audit(worst_first(origins), coverage, seen.facts.versions, inside, losses=losses)


def worst_first(origins: Iterable[DtypeOrigin]) -> tuple[DtypeOrigin, ...]:
    """Sorts origins in the order a person should look at them."""
    return tuple(sorted(origins, key=lambda o: (-o.bytes, -len(o.findings), o.place)))


def _origins(findings: Iterable[Finding], planner: Planner, seen: Seen) -> Iterator[DtypeOrigin]:
    """The origins, each with its findings. An origin whose findings the plan of another one
    removes is part of it."""
    groups: dict[int, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.origin, []).append(finding)
    plans = {mark: planner.plan(mark, group) for mark, group in groups.items()}
    while plans:
        mark = max(plans, key=lambda m: (plans[m].gain, len(groups[m])))
        plan = plans.pop(mark)
        group = groups[mark]
        for other in [m for m in plans if {fix.mark for fix in plan.fixes} & {m}]:
            if all(key_of(finding) in plan.removed for finding in groups[other]):
                group += groups[other]
                del plans[other]
        source = planner.source(mark)
        place = seen.sites[mark].place
        is_meant = source is not None and is_explicit(source)
        yield DtypeOrigin(place, text_at(place), tuple(group), plan, is_meant)
