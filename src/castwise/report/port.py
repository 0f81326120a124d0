"""A port for the terminal: what changes, by reason, with what to write instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import Any

from castwise.auditing.port import (
    ACCEPTED,
    KINDS,
    OTHER_DTYPE,
    OTHER_VALUES,
    REFUSED,
    Keeping,
    Port,
    PortChange,
    make_port,
)
from castwise.auditing.records import Seen
from castwise.report.blocks import Grid, Html, card, faint, hazards_html, page
from castwise.report.terminal import Paint, place_text, plain
from castwise.showing import quantity

_CHANGES_PER_REASON = 10
_WORDS = {
    REFUSED: "refused",
    OTHER_DTYPE: "with another dtype",
    OTHER_VALUES: "with other values",
    ACCEPTED: "no longer refused",
}


def port_text(port: Port, paint: Paint = plain) -> str:
    """The whole report."""
    groups = [_group(reason, changes, paint) for reason, changes in port.groups.items()]
    coverage = "\n".join(coverage_lines(port))
    return "\n\n".join([paint(summary(port), "title"), *groups, coverage])


def enforced_text(seen: Seen, dialect: str | None, paint: Paint = plain) -> str:
    """Where a program differs from the dialect it was held to; None means that every implicit cast
    was refused."""
    refused = len(seen.attempts)
    if dialect is None:
        return f"Enforced no implicit cast: {quantity(refused, 'operation')} refused."
    if not seen.events and not refused:
        return f"Enforced {dialect}: no operation on arrays was seen."
    return f"Enforced {dialect}. {port_text(make_port(seen, dialect), paint)}"


def summary(port: Port) -> str:
    """How much changes, in a sentence."""
    names = f"{port.source.name} to {port.target.name}"
    if not port.changes:
        return f"{names}: no operation changes."
    counts = Counter(change.kind for change in port.changes)
    kinds = [f"{counts[kind]} {_WORDS[kind]}" for kind in KINDS if counts[kind]]
    return f"{names}: {quantity(len(port.changes), 'change')}: {', '.join(kinds)}."


def sentence(reason: str) -> str:
    """A reason as a sentence."""
    return f"{reason[0].upper()}{reason[1:]}."


def _group(reason: str, changes: list[PortChange], paint: Paint) -> str:
    lines = [sentence(reason)]
    for change in changes[:_CHANGES_PER_REASON]:
        lines += _change_lines(change, paint)
    if len(changes) > _CHANGES_PER_REASON:
        lines.append(f"  and {len(changes) - _CHANGES_PER_REASON} more.")
    return "\n".join(lines)


def _change_lines(change: PortChange, paint: Paint) -> list[str]:
    times = f", {change.count:,} times" if change.count > 1 else ""
    after = paint(after_text(change), "refused" if change.kind == REFUSED else "hazard")
    hazards = f" ({', '.join(change.hazards)})" if change.hazards else ""
    lines = [
        f"  {paint(place_text(change.place), 'title')}  {change.code}",
        f"    {change.asked}: {change.before} -> {after}{hazards}{times}",
    ]
    if change.keep:
        lines.append(f"    to keep it: {_keep_text(change.keep)}")
    return lines


def after_text(change: PortChange) -> str:
    """What the operation gives in the other dialect."""
    return f"{change.after}, with other values" if change.kind == OTHER_VALUES else change.after


def _keep_text(keep: Keeping) -> str:
    """What to write to keep a result, and what that does."""
    return f"{keep.text} ({keep.does})" if keep.text else keep.does


def coverage_lines(port: Port) -> list[str]:
    """What does not change, and what was not asked about."""
    lines = [f"Unchanged: {quantity(port.same, 'operation')}."]
    if port.others:
        most = ", ".join(f"{name} {count:,}" for name, count in port.others.most_common())
        lines.append(f"Not asked about, because another framework ran them: {most}.")
    if port.not_understood:
        total = sum(port.not_understood.values())
        most = ", ".join(f"{name} {count:,}" for name, count in port.not_understood.most_common(5))
        lines.append(f"Not understood: {total:,} ({most}).")
    if port.unexpected:
        (question, _), *_ = port.unexpected.most_common(1)
        total = sum(port.unexpected.values())
        lines.append(f"Differs from what castwise expects: {total:,}, most often {question}.")
    return lines


# A port as JSON.


def port_json(port: Port) -> dict[str, Any]:
    """The port as a JSON object."""
    return {
        "from": port.source.name,
        "to": port.target.name,
        "changes": [_change(change) for change in port.changes],
        "unchanged": port.same,
        "not_asked": dict(port.others),
        "not_understood": dict(port.not_understood.most_common()),
        "unexpected": dict(port.unexpected.most_common()),
    }


def _change(change: PortChange) -> dict[str, Any]:
    keep = change.keep
    return {
        "kind": change.kind,
        "reason": change.reason,
        "file": change.place.file,
        "line": change.place.line,
        "column": change.place.column,
        "code": change.code,
        "asked": change.asked,
        "before": change.before,
        "after": change.after,
        "hazards": list(change.hazards),
        "keep": {"does": keep.does, "text": keep.text} if keep else None,
        "count": change.count,
    }


# A port, in a notebook and as a page.

_HEADS = ("place", "code", "operation", "now", "then", "to keep it", "times")


def port_card(port: Port) -> str:
    """What changes, by reason, with what to write instead."""
    return card(escape(summary(port)), *_parts(port))


def port_html(port: Port) -> str:
    """The same as a page."""
    return page(summary(port), *_parts(port))


def _parts(port: Port) -> Iterator[str]:
    for reason, changes in port.groups.items():
        yield f"<h2>{escape(sentence(reason))}</h2>"
        yield Grid(_HEADS, map(_row, changes), ["times"]).html()
    yield from map(faint, coverage_lines(port))


def _row(change: PortChange) -> list[str]:
    after = escape(after_text(change))
    if change.kind == REFUSED:
        after = f'<span class="refused">{after}</span>'
    return [
        place_text(change.place),
        change.code,
        change.asked,
        change.before,
        Html(f"{after} {hazards_html(change.hazards)}"),
        _keep_text(change.keep) if change.keep else "",
        f"{change.count:,}",
    ]
