"""An audit as JSON."""

from __future__ import annotations

from typing import Any

from castwise.auditing.audited import Audit, Origin
from castwise.auditing.findings import Coverage, Finding
from castwise.auditing.source import text_at


def audit_json(audit: Audit) -> dict[str, Any]:
    """The audit as a JSON object."""
    return {
        "findings": [_finding(f, origin) for origin in audit.origins for f in origin.findings],
        "coverage": _coverage(audit.coverage),
        "versions": audit.versions,
    }


def _finding(finding: Finding, origin: Origin) -> dict[str, Any]:
    place = finding.place
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "code": text_at(place),
        "op": finding.op,
        "operands": [str(operand) for operand in finding.operands],
        "result": str(finding.result),
        "count": finding.count,
        "elements": finding.elements,
        "bytes": origin.saved_by(finding),
        "hazards": list(finding.hazards),
        "origin": {"file": origin.place.file, "line": origin.place.line},
        "message": message(finding),
        "fix": origin.fix.text if origin.fix else None,
    }


def message(finding: Finding) -> str:
    """What happened, in a sentence."""
    cast = next(c for c in finding.operation.casts if c)
    return f"{finding.operation.question} casts {cast} without being asked."


def _coverage(coverage: Coverage) -> dict[str, Any]:
    return {
        "seen": coverage.seen,
        "not_understood": dict(coverage.not_understood.most_common()),
        "not_observed": [
            {"file": file, "line": line, "function": name, "why": why}
            for file, line, name, why in coverage.not_observed
        ],
        "unexpected": dict(coverage.unexpected.most_common()),
        "quiet": coverage.quiet,
        "late": coverage.late,
        "failures": dict(coverage.failures),
        "processes": coverage.processes,
    }
