"""A port as JSON."""

from __future__ import annotations

from typing import Any

from castwise.auditing.porting.port import Port, PortChange


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
