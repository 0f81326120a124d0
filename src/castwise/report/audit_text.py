"""An audit for the terminal: origins worst first, each with its findings and what to write."""

from __future__ import annotations

import os

from castwise.auditing.audited import Audit, Origin
from castwise.auditing.findings import Coverage, Finding, Place
from castwise.auditing.trial import Trial
from castwise.report.colour import Paint, plain

_FINDINGS_AN_ORIGIN = 8
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def audit_text(audit: Audit, paint: Paint = plain) -> str:
    """The whole report."""
    parts = [_summary(audit, paint)]
    parts += [_origin_text(n, o, paint) for n, o in enumerate(audit.origins, 1)]
    return "\n\n".join([*parts, coverage_text(audit.coverage)])


def _summary(audit: Audit, paint: Paint) -> str:
    findings = len(audit.findings)
    if not findings:
        return paint("No array was cast without being asked.", "title")
    began = counted(len(audit.origins), "line")
    size = sum(origin.bytes for origin in audit.origins)
    cost = f", {size_text(size)} more than needed" if size else ""
    cast = counted(findings, "implicit cast")
    return paint(f"{cast}, begun by {began}{cost}.", "title")


def _origin_text(number: int, origin: Origin, paint: Paint) -> str:
    findings = len(origin.findings)
    saved = f" and {size_text(origin.bytes)}" if origin.bytes else ""
    lines = [f"{number}. {paint(shown(origin.place), 'title')}  {origin.code}"]
    if origin.fix:
        lines += [
            f"   write  {paint(origin.fix.text, 'float')}",
            f"          {origin.fix.does}; removes {counted(findings, 'finding')}{saved}.",
        ]
    for finding in origin.findings[:_FINDINGS_AN_ORIGIN]:
        lines += _finding_lines(finding, origin, paint)
    if findings > _FINDINGS_AN_ORIGIN:
        lines.append(f"   and {findings - _FINDINGS_AN_ORIGIN} more.")
    return "\n".join(lines)


def _finding_lines(finding: Finding, origin: Origin, paint: Paint) -> list[str]:
    where = "here" if finding.place == origin.place else shown(finding.place)
    times = f", {finding.count:,} times" if finding.count > 1 else ""
    saved = origin.saved_by(finding)
    cost = f", {size_text(saved)}" if saved else ""
    hazards = paint(", ".join(finding.hazards), "hazard")
    return [
        f"   - {where}: {finding.operation.question} -> {finding.result} ({hazards}{cost}{times})",
    ]


def coverage_text(coverage: Coverage) -> str:
    """What "no findings" would mean."""
    lines = [f"Seen: {counted(coverage.seen, 'operation')} on arrays."]
    if coverage.processes > 1:
        lines[0] = f"{lines[0][:-1]} in {coverage.processes} processes."
    unclear = coverage.not_understood
    if unclear:
        most = ", ".join(f"{name} {count:,}" for name, count in unclear.most_common(5))
        lines.append(f"Not understood: {sum(unclear.values()):,} ({most}).")
    if coverage.not_observed:
        named = ", ".join(f"{name} ({why})" for _, _, name, why in coverage.not_observed[:5])
        lines.append(f"Not observed: {counted(len(coverage.not_observed), 'function')}: {named}.")
    if coverage.late:
        lines.append(f"Missed: {coverage.late:,} at lines that had been about plain numbers.")
    if coverage.unexpected:
        (question, count), *_ = coverage.unexpected.most_common(1)
        total = sum(coverage.unexpected.values())
        lines.append(
            f"Answered otherwise than castwise expects: {total:,}, as {question} ({count:,})."
        )
    for text, count in coverage.failures.items():
        lines.append(f"castwise itself failed {count:,} times: {text}. Please report it.")
    return "\n".join(lines)


def trial_text(trial: Trial) -> str:
    """What the fixes change, measured."""
    if not trial.fixes:
        return "There is no fix to try."
    lines = [f"With {counted(len(trial.fixes), 'fix', 'es')}, tried in memory:"]
    if trial.status:
        lines.append(f"  the program ends with status {trial.status}")
    before, after = (size_text(peak) for peak in trial.peak_memory)
    lines += [
        f"  findings     {trial.findings[0]:,} -> {trial.findings[1]:,}",
        f"  peak memory  {before} -> {after}",
    ]
    if trial.change:
        lines.append(f"  values       change by at most {trial.change.size:.1e} of their size"
                     f" ({trial.change.where})")  # fmt: skip
    return "\n".join(lines)


def size_text(size: float) -> str:
    """Bytes as a person reads them.

    >>> size_text(7_680_000)
    '7.7 MB'
    """
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" or size >= 99.5 else f"{size:.1f} {unit}"


def counted(count: int, noun: str, plural: str = "s") -> str:
    """A number with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else plural}"


def shown(place: Place) -> str:
    """A place as short as it stays clear: relative where it lies below the current directory."""
    near = os.path.relpath(place.file)
    return f"{place.file if near.startswith('..') else near}:{place.line}"
