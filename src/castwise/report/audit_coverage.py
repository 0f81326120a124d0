"""What an audit saw and did not see, so that "no findings" means something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from castwise.auditing.judging.findings import Coverage, Place
from castwise.report.amounts import counted, place_text
from castwise.report.folding import folded

_NAMES = 5  # of a list that could be long


def coverage_text(coverage: Coverage, width: int = 80) -> str:
    """The coverage, a point a line."""
    return "\n".join(folded(line, width, 2) for line in coverage_lines(coverage))


def coverage_lines(coverage: Coverage) -> Iterator[str]:
    """The coverage in sentences."""
    where = counted(coverage.files, "file")
    processes = f", {coverage.processes} processes" if coverage.processes > 1 else ""
    yield f"Seen: {counted(coverage.seen, 'operation')} on arrays, in {where}{processes}."
    if coverage.asked:
        yield f"Cast since dtype= asks for it: {_total(coverage.asked)}."
    unclear = coverage.not_understood
    if unclear:
        most = [f"{name} {count:,}" for name, count in unclear.most_common(_NAMES)]
        yield f"Not understood: {sum(unclear.values()):,} ({_some(most, len(unclear))})."
    missed = coverage.not_observed
    if missed:
        named = [_unobserved(*function) for function in missed[:_NAMES]]
        yield f"Not observed: {counted(len(missed), 'function')}, {_some(named, len(missed))}."
    if coverage.late:
        yield f"Missed: {coverage.late:,} at lines that had been about plain numbers."
    if coverage.unexpected:
        yield f"Answered otherwise than castwise expects: {_total(coverage.unexpected)}."
    for text, count in coverage.failures.items():
        yield f"castwise itself failed {count:,} times: {text}. Please report it."
    yield "Not looked into: installed packages, but for those named by --include PACKAGE."


def _total(questions: Counter[str]) -> str:
    """How many there are, and the one asked most."""
    (question, count), *_ = questions.most_common(1)
    return f"{sum(questions.values()):,}, as {question} ({count:,})"


def _some(names: list[str], total: int) -> str:
    more = f" and {total - len(names):,} more" if total > len(names) else ""
    return f"{', '.join(names)}{more}"


def _unobserved(file: str, line: int, function: str, why: str) -> str:
    return f"{function} at {place_text(Place(file, line, 1, line, 1))} ({why})"


def coverage_json(coverage: Coverage) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "seen": coverage.seen,
        "files": coverage.files,
        "processes": coverage.processes,
        "asked": dict(coverage.asked.most_common()),
        "not_understood": dict(coverage.not_understood.most_common()),
        "not_observed": [
            {"file": file, "line": line, "function": name, "why": why}
            for file, line, name, why in coverage.not_observed
        ],
        "unexpected": dict(coverage.unexpected.most_common()),
        "quiet": coverage.quiet,
        "late": coverage.late,
        "failures": dict(coverage.failures),
    }
