"""What to write instead, at the line where a dtype was born; asked of resolve before it is said."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from castwise.auditing.findings import Finding, Place, place_of
from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.saved import Data
from castwise.auditing.source import text_at
from castwise.engine.ask import answer
from castwise.errors import CastwiseError
from castwise.frameworks.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Operand, Role


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
    if event["dtype_given"] or name in hook.casts.split():
        return Fix(place, _wrapped(code, spelled, hook), f"asks for {target}", target)
    if event["result"]["scalar"]:
        return Fix(place, f"float({code})", "a Python float takes the dtype it meets", target)
    if name in hook.makes.split() and name not in hook.makes_without_dtype.split():
        comma = "" if code.endswith("(") else ", "
        empty = _is_empty_call(code)
        text = f"{code[:-1]}{'' if empty else comma}dtype={spelled})"
        return Fix(place, text, f"makes it {target} from the start", target)
    return Fix(place, _wrapped(code, spelled, hook), f"casts it to {target} once, here", target)


def _is_empty_call(code: str) -> bool:
    try:
        call = ast.parse(code, mode="eval").body
    except SyntaxError:
        return False
    return isinstance(call, ast.Call) and not call.args and not call.keywords


def _fix_of_operator(site: Data, code: str, spelled: str, target: DType, hook: Hook) -> Fix:
    """An operator with its own dtype: the function of the same name where it takes one."""
    place = place_of(site)
    does = f"computes in {target}"
    if site["kind"] == "inplace":
        return Fix(place, code, "the operand's dtype decides: cast it before", target)
    parts = _parts(code)
    function = hook.functions.get(site["name"]) if parts and len(parts) == 2 else None
    if parts and function:
        text = f"{function}({parts[0]}, {parts[1]}, dtype={spelled})"
        return Fix(place, text, does, target)
    if parts:
        first, *rest = parts
        text = f" {site['name']} ".join([_wrapped(first, spelled, hook), *rest])
        return Fix(place, text, does, target)
    return Fix(place, _wrapped(code, spelled, hook), f"casts the result to {target}", target)


def _parts(code: str) -> list[str] | None:
    """The operands of an expression with one operator, as they are written."""
    try:
        tree = ast.parse(f"({code})", mode="eval").body
    except SyntaxError:
        return None
    nodes = [tree.left, tree.right] if isinstance(tree, ast.BinOp) else []
    parts = [ast.get_source_segment(f"({code})", node) for node in nodes]
    return [part for part in parts if part] or None


def _wrapped(code: str, spelled: str, hook: Hook) -> str:
    """An expression with a cast after it."""
    simple = code.replace("_", "a").replace(".", "a").isalnum() or code.endswith((")", "]"))
    return f"{code if simple else f'({code})'}{hook.cast.format(spelled)}"


def after_fix(finding: Finding, fix: Fix) -> DType | None:
    """The dtype of a finding's result once its culprit is of the fix's dtype."""
    question, culprit = finding.operation.question, finding.culprit
    if culprit is None or finding.operands[culprit].role is Role.SCALAR:
        return fix.target
    operands = list(question.operands)
    operands[culprit] = _recast(operands[culprit], fix, question.dialect)
    try:
        return answer(replace(question, operands=tuple(operands))).result
    except CastwiseError:
        return None


def _recast(operand: Operand, fix: Fix, dialect: Dialect) -> Operand:
    return replace(operand, dtype=fix.target)
