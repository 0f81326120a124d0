"""Which observed operations cast an array implicitly, and what caused it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from castwise.auditing.judging.operations import Harmless, NotUnderstood, understand
from castwise.auditing.judging.temporaries import temporary_bytes
from castwise.auditing.records.events import Seen, SeenArray
from castwise.auditing.records.findings import Coverage, Finding, Operation
from castwise.auditing.records.places import SourcePlace
from castwise.engine.decision import HAZARDS
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand

_WIDE = ("float64", "complex128")


def find(seen: Seen, *, with_accumulators: bool = False) -> tuple[list[Finding], Coverage]:
    """The findings in what was seen, largest first, with the coverage."""
    found: dict[object, Finding] = {}
    count, unclear, unexpected, asked = 0, Counter[str](), Counter[str](), Counter[str]()
    for event in seen.events:
        located = seen.site(event)
        try:
            operation = understand(event, located.site, seen.facts.dialects)
        except Harmless:
            count += event.count
            continue
        except NotUnderstood as reason:
            unclear[str(reason)] += event.count
            continue
        count += event.count
        if not operation.is_expected:
            unexpected[str(operation.question)] += event.count
            continue
        if operation.is_asked and operation.casts:
            asked[str(operation.question)] += event.count
        for finding in findings_of(operation, located.place, with_accumulators):
            merge(found, finding)
    coverage = Coverage(
        count, unclear, seen.unobserved, unexpected, seen.counts.quiet, seen.counts.late,
        Counter(seen.counts.failures), seen.facts.processes, len(seen.files), asked,
    )  # fmt: skip
    return sorted(found.values(), key=lambda f: -f.elements), coverage


def merge(found: dict[object, Finding], new: Finding) -> None:
    """Adds a finding, merged with an equal one."""
    key = key_of(new)
    old = found.get(key)
    found[key] = (
        replace(
            old,
            count=old.count + new.count,
            elements=old.elements + new.elements,
            temporaries=old.temporaries + new.temporaries,
        )
        if old
        else new
    )


def key_of(finding: Finding) -> object:
    """What identifies a finding."""
    dtypes = tuple(o.dtype or o.kind for o in finding.operands)
    return finding.place, finding.op, dtypes, finding.result, finding.origin, finding.inside


def findings_of(
    operation: Operation, place: SourcePlace, with_accumulators: bool = False
) -> Iterator[Finding]:
    """The finding for an operation, if it casts implicitly."""
    decision, question = operation.decision, operation.question
    assert decision is not None  # such a cast is expected
    is_sum = question.op.accumulates
    casts = operation.casts
    if operation.is_asked or not casts or (is_sum and not with_accumulators):
        return
    culprit = _culprit(question.operands, decision.compute)
    if culprit is None and decision.result.name not in _WIDE and not is_sum:
        return  # the op itself caused it, and the result is not float64
    hazards = {hazard for cast in casts for hazard in cast.hazards}
    event = operation.event
    widest = operation.operands[culprit] if culprit is not None else None
    origin = widest.origin if isinstance(widest, SeenArray) else 0
    yield Finding(place, question.op.name, operation, culprit, origin or event.mark,
                  tuple(h for h in HAZARDS if h in hazards), event.count, event.elements,
                  temporary_bytes(operation))  # fmt: skip


def _culprit(operands: tuple[Operand, ...], compute: DType) -> int | None:
    """The widest operand, if another is cast because of it; None if the op itself is the cause."""
    dtypes = {o.dtype for o in operands if o.dtype}
    kinds = [o.dtype.rank if o.dtype else _KIND_RANK[o.kind] for o in operands]
    scalars = [n for n, o in enumerate(operands) if not o.dtype]
    highest = max((kinds[n] for n, o in enumerate(operands) if o.dtype), default=0)
    raising = [n for n in scalars if kinds[n] > highest]
    if raising and compute.rank >= min(kinds[n] for n in raising):
        return raising[0]
    if len(dtypes) < 2:
        return None
    return max((n for n, o in enumerate(operands) if o.dtype), key=lambda n: _width(operands[n]))


_KIND_RANK = {"bool": 0, "int": 1, "float": 2, "complex": 3}


def _width(operand: Operand) -> tuple[int, int]:
    found = operand.dtype
    assert found is not None  # only called for arrays
    return found.bits, found.rank
