"""A program's audit: findings grouped by the line that began them, worst first."""

from __future__ import annotations

from dataclasses import dataclass

from castwise.auditing.findings import Coverage, Finding, Place, bytes_of, find, place_of
from castwise.auditing.fixes import Fix, after_fix, fix_for
from castwise.auditing.saved import Data
from castwise.auditing.source import text_at


@dataclass(frozen=True)
class Origin:
    """A line where a dtype was born, and the findings that come of it."""

    place: Place
    code: str
    findings: tuple[Finding, ...]
    fix: Fix | None

    @property
    def bytes(self) -> int:
        """The memory its findings' results take beyond what they would after the fix."""
        return sum(self.saved_by(finding) for finding in self.findings)

    def saved_by(self, finding: Finding) -> int:
        """The bytes one finding's results are smaller by after the fix."""
        after = after_fix(finding, self.fix) if self.fix else None
        if after is None:
            return 0
        spent = bytes_of(finding.elements, finding.result)
        return max(0, spent - bytes_of(finding.elements, after))


@dataclass(frozen=True)
class Audit:
    """All there is to report of a program."""

    origins: tuple[Origin, ...]
    coverage: Coverage
    versions: dict[str, str]

    @property
    def findings(self) -> list[Finding]:
        """All findings, by origin."""
        return [finding for origin in self.origins for finding in origin.findings]


def audit_of(seen: Data, *, with_accumulators: bool = False) -> Audit:
    """The audit of what was seen."""
    findings, coverage = find(seen, with_accumulators=with_accumulators)
    groups: dict[int, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.origin, []).append(finding)
    origins = [_origin(mark, group, seen) for mark, group in groups.items()]
    origins.sort(key=lambda o: (-o.bytes, -len(o.findings), o.place))
    return Audit(tuple(origins), coverage, seen["versions"])


def _origin(mark: int, findings: list[Finding], seen: Data) -> Origin:
    place = place_of(seen["sites"][str(mark)])
    return Origin(place, text_at(place), tuple(findings), fix_for(findings, mark, seen))
