"""A program's audit: findings grouped by the line that caused them, worst first."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace

from castwise.auditing.finding.findings import key_of, merged
from castwise.auditing.finding.operations import framework_of
from castwise.auditing.finding.steps import steps_of
from castwise.auditing.fixing.fixes import is_explicit
from castwise.auditing.judging.coverage import coverage_of
from castwise.auditing.judging.expected import with_expected_marked
from castwise.auditing.judging.inside_findings import find_inside
from castwise.auditing.judging.losses import LostValues, losses_of
from castwise.auditing.judging.mixed_frameworks import apart_by_dtypes
from castwise.auditing.judging.origins import DtypeOrigin
from castwise.auditing.judging.sections import Sections, sections_of
from castwise.auditing.proving.plans import Planner
from castwise.auditing.proving.replay import Log
from castwise.auditing.proving.target import Target, default_target, inferred_target
from castwise.auditing.records.findings import Coverage, Finding, InsideCoverage
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.records.seen import Seen
from castwise.auditing.rewriting.source import text_at
from castwise.engine.decision import HAZARDS
from castwise.showing import Shown, counted, line_of
from castwise.vocab.dtypes import dtype


@dataclass(frozen=True, slots=True, repr=False)
class Audit(Shown):
    """Everything to report about a program."""

    origins: tuple[DtypeOrigin, ...]
    coverage: Coverage
    versions: dict[str, str]
    target: Target  # what the program is meant to compute in
    inside: InsideCoverage | None = None  # None: not observed inside libraries
    expected: tuple[DtypeOrigin, ...] = ()  # of findings that are not listed: they are expected
    ignored: int = 0  # how many findings comments in the source accept, and the next
    ignored_hazards: tuple[str, ...] = ()  # which are accepted everywhere
    baselined: int = 0  # how many findings are in the baseline
    hidden: int = 0  # how many findings are smaller than `least_size`, in bytes
    least_size: int = 0
    losses: tuple[LostValues, ...] | None = None  # None: no values were looked at
    remarks: tuple[str, ...] = ()  # about invalid comments
    too_wide: tuple[SourcePlace, ...] = ()  # lines that a stated device cannot run, though no cast
    sections: Sections = field(default_factory=Sections)

    def __repr__(self) -> str:
        return line_of("Audit", self.in_short)

    @property
    def in_short(self) -> str:
        """How much was found and seen."""
        found = counted(len(self.findings), "finding")
        lines = len({origin.place for origin in self.origins})
        cause = f", caused by {counted(lines, 'line')}" if self.origins else ""
        return f"{found} in {counted(self.coverage.seen, 'operation')}{cause}"

    @property
    def findings(self) -> list[Finding]:
        """All findings, by origin."""
        return [finding for origin in self.origins for finding in origin.findings]

    @property
    def expected_findings(self) -> list[Finding]:
        """The findings that are not listed because they are expected."""
        return [finding for origin in self.expected for finding in origin.findings]

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
        found = _without_calls_seen_inside(found, more.values()) | more
    if seen.facts.used_gpu:
        found = {position: replace(f, temporaries=0) for position, f in found.items()}
    coverage = coverage_of(log.steps[: len(seen.events)], seen)
    target = target or default_target(seen.facts.dialects.values())
    target = target or inferred_target(log.steps, found.values(), log.provenance)
    found = with_expected_marked(found, log, target)
    origins = _by_line(_origins(merged(found.values()), Planner(log, found, target), seen))
    noted = [_noted(origin, target) for origin in apart_by_dtypes(origins, seen)]
    ordered = worst_first(noted, target)
    named = {(origin.place.file, origin.place.line) for origin in ordered}
    too_wide = _too_wide(log, target, named) if target.device else ()
    losses = losses_of(seen) if seen.facts.checks_values else None
    sections = sections_of(log.steps, seen)
    return Audit(ordered, coverage, seen.facts.versions, target, inside,
                 losses=losses, too_wide=too_wide, sections=sections)  # fmt: skip


def _without_calls_seen_inside(
    found: dict[int, Finding], inside: Iterable[Finding]
) -> dict[int, Finding]:
    """The findings without calls that have no rule, if one of the operations in them is shown."""
    shown = {f.operation.event.mark for f in inside if _is_forward(f)}
    return {
        position: finding
        for position, finding in found.items()
        if not (finding.operation.is_observed and finding.operation.event.mark in shown)
    }


def _is_forward(finding: Finding) -> bool:
    how = finding.operation.event.inside
    return how is not None and not how.backward_of


def worst_first(origins: Iterable[DtypeOrigin], target: Target) -> tuple[DtypeOrigin, ...]:
    """Sorts origins in the order a person should look at them: those that leave a stated target,
    then by what their fixes save; a dtype that the program names comes after others."""

    def place(origin: DtypeOrigin) -> tuple[bool, int, bool, int, SourcePlace]:
        is_of_no_matter = target.is_stated and not any(map(target.departs, origin.findings))
        count = len(origin.findings)
        return is_of_no_matter, -origin.bytes, origin.is_explicit, -count, origin.place

    return tuple(sorted(origins, key=place))


def _noted(origin: DtypeOrigin, target: Target) -> DtypeOrigin:
    """An origin, with what it means for a target that the user stated."""
    if not target.is_stated:
        return origin
    if not any(map(target.departs, origin.findings)):
        return replace(origin, note=f"Not relevant to {target.name}.")
    wide = [
        found.name
        for finding in origin.findings
        for found in (finding.result, *(operand.dtype for operand in finding.operands))
        if found is not None and target.is_too_wide(found)
    ]
    note = f"{target.device} has no {wide[0]}." if target.device else ""
    return replace(origin, note=note)


def _too_wide(
    log: Log, target: Target, named: Collection[tuple[str, int]]
) -> tuple[SourcePlace, ...]:
    """The lines whose results are wider than the target, though they cast nothing; without those
    that are named as origins."""
    lines: dict[tuple[str, int], SourcePlace] = {}
    for position, step in enumerate(log.steps):
        result, place = step.event.result, step.located.place
        is_shown = position in log.findings or step.event.inside is not None
        if result and result.dtype and not is_shown and target.is_too_wide(dtype(result.dtype)):
            lines.setdefault((place.file, place.line), place)
    return tuple(sorted(place for line, place in lines.items() if line not in named))


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


def _by_line(origins: Iterable[DtypeOrigin]) -> Iterator[DtypeOrigin]:
    """The origins; those in one line are one if they have no fix, which would tell them apart."""
    lines: dict[object, list[DtypeOrigin]] = {}
    for origin in origins:
        if origin.fixes:
            yield origin
        else:
            line = (origin.place.file, origin.place.line, origin.is_explicit)
            lines.setdefault(line, []).append(origin)
    for first, *others in lines.values():
        more = [finding for origin in others for finding in origin.findings]
        yield replace(first, findings=(*first.findings, *more))
