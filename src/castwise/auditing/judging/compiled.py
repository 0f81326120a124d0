"""What compiled functions give otherwise than the functions themselves."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from castwise.auditing.records.beyond import ComparedCompilation, CompiledDifference
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.records.seen import Seen


@dataclass(frozen=True, slots=True)
class CompiledFinding:
    """A difference, in how many compilations of a function it was found, and its place."""

    difference: CompiledDifference
    compiler: str
    function: str  # "" if it is not the program's own
    place: SourcePlace
    times: int


@dataclass(frozen=True, slots=True)
class ComparedFunctions:
    """The compiled functions that also ran without their compilers."""

    compilations: int
    findings: tuple[CompiledFinding, ...] = ()
    skipped: tuple[ComparedCompilation, ...] = ()


def compared_in(seen: Seen) -> ComparedFunctions | None:
    """What was compared; None if nobody asked for it."""
    if not seen.facts.compares:
        return None
    found = seen.beyond.compared
    counts = Counter((d, c.compiler, c.function, c.file, c.line) for c in found
                     for d in c.differences)  # fmt: skip
    findings = [
        CompiledFinding(difference, compiler, function, _place(difference, file, line), times)
        for (difference, compiler, function, file, line), times in counts.items()
    ]
    skipped = tuple(dict.fromkeys(one for one in found if one.skipped))
    compared = sum(not one.skipped for one in found)
    return ComparedFunctions(compared, tuple(sorted(findings, key=_by_place)), skipped)


def _by_place(finding: CompiledFinding) -> SourcePlace:
    return finding.place


def _place(difference: CompiledDifference, file: str, line: int) -> SourcePlace:
    """The line from which on they differ, or that of the function."""
    where = (difference.file, difference.line) if difference.file else (file, line)
    return SourcePlace(where[0], where[1], 0, where[1], 0)
