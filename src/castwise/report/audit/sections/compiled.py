"""What compiled functions give otherwise than the functions themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from castwise.auditing.judging.compiled import ComparedFunctions, CompiledFinding
from castwise.auditing.records.places import SourcePlace
from castwise.report.amounts import counted, place_text

_MOST = 12


def compiled_lines(found: ComparedFunctions | None) -> Iterator[str]:
    """Each difference with its line, then what could not be compared."""
    if found is None:
        return
    yield f"Compiled functions, run without their compilers too: {_summary(found)}."
    for finding in found.findings[:_MOST]:
        where = f"{place_text(finding.place)}: " if finding.place.file else ""
        yield f"   {where}{sentence(finding)}"
    if len(found.findings) > _MOST:
        yield f"   and {len(found.findings) - _MOST} more: --json FILE lists them all"
    for skipped in found.skipped[:_MOST]:
        place = SourcePlace(skipped.file, skipped.line, 0, skipped.line, 0)
        where = f" at {place_text(place)}" if skipped.file else ""
        yield f"   not compared: {skipped.function}{where}, because {skipped.skipped}"


def compiled_count(found: ComparedFunctions | None) -> str:
    """How many differences there are, for the first sentence of a report."""
    if found is None or not found.findings:
        return ""
    return f"; {counted(len(found.findings), 'difference')} in compiled functions"


def _summary(found: ComparedFunctions) -> str:
    if not found.compilations and not found.skipped:
        return "none was compiled"
    compared = counted(found.compilations, "compilation")
    if not found.findings:
        return f"{compared} compared, and no dtype differs"
    return f"{compared} compared, {counted(len(found.findings), 'difference')}"


def sentence(finding: CompiledFinding) -> str:
    """What differs, and how."""
    difference, compiler = finding.difference, finding.compiler
    within = f" in {finding.function}" if finding.function else ""
    times = f", in {finding.times:,} compilations" if finding.times > 1 else ""
    compiled = difference.compiled or "an error"
    plain = difference.plain or "an error"
    error = f" ({difference.error})" if difference.error else ""
    return (
        f"{difference.what}{within} gives {compiled} with {compiler}, "
        f"and {plain} without it{times}{error}"
    )


def compiled_json(found: ComparedFunctions) -> dict[str, Any]:
    """The same for programs."""
    return {
        "compilations": found.compilations,
        "differences": [
            {
                "file": finding.place.file,
                "line": finding.place.line,
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
