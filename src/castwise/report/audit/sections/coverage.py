"""What an audit saw and did not see, so that "no findings" means something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from castwise.auditing.records.findings import Coverage
from castwise.auditing.records.places import SourcePlace, UnobservedFunction
from castwise.report.amounts import counted, place_text
from castwise.report.terminal.folding import folded

_NAMES = 5  # shown of a list that could be long


def coverage_text(
    coverage: Coverage, width: int = 80, names: int | None = _NAMES, how_to_list_all: str = ""
) -> str:
    """The coverage, one point per line."""
    lines = coverage_lines(coverage, names, how_to_list_all)
    return "\n".join(folded(line, width, 2) for line in lines)


def coverage_lines(
    coverage: Coverage, names: int | None = _NAMES, how_to_list_all: str = ""
) -> Iterator[str]:
    """The coverage in sentences, with so many of the calls that were not understood."""
    where = counted(coverage.files, "file")
    processes = f", {coverage.processes} processes" if coverage.processes > 1 else ""
    yield f"Seen: {counted(coverage.seen, 'operation')} on arrays, in {where}{processes}."
    if coverage.by_dtypes:
        yield f"Judged by their dtypes, because there is no rule: {_named(coverage.by_dtypes)}."
    if coverage.asked:
        yield f"Explicit casts by dtype=: {_total(coverage.asked)}."
    unclear = coverage.not_understood
    if unclear:
        is_cut = names is not None and len(unclear) > names and how_to_list_all
        yield f"Not understood: {_named(unclear, names)}{f'; {how_to_list_all}' * bool(is_cut)}."
    missed = coverage.not_observed
    if missed:
        named = [_unobserved(function) for function in missed[:_NAMES]]
        yield f"Not observed: {counted(len(missed), 'piece')} of code, {_some(named, len(missed))}."
    if coverage.late:
        yield f"Missed: {coverage.late:,} on lines where only plain numbers had been seen before."
    if coverage.unexpected:
        yield f"Differs from what castwise expects: {_total(coverage.unexpected)}."
    for text, count in coverage.failures.items():
        yield f"castwise itself failed {count:,} times: {text}. Please report it."
    yield "Not audited: installed packages, except those named by --include PACKAGE."


def _named(calls: Counter[str], names: int | None = _NAMES) -> str:
    """How many there are, and the most common ones."""
    most = [f"{name} {count:,}" for name, count in calls.most_common(names)]
    return f"{sum(calls.values()):,} ({_some(most, len(calls))})"


def _total(questions: Counter[str]) -> str:
    """How many there are, and the most common one."""
    (question, count), *_ = questions.most_common(1)
    return f"{sum(questions.values()):,}, most often {question} ({count:,})"


def _some(names: list[str], total: int) -> str:
    more = f" and {total - len(names):,} more" if total > len(names) else ""
    return f"{', '.join(names)}{more}"


def _unobserved(function: UnobservedFunction) -> str:
    if not function.line:  # it has no file, such as the code of python -c
        return f"{function.name} ({function.why})"
    place = SourcePlace(function.file, function.line, 1, function.line, 1)
    return f"{function.name} at {place_text(place)} ({function.why})"
