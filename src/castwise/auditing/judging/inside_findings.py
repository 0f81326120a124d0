"""What ran inside libraries and in backward: findings of its own, and casts that nobody wrote."""

from __future__ import annotations

import ast
import os
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.judging.findings import Finding, Place, findings_of, key_of, merge, place_of
from castwise.auditing.judging.operations import Harmless, NotUnderstood, understand
from castwise.auditing.rewriting.source import text_at
from castwise.auditing.running.saved import Data, arrays_in
from castwise.vocab.dtypes import DType, dtype


@dataclass(frozen=True)
class InsideCast:
    """A cast that no source asks for by name, at the user's line that led to it."""

    place: Place
    source: DType
    target: DType
    why: str
    count: int
    elements: int

    @property
    def bytes(self) -> int:
        """The memory of the copies it made."""
        return self.elements * self.target.itemsize


@dataclass(frozen=True)
class InsideCoverage:
    """How much of what ran inside libraries and in backward is understood."""

    seen: int = 0
    not_understood: Counter[str] = field(default_factory=Counter)
    casts: tuple[InsideCast, ...] = ()
    cannot_show: tuple[str, ...] = ()  # frameworks that let nobody look inside


def find_inside(seen: Data, known: list[Finding]) -> tuple[list[Finding], InsideCoverage]:
    """The findings inside libraries that no source line shows by itself, and the coverage."""
    shown = {key_of(finding) for finding in known}
    found: dict[object, Finding] = {}
    casts: dict[object, InsideCast] = {}
    autocast_at = {e["mark"] for e in seen["inside"] if e["inside"]["autocast"]}
    count, unclear = seen["plain"], Counter[str]()
    for event in seen["inside"]:
        count += event["count"]
        site = seen["sites"][str(event["mark"])]
        try:
            cast = _cast(event, site, event["mark"] in autocast_at)
            if cast is not None:
                _add(casts, cast)
                continue
            operation = understand(event, site, seen["dialects"])
        except Harmless:
            continue
        except NotUnderstood as reason:
            if not _has_one_dtype(event):
                unclear[str(reason)] += event["count"]
            continue
        if not operation.is_expected:
            unclear[str(operation.question)] += event["count"]
            continue
        for finding in findings_of(operation, event["mark"], site):
            if event["inside"]["backward_of"] or key_of(finding) not in shown:
                merge(found, replace(finding, inside=_inside_text(event)))
    ordered = sorted(casts.values(), key=lambda c: (-c.bytes, c.place))
    return list(found.values()), InsideCoverage(count, unclear, tuple(ordered), _closed(seen))


def _add(casts: dict[object, InsideCast], new: InsideCast) -> None:
    key = new.place, new.source, new.target, new.why
    old = casts.get(key)
    casts[key] = (
        replace(old, count=old.count + new.count, elements=old.elements + new.elements)
        if old
        else new
    )


def _closed(seen: Data) -> tuple[str, ...]:
    hooks = [(name, find_hook(name)) for name in sorted(seen["dialects"])]
    return tuple(name for name, hook in hooks if hook and not hook.watch_inside)


def _has_one_dtype(event: Data) -> bool:
    """Whether all arrays that go in and come out are of one dtype: none was cast."""
    return len({a["dtype"] for a in arrays_in([*event["operands"], event["result"]])}) == 1


def _inside_text(event: Data) -> str:
    of, spot = event["inside"]["backward_of"], event["inside"]["spot"]
    if of:
        return f"backward of {of}"
    return f"inside {_library_text(spot[0])}:{spot[1]}"


def _library_text(file: str) -> str:
    """A library's file from its package on."""
    _, found, inside = file.replace(os.sep, "/").rpartition("-packages/")
    return inside if found else os.path.basename(file)


def _cast(event: Data, site: Data, is_autocast_site: bool) -> InsideCast | None:
    """A cast of one array as a whole; None for all other operations.

    Raises Harmless where somebody asked for it.
    """
    hook = find_hook(event["callee"]["module"])
    name = event["callee"]["name"]
    if hook is None or name not in hook.casts_inside.split():
        return None
    before, after = event["operands"][0], event["result"]
    if not before or before["dtype"] == after["dtype"] or None in (before["dtype"], after["dtype"]):
        raise Harmless(name)
    why = _why(event, hook, is_autocast_site)
    return InsideCast(place_of(site), dtype(before["dtype"]), dtype(after["dtype"]), why,
                      event["count"], event["elements"])  # fmt: skip


def _why(event: Data, hook: Hook, is_autocast_site: bool) -> str:
    """Who made a cast, as far as it can be told."""
    of, spot = event["inside"]["backward_of"], event["inside"]["spot"]
    if of in hook.casts_inside.split():
        if is_autocast_site:
            return "backward of a cast by autocast"
        raise Harmless("the gradient of a cast")
    if of:
        return f"backward of {of}"
    call = _written(spot)
    if call.is_cast or call.name in hook.casts.split():
        raise Harmless(call.name)
    if event["inside"]["autocast"] and (not call.name or call.name in hook.autocasts.split()):
        return f"autocast for {call.name or 'an operator'}"
    return f"unknown origin, inside {_library_text(spot[0])}:{spot[1]}"


@dataclass(frozen=True)
class _Written:
    """The call that stands at a place of the source."""

    name: str = ""
    is_cast: bool = False  # it gives the dtype


def _written(spot: list[Any]) -> _Written:
    file, line, column, end_line, end_column = spot
    try:
        node = ast.parse(text_at(Place(file, line, column + 1, end_line, end_column + 1)).strip())
    except SyntaxError:
        return _Written()
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    if not calls:
        return _Written()
    function = calls[0].func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return _Written(name, any(keyword.arg == "dtype" for keyword in calls[0].keywords))
