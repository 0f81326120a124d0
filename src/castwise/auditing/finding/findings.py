"""Which observed operations cast an array implicitly, and what caused it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from castwise.auditing.finding.own_rules import finding_by_own_rules, has_own_rules
from castwise.auditing.finding.provenance import Provenance
from castwise.auditing.finding.temporaries import temporary_bytes
from castwise.auditing.finding.writes import finding_of_write, is_write, lost_in
from castwise.auditing.records.events import SeenArray
from castwise.auditing.records.findings import Finding, Operation
from castwise.auditing.records.places import SourcePlace
from castwise.engine.decision import HAZARDS
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand

_WIDE = ("float64", "complex128")


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, equal ones as one, largest first."""
    found: dict[object, Finding] = {}
    for finding in findings:
        _merge(found, finding)
    return sorted(found.values(), key=lambda f: -f.elements)


def _merge(found: dict[object, Finding], new: Finding) -> None:
    key = key_of(new)
    old = found.get(key)
    found[key] = (
        replace(
            old,
            count=old.count + new.count,
            elements=old.elements + new.elements,
            temporaries=old.temporaries + new.temporaries,
            alive=max(old.alive, new.alive),
            is_expected=old.is_expected and new.is_expected,
        )
        if old
        else new
    )


def key_of(finding: Finding) -> object:
    """What identifies a finding."""
    dtypes = tuple(o.dtype or o.kind for o in finding.operands)
    return finding.place, finding.op, dtypes, finding.result, finding.origin, finding.inside


def finding_of(
    operation: Operation,
    place: SourcePlace,
    provenance: Provenance,
    with_accumulators: bool = False,
) -> Finding | None:
    """The finding for an operation; None if it casts nothing implicitly."""
    if is_write(operation):
        return finding_of_write(operation, place, provenance)
    if has_own_rules(operation):
        return finding_by_own_rules(operation, place, provenance)
    decision, question = operation.decision, operation.question
    assert decision is not None  # such a cast is expected
    is_sum = question.op.accumulates
    casts = operation.casts
    if operation.is_asked or not casts or (is_sum and not with_accumulators):
        return None
    culprit = _culprit(question.operands, decision.compute)
    if operation.is_observed and decision.compute not in [o.dtype for o in question.operands]:
        culprit = None  # no operand is as wide
    is_narrowed = bool(lost_in(decision.result_cast))
    if culprit is None and not is_sum and not is_narrowed and not _is_caused_by_op(operation):
        return None
    hazards = {hazard for cast in casts for hazard in cast.hazards}
    event = operation.event
    widest = operation.operands[culprit] if culprit is not None else None
    origin = provenance.origin(widest) if isinstance(widest, SeenArray) else 0
    return Finding(place, question.op.name, operation, culprit, origin or event.mark,
                   tuple(h for h in HAZARDS if h in hazards), event.count, event.elements,
                   temporary_bytes(operation), alive=event.alive)  # fmt: skip


def _is_caused_by_op(operation: Operation) -> bool:
    """Whether an op casts by itself what the program did not ask for: integers become floats, or
    anything becomes float64."""
    decision = operation.decision
    assert decision is not None  # such a cast is expected
    result = decision.result
    becomes_float = result.kind in ("float", "complex") and any(
        cast.source and cast.source.kind in ("bool", "int") for cast in operation.casts
    )
    return becomes_float or result.name in _WIDE or operation.is_observed


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
