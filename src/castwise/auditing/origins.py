"""A program's audit: findings grouped by the line that caused them, worst first."""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from castwise.auditing.detect import Step, finding_key, has_own_rules, is_write, make_steps, merged
from castwise.auditing.fixes import is_explicit
from castwise.auditing.operations import array_dtype, event_framework
from castwise.auditing.plans import (
    NO_PLAN,
    Plan,
    Planner,
    Program,
    Target,
    default_target,
    inferred_target,
)
from castwise.auditing.records import (
    Coverage,
    Finding,
    Fix,
    InsideCoverage,
    Operation,
    Seen,
    SeenArray,
    SourcePlace,
    Withdrawal,
    arrays_in,
)
from castwise.auditing.sections import LostValues, Sections, find_inside, lost_values, make_sections
from castwise.auditing.source import text_at
from castwise.engine.ask import answer
from castwise.engine.decision import HAZARDS, Cast
from castwise.errors import CastwiseError
from castwise.showing import Shown, quantity, repr_line
from castwise.vocab.dtypes import DType

# What is reported: the lines that caused findings, and the whole.


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
        causes = f"causes {quantity(len(self.findings), 'finding')}"
        return repr_line("DtypeOrigin", f"{self.place.brief}: {self.code}", causes, fixes)

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
        return self.plan.saved[finding_key(finding)]

    @property
    def removed(self) -> int:
        """How many of its findings the fixes remove."""
        return sum(finding_key(finding) in self.plan.removed for finding in self.findings)


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
        return repr_line("Audit", self.in_short)

    @property
    def in_short(self) -> str:
        """How much was found and seen."""
        found = quantity(len(self.findings), "finding")
        lines = len({origin.place for origin in self.origins})
        cause = f", caused by {quantity(lines, 'line')}" if self.origins else ""
        return f"{found} in {quantity(self.coverage.seen, 'operation')}{cause}"

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
        makers = [event_framework(f.operation.event) for f in self.findings if f.temporaries]
        return list(dict.fromkeys(makers))


# From what was seen to its audit.


def make_audit(
    seen: Seen, *, with_accumulators: bool = False, target: Target | None = None
) -> Audit:
    """The audit of what was seen."""
    for file in seen.files:
        linecache.checkcache(file)  # the file may have changed since the last audit
    steps = make_steps((*seen.events, *seen.inside), seen)
    program = Program(steps, with_accumulators=with_accumulators)
    found = program.own_findings
    inside = None
    if seen.facts.is_deep:
        more, inside = find_inside(program, seen)
        found = _without_calls_seen_inside(found, more.values()) | more
    if seen.facts.used_gpu:
        found = {position: replace(f, temporaries=0) for position, f in found.items()}
    coverage = _coverage(steps[: len(seen.events)], seen)
    target = target or default_target(seen.facts.dialects.values())
    target = target or inferred_target(steps, found.values(), program.provenance)
    found = _mark_expected(found, program, target)
    origins = _by_line(_origins(merged(found.values()), Planner(program, found, target), seen))
    noted = [_noted(origin, target) for origin in _apart_by_dtypes(origins, seen)]
    ordered = worst_first(noted, target)
    named = {(origin.place.file, origin.place.line) for origin in ordered}
    too_wide = _too_wide(program, target, named) if target.device else ()
    losses = lost_values(seen) if seen.facts.checks_values else None
    sections = make_sections(steps, seen)
    return Audit(ordered, coverage, seen.facts.versions, target, inside,
                 losses=losses, too_wide=too_wide, sections=sections)  # fmt: skip


def _without_calls_seen_inside(
    found: dict[int, Finding], inside: Iterable[Finding]
) -> dict[int, Finding]:
    """The findings without calls that have no rule, if one of the operations in them is shown."""
    events = [finding.operation.event for finding in inside]
    shown = {e.mark for e in events if e.inside is not None and not e.inside.backward_of}
    calls = {p: f.operation.event.mark for p, f in found.items() if f.operation.is_observed}
    return {p: finding for p, finding in found.items() if calls.get(p) not in shown}


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
        for other in [m for m in plans if m in {fix.mark for fix in plan.fixes}]:
            if all(finding_key(finding) in plan.removed for finding in groups[other]):
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


def _apart_by_dtypes(origins: Iterable[DtypeOrigin], seen: Seen) -> Iterator[DtypeOrigin]:
    """The origins, with one entry per dtypes for a line that ran with arrays of several frameworks.
    It has no fix: each framework spells it in its own way."""
    frameworks: dict[SourcePlace, set[str]] = {}
    for event in seen.events:
        if event.arrays:
            frameworks.setdefault(seen.site(event).place, set()).add(event_framework(event))
    for origin in origins:
        places = [origin.place, *(fix.place for fix in origin.fixes)]
        ran_in = set().union(*(frameworks.get(place, set()) for place in places))
        yield from _apart(origin, tuple(sorted(ran_in))) if len(ran_in) > 1 else [origin]


def _apart(origin: DtypeOrigin, ran_in: tuple[str, ...]) -> list[DtypeOrigin]:
    groups: dict[object, list[Finding]] = {}
    for finding in origin.findings:
        dtypes = tuple(operand.dtype or operand.kind for operand in finding.operands)
        groups.setdefault((finding.op, dtypes, finding.result), []).append(finding)
    unfixed = replace(origin, plan=NO_PLAN, frameworks=ran_in)
    return [replace(unfixed, findings=tuple(group)) for group in groups.values()]


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


