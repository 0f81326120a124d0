"""Which changes to the source remove the findings of an origin: proven on the whole log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from castwise.auditing.finding.findings import key_of, merged
from castwise.auditing.finding.own_rules import has_own_rules
from castwise.auditing.finding.running_sums import running_sums
from castwise.auditing.finding.writes import is_write
from castwise.auditing.fixing.applying import applies
from castwise.auditing.fixing.fixes import (
    LEAST_FOR_COUNTS,
    DtypeSource,
    fixes_at,
    fixes_where_used,
    holds_counts,
    is_explicit,
    makes_integers,
)
from castwise.auditing.fixing.uses import is_operand_only
from castwise.auditing.proving.replay import Log, Unprovable
from castwise.auditing.proving.target import Target
from castwise.auditing.records.events import SeenArray
from castwise.auditing.records.findings import Finding, Fix
from castwise.engine.decision import Cast
from castwise.showing import counted, line_of
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Role

_MOST_FIXES = 4  # of lines that feed one chain
_SHORT = 16  # bits of the floats that a sum of many terms must not be kept in


@dataclass(frozen=True, slots=True, repr=False)
class Plan:
    """Fixes that belong together, and what they do to the program's findings."""

    fixes: tuple[Fix, ...] = ()
    saved: Counter[object] = field(default_factory=Counter)  # bytes, by the key of the finding
    removed: frozenset[object] = frozenset()  # keys of findings
    added: tuple[Finding, ...] = ()  # casts that there were not before

    def __repr__(self) -> str:
        removed = f"removes {counted(len(self.removed), 'finding')}"
        fixes = counted(len(self.fixes), "fix", "es")
        return line_of("Plan", fixes, removed, f"saves {self.bytes:,} bytes")

    @property
    def bytes(self) -> int:
        """The bytes it saves in the results of findings."""
        return sum(self.saved.values())

    @property
    def gain(self) -> tuple[int, int, int]:
        """What makes one plan better than another."""
        return self.bytes, len(self.removed) - len(self.added), -len(self.fixes)


NO_PLAN = Plan()


class Planner:
    """Plans for the origins of one program."""

    def __init__(self, log: Log, shown: dict[int, Finding], target: Target) -> None:
        self._log = log
        self._shown = shown  # the findings of the report, by the position of their step
        self._target = target
        self._positions = _by_key(shown)
        self._sums = {step.event.mark for step, _ in running_sums(log.steps, _is_wide)}

    def plan(self, origin: int, findings: Sequence[Finding]) -> Plan:
        """The best plan for an origin; an empty one if none is proven to help."""
        plans = []
        if any(_is_of_values(finding) for finding in findings):
            return NO_PLAN
        for fixes in _alone_and_joined(self._candidates(origin, findings)):
            plan = self._effect(fixes) or self._together(fixes[0], origin, findings)
            plan = self._extended(plan, findings)
            if plan and len(plan.removed) > len(plan.added):
                plans.append(plan)
        plans.sort(key=lambda plan: plan.gain, reverse=True)
        return next((plan for plan in plans if applies(plan.fixes)), NO_PLAN)

    def source(self, mark: int) -> DtypeSource | None:
        """A site, and everything that was seen there."""
        steps = self._log.steps_at(mark)
        if not steps:
            return None
        return DtypeSource(mark, steps[0].located, tuple(step.event for step in steps))

    def _candidates(self, origin: int, findings: Sequence[Finding]) -> Iterator[Fix]:
        source = self.source(origin)
        if source is not None and not _is_lost(findings[0]):
            yield from self._fixes_at(source, findings)
        if source is not None and is_explicit(source):
            return  # a cast elsewhere would undo what the program names
        is_changed = source and source.results and _may_be_floats(source, findings)
        for finding in findings:
            mark = finding.operation.event.mark
            if _is_lost(finding) or not is_changed:
                used = self.source(mark)
                yield from fixes_where_used(finding, mark, used.events if used else ())

    def _fixes_at(self, source: DtypeSource, findings: Iterable[Finding]) -> Iterator[Fix]:
        """What may be written at a site; a stated target outranks the constants of the program."""
        if not _may_be_floats(source, findings):
            return iter(())
        return fixes_at(source, self._targets(findings), undoes_constants=self._target.is_stated)

    def _targets(self, findings: Iterable[Finding]) -> list[DType]:
        """The dtypes an origin may be given: those its arrays are mixed with, and the program's."""
        found = list(findings)
        mixed = [
            operand.dtype
            for finding in found
            for place, operand in enumerate(finding.operands)
            if place != finding.culprit
            and operand.dtype
            # A complex array must not lose its imaginary part.
            and operand.dtype.kind == finding.result.kind in ("float", "complex")
        ]
        targets = dict.fromkeys([*mixed, self._target.of_kind(found[0].result.kind)])
        least = LEAST_FOR_COUNTS if any(map(_holds_counts, found)) else 0
        widest = max(o.dtype.bits for finding in found for o in finding.operands if o.dtype)
        widest = max(widest, *(finding.result.bits for finding in found))
        return [t for t in targets if self._target.allows(t) and least <= t.bits < widest]

    def _together(self, fix: Fix, origin: int, findings: Sequence[Finding]) -> Plan | None:
        """A fix with those of all other lines that feed its chain. In a loop, the one alone may
        not be proven: then two runs of a line no longer agree, `x = x @ w + b` for several w."""
        fixes = [fix]
        for mark in self._log.feeding(fix.mark, findings[0].result):
            source = self.source(mark) if mark != origin else None
            if source is not None:
                fixes += [*self._fixes_at(source, findings)][:1]
        return self._effect(fixes) if 1 < len(fixes) <= _MOST_FIXES else None

    def _extended(self, plan: Plan | None, findings: Sequence[Finding]) -> Plan | None:
        """A plan, with the fixes of other lines that feed the same chain."""
        while plan and plan.added and len(plan.fixes) < _MOST_FIXES:
            better = self._with_one_more(plan, findings)
            if better is None:
                break
            plan = better
        return plan

    def _with_one_more(self, plan: Plan, findings: Sequence[Finding]) -> Plan | None:
        taken = {fix.mark for fix in plan.fixes}
        for added in plan.added:
            source = None if added.origin in taken else self.source(added.origin)
            for fix in self._fixes_at(source, [*findings, added]) if source else ():
                more = self._effect([*plan.fixes, fix])
                if more and len(more.added) < len(plan.added):
                    return more
        return None

    def _effect(self, fixes: Sequence[Fix]) -> Plan | None:
        """What some fixes do; None if it is not proven that the program runs with them, if a
        result would get wider, or if each partial sum of a loop would be rounded to 16 bits."""
        try:
            replay = self._log.replay(fixes)
        except Unprovable:
            return None
        if any(self._does_harm(position, new) for position, new in replay.results.items()):
            return None
        before = self._log.findings  # a library's operation may repeat one that is shown
        added = [f for position, f in replay.findings.items() if _is_new(f, before.get(position))]
        gone: dict[object, set[int]] = {}
        saved: Counter[object] = Counter()
        for position in replay.affected:
            finding = self._shown.get(position)
            if finding is None:
                continue
            key = key_of(finding)
            saved[key] += _saved(finding, replay.results.get(position))
            if position not in replay.findings:
                gone.setdefault(key, set()).add(position)
        removed = frozenset(
            key for key, positions in gone.items() if positions == self._positions[key]
        )
        return Plan(tuple(fixes), +saved, removed, tuple(merged(added)))

    def _does_harm(self, position: int, result: DType) -> bool:
        """Whether a step must not get this dtype."""
        event = self._log.steps[position].event
        is_sum = event.mark in self._sums and _is_wide(event.result)
        return self._log.is_wider(position, result) or (is_sum and result.bits <= _SHORT)


