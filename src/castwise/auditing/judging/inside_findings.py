"""Findings inside libraries and in backward, and casts that nobody wrote."""

from __future__ import annotations

import ast
import os
from collections import Counter
from dataclasses import dataclass, replace

from castwise.auditing.finding.findings import key_of
from castwise.auditing.finding.operations import Harmless
from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.proving.replay import Log
from castwise.auditing.records.events import Event, SeenArray, SeenInside
from castwise.auditing.records.findings import Finding, InsideCast, InsideCoverage
from castwise.auditing.records.places import CodeSpot, SourcePlace
from castwise.auditing.records.seen import Seen
from castwise.auditing.rewriting.source import text_at
from castwise.vocab.dtypes import dtype


def find_inside(log: Log, seen: Seen) -> tuple[dict[int, Finding], InsideCoverage]:
    """The findings inside libraries that the user's source does not show, by the position of their
    step, and the coverage."""
    shown = {key_of(f) for p, f in log.findings.items() if log.steps[p].event.inside is None}
    found: dict[int, Finding] = {}
    casts: dict[object, InsideCast] = {}
    autocast_at = {e.mark for e in seen.inside if e.inside and e.inside.autocast}
    count, unclear = seen.counts.plain, Counter[str]()
    for position, step in enumerate(log.steps):
        event, located, operation, why = step.event, step.located, step.operation, step.unclear
        if event.inside is None:
            continue
        count += event.count
        try:
            cast = _cast(event, located.place, event.mark in autocast_at)
        except Harmless:
            continue
        if cast is not None:
            _add(casts, cast)
        elif why and not _has_one_dtype(event):
            unclear[why] += event.count
        elif operation is not None and not operation.is_expected:
            unclear[str(operation.question)] += event.count
        finding = log.findings.get(position)
        if finding and (event.inside.backward_of or key_of(finding) not in shown):
            found[position] = replace(finding, inside=_inside_text(event.inside))
    ordered = sorted(casts.values(), key=lambda c: (-c.bytes, c.place))
    return found, InsideCoverage(count, unclear, tuple(ordered), _closed(seen))


def _add(casts: dict[object, InsideCast], new: InsideCast) -> None:
    key = new.place, new.source, new.target, new.why
    old = casts.get(key)
    casts[key] = (
        replace(
            old,
            count=old.count + new.count,
            elements=old.elements + new.elements,
            seconds=old.seconds + new.seconds,
        )
        if old
        else new
    )


def _closed(seen: Seen) -> tuple[str, ...]:
    hooks = [(name, find_hook(name)) for name in sorted(seen.facts.dialects)]
    return tuple(name for name, hook in hooks if hook and not hook.watching.inside)


def _has_one_dtype(event: Event) -> bool:
    """Whether all inputs and outputs have one dtype: nothing was cast."""
    return len({array.dtype for array in event.arrays}) == 1


def _how(event: Event) -> SeenInside:
    assert event.inside is not None  # only called for such events
    return event.inside


def _inside_text(how: SeenInside) -> str:
    if how.backward_of:
        return f"backward of {how.backward_of}"
    return f"inside {spot_text(how.spot)}"


def spot_text(spot: CodeSpot | None) -> str:
    """A line of a library."""
    assert spot is not None  # only events in backward have no spot
    return f"{_library_text(spot.file)}:{spot.line}"


def _library_text(file: str) -> str:
    """A library's file, relative to its package's parent."""
    _, found, inside = file.replace(os.sep, "/").rpartition("-packages/")
    return inside if found else os.path.basename(file)


def _cast(event: Event, place: SourcePlace, is_autocast_site: bool) -> InsideCast | None:
    """The cast of a whole array; None for other operations.

    Raises Harmless if the program asked for it.
    """
    call = event.call
    hook = find_hook(call.module) if call else None
    if call is None or hook is None or call.name not in hook.inside.casts.split():
        return None
    before, after = event.operands[0], event.result
    source = before.dtype if isinstance(before, SeenArray) else None
    target = after.dtype if after else None
    if source is None or target is None or source == target:
        raise Harmless(call.name)
    why = _why(_how(event), hook, is_autocast_site)
    return InsideCast(
        place, dtype(source), dtype(target), why, event.count, event.elements, event.seconds
    )


def _why(how: SeenInside, hook: Hook, is_autocast_site: bool) -> str:
    """What caused a cast, as far as is known."""
    of, spot = how.backward_of, how.spot
    if of in hook.inside.casts.split():
        if is_autocast_site:
            return "backward of a cast by autocast"
        raise Harmless("the gradient of a cast")
    if of:
        return f"backward of {of}"
    call = _call_at(spot)
    if call.is_cast or call.name in hook.calls.casts.split():
        raise Harmless(call.name)
    autocasts = " ".join(hook.inside.autocasts.values()).split()
    if how.autocast and (not call.name or call.name in autocasts):
        return f"autocast for {call.name or 'an operator'}"
    return f"unknown origin, inside {spot_text(spot)}"


@dataclass(frozen=True)
class _SourceCall:
    """The call at a place in the source."""

    name: str = ""
    is_cast: bool = False  # it names the dtype


def _call_at(spot: CodeSpot | None) -> _SourceCall:
    assert spot is not None  # only events in backward have no spot
    try:
        node = ast.parse(text_at(spot.place).strip())
    except SyntaxError:
        return _SourceCall()
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    if not calls:
        return _SourceCall()
    function = calls[0].func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return _SourceCall(name, any(keyword.arg == "dtype" for keyword in calls[0].keywords))
