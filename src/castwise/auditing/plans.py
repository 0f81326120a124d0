"""Which changes to the source remove the findings of an origin: proven on the whole program.

A program's steps are asked again with the dtypes that its arrays would have after some fixes. A
plan holds the fixes that remove most, and that lead to no refusal and to no wider result.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from castwise.auditing.detect import (
    Provenance,
    Step,
    find_cast,
    finding_key,
    has_own_rules,
    is_write,
    merged,
    reached,
    running_sums,
)
from castwise.auditing.fixes import (
    LEAST_FOR_COUNTS,
    DtypeSource,
    fixes_at,
    fixes_where_used,
    holds_counts,
    holds_integers,
    is_explicit,
    makes_integers,
)
from castwise.auditing.hooks import find_hook
from castwise.auditing.operations import EXAMPLES, array_dtype, event_framework
from castwise.auditing.records import (
    Event,
    Finding,
    Fix,
    Operation,
    SeenArray,
    SeenNumber,
    SeenOperand,
    arrays_in,
)
from castwise.auditing.source import applies, is_operand_only
from castwise.engine.ask import answer
from castwise.engine.decision import Cast
from castwise.errors import CastwiseError, UsageError, did_you_mean
from castwise.showing import quantity, repr_line
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, Role, scalar_operand

# What a program's operations would give if some arrays had other dtypes: the whole log, asked
# again.

NUMBER = "number"  # a Python number in place of an array
Made: TypeAlias = "DType | str"  # a dtype, or NUMBER
Node: TypeAlias = "tuple[int, str | None]"  # a site, and the dtype it was seen to make


class _Unprovable(Exception):  # noqa: N818 -- not an error: such a fix is not shown
    """Raised if a change might make the program fail, or if castwise cannot tell."""


class _Replay(NamedTuple):
    """What some fixes change, by the position of a step."""

    affected: list[int]  # the steps that were asked again
    findings: dict[int, Finding]  # theirs
    results: dict[int, DType]  # theirs


class Program:
    """The steps of a program, which can be replayed with fixes."""

    def __init__(self, steps: Sequence[Step], *, with_accumulators: bool = False) -> None:
        self.steps = steps
        self.provenance = Provenance(step.event for step in steps)
        self._with_accumulators = with_accumulators
        self._at: dict[int, list[int]] = {}  # a site -> the positions of its steps
        self._users: dict[int, set[int]] = {}  # a site -> the sites that use its results
        for position, step in enumerate(steps):
            self._at.setdefault(step.event.mark, []).append(position)
            for array in arrays_in(step.event.operands):
                self._users.setdefault(array.maker, set()).add(step.event.mark)
        self.findings = {
            position: finding
            for position, step in enumerate(steps)
            if (finding := self._finding(step, step.operation or step.observed))
        }

    @property
    def own_findings(self) -> dict[int, Finding]:
        """The findings in the user's source, not those inside libraries."""
        found = self.findings.items()
        return {p: finding for p, finding in found if self.steps[p].event.inside is None}

    def steps_at(self, mark: int) -> list[Step]:
        """The steps of a site."""
        return [self.steps[position] for position in self._at.get(mark, ())]

    def is_wider(self, position: int, result: DType) -> bool:
        """Whether a dtype is wider than what a step was seen to make."""
        seen = array_dtype(self.steps[position].event.result)
        return seen is not None and result.itemsize > seen.itemsize

    def replay(self, fixes: Iterable[Fix]) -> _Replay:
        """The log with some fixes.

        Raises _Unprovable if they might make the program fail.
        """
        fixed = {fix.mark: fix for fix in fixes}
        affected = self._affected(fixed)
        made = self._made(affected, fixed)
        findings, results = {}, {}
        for position in affected:
            step = self.steps[position]
            fix = fixed.get(step.event.mark)
            if step.operation is None:
                _check_integers(step, made)
            # Without a rule, nothing says what else the call would give.
            is_kept = step.observed is not None and not _replaces(fix)
            finding = self._finding(step, step.observed if is_kept else _asked(step, made, fix))
            if finding:
                findings[position] = finding
            after = made.get(_node(step.event))
            if isinstance(after, DType):
                results[position] = after
        return _Replay(affected, findings, results)

    def feeding(self, mark: int, wide: DType) -> list[int]:
        """The other origins of arrays of a dtype that meet what a site makes, directly or not."""
        found = [
            self.provenance.origin(array)
            for position in self._affected([mark])
            for array in arrays_in(self.steps[position].event.operands)
            if array.dtype == wide.name and not array.is_scalar
        ]
        return [origin for origin in dict.fromkeys(found) if origin not in (mark, 0)]

    def _finding(self, step: Step, operation: Operation | None) -> Finding | None:
        if operation is None or not operation.is_expected:
            return None
        place = step.located.place
        return find_cast(operation, place, self.provenance, self._with_accumulators)

    def _affected(self, marks: Collection[int]) -> list[int]:
        """The steps of some sites, and of all that use their results, directly or not."""
        found = reached(marks, self._users).union(marks)
        return sorted(position for mark in found for position in self._at.get(mark, ()))

    def _made(self, affected: Sequence[int], fixed: Mapping[int, Fix]) -> dict[Node, Made]:
        """What the affected sites make, by what they were seen to make.

        A site in a loop uses its own results, so each is taken up when its operands are known, and
        again until nothing changes.

        Raises _Unprovable if two runs of a site that made one dtype no longer do, and something
        uses it: the log does not tell which of them.
        """
        unknown = {_node(self.steps[position].event) for position in affected}
        made: dict[Node, Made] = {}
        settled: set[Node] = set()
        is_changing = True
        while is_changing:
            is_changing = False
            for position in affected:
                step = self.steps[position]
                node = _node(step.event)
                if node in settled or step.event.result is None:
                    continue
                result = _result(step, made, unknown, fixed.get(step.event.mark))
                if result is None or made.get(node) == result:
                    continue
                is_changing = True
                if node in made and self._users.get(step.event.mark):
                    raise _Unprovable("two runs of a line would no longer agree")
                if node in made:
                    settled.add(node)
                    result = array_dtype(step.event.result) or NUMBER
                made[node] = result
        return made


