"""An audit as JSON."""

from __future__ import annotations

from typing import Any

from castwise.auditing.judging.audited import Audit, Origin
from castwise.auditing.judging.findings import Finding
from castwise.auditing.rewriting.source import columns_of, text_at
from castwise.report.audit_coverage import coverage_json
from castwise.report.audit_inside import inside_json


def audit_json(audit: Audit) -> dict[str, Any]:
    """The audit as a JSON object."""
    inside = {"inside": inside_json(audit.inside)} if audit.inside else {}
    return {
        "findings": [_finding(f, origin) for origin in audit.origins for f in origin.findings],
        **inside,
        "coverage": {
            **coverage_json(audit.coverage),
            "temporaries": audit.temporaries,
            "ignored": audit.ignored,
            "baselined": audit.baselined,
        },
        "versions": audit.versions,
    }


def _finding(finding: Finding, origin: Origin) -> dict[str, Any]:
    place = finding.place
    return {
        "file": place.file,
        "line": place.line,
        "column": columns_of(place)[0],
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
        **({"inside": finding.inside} if finding.inside else {}),
    }


def message(finding: Finding) -> str:
    """What happened, in a sentence."""
    cast = next(c for c in finding.operation.casts if c)
    return f"{finding.operation.question} casts {cast} without being asked."
