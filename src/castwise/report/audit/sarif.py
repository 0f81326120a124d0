"""An audit as SARIF 2.1.0, which code hosts and editors show next to the source lines."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from castwise.auditing.accepting.baseline import known_as
from castwise.auditing.fixing.tokens import edits_at
from castwise.auditing.judging.audited import Audit, DtypeOrigin
from castwise.auditing.records.findings import Finding, Fix
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.rewriting.source import columns_of, text_at
from castwise.engine.decision import HAZARDS
from castwise.report.audit.json import message

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_ROOT = "%SRCROOT%"
# The rule of a finding is its most serious hazard: wrong values come before wide ones.
_GRAVEST_FIRST = (
    "wraps", "drops-imaginary", "changes-kind", "loses-range", "loses-precision", "widens",
    "not-on-device",
)  # fmt: skip
_UNNAMED = "implicit-cast"  # the rule of a cast without any hazard
_RULES = {**HAZARDS, _UNNAMED: "an array is cast implicitly, and keeps every value"}


def audit_sarif(audit: Audit, root: Path | None = None) -> dict[str, Any]:
    """The audit as a SARIF log; file names are relative to `root`, or to the current directory."""
    root = (root or Path.cwd()).absolute()
    rules = list(_RULES)
    run = {
        "tool": {
            "driver": {
                "name": "castwise",
                "version": audit.versions.get("castwise", "0"),
                "rules": [_rule(hazard, meaning) for hazard, meaning in _RULES.items()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": f"{root.as_uri()}/"}},
        "results": [
            _result(finding, origin, rules, root)
            for origin in audit.origins
            for finding in origin.findings
        ],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(hazard: str, meaning: str) -> dict[str, Any]:
    return {
        "id": hazard,
        "shortDescription": {"text": f"An implicit cast {hazard}: {meaning}."},
        "defaultConfiguration": {"level": "note" if hazard == _UNNAMED else "warning"},
    }


def _result(finding: Finding, origin: DtypeOrigin, rules: list[str], root: Path) -> dict[str, Any]:
    rule = next((hazard for hazard in _GRAVEST_FIRST if hazard in finding.hazards), _UNNAMED)
    cause = {
        "id": 1,
        "message": {"text": f"The dtype comes from here: {origin.code}"},
        **_location(origin.place, root),
    }
    result: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": rules.index(rule),
        "level": "note" if rule == _UNNAMED or finding.is_expected else "warning",
        "message": {"text": message(finding)},
        "locations": [_location(finding.place, root)],
        "relatedLocations": [cause],
        "partialFingerprints": {"castwise/v1": _fingerprint(finding, root)},
        "occurrenceCount": finding.count,
        "properties": {"hazards": list(finding.hazards), "bytes": origin.saved_by(finding)},
    }
    if origin.fixes:
        result["fixes"] = [_fix(origin.fixes, root)]
    if origin.withdrawn:
        result["properties"]["withdrawn"] = origin.withdrawn.why
    return result


def _fingerprint(finding: Finding, root: Path) -> str:
    """An id that stays the same when a finding's line moves."""
    return hashlib.sha256(repr(tuple(known_as(finding, root))).encode()).hexdigest()


def _fix(fixes: Sequence[Fix], root: Path) -> dict[str, Any]:
    """The changes that belong together, as one fix."""
    changes = [
        {
            "artifactLocation": _artifact(fix.place, root),
            "replacements": [
                {
                    "deletedRegion": _region(SourcePlace(fix.place.file, *edit[:4])),
                    "insertedContent": {"text": edit.text},
                }
                for edit in edits_at(fix.place, fix.text)
            ],
        }
        for fix in fixes
    ]
    advice = " ".join(f"Write {fix.text}: {fix.does}." for fix in fixes)
    return {"description": {"text": advice}, "artifactChanges": changes}


def _location(place: SourcePlace, root: Path) -> dict[str, Any]:
    region = {**_region(place), "snippet": {"text": text_at(place)}}
    return {"physicalLocation": {"artifactLocation": _artifact(place, root), "region": region}}


def _region(place: SourcePlace) -> dict[str, int]:
    first, last = columns_of(place)
    return {
        "startLine": place.line,
        "startColumn": first,
        "endLine": place.end_line,
        "endColumn": last,
    }


def _artifact(place: SourcePlace, root: Path) -> dict[str, Any]:
    file = Path(place.file).absolute()
    if file.is_relative_to(root):
        name = file.relative_to(root).as_posix()
        return {"uri": quote(name), "uriBaseId": _ROOT}
    return {"uri": file.as_uri()}
