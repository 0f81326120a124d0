"""The line that caused findings, and what removes them."""

from __future__ import annotations

from dataclasses import dataclass

from castwise.auditing.finding.findings import key_of
from castwise.auditing.proving.plans import NO_PLAN, Plan
from castwise.auditing.records.findings import Finding, Fix, Withdrawal
from castwise.auditing.records.places import SourcePlace
from castwise.showing import Shown, counted, line_of


@dataclass(frozen=True, slots=True, repr=False)
class DtypeOrigin(Shown):
    """A line where a dtype was made, the findings it caused, and what removes them."""

    place: SourcePlace
    code: str
    findings: tuple[Finding, ...]
    plan: Plan = NO_PLAN
    is_explicit: bool = False  # the program names the dtype
    frameworks: tuple[str, ...] = ()  # if several ran the line, so that no fix suits all
    withdrawn: Withdrawal | None = None  # the fixes it had before they were tried
    note: str = ""  # what it means for the target

    def __repr__(self) -> str:
        fixes = "write " * bool(self.fixes) + " and ".join(fix.text for fix in self.fixes)
        causes = f"causes {counted(len(self.findings), 'finding')}"
        return line_of("DtypeOrigin", f"{self.place.brief}: {self.code}", causes, fixes)

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
