"""An audit for programs: as JSON, and as SARIF for code hosts and editors."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from castwise.auditing.origins import Audit, DtypeOrigin
from castwise.auditing.plans import Target
from castwise.auditing.records import (
    DIFFERS,
    LOST,
    Coverage,
    Finding,
    Fix,
    InsideCoverage,
    SourcePlace,
)
from castwise.auditing.sections import (
    Autocasts,
    ChangedArgument,
    ComparedFunctions,
    CompiledFinding,
    ExplainedCrash,
    LostValues,
    Retrace,
    Sections,
    SixteenBits,
)
from castwise.auditing.source import columns_at, edits_at, fixed_text, text_at
from castwise.auditing.suppressions import file_named_from, known_as
from castwise.engine.decision import HAZARDS
from castwise.report.audit import compiled_sentence, crash_sentences, losses_sentence, summary


def audit_json(audit: Audit) -> dict[str, Any]:
    """The audit as a JSON object."""
    crashed = [_crash(crash) for crash in audit.sections.crashes]
    return {
        "summary": summary(audit),
        **({"crashes": crashed} if crashed else {}),
        "findings": [
            _finding(finding, origin)
            for origin in (*audit.origins, *audit.expected)
            for finding in origin.findings
        ],
        **_sections_json(audit.sections),
        **({"inside": _inside(audit.inside)} if audit.inside else {}),
        "target": _target(audit.target),
        **({} if audit.losses is None else {"losses": _losses_json(audit.losses)}),
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


def _line(place: SourcePlace) -> dict[str, Any]:
    return {"file": place.file, "line": place.line}


def _start(place: SourcePlace) -> dict[str, Any]:
    return {**_line(place), "column": columns_at(place)[0]}


def _target(target: Target) -> dict[str, Any]:
    """What the program is meant to compute in."""
    inferred = {} if target.is_stated else {"inferred_from": target.why}
    return {"name": target.name, "dtype": str(target.dtype), **inferred}


def _finding(finding: Finding, origin: DtypeOrigin) -> dict[str, Any]:
    place = finding.place
    return {
        **_start(place),
        "code": text_at(place),
        "op": finding.op,
        "operands": [str(operand) for operand in finding.operands],
        "result": str(finding.result),
        "count": finding.count,
        "elements": finding.elements,
        "bytes": origin.saved_by(finding),
        "alive": finding.alive,
        "hazards": list(finding.hazards),
        "origin": _line(origin.place),
        "message": message(finding),
        "fixes": [_fix_json(fix) for fix in origin.fixes],
        **_withdrawn(origin),
        **({"inside": finding.inside} if finding.inside else {}),
        **({"observed": True} if finding.operation.is_observed else {}),
        **({"expected": True} if finding.is_expected else {}),
    }


def _withdrawn(origin: DtypeOrigin) -> dict[str, Any]:
    """The fixes that did harm when they were tried, apart from those that are proven."""
    if origin.withdrawn is None:
        return {}
    fixes = [_fix_json(fix) for fix in origin.withdrawn.fixes]
    return {"withdrawn": {"why": origin.withdrawn.why, "fixes": fixes}}


def _crash(crash: ExplainedCrash) -> dict[str, Any]:
    return {
        **_start(crash.place),
        "code": crash.code,
        "operation": crash.operation,
        "error": crash.error,
        "why": crash.why,
        "dialect": crash.dialect,
        "advice": crash.advice,
        "inside": crash.inside,
        "fixes": [_fix_json(crash.fix)] if crash.fix else [],
    }


def _inside(inside: InsideCoverage) -> dict[str, Any]:
    return {
        "seen": inside.seen,
        "not_understood": dict(inside.not_understood.most_common()),
        "cannot_show": list(inside.cannot_show),
        "casts": [
            {
                **_line(cast.place),
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
    return {
        "seen": coverage.seen,
        "files": coverage.files,
        "processes": coverage.processes,
        "asked": dict(coverage.asked.most_common()),
        "by_dtypes": dict(coverage.by_dtypes.most_common()),
        "not_understood": dict(coverage.not_understood.most_common()),
        "not_understood_at": [
            {**_line(place), "code": text_at(place), "why": why, "count": n}
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


def _fix_json(fix: Fix) -> dict[str, Any]:
    """A piece of source and the text to write there; the fixes of an origin belong together."""
    place = fix.place
    first, last = columns_at(place)
    return {
        "file": place.file,
        "line": place.line,
        "column": first,
        "end_line": place.end_line,
        "end_column": last,
        "text": fixed_text(fix),
    }


# What the program did besides its findings.


def _sections_json(sections: Sections) -> dict[str, Any]:
    """The same for programs; a section without content is left out."""
    found = {
        "autocast": _autocast_json(sections.autocasts),
        "sixteen_bits": _sixteen_bits_json(sections.sixteen_bits),
    }
    shown = {name: section for name, section in found.items() if any(section.values())}
    return {
        **shown,
        **({"retraces": _retraces_json(sections.retraces)} if sections.retraces else {}),
        **({"compiled": _compiled_json(sections.compared)} if sections.compared else {}),
    }


def _autocast_json(found: Autocasts) -> dict[str, Any]:
    return {
        "ops": [
            {
                **_line(op.place),
                "op": op.seen.op,
                "modules": list(op.modules),
                "list": op.seen.rule,
                "autocast": op.seen.autocast,
                "device": op.seen.device,
                "result": op.seen.result,
                "changes": list(op.seen.changes),
                "count": op.seen.count,
                "casts": op.seen.casts,
                "bytes": op.seen.bytes,
            }
            for op in found.ops
        ],
        "repeats": [
            {
                **_line(again.place),
                "name": again.seen.name,
                "from": again.seen.source,
                "to": again.seen.target,
                "shape": list(again.seen.shape),
                "casts": again.seen.casts,
                "blocks": again.seen.blocks,
                "kept": again.seen.is_cached,
            }
            for again in found.repeats
        ],
    }


def _retraces_json(found: Sequence[Retrace]) -> list[dict[str, Any]]:
    return [
        {
            "function": retrace.function,
            "defined": retrace.defined,
            **_line(retrace.place),
            "earlier": _line(retrace.earlier),
            "times": retrace.times,
            "changed": [_changed_json(changed) for changed in retrace.changed],
        }
        for retrace in found
    ]


def _changed_json(changed: ChangedArgument) -> dict[str, Any]:
    return {
        "argument": changed.label,
        "from": changed.before,
        "to": changed.after,
        "static": changed.is_static,
        "fixes": [_fix_json(changed.fix)] if changed.fix else [],
    }


def _sixteen_bits_json(found: SixteenBits) -> dict[str, Any]:
    return {
        "states": [
            {
                **_line(state.place),
                "optimizer": state.owner,
                "name": state.name,
                "dtype": str(state.dtype),
                "arrays": state.arrays,
                "bytes": state.bytes,
            }
            for state in found.states
        ],
        "sums": [
            {
                **_line(narrow.place),
                "operation": narrow.operation,
                "dtype": str(narrow.dtype),
                "terms": narrow.terms,
                "rounds": "each partial sum" if narrow.rounds_each else "the result",
            }
            for narrow in found.sums
        ],
    }


def _compiled_json(found: ComparedFunctions) -> dict[str, Any]:
    return {
        "compilations": found.compilations,
        "differences": [
            {
                **_line(finding.place),
                "function": finding.function,
                "compiler": finding.compiler,
                "what": finding.difference.what,
                "compiled": finding.difference.compiled or None,
                "eager": finding.difference.plain or None,
                "error": finding.difference.error,
                "times": finding.times,
            }
            for finding in found.findings
        ],
        "not_compared": [
            {"function": one.function, "file": one.file, "line": one.line, "reason": one.skipped}
            for one in found.skipped
        ],
    }


def _losses_json(losses: Iterable[LostValues]) -> list[dict[str, Any]]:
    return [
        {
            **_start(loss.place),
            "code": loss.code,
            "operation": loss.what,
            "how": loss.how,
            "count": loss.count,
            "lost": loss.lost,
            "elements": loss.elements,
            "example": loss.example,
        }
        for loss in losses
    ]


# An audit as SARIF 2.1.0, which code hosts and editors show next to the source lines.

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
_ENDED = "dtype-error"
# Each rule with its meaning.
_RULES = {
    **{name: f"An implicit cast {name}: {meaning}." for name, meaning in HAZARDS.items()},
    _UNNAMED: "An array is cast implicitly, and keeps every value.",
    LOST: "A cast or an operation lost values of its operands.",
    DIFFERS: "A compiled function gives another dtype than the function itself.",
    _ENDED: "The program ended with an error about dtypes.",
}
_LEVELS = {_UNNAMED: "note", _ENDED: "error"}  # all others: warning


def audit_sarif(audit: Audit, root: Path | None = None) -> dict[str, Any]:
    """The audit as a SARIF log; file names are relative to `root`, or to the current directory."""
    root = (root or Path.cwd()).absolute()
    compared = audit.sections.compared
    run = {
        "tool": {
            "driver": {
                "name": "castwise",
                "version": audit.versions.get("castwise", "0"),
                "rules": [_rule(name, meaning) for name, meaning in _RULES.items()],
            }
        },
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {_ROOT: {"uri": f"{root.as_uri()}/"}},
        "results": [
            *(_crashed(crash, root) for crash in audit.sections.crashes),
            *(_found(f, origin, root) for origin in audit.origins for f in origin.findings),
            *(_lost(loss, root) for loss in audit.losses or ()),
            *(_differs(f, root) for f in (compared.findings if compared else ()) if f.place.file),
        ],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(name: str, meaning: str) -> dict[str, Any]:
    return {
        "id": name,
        "shortDescription": {"text": meaning},
        "defaultConfiguration": {"level": _level(name)},
    }


def _level(rule: str) -> str:
    return _LEVELS.get(rule, "warning")


def _result(
    rule: str, text: str, place: SourcePlace, known: Iterable[object], root: Path
) -> dict[str, Any]:
    """What every result has. What it is `known` by stays the same when its line moves."""
    fingerprint = hashlib.sha256(repr(tuple(known)).encode()).hexdigest()
    return {
        "ruleId": rule,
        "ruleIndex": list(_RULES).index(rule),
        "level": _level(rule),
        "message": {"text": text},
        "locations": [_location(place, root)],
        "partialFingerprints": {"castwise/v1": fingerprint},
    }


def _crashed(crash: ExplainedCrash, root: Path) -> dict[str, Any]:
    sentences = ["The program ended here: a dtype error.", *crash_sentences(crash)]
    file = file_named_from(crash.place.file, root)
    known = _ENDED, file, crash.code, crash.error.partition(":")[0]
    result = _result(_ENDED, "\n".join(sentences), crash.place, known, root)
    return {**result, "fixes": [_fix([crash.fix], root)]} if crash.fix else result


def _lost(loss: LostValues, root: Path) -> dict[str, Any]:
    file = file_named_from(loss.place.file, root)
    known = LOST, file, loss.code, loss.what, loss.how
    return {
        **_result(LOST, f"{losses_sentence(loss)}.", loss.place, known, root),
        "occurrenceCount": loss.count,
        "properties": {"lost": loss.lost, "elements": loss.elements},
    }


def _differs(finding: CompiledFinding, root: Path) -> dict[str, Any]:
    file = file_named_from(finding.place.file, root)
    known = DIFFERS, file, finding.function, finding.difference.what, finding.compiler
    text = f"{compiled_sentence(finding)}."
    return _result(DIFFERS, text, finding.place, known, root)


def _found(finding: Finding, origin: DtypeOrigin, root: Path) -> dict[str, Any]:
    rule = next((hazard for hazard in _GRAVEST_FIRST if hazard in finding.hazards), _UNNAMED)
    cause = {
        "id": 1,
        "message": {"text": f"The dtype comes from here: {origin.code}"},
        **_location(origin.place, root),
    }
    result: dict[str, Any] = {
        **_result(rule, message(finding), finding.place, known_as(finding, root), root),
        "relatedLocations": [cause],
        "occurrenceCount": finding.count,
        "properties": {"hazards": list(finding.hazards), "bytes": origin.saved_by(finding)},
    }
    if finding.is_expected:
        result["level"] = "note"
    if origin.fixes:
        result["fixes"] = [_fix(origin.fixes, root)]
    if origin.withdrawn:
        result["properties"]["withdrawn"] = origin.withdrawn.why
    return result


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
    text = text_at(place)
    # Without columns, as before Python 3.11, it is the whole line.
    region = {**_region(place), "snippet": {"text": text}} if text else {"startLine": place.line}
    return {"physicalLocation": {"artifactLocation": _artifact(place, root), "region": region}}


def _region(place: SourcePlace) -> dict[str, int]:
    first, last = columns_at(place)
    return {
        "startLine": place.line,
        "startColumn": first,
        "endLine": place.end_line,
        "endColumn": last,
    }


def _artifact(place: SourcePlace, root: Path) -> dict[str, Any]:
    file = Path(place.file).absolute()
    if file.is_relative_to(root):
        return {"uri": quote(file.relative_to(root).as_posix()), "uriBaseId": _ROOT}
    return {"uri": file.as_uri()}