def worst_first(origins: Iterable[DtypeOrigin], target: Target) -> tuple[DtypeOrigin, ...]:
    """Sorts origins in the order a person should look at them: those that leave a stated target,
    then by what their fixes save; a dtype that the program names comes after others."""

    def place(origin: DtypeOrigin) -> tuple[bool, int, bool, int, SourcePlace]:
        is_of_no_matter = target.is_stated and not any(map(target.departs, origin.findings))
        count = len(origin.findings)
        return is_of_no_matter, -origin.bytes, origin.is_explicit, -count, origin.place

    return tuple(sorted(origins, key=place))


def _too_wide(
    program: Program, target: Target, named: Collection[tuple[str, int]]
) -> tuple[SourcePlace, ...]:
    """The lines whose results are wider than the target, though they cast nothing; without those
    that are named as origins."""
    lines: dict[tuple[str, int], SourcePlace] = {}
    for position, step in enumerate(program.steps):
        result, place = array_dtype(step.event.result), step.located.place
        is_shown = position in program.findings or step.event.inside is not None
        if result is not None and not is_shown and target.is_too_wide(result):
            lines.setdefault((place.file, place.line), place)
    return tuple(sorted(place for line, place in lines.items() if line not in named))


# Which findings are expected: numbers that become the float dtype the program computes in.

_WIDEST = 64  # bits of the floats that hold integers better than any other
_INTEGERS = ("bool", "int")
_LOSSES = frozenset({"loses-precision", "loses-range"})


def _mark_expected(
    found: Mapping[int, Finding], program: Program, target: Target
) -> dict[int, Finding]:
    """The findings, by the position of their step, with those marked that are expected: each of
    their casts takes integers, masks or real numbers to the program's float dtype, or to complex
    numbers of it.

    Unless the user states that dtype, nothing is expected if the program has no floats of it but
    those that casts made: then such a line is where the dtype begins.
    """
    expected = {p for p, finding in found.items() if _is_to_target(finding.operation, target.dtype)}
    if not expected or not (target.is_stated or _has_own_floats(found, program, target.dtype)):
        return dict(found)
    return {p: replace(f, is_expected=p in expected) for p, f in found.items()}


def _is_to_target(operation: Operation, target: DType) -> bool:
    decision = operation.decision
    if decision is None or not operation.casts:
        return False
    if has_own_rules(operation) and operation.event.call is not None:
        return False  # no arithmetic: a whole column became another because values are missing
    pairs = zip(decision.casts, operation.question.operands, strict=True)
    arrays = [cast for cast, operand in pairs if cast and cast.source and not operand.is_weak]
    casts = [cast for cast in arrays if not cast.is_read]
    casts += [decision.result_cast] if decision.result_cast else []
    return all(_is_cast_to(target, cast) for cast in casts) and not _computes_integers(operation)


def _is_cast_to(target: DType, cast: Cast) -> bool:
    """Whether a cast takes a number that is no float to a float dtype, or one of its floats to
    complex numbers of it. Floats narrower than the widest must hold what they are given: float32
    rounds integers from 16,777,217 on, floats of 16 bits from a few hundred on."""
    if cast.source is None or cast.target.part != target:
        return False
    if cast.source.kind not in _INTEGERS:
        return cast.source == target
    return target.bits >= _WIDEST or not _LOSSES & set(cast.hazards)


def _computes_integers(operation: Operation) -> bool:
    """Whether an operation computes integers, and gives floats only because no integer dtype holds
    two of them: uint64 with int64."""
    question = operation.question
    if operation.is_observed or any(o.kind not in _INTEGERS for o in question.operands):
        return False
    widest = max((o.dtype for o in question.operands if o.dtype), key=lambda found: found.bits)
    alike = [replace(o, dtype=widest) if o.dtype else o for o in question.operands]
    try:
        return (
            answer(replace(question, operands=tuple(alike))).as_promoted().compute.kind in _INTEGERS
        )
    except CastwiseError:
        return False


def _has_own_floats(found: Mapping[int, Finding], program: Program, target: DType) -> bool:
    """Whether the program has an array of a float dtype, or of complex numbers of it, that was made
    of no such array and by no finding, or by code that is not observed, such as a test. A scalar,
    such as a NumPy float64, is no such array."""
    made, derived = set[int](), {program.steps[position].event.mark for position in found}
    for step in program.steps:
        event = step.event
        taken = [a for a in arrays_in(event.operands) if _has_floats(target, a)]
        made.update(array.maker for array in taken)
        if taken:
            derived.add(event.mark)
        if event.result is not None and _has_floats(target, event.result):
            made.add(event.mark)
    return bool(made - derived)


def _has_floats(target: DType, array: SeenArray) -> bool:
    found = array_dtype(array)
    return found is not None and not array.is_scalar and found.part == target


# How much of a program its audit is about.


def _coverage(steps: Iterable[Step], seen: Seen) -> Coverage:
    """The coverage of an audit, from the steps in the user's source."""
    count, unclear, unexpected, asked = 0, Counter[str](), Counter[str](), Counter[str]()
    by_dtypes, calls = Counter[str](), Counter[tuple[SourcePlace, str]]()
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