def _replaces(fix: Fix | None) -> bool:
    """Whether a fix names the dtype of an operation, instead of casting before or after it."""
    return fix is not None and fix.operand is None and not fix.is_after


def _node(event: Event) -> Node:
    return event.mark, event.result.dtype if event.result else None


def _result(
    step: Step, made: Mapping[Node, Made], unknown: set[Node], fix: Fix | None
) -> Made | None:
    """What a step makes; None while an operand is unknown."""
    event = step.event
    assert event.result is not None  # only asked of steps with one
    if fix is not None and fix.operand is None:
        return fix.target or NUMBER
    arrays = arrays_in(event.operands)
    if any((a.maker, a.dtype) in unknown and (a.maker, a.dtype) not in made for a in arrays):
        return None
    seen = array_dtype(event.result)
    if step.operation is not None:
        operation = _asked(step, made, fix)
        return NUMBER if operation is None else operation.decision.result  # type: ignore[union-attr]
    _check_unequal(event, made)
    if step.passes_dtype:
        passed = [_after(a, made) for a in arrays if a.dtype == event.result.dtype]
        return next((p for p in passed if p is not None and p != NUMBER), seen)
    return seen


def _after(array: SeenArray, made: Mapping[Node, Made]) -> Made | None:
    """The dtype of an array after the fixes."""
    return made.get((array.maker, array.dtype)) or array_dtype(array)


def _check_unequal(event: Event, made: Mapping[Node, Made]) -> None:
    """A call without a rule may refuse arrays of two dtypes where it had one."""
    arrays = [a for a in arrays_in(event.operands) if a.dtype]
    before = {a.dtype for a in arrays}
    after = {_after(a, made) for a in arrays}
    if len(after) > len(before):
        raise _Unprovable("arrays that had one dtype would have two")


def _check_integers(step: Step, made: Mapping[Node, Made]) -> None:
    """A call without a rule may need integers: an index, a label, a size. An explicit cast does
    not, nor what only hands on its first array."""
    event, hook = step.event, find_hook(event_framework(step.event))
    if event.call is not None and hook is not None and event.call.name in hook.calls.casts.split():
        return
    result = event.result.dtype if event.result else None
    for place, operand in enumerate(event.operands):
        for array in arrays_in((operand,)):
            is_handed_on = step.passes_dtype and place == 0 and array.dtype == result
            is_changed = _after(array, made) != array_dtype(array)
            if is_changed and not is_handed_on and holds_integers(array):
                raise _Unprovable("integers would become floats where they may be needed")


