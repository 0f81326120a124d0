"""What a program keeps and sums in 16 bits: optimizer states, loops, sums and running means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from castwise.auditing.finding.operations import framework_of
from castwise.auditing.finding.running_sums import LEAST_TERMS, running_sums
from castwise.auditing.finding.steps import Step
from castwise.auditing.hook import find_hook
from castwise.auditing.records.events import Event, SeenArray, arrays_in
from castwise.auditing.records.findings import Operation
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.records.seen import Seen
from castwise.vocab.dtypes import DType, dtype


@dataclass(frozen=True, slots=True)
class NarrowState:
    """Arrays of 16 bits that an optimizer keeps from step to step."""

    place: SourcePlace
    owner: str
    name: str
    dtype: DType
    arrays: int
    elements: int

    @property
    def bytes(self) -> int:
        """Their memory."""
        return self.elements * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class NarrowSum:
    """A sum of many terms whose result has 16 bits."""

    place: SourcePlace
    operation: str
    dtype: DType
    terms: int  # of one sum, as seen
    rounds_each: bool  # every partial sum is rounded, not only the result


@dataclass(frozen=True, slots=True)
class SixteenBits:
    """What is kept and summed in 16 bits."""

    states: tuple[NarrowState, ...] = ()
    sums: tuple[NarrowSum, ...] = ()


def sixteen_bits_in(steps: Sequence[Step], seen: Seen) -> SixteenBits:
    """The states and sums of a program, those with the most terms first."""
    states = tuple(
        NarrowState(seen.sites[s.mark].place, s.owner, s.name, dtype(s.dtype), s.arrays, s.elements)
        for s in seen.beyond.states
    )
    sums: dict[object, NarrowSum] = {}
    for found in (*_loops(steps), *_reductions(steps)):
        key = found.place, found.operation
        if key not in sums or sums[key].terms < found.terms:
            sums[key] = found
    return SixteenBits(states, tuple(sorted(sums.values(), key=lambda s: (-s.terms, s.place))))


def _narrow(array: SeenArray | None) -> DType | None:
    """The dtype of an array if it is a float of 16 bits."""
    found = dtype(array.dtype) if array is not None and array.dtype else None
    return found if found and found.kind == "float" and found.bits == 16 else None


def _reductions(steps: Iterable[Step]) -> Iterator[NarrowSum]:
    """Sums and means over the elements of an array."""
    for step in steps:
        event, operation = step.event, step.operation
        result = _narrow(event.result)
        if operation is None or result is None or not _is_sum(operation):
            continue
        terms = max((_terms(a, event) for a in arrays_in(event.operands[:1])), default=0)
        if terms >= LEAST_TERMS:
            hook, op = find_hook(framework_of(event)), operation.question.op
            rounds = hook is not None and op.name in hook.inside.rounds_sums.split()
            yield NarrowSum(step.located.place, str(operation.question), result, terms, rounds)


def _is_sum(operation: Operation) -> bool:
    op = operation.question.op
    return op.accumulates or op.name in ("mean", "nanmean")


def _terms(array: SeenArray, event: Event) -> int:
    """How many elements were added for one element of the result, as far as shapes tell."""
    shape, made = array.shape or (), (event.result.shape if event.result else None) or ()
    if shape == made:  # a running sum along one axis
        return max(shape, default=0)
    return math.prod(shape) // max(1, math.prod(made))


def _loops(steps: Sequence[Step]) -> Iterator[NarrowSum]:
    """Lines that add to what they made before."""
    for step, terms in running_sums(steps, _narrow):
        result, operation = _narrow(step.event.result), step.operation
        if operation is not None and result is not None:
            yield NarrowSum(step.located.place, str(operation.question), result, terms, True)
