"""A program's audit: findings grouped by the line that caused them, worst first."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from castwise.auditing.fixing.fixes import effect_of, fix_for
from castwise.auditing.judging.findings import find
from castwise.auditing.judging.inside_findings import find_inside
from castwise.auditing.judging.operations import framework_of
from castwise.auditing.records.events import Seen
from castwise.auditing.records.findings import Coverage, Finding, Fix, InsideCoverage
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.rewriting.source import text_at
from castwise.engine.decision import HAZARDS


@dataclass(frozen=True, slots=True)
class DtypeOrigin:
    """A line where a dtype was made, and the findings it caused."""

    place: SourcePlace
    code: str
    findings: tuple[Finding, ...]
    fix: Fix | None
    frameworks: tuple[str, ...] = ()  # if several ran the line, so that no fix suits all

    @property
    def bytes(self) -> int:
        """The bytes that the fix saves in the results of its findings."""
        return sum(self.saved_by(finding) for finding in self.findings)

    def saved_by(self, finding: Finding) -> int:
        """The bytes that the fix saves in the results of one finding."""
        return effect_of(self.fix, finding).saved if self.fix else 0

    @property
    def removed(self) -> int:
        """How many of its findings the fix removes."""
        if self.fix is None:
            return 0
        return sum(effect_of(self.fix, finding).is_removed for finding in self.findings)


@dataclass(frozen=True, slots=True)
class Audit:
    """Everything to report about a program."""

    origins: tuple[DtypeOrigin, ...]
    coverage: Coverage
    versions: dict[str, str]
    inside: InsideCoverage | None = None  # None: not observed inside libraries
    ignored: int = 0  # how many findings comments in the source accept
    baselined: int = 0  # how many findings are in the baseline
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


def audit_of(seen: Seen, *, with_accumulators: bool = False) -> Audit:
    """The audit of what was seen."""
    for file in seen.files:
        linecache.checkcache(file)  # the file may have changed since the last audit
    findings, coverage = find(seen, with_accumulators=with_accumulators)
    inside = None
    if seen.facts.is_deep:
        more, inside = find_inside(seen, findings)
        findings += more
    groups: dict[int, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.origin, []).append(finding)
    origins = [_origin(mark, group, seen) for mark, group in groups.items()]
    return Audit(worst_first(origins), coverage, seen.facts.versions, inside)


def worst_first(origins: Iterable[DtypeOrigin]) -> tuple[DtypeOrigin, ...]:
    """Sorts origins in the order a person should look at them."""
    return tuple(sorted(origins, key=lambda o: (-o.bytes, -len(o.findings), o.place)))


def _origin(mark: int, findings: list[Finding], seen: Seen) -> DtypeOrigin:
    place = seen.sites[mark].place
    return DtypeOrigin(place, text_at(place), tuple(findings), fix_for(findings, mark, seen))
