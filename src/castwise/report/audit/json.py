"""An audit as JSON."""

from __future__ import annotations

from typing import Any

from castwise.auditing.judging.audited import Audit
from castwise.auditing.judging.crashes import ExplainedCrash
from castwise.auditing.judging.origins import DtypeOrigin
from castwise.auditing.proving.target import Target
from castwise.auditing.records.findings import Coverage, Finding, InsideCoverage
from castwise.auditing.rewriting.source import columns_of, text_at
from castwise.report.audit.fixes import fix_json
from castwise.report.audit.sections.losses import losses_json
from castwise.report.audit.sections.optional import sections_json
from castwise.report.audit.text import summary


def audit_json(audit: Audit) -> dict[str, Any]:
    """The audit as a JSON object."""
    inside = {"inside": _inside(audit.inside)} if audit.inside else {}
    crashed = [_crash(crash) for crash in audit.sections.crashes]
    losses = {} if audit.losses is None else {"losses": losses_json(audit.losses)}
    return {
        "summary": summary(audit),
        **({"crashes": crashed} if crashed else {}),
        "findings": [
            _finding(finding, origin)
            for origin in (*audit.origins, *audit.expected)
            for finding in origin.findings
        ],
        **sections_json(audit.sections),
        **inside,
        "target": _target(audit.target),
        **losses,
        "coverage": {
            **_coverage(audit.coverage),
            "temporaries": audit.temporaries,
            "ignored": audit.ignored,
            "baselined": audit.baselined,
            "hidden": audit.hidden,
            "expected": len(audit.expected_findings),
        },
        "versions": audit.versions,
    }


def _target(target: Target) -> dict[str, Any]:
    """What the program is meant to compute in."""
    inferred = {} if target.is_stated else {"inferred_from": target.why}
    return {"name": target.name, "dtype": str(target.dtype), **inferred}


def _finding(finding: Finding, origin: DtypeOrigin) -> dict[str, Any]:
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
        "alive": finding.alive,
        "hazards": list(finding.hazards),
        "origin": {"file": origin.place.file, "line": origin.place.line},
        "message": message(finding),
        "fixes": [fix_json(fix) for fix in origin.fixes],
        **_withdrawn(origin),
        **({"inside": finding.inside} if finding.inside else {}),
        **({"observed": True} if finding.operation.is_observed else {}),
        **({"expected": True} if finding.is_expected else {}),
    }


def _withdrawn(origin: DtypeOrigin) -> dict[str, Any]:
    """The fixes that did harm when they were tried, apart from those that are proven."""
    found = origin.withdrawn
    if found is None:
        return {}
    return {"withdrawn": {"why": found.why, "fixes": [fix_json(fix) for fix in found.fixes]}}


def _crash(crash: ExplainedCrash) -> dict[str, Any]:
    """What ended the program."""
    place = crash.place
    return {
        "file": place.file,
        "line": place.line,
        "column": columns_of(place)[0],
        "code": crash.code,
        "operation": crash.operation,
        "error": crash.error,
        "why": crash.why,
        "dialect": crash.dialect,
        "advice": crash.advice,
        "inside": crash.inside,
        "fixes": [fix_json(crash.fix)] if crash.fix else [],
    }


def _inside(inside: InsideCoverage) -> dict[str, Any]:
    """What was seen inside libraries and in backward."""
    return {
        "seen": inside.seen,
        "not_understood": dict(inside.not_understood.most_common()),
        "cannot_show": list(inside.cannot_show),
        "casts": [
            {
                "file": cast.place.file,
                "line": cast.place.line,
                "column": cast.place.column,
                "from": str(cast.source),
                "to": str(cast.target),
                "why": cast.why,
                "count": cast.count,
                "elements": cast.elements,
                "bytes": cast.bytes,
                **({"seconds": cast.seconds} if cast.seconds else {}),
            }
            for cast in inside.casts
        ],
    }


def _coverage(coverage: Coverage) -> dict[str, Any]:
    """How much was seen."""
    return {
        "seen": coverage.seen,
        "files": coverage.files,
        "processes": coverage.processes,
        "asked": dict(coverage.asked.most_common()),
        "by_dtypes": dict(coverage.by_dtypes.most_common()),
        "not_understood": dict(coverage.not_understood.most_common()),
        "not_understood_at": [
            {"file": place.file, "line": place.line, "code": text_at(place), "why": why, "count": n}
            for place, why, n in coverage.unclear_at
        ],
        "not_observed": [
            {"file": u.file, "line": u.line, "function": u.name, "why": u.why}
            for u in coverage.not_observed
        ],
        "unexpected": dict(coverage.unexpected.most_common()),
        "quiet": coverage.quiet,
        "late": coverage.late,
        "failures": dict(coverage.failures),
    }


def message(finding: Finding) -> str:
    """What happened, in a sentence."""
    cast = next((c for c in finding.operation.casts if c), None)
    what = cast or f"a number to {finding.result}"  # a number that is written to an array
    return f"{finding.operation} implicitly casts {what}."
