"""Loops that add to what they made before: `total += x`, `mean = 0.9 * mean + 0.1 * x`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from castwise.auditing.finding.steps import Step
from castwise.auditing.records.events import Event, SeenArray, arrays_in

LEAST_TERMS = 16  # of a sum that loses too much if each partial sum is rounded to 16 bits
_ADDING = frozenset({"add", "sub"})
Counts: TypeAlias = "Callable[[SeenArray | None], object]"


def running_sums(steps: Sequence[Step], counts: Counts) -> Iterator[tuple[Step, int]]:
    """The first step of each line that adds to what it made before, directly or through other
    lines, with the number of terms; among the arrays that count."""
    at: dict[int, list[Step]] = {}
    users: dict[int, set[int]] = {}
    makers: dict[int, set[int]] = {}
    made: dict[int, int] = {}
    for step in steps:
        event = step.event
        made[event.mark] = made.get(event.mark, 0) + event.count
        if counts(event.result):
            at.setdefault(event.mark, []).append(step)
            for array in arrays_in(event.operands):
                if counts(array):
                    users.setdefault(array.maker, set()).add(event.mark)
                    makers.setdefault(event.mark, set()).add(array.maker)
    for mark, found in at.items():
        adding = [s for s in found if s.operation and s.operation.question.op.name in _ADDING]
        count = sum(s.event.count for s in adding)
        if count < LEAST_TERMS:
            continue
        loop = _reached(mark, users) & _reached(mark, makers)
        if loop:
            steps_in = [s for m in loop for s in at.get(m, ())]
            begun = sum(s.event.count for s in steps_in if not _uses(s.event, loop, counts))
            terms = count // max(1, begun)
        else:
            terms = _terms_in_place(adding, made)
        if terms >= LEAST_TERMS:
            yield adding[0], terms


def _terms_in_place(adding: Sequence[Step], made: dict[int, int]) -> int:
    """How often a call adds to an array for each time that the array was made; 0 if it does not
    work in place."""
    event, _, operation = adding[0][:3]
    target = event.operands[0] if operation and operation.question.inplace else None
    times = made.get(target.maker, 0) if isinstance(target, SeenArray) else 0
    return sum(s.event.count for s in adding) // times if times else 0


def _uses(event: Event, marks: set[int], counts: Counts) -> bool:
    """Whether an operand that counts was made at one of these sites."""
    return any(counts(a) and a.maker in marks for a in arrays_in(event.operands))


def _reached(mark: int, following: dict[int, set[int]]) -> set[int]:
    """The sites that follow a site, directly or not."""
    found: set[int] = set()
    waiting = [mark]
    while waiting:
        new = following.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