def _asked(step: Step, made: Mapping[Node, Made], fix: Fix | None) -> Operation | None:
    """The operation of a step after the fixes; None if it casts only what the fix names, or no
    array is left."""
    operation = step.operation
    if operation is None or _replaces(fix):
        return None
    if has_own_rules(operation):
        if any(_after(a, made) != array_dtype(a) for a in arrays_in(step.event.operands)):
            raise _Unprovable("castwise has no rule for it")
        return operation
    _check_output(step.event, made)
    seen, asked = list(operation.operands), list(operation.question.operands)
    for place, operand in enumerate(operation.operands):
        if isinstance(operand, SeenArray):
            seen[place], asked[place] = _changed(operand, asked[place], _after(operand, made))
    if fix is not None and fix.operand is not None:
        target = fix.target if fix.like is None else asked[fix.like].dtype
        place = fix.operand
        seen[place], asked[place] = _changed(seen[place], asked[place], target or NUMBER)
    if not any(operand.dtype for operand in asked):
        return None
    question = replace(operation.question, operands=tuple(asked))
    try:
        decision = answer(question)
    except CastwiseError as error:
        raise _Unprovable(str(error)) from None
    if operation.decision and operation.decision.has_kernel and not decision.has_kernel:
        raise _Unprovable(f"{question} has no kernel")
    return Operation(step.event, tuple(seen), question, decision, None, called=operation.called)


def _changed(seen: SeenOperand, asked: Operand, target: Made | None) -> tuple[SeenOperand, Operand]:
    if isinstance(target, DType):
        if isinstance(seen, SeenArray) and target != asked.dtype:
            return replace(seen, dtype=target.name), replace(asked, dtype=target)
        return seen, asked
    if target is None or not isinstance(seen, SeenArray):
        return seen, asked
    value = seen.low if seen.low is not None else EXAMPLES[asked.kind]
    number = scalar_operand(value)
    return SeenNumber(number.kind, seen.low, seen.high), number


def _check_output(event: Event, made: Mapping[Node, Made]) -> None:
    """An array given as out= keeps its dtype: what a change of it does is not asked."""
    output = event.named.get("out")
    if isinstance(output, SeenArray) and _after(output, made) != array_dtype(output):
        raise _Unprovable("an output array would change")


# The dtype a program is meant to compute in.

_WIDEST = dtype("float64")
_DEVICES = {"mps": "float32", "tpu": "float32"}  # the widest dtype each of them has
TARGETS = ("float32", "bfloat16", "float16", "float64", *_DEVICES)
_DEFAULT = "default_float="  # the option of a dialect
_COMPLEX = {"float64": "complex128"}
_FLOAT_RANK = _WIDEST.rank


class Target(NamedTuple):
    """The dtype, and whether the user named it."""

    dtype: DType
    is_stated: bool = False
    is_default: bool = False  # the program made it the default of a framework
    device: str = ""  # if the user named one
    why: str = ""  # what an inferred one is inferred from

    @property
    def name(self) -> str:
        """What the user named, or the dtype."""
        return self.device or self.dtype.name

    def departs(self, finding: Finding) -> bool:
        """Whether a cast leaves the target: it involves a wider float, or gives another one. A
        device also takes what is narrower."""
        given = finding.result
        arrays = [operand.dtype for operand in finding.operands if operand.dtype]
        if any(self.is_too_wide(found) for found in (*arrays, given)):
            return True
        return not self.device and given.rank >= _FLOAT_RANK and given != self.dtype_for(given.kind)

    def allows(self, found: DType) -> bool:
        """Whether a fix may make this dtype: if somebody named the target, only that or a wider
        one."""
        is_wider = found.part.bits > self.dtype.bits
        is_named = self.is_stated or self.is_default
        return not is_named or is_wider or found == self.dtype_for(found.kind)

    def is_too_wide(self, found: DType) -> bool:
        """Whether a dtype is a float, or complex with parts, wider than the target."""
        return found.rank >= _FLOAT_RANK and found.part.bits > self.dtype.bits

    def dtype_for(self, kind: str) -> DType:
        """The dtype for results of a kind."""
        if kind == "complex":
            return dtype(_COMPLEX.get(self.dtype.name, "complex64"))
        return self.dtype