def _is_wide(array: SeenArray | None) -> bool:
    """Whether an array has floats that a sum of many terms may be kept in."""
    found = dtype(array.dtype) if array is not None and array.dtype else None
    return found is not None and found.kind == "float" and found.bits > _SHORT


def _is_new(finding: Finding, before: Finding | None) -> bool:
    """Whether a cast was not there before, or widens floats that it did not: what a fix rounds
    must not become as wide as it was."""
    return before is None or bool(_widened_floats(finding) - _widened_floats(before))


def _widened_floats(finding: Finding) -> set[Cast]:
    return {
        cast
        for cast in finding.operation.casts
        if cast.source is not None and cast.source.kind == "float" and "widens" in cast.hazards
    }


def _alone_and_joined(candidates: Iterable[Fix]) -> Iterator[list[Fix]]:
    """Each fix alone, then those of all operations that use an array."""
    used: dict[int, Fix] = {}
    for fix in candidates:
        yield [fix]
        if fix.operand is not None:
            used.setdefault(fix.mark, fix)
    if len(used) > 1:
        yield [*used.values()]


def _may_be_floats(source: DtypeSource, findings: Iterable[Finding]) -> bool:
    """Whether what a site makes may become floats: not integers that may be an index elsewhere."""
    places = [finding.place for finding in findings]
    return not makes_integers(source) or is_operand_only(source.located.place, places)


def _holds_counts(finding: Finding) -> bool:
    """Whether integers become floats that a narrow dtype rounds."""
    sources = [cast.source for cast in finding.operation.casts]
    return any(source is not None and holds_counts(source) for source in sources)


def _is_lost(finding: Finding) -> bool:
    """Whether an operation is its own origin because nobody saw who made its widest array."""
    if finding.culprit is None or finding.origin != finding.operation.event.mark:
        return False
    return finding.operands[finding.culprit].role is not Role.SCALAR


def _is_of_values(finding: Finding) -> bool:
    """Whether values lose what no other dtype of the line would keep: a fraction that is written
    to integers is lost, or the array must not hold integers."""
    is_output = finding.operation.question.out is not None and finding.culprit is None
    if has_own_rules(finding.operation) and finding.culprit is None:
        return True  # the framework decides, whatever the line says
    return is_output or (is_write(finding.operation) and finding.result.kind != "float")


def _saved(finding: Finding, result: DType | None) -> int:
    """The bytes that a finding's results take less when they have another dtype."""
    after = finding.result if result is None else result
    return max(0, finding.elements * (finding.result.itemsize - after.itemsize))


def _by_key(findings: dict[int, Finding]) -> dict[object, set[int]]:
    found: dict[object, set[int]] = {}
    for position, finding in findings.items():
        found.setdefault(key_of(finding), set()).add(position)
    return found
