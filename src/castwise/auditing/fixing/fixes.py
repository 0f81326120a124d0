"""What to write instead, at the line where a dtype comes from; resolve confirms each change
first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from castwise.auditing.fixing.wording import (
    call_for,
    cast_to,
    operator_in,
    spelled,
    with_cast_operand,
    with_number,
)
from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.records.events import Seen, SeenArray, SeenCall
from castwise.auditing.records.findings import Finding, Fix
from castwise.auditing.records.places import LocatedSite, SourcePlace
from castwise.auditing.rewriting.source import text_at
from castwise.engine.ask import answer
from castwise.errors import CastwiseError
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, Role, scalar_operand

_FLOAT = dtype("float32").rank


class Effect(NamedTuple):
    """What a fix does to a finding."""

    is_removed: bool
    saved: int  # bytes


_NONE = Effect(False, 0)
_A_NUMBER = "a Python number takes the array's dtype"


def fix_for(findings: list[Finding], origin: int, seen: Seen) -> Fix | None:
    """The change that removes most of the cost of an origin's findings; None if castwise knows none
    that helps."""
    best, most = None, (0, 0)
    for fix in _candidates(findings, origin, seen):
        effects = [effect_of(fix, finding) for finding in findings]
        gain = sum(e.saved for e in effects), sum(e.is_removed for e in effects)
        if gain > most and gain[1]:
            best, most = fix, gain
    return best


def effect_of(fix: Fix, finding: Finding) -> Effect:
    """What a fix does to one finding, as the dialect decides."""
    if fix.place == finding.place and fix.target is not None:
        if fix.is_after or fix.target.rank < finding.result.rank:
            return _NONE  # the cast stays, or the computation changes
        saved = _bytes_of(finding.elements, finding.result) - _bytes_of(
            finding.elements, fix.target
        )
        return Effect(True, max(0, saved))
    if finding.culprit is None:
        return _NONE
    question = finding.operation.question
    operands = list(question.operands)
    operands[finding.culprit] = _changed(operands[finding.culprit], fix)
    try:
        decision = answer(replace(question, operands=tuple(operands)))
    except CastwiseError:
        return _NONE
    saved = _bytes_of(finding.elements, finding.result) - _bytes_of(
        finding.elements, decision.result
    )
    is_cast = any(
        cast and operand.dtype and operand.role is not Role.NUMPY_SCALAR
        for cast, operand in zip(decision.casts, operands, strict=True)
    )
    return Effect(not is_cast, max(0, saved))


def _changed(operand: Operand, fix: Fix) -> Operand:
    if fix.target is not None:
        return replace(operand, dtype=fix.target)
    return scalar_operand(1.5 if operand.value is None else operand.value)


def _candidates(findings: list[Finding], origin: int, seen: Seen) -> Iterator[Fix]:
    """Fixes at the origin first, then where the worst finding is seen."""
    located = seen.sites[origin]
    made = next(((e, e.result) for e in seen.events if e.mark == origin and e.result), None)
    hook = find_hook(made[1].framework) if made else None
    place = located.place
    code = text_at(place)
    if made and hook and code:
        event, array = made
        if array.is_scalar:
            yield Fix(place, f"{_number_kind(array)}({code})", _A_NUMBER, None)
        if not _is_about_an_array(findings[0], place):
            for target in _targets(findings):
                yield from _fixes_at(located, event.call, code, target, hook)
    yield from _fixes_where_seen(findings[0], hook)


def _is_about_an_array(finding: Finding, place: SourcePlace) -> bool:
    """Whether an operation is its own origin because nobody saw where its widest array was
    created."""
    if finding.culprit is None or finding.place != place:
        return False
    return finding.operands[finding.culprit].role is not Role.SCALAR


def _number_kind(scalar: SeenArray) -> str:
    kind = dtype(scalar.dtype).kind if scalar.dtype else ""
    return kind if kind in ("int", "bool", "complex") else "float"


def _targets(findings: list[Finding]) -> list[DType]:
    """The dtypes that may be wide enough: those the culprits are combined with, and float32."""
    met = [
        operand.dtype
        for finding in findings
        for place, operand in enumerate(finding.operands)
        if place != finding.culprit and operand.dtype and operand.dtype.rank >= _FLOAT
    ]
    default = "complex64" if findings[0].result.kind == "complex" else "float32"
    return list(dict.fromkeys([*met, dtype(default)]))


def _fixes_at(
    located: LocatedSite, call: SeenCall | None, code: str, target: DType, hook: Hook
) -> Iterator[Fix]:
    """Fixes for a call or an operator that creates an array, so that it creates another dtype."""
    place, site = located.place, located.site
    name = spelled(target, hook, place.file)
    if call is None:
        text = operator_in(code, site.name, name, hook, place.file)
        if text and site.kind == "operator":
            yield Fix(place, text, f"computes in {target}", target)
        return
    text = call_for(code, call.name, name, hook, call.gives_dtype)
    if text:
        yield Fix(place, text, f"makes it {target} from the start", target)
    else:
        does = f"casts it to {target} once, here"
        yield Fix(place, cast_to(code, name, hook), does, target, is_after=True)


def _fixes_where_seen(finding: Finding, hook: Hook | None) -> Iterator[Fix]:
    """Fixes for one operation: its culprit as a Python number, or an explicit cast."""
    code, culprit = text_at(finding.place), finding.culprit
    if culprit is not None and finding.operands[culprit].role is Role.NUMPY_SCALAR:
        kind = finding.operands[culprit].kind
        text = with_number(code, culprit, kind)
        if text:
            yield Fix(finding.place, text, _A_NUMBER, None)
    decision = finding.operation.decision
    if decision is None or hook is None or finding.operation.question.is_assignment:
        return
    for place, cast in enumerate(decision.casts):
        if cast and cast.source:
            name = spelled(cast.target, hook, finding.place.file)
            text = with_cast_operand(code, place, name, hook)
            if text:
                yield Fix(finding.place, text, "makes the cast explicit", cast.target)


def _bytes_of(elements: int, dtype: DType) -> int:
    """The memory that elements of a dtype take."""
    return elements * dtype.itemsize