def stated_target(name: str) -> Target:
    """The target of `--target NAME`.

    Raises UsageError for an unknown name.
    """
    if name not in TARGETS:
        hint = did_you_mean(name, TARGETS)
        raise UsageError(f"--target: unknown target {name!r}.{hint} One of {', '.join(TARGETS)}.")
    device = name if name in _DEVICES else ""
    return Target(dtype(_DEVICES.get(name, name)), is_stated=True, device=device)


def default_target(dialects: Iterable[str]) -> Target | None:
    """The default float dtype that a program gave to one of its frameworks; None if to none, or
    different ones."""
    options = {option for name in dialects for option in name.split(":")[1:]}
    given = [o.removeprefix(_DEFAULT) for o in options if o.startswith(_DEFAULT)]
    if len(given) != 1:
        return None
    return Target(dtype(given[0]), is_default=True, why="the default dtype that the program set")


def inferred_target(
    steps: Iterable[Step], findings: Iterable[Finding], provenance: Provenance
) -> Target:
    """The float dtype that the arrays had which others widened; else that of most elements that no
    finding made; else that of what findings made."""
    found, widened = [*findings], Counter[DType]()
    for finding in found:
        for place, operand in enumerate(finding.operands):
            if place != finding.culprit and _is_narrow(operand.dtype):
                widened[operand.dtype] += finding.elements  # type: ignore[index]
    if widened:
        return Target(widened.most_common(1)[0][0], why="the arrays that were widened")
    elements = _own_floats(steps, found, provenance)
    if not elements:
        for finding in found:
            if finding.result.kind == "float":
                elements[finding.result] += finding.elements
    if not any(map(_is_narrow, elements)):
        return Target(_WIDEST, why="its floats, none of which is narrower")
    return Target(elements.most_common(1)[0][0], why="most of its floats")


def _own_floats(
    steps: Iterable[Step], findings: Iterable[Finding], provenance: Provenance
) -> Counter[DType]:
    """The number of elements of each float dtype that no finding made."""
    caused = {finding.origin for finding in findings if not _only_joins(finding)}
    origin = functools.cache(provenance.origin)
    elements: Counter[DType] = Counter()
    for step in steps:
        made = [step.event.result] if step.event.result else []
        for array in arrays_in(step.event.operands) or made:
            found = array_dtype(array)
            if found is not None and found.kind == "float" and origin(array) not in caused:
                elements[found] += math.prod(array.shape or ()) * step.event.count
    return elements


def _only_joins(finding: Finding) -> bool:
    """Whether integers or masks take the dtype of an array of floats: `x32 * mask`. This array is
    what the program computes in, not what is wrong with it."""
    if finding.culprit is None or finding.operands[finding.culprit].dtype != finding.result:
        return False
    others = [o.kind for place, o in enumerate(finding.operands) if place != finding.culprit]
    return finding.result.kind == "float" and not {"float", "complex"} & set(others)


def _is_narrow(found: DType | None) -> bool:
    return found is not None and found.kind == "float" and found.bits < _WIDEST.bits


