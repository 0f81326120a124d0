"""The differences of two dialects, for the terminal and as JSON."""

from __future__ import annotations

import textwrap
from typing import Any

from castwise.engine.decision import Decision
from castwise.report.colour import Paint, plain
from castwise.report.diff import Diff, Group
from castwise.report.difference import Difference, told
from castwise.report.outcome import Outcome

_MARGIN = 9  # the count stands there
_OPS_TOLD = 4


def diff_text(diff: Diff, paint: Paint = plain, width: int = 80) -> str:
    """Each reason with its count, one example and the ops it touches; the most frequent first."""
    lines = _folded(_summary(diff), 0, width)
    for group in diff.groups:
        reason = _folded(group.reason, _MARGIN, width)
        count = f"{len(group.differences):{_MARGIN - 2},}"
        lines += ["", count + reason[0][_MARGIN - 2 :], *reason[1:]]
        lines.append(" " * _MARGIN + _example(group, paint))
        if len(diff.ops) > 1:
            lines += [paint(line, "aside") for line in _folded(_ops(group), _MARGIN, width)]
    return "\n".join(lines)


def _folded(text: str, margin: int, width: int) -> list[str]:
    start = " " * margin
    return textwrap.wrap(text, width, initial_indent=start, subsequent_indent=start)


def _summary(diff: Diff) -> str:
    both = (diff.first.name, diff.second.name)
    ops = diff.ops[0] if len(diff.ops) == 1 else f"{len(diff.ops)} ops"
    asked = f"{' and '.join(both)} were asked {diff.asked:,} questions about {ops}"
    if not diff.count:
        words = [f"{asked} and answer all of them alike."]
    else:
        words = [f"{asked} and answer {diff.count:,} differently, shown as {' | '.join(both)}."]
    for dialect, dtypes in zip((diff.first, diff.second), diff.missing, strict=True):
        if dtypes:
            words.append(f"Only {dialect.name} has {', '.join(d.name for d in dtypes)}.")
    return " ".join(words)


def _example(group: Group, paint: Paint) -> str:
    example = min(group.differences, key=_strangeness)
    answers = [_painted(outcome, paint) for outcome in (example.first, example.second)]
    return f"{example.question}   {answers[0]} | {answers[1]}"


def _strangeness(difference: Difference) -> int:
    """How far from int32 and float32, which everybody knows, the operands are."""
    return sum(abs(o.dtype.bits - 32) for o in difference.pair.operands if o.dtype)


def _painted(outcome: Outcome, paint: Paint) -> str:
    style = outcome.result.kind if isinstance(outcome, Decision) else "refused"
    return paint(told(outcome), style)


def _ops(group: Group) -> str:
    names = group.ops
    if len(names) <= _OPS_TOLD + 1:
        return ", ".join(names)
    return f"{', '.join(names[:_OPS_TOLD])} and {len(names) - _OPS_TOLD} more ops"


def diff_json(diff: Diff) -> dict[str, Any]:
    """The whole diff, with every question that is answered differently."""
    only_first, only_second = diff.missing
    return {
        "first": diff.first.name,
        "second": diff.second.name,
        "asked": diff.asked,
        "differ": diff.count,
        "only_first_has": [d.name for d in only_first],
        "only_second_has": [d.name for d in only_second],
        "groups": [_group_json(group) for group in diff.groups],
    }


def _group_json(group: Group) -> dict[str, Any]:
    return {
        "reason": group.reason,
        "count": len(group.differences),
        "ops": list(group.ops),
        "cells": [
            {"question": d.question, "first": _result(d.first), "second": _result(d.second)}
            for d in group.differences
        ],
    }


def _result(outcome: Outcome) -> str | None:
    """The result as it is told, or None for a refusal."""
    return told(outcome) if isinstance(outcome, Decision) else None
