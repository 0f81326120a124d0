"""What a program's operations would give if some arrays had other dtypes: the whole log, asked
again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from castwise.auditing.finding.findings import finding_of
from castwise.auditing.finding.operations import EXAMPLES, framework_of
from castwise.auditing.finding.own_rules import has_own_rules
from castwise.auditing.finding.provenance import Provenance
from castwise.auditing.finding.steps import Step
from castwise.auditing.fixing.fixes import holds_integers
from castwise.auditing.hook import find_hook
from castwise.auditing.records.events import Event, SeenArray, SeenNumber, SeenOperand, arrays_in
from castwise.auditing.records.findings import Finding, Fix, Operation
from castwise.engine.ask import answer
from castwise.errors import CastwiseError
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, scalar_operand

NUMBER = "number"  # a Python number in place of an array
Made: TypeAlias = "DType | str"  # a dtype, or NUMBER
Node: TypeAlias = "tuple[int, str | None]"  # a site, and the dtype it was seen to make


class Unprovable(Exception):  # noqa: N818 -- not an error: such a fix is not shown
    """Raised if a change might make the program fail, or if castwise cannot tell."""


class Replay(NamedTuple):
    """What some fixes change, by the position of a step."""

    affected: list[int]  # the steps that were asked again
    findings: dict[int, Finding]  # theirs
    results: dict[int, DType]  # theirs


class Log:
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

    def steps_at(self, mark: int) -> list[Step]:
        """The steps of a site."""
        return [self.steps[position] for position in self._at.get(mark, ())]

    def is_wider(self, position: int, result: DType) -> bool:
        """Whether a dtype is wider than what a step was seen to make."""
        made = self.steps[position].event.result
        seen = _seen_dtype(made) if made else None
        return seen is not None and result.itemsize > seen.itemsize

    def replay(self, fixes: Iterable[Fix]) -> Replay:
        """The log with some fixes.

        Raises Unprovable if they might make the program fail.
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
            asked = step.observed if _stays(step, fix) else _asked(step, made, fix)
            finding = self._finding(step, asked)
            if finding:
                findings[position] = finding
            after = made.get(_node(step.event))
            if isinstance(after, DType):
                results[position] = after
        return Replay(affected, findings, results)

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
        return finding_of(operation, place, self.provenance, self._with_accumulators)

    def _affected(self, marks: Iterable[int]) -> list[int]:
        """The steps of some sites, and of all that use their results, directly or not."""
        waiting, found = [*marks], set(marks)
        while waiting:
            new = self._users.get(waiting.pop(), set()) - found
            found |= new
            waiting += new
        return sorted(position for mark in found for position in self._at.get(mark, ()))

    def _made(self, affected: Sequence[int], fixed: Mapping[int, Fix]) -> dict[Node, Made]:
        """What the affected sites make, by what they were seen to make.

        A site in a loop uses its own results, so each is taken up when its operands are known, and
        again until nothing changes.

        Raises Unprovable if two runs of a site that made one dtype no longer do, and something uses
        it: the log does not tell which of them.
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
                    raise Unprovable("two runs of a line would no longer agree")
                if node in made:
                    settled.add(node)
                    result = _seen_dtype(step.event.result) or NUMBER
                made[node] = result
        return made


def _stays(step: Step, fix: Fix | None) -> bool:
    """Whether a cast that no rule explains stays: nobody knows what else the call would give."""
    return step.observed is not None and not _replaces(fix)


def _replaces(fix: Fix | None) -> bool:
    """Whether a fix names the dtype of an operation, instead of casting before or after it."""
    return fix is not None and fix.operand is None and not fix.is_after


def _node(event: Event) -> Node:
    return event.mark, event.result.dtype if event.result else None


def _seen_dtype(array: SeenArray) -> DType | None:
    return dtype(array.dtype) if array.dtype else None


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
    seen = _seen_dtype(event.result)
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
    return made.get((array.maker, array.dtype)) or _seen_dtype(array)


def _check_unequal(event: Event, made: Mapping[Node, Made]) -> None:
    """A call without a rule may refuse arrays of two dtypes where it had one."""
    arrays = [a for a in arrays_in(event.operands) if a.dtype]
    before = {a.dtype for a in arrays}
    after = {_after(a, made) for a in arrays}
    if len(after) > len(before):
        raise Unprovable("arrays that had one dtype would have two")


def _check_integers(step: Step, made: Mapping[Node, Made]) -> None:
    """A call without a rule may need integers: an index, a label, a size. An explicit cast does
    not, nor what only hands on its first array."""
    event, hook = step.event, find_hook(framework_of(step.event))
    if event.call is not None and hook is not None and event.call.name in hook.calls.casts.split():
        return
    result = event.result.dtype if event.result else None
    for place, operand in enumerate(event.operands):
        for array in arrays_in((operand,)):
            is_handed_on = step.passes_dtype and place == 0 and array.dtype == result
            is_changed = _after(array, made) != _seen_dtype(array)
            if is_changed and not is_handed_on and holds_integers(array):
                raise Unprovable("integers would become floats where they may be needed")


def _asked(step: Step, made: Mapping[Node, Made], fix: Fix | None) -> Operation | None:
    """The operation of a step after the fixes; None if it casts only what the fix names, or no
    array is left."""
    operation = step.operation
    if operation is None or _replaces(fix):
        return None
    if has_own_rules(operation):
        if any(_after(a, made) != _seen_dtype(a) for a in arrays_in(step.event.operands)):
            raise Unprovable("castwise has no rule for it")
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
        raise Unprovable(str(error)) from None
    if operation.decision and operation.decision.has_kernel and not decision.has_kernel:
        raise Unprovable(f"{question} has no kernel")
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
    if event.call is None:
        return
    named = zip(event.call.keywords, event.operands[event.call.positional :], strict=True)
    for name, array in named:
        is_output = name == "out" and isinstance(array, SeenArray)
        if is_output and _after(array, made) != _seen_dtype(array):  # type: ignore[arg-type]
            raise Unprovable("an output array would change")