# The plans for an origin: candidates, each with what it would do, and the best of them.

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
        removed = f"removes {quantity(len(self.removed), 'finding')}"
        fixes = quantity(len(self.fixes), "fix", "es")
        return repr_line("Plan", fixes, removed, f"saves {self.bytes:,} bytes")

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

    def __init__(self, program: Program, shown: dict[int, Finding], target: Target) -> None:
        self._program = program
        self._shown = shown  # the findings of the report, by the position of their step
        self._target = target
        self._positions: dict[object, set[int]] = {}  # of the steps with the same finding
        for position, finding in shown.items():
            self._positions.setdefault(finding_key(finding), set()).add(position)
        self._sums = {step.event.mark for step, _ in running_sums(program.steps, _is_wide)}

    def plan(self, origin: int, findings: Sequence[Finding]) -> Plan:
        """The best plan for an origin; an empty one if none is proven to help."""
        if any(map(_is_about_values, findings)):
            return NO_PLAN
        plans = []
        for fixes in _alone_and_joined(self._candidates(origin, findings)):
            plan = self._effect(fixes) or self._together(fixes[0], origin, findings)
            plan = self._extended(plan, findings)
            if plan and len(plan.removed) > len(plan.added):
                plans.append(plan)
        plans.sort(key=lambda plan: plan.gain, reverse=True)
        return next((plan for plan in plans if applies(plan.fixes)), NO_PLAN)

    def source(self, mark: int) -> DtypeSource | None:
        """A site, and everything that was seen there."""
        steps = self._program.steps_at(mark)
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
        targets = dict.fromkeys([*mixed, self._target.dtype_for(found[0].result.kind)])
        least = LEAST_FOR_COUNTS if any(map(_rounds_counts, found)) else 0
        widest = max(o.dtype.bits for finding in found for o in finding.operands if o.dtype)
        widest = max(widest, *(finding.result.bits for finding in found))
        return [t for t in targets if self._target.allows(t) and least <= t.bits < widest]

    def _together(self, fix: Fix, origin: int, findings: Sequence[Finding]) -> Plan | None:
        """A fix with those of all other lines that feed its chain. In a loop, the one alone may
        not be proven: then two runs of a line no longer agree, `x = x @ w + b` for several w."""
        fixes = [fix]
        for mark in self._program.feeding(fix.mark, findings[0].result):
            source = self.source(mark) if mark != origin else None
            if source is not None:
                fixes += [*self._fixes_at(source, findings)][:1]
        return self._effect(fixes) if 1 < len(fixes) <= _MOST_FIXES else None

    def _extended(self, plan: Plan | None, findings: Sequence[Finding]) -> Plan | None:
        """A plan, with the fixes of other lines that feed the same chain."""
        while plan and len(plan.fixes) < _MOST_FIXES:
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
            replay = self._program.replay(fixes)
        except _Unprovable:
            return None
        if any(self._does_harm(position, new) for position, new in replay.results.items()):
            return None
        before = self._program.findings  # a library's operation may repeat one that is shown
        added = [f for position, f in replay.findings.items() if _is_new(f, before.get(position))]
        gone: dict[object, set[int]] = {}
        saved: Counter[object] = Counter()
        for position in replay.affected:
            finding = self._shown.get(position)
            if finding is None:
                continue
            key = finding_key(finding)
            after = replay.results.get(position, finding.result)
            saved[key] += max(0, finding.elements * (finding.result.itemsize - after.itemsize))
            if position not in replay.findings:
                gone.setdefault(key, set()).add(position)
        removed = frozenset(
            key for key, positions in gone.items() if positions == self._positions[key]
        )
        return Plan(tuple(fixes), +saved, removed, tuple(merged(added)))

    def _does_harm(self, position: int, result: DType) -> bool:
        """Whether a step must not get this dtype."""
        event = self._program.steps[position].event
        is_sum = event.mark in self._sums and _is_wide(event.result)
        return self._program.is_wider(position, result) or (is_sum and result.bits <= _SHORT)


def _is_wide(array: SeenArray | None) -> bool:
    """Whether an array has floats that a sum of many terms may be kept in."""
    found = array_dtype(array)
    return found is not None and found.kind == "float" and found.bits > _SHORT


def _is_new(finding: Finding, before: Finding | None) -> bool:
    """Whether a cast was not there before, or widens floats that it did not: what a fix rounds
    must not become as wide as it was."""
    return before is None or bool(_widened_floats(finding) - _widened_floats(before))


def _widened_floats(finding: Finding) -> set[Cast]:
    casts = [cast for cast in finding.operation.casts if "widens" in cast.hazards]
    return {cast for cast in casts if cast.source is not None and cast.source.kind == "float"}


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


def _rounds_counts(finding: Finding) -> bool:
    """Whether integers become floats that a narrow dtype rounds."""
    return any(c.source is not None and holds_counts(c.source) for c in finding.operation.casts)


def _is_lost(finding: Finding) -> bool:
    """Whether an operation is its own origin because nobody saw who made its widest array."""
    if finding.culprit is None or finding.origin != finding.operation.event.mark:
        return False
    return finding.operands[finding.culprit].role is not Role.SCALAR


def _is_about_values(finding: Finding) -> bool:
    """Whether values lose what no other dtype of the line would keep: a fraction that is written
    to integers is lost, or the array must not hold integers."""
    is_output = finding.operation.question.out is not None and finding.culprit is None
    if has_own_rules(finding.operation) and finding.culprit is None:
        return True  # the framework decides, whatever the line says
    return is_output or (is_write(finding.operation) and finding.result.kind != "float")
