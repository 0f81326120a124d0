"""What to write instead, at the line where a dtype was born; asked of resolve before it is said."""

from __future__ import annotations

from dataclasses import dataclass, replace

from castwise.auditing.edits import (
    followed_by,
    operands_of,
    with_dtype,
    with_first_argument,
)
from castwise.auditing.findings import Finding, Place, place_of
from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.saved import Data
from castwise.auditing.source import text_at
from castwise.engine.ask import answer
from castwise.errors import CastwiseError
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Role


@dataclass(frozen=True)
class Fix:
    """New text for a piece of source, and what it does."""

    place: Place
    text: str
    does: str
    target: DType  # what is born there afterwards


def fix_for(findings: list[Finding], origin: int, seen: Data) -> Fix | None:
    """The change at an origin that removes most of what its findings cost; None where castwise
    knows none that helps."""
    site = seen["sites"][str(origin)]
    event = _birth(origin, seen)
    target = _target(findings)
    if event is None or target is None:
        return None
    hook = find_hook((event["result"] or event["operands"][0])["framework"])
    code = text_at(place_of(site))
    if hook is None or not code:
        return None
    spelled = hook.spelling.format(target.name)
    if "callee" in event:
        return _fix_of_call(site, event, code, spelled, target, hook)
    return _fix_of_operator(site, code, spelled, target, hook)


def _birth(origin: int, seen: Data) -> Data | None:
    """The event at an origin that made an array."""
    made = [e for e in seen["events"] if e["mark"] == origin and e["result"]]
    return made[0] if made else None


def _target(findings: list[Finding]) -> DType | None:
    """The dtype that would be wide enough: that of what the culprit met, or float32 where it was
    made of integers."""
    met = [found for finding in findings if (found := _beside(finding))]
    if met:
        return max(met, key=lambda d: (d.rank, d.bits))
    return dtype("complex64" if findings[0].result.kind == "complex" else "float32")


def _beside(finding: Finding) -> DType | None:
    """The widest float dtype that stands beside a finding's culprit."""
    others = [
        o.dtype
        for n, o in enumerate(finding.operands)
        if n != finding.culprit and o.dtype and o.dtype.rank >= _FLOAT
    ]
    narrower = [d for d in others if d.bits < finding.result.bits]
    return max(narrower, key=lambda d: (d.rank, d.bits), default=None)


_FLOAT = 2


def _fix_of_call(
    site: Data, event: Data, code: str, spelled: str, target: DType, hook: Hook
) -> Fix:
    place, name = place_of(site), event["callee"]["name"]
    if event["result"]["scalar"]:
        return Fix(place, f"float({code})", "a Python float takes the dtype it meets", target)
    text = _asking_for(code, name, spelled, hook, event["dtype_given"])
    if text:
        return Fix(place, text, f"makes it {target} from the start", target)
    cast = followed_by(code, hook.cast.format(spelled))
    return Fix(place, cast, f"casts it to {target} once, here", target)


def _asking_for(code: str, name: str, spelled: str, hook: Hook, has_dtype: bool) -> str | None:
    """The same call for another dtype, where it takes one."""
    if name in hook.casts.split():
        return with_dtype(code, spelled) if has_dtype else with_first_argument(code, spelled)
    takes = set(hook.makes.split()) - set(hook.makes_without_dtype.split())
    if has_dtype or name in takes or name in hook.takes_dtype.split():
        return with_dtype(code, spelled)
    return None


def _fix_of_operator(site: Data, code: str, spelled: str, target: DType, hook: Hook) -> Fix | None:
    """An operator with its own dtype: the function of the same name where it takes one."""
    place, does = place_of(site), f"computes in {target}"
    operands = operands_of(code)
    if site["kind"] == "inplace" or not operands:
        return None  # the array it is written to decides
    function = hook.functions.get(site["name"])
    if function:
        text = f"{function}({', '.join(operands)}, dtype={spelled})"
        return Fix(place, text, does, target)
    cast = followed_by(operands[0], hook.cast.format(spelled))
    return Fix(place, f" {site['name']} ".join([cast, *operands[1:]]), does, target)


def after_fix(finding: Finding, fix: Fix) -> DType | None:
    """The dtype of a finding's result once its culprit is of the fix's dtype."""
    question, culprit = finding.operation.question, finding.culprit
    if culprit is None or finding.operands[culprit].role is Role.SCALAR:
        return fix.target
    operands = list(question.operands)
    operands[culprit] = replace(operands[culprit], dtype=fix.target)
    try:
        return answer(replace(question, operands=tuple(operands))).result
    except CastwiseError:
        return None
