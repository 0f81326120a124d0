"""Functions that were compiled again only because a weak type or a Python number changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from castwise.auditing.fixing.applying import fixed_lines
from castwise.auditing.judging.retraces import ChangedArgument, Retrace
from castwise.auditing.records.findings import Fix
from castwise.auditing.rewriting.source import lines_at
from castwise.report.amounts import counted, place_text
from castwise.report.audit.fixes import fix_json

_MOST = 8


def retrace_lines(found: Sequence[Retrace]) -> Iterator[str]:
    """Each retrace with what changed, and what to write."""
    if found:
        times = counted(sum(retrace.times for retrace in found), "time")
        yield (
            f"Compiled again {times} only because a weak type or a Python number changed "
            "(* marks a weak type)."
        )
    for retrace in found[:_MOST]:
        yield from _lines_of(retrace)
    if len(found) > _MOST:
        yield f"   and {len(found) - _MOST} more: --json FILE lists them all"


def _lines_of(retrace: Retrace) -> Iterator[str]:
    changes = "; ".join(_change(changed) for changed in retrace.changed)
    earlier = place_text(retrace.earlier)
    times = f", {retrace.times:,} times" if retrace.times > 1 else ""
    what = f"{retrace.function}, compiled before at {earlier}: {changes}{times}"
    yield f"   {place_text(retrace.place)}: {what}"
    for changed in retrace.changed:
        if changed.fix:
            yield from _fix_lines(changed.fix)


def _change(changed: ChangedArgument) -> str:
    static = ", and it is static: each value is compiled" if changed.is_static else ""
    return f"{changed.label} was {changed.before} and is {changed.after}{static}"


def _fix_lines(fix: Fix) -> Iterator[str]:
    yield f"     line {fix.place.line}, {fix.does}:"
    yield from (f"     - {line}" for line in lines_at(fix.place))
    yield from (f"     + {line}" for line in fixed_lines(fix))


def retraces_json(found: Sequence[Retrace]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "function": retrace.function,
            "defined": retrace.defined,
            "file": retrace.place.file,
            "line": retrace.place.line,
            "earlier": {"file": retrace.earlier.file, "line": retrace.earlier.line},
            "times": retrace.times,
            "changed": [_changed_json(changed) for changed in retrace.changed],
        }
        for retrace in found
    ]


def _changed_json(changed: ChangedArgument) -> dict[str, Any]:
    fix = changed.fix
    return {
        "argument": changed.label,
        "from": changed.before,
        "to": changed.after,
        "static": changed.is_static,
        "fixes": [] if fix is None else [fix_json(fix)],
    }
