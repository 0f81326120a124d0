"""An audit for the terminal: origins, worst first, each with its fix and its findings."""

from __future__ import annotations

import difflib
import io
import os
import sys
import tokenize
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO

from castwise.auditing.fixes import Patch, Unpatched
from castwise.auditing.origins import Audit, DtypeOrigin
from castwise.auditing.plans import Target
from castwise.auditing.records import Finding, SourcePlace
from castwise.auditing.saved import load_process
from castwise.auditing.source import changed_lines, lines_at
from castwise.engine.decision import HAZARDS
from castwise.progress import is_plain
from castwise.report.audit_sections import (
    compiled_count,
    coverage_text,
    crash_text,
    expected_count,
    expected_text,
    inside_text,
    losses_text,
    section_texts,
)
from castwise.report.terminal import (
    Paint,
    filled,
    folded,
    place_text,
    plain,
    size_text,
    terminal_width,
)
from castwise.showing import quantity

if TYPE_CHECKING:
    from castwise.auditing.rerun import Trial

_MARGIN = " " * 3  # below an origin's number
_NAMED = 5  # of lines that a device cannot run


class Listing(NamedTuple):
    """How much of the findings is listed, and how to get the rest."""

    origins: int | None = 10  # None: all
    findings_per_origin: int | None = 8
    names: int | None = 5  # of calls that were not understood
    how_to_list_all: str = "--html FILE and --json FILE list them all"
    how_to_list_expected: str = "--all lists {}"


SHORT = Listing()
WHOLE = Listing(None, None, None)


def audit_text(
    audit: Audit, paint: Paint = plain, width: int = 80, listing: Listing = SHORT
) -> str:
    """The whole report."""
    parts = [crash_text(crash, paint, width) for crash in audit.sections.crashes]
    parts.append(_summary_text(audit, paint, width, listing))
    for number, origin in enumerate(audit.origins[: listing.origins], 1):
        parts.append(origin_text(number, origin, paint, width, listing))
    left = audit.origins[len(audit.origins[: listing.origins]) :]
    if left:
        parts.append(folded(_rest(left, listing), width))
    if audit.findings:
        parts.append(_hazards_text(audit, paint, width))
    parts += section_texts(audit.sections, width)
    if audit.losses is not None:
        parts.append(losses_text(audit.losses, paint, width))
    if audit.inside:
        parts.append(inside_text(audit.inside, width))
    coverage = coverage_text(audit.coverage, width, listing.names, listing.how_to_list_all)
    return "\n\n".join([*parts, coverage])


def summary(audit: Audit) -> str:
    """The audit in a sentence."""
    findings, seen = len(audit.findings), quantity(audit.coverage.seen, "operation")
    unclear = sum(audit.coverage.not_understood.values())
    if not audit.coverage.seen:
        if unclear:
            return f"Understood 0 of {quantity(unclear, 'operation')} on arrays."
        return f"No operation on arrays was seen{compiled_count(audit.sections.compared)}."
    others = f"; {unclear:,} more {'was' if unclear == 1 else 'were'} not understood"
    others = others if unclear else ""
    expected = f"{compiled_count(audit.sections.compared)}{expected_count(audit)}"
    if not findings:
        left = " left" if audit.ignored or audit.baselined or audit.hidden else ""
        return f"No findings{left} in {seen} on arrays{others}{expected}."
    cost = f", cost {size_text(audit.bytes)}" if audit.bytes else ""
    lines = quantity(len({origin.place for origin in audit.origins}), "line")
    return f"{quantity(findings, 'finding')} in {seen}, caused by {lines}{cost}{others}{expected}."


def notes(audit: Audit, where_expected: str = SHORT.how_to_list_expected) -> list[str]:
    """The sentences after the summary. Casts that are expected and not listed are said to be
    somewhere else."""
    sentences = list(audit.remarks)
    if audit.findings:
        sentences.append(target_text(audit.target))
    if audit.too_wide:
        lines = quantity(len(audit.too_wide), "line")
        named = ", ".join(place_text(place) for place in audit.too_wide[:_NAMED])
        named += " and others" if len(audit.too_wide) > _NAMED else ""
        sentences.append(f"{audit.target.device} has no float64. Without an implicit cast, it is "
                         f"also made in {lines}: {named}.")  # fmt: skip
    if audit.temporaries:
        makers = " and ".join(audit.makers_of_temporaries)
        size = size_text(audit.temporaries)
        sentences.append(f"In addition, {size} of temporaries: on the CPU, {makers} copies "
                         "operands to cast them before it computes.")  # fmt: skip
    if audit.ignored:
        ignored = quantity(audit.ignored, "finding")
        everywhere = ",".join(audit.ignored_hazards)
        also = f" or --ignore {everywhere}" if everywhere else ""
        sentences.append(f"Ignored: {ignored}, by comments in the source{also}.")
    if audit.baselined:
        sentences.append(f"Known: {quantity(audit.baselined, 'finding')}, in the baseline.")
    if audit.hidden:
        hidden, least = quantity(audit.hidden, "finding"), size_text(audit.least_size)
        sentences.append(f"Hidden: {hidden} with results smaller than {least}.")
    expected = expected_text(audit, where_expected)
    return [*sentences, expected] if expected else sentences


def _summary_text(audit: Audit, paint: Paint, width: int, listing: Listing) -> str:
    sentences = notes(audit, listing.how_to_list_expected)
    lines = [paint(folded(summary(audit), width), "title")]
    return "\n".join([*lines, *(folded(sentence, width) for sentence in sentences)])


def origin_text(
    number: int, origin: DtypeOrigin, paint: Paint, width: int, listing: Listing
) -> str:
    """A line that caused findings: what to write instead, and the findings."""
    lines = [
        f"{number}. {paint(place_text(origin.place), 'title')}",
        folded(gain(origin), width, len(_MARGIN), _MARGIN),
        "",
        *_code_lines(origin, paint),
        "",
    ]
    shared = {finding.hazards for finding in origin.findings}
    is_shared = len(shared) == 1 and len(origin.findings) > 1
    listed = origin.findings[: listing.findings_per_origin]
    for finding in listed:
        hazards = () if is_shared else finding.hazards
        lines.append(_finding_text(finding, origin, hazards, paint, width))
    left = len(origin.findings) - len(listed)
    if left:
        more = f"and {left:,} more: {listing.how_to_list_all}"
        lines.append(folded(more, width, len(_MARGIN) + 2, _MARGIN))
    if is_shared and any(shared):
        named = [(hazard, "hazard") for hazard in shared.pop()]
        lines.append(filled(named, width, len(_MARGIN) + 2, f"{_MARGIN}each: ", paint))
    return "\n".join(lines)


def target_text(target: Target) -> str:
    """What the program is meant to compute in, and who says so."""
    if not target.is_stated:
        return f"Target: {target.dtype}, inferred from {target.why}."
    widest = f", whose widest float is {target.dtype}" if target.device else ""
    return f"Target: {target.name}{widest}."


def gain(origin: DtypeOrigin) -> str:
    """What an origin costs, and what changing it does."""
    return f"{_gain(origin)} {origin.note}".rstrip()


def _gain(origin: DtypeOrigin) -> str:
    findings = quantity(len(origin.findings), "finding")
    if origin.frameworks:
        names = f"{', '.join(origin.frameworks[:-1])} and {origin.frameworks[-1]}"
        return f"Causes {findings}; it runs with {names}, and no single fix works for all."
    if origin.withdrawn:
        texts = " and ".join(fix.text for fix in origin.withdrawn.fixes)
        return f"Causes {findings}; {texts} was withdrawn: with it, {origin.withdrawn.why}."
    if not origin.fixes:
        why = "the dtype is set explicitly" if origin.is_explicit else "no fix could be proven"
        return f"Causes {findings}; {why}."
    saved = f" and {size_text(origin.bytes)}" if origin.bytes else ""
    is_all = origin.removed == len(origin.findings)
    removed = findings if is_all else f"{origin.removed} of {findings}"
    does = " and ".join(dict.fromkeys(fix.does for fix in origin.fixes))
    sentence = f"Fixing {_lines_fixed(origin)} removes {removed}{saved}: {does}."
    left = [f"{_where(finding.place, origin)}, {finding}" for finding in origin.plan.added]
    return f"{sentence} It leaves a cast at {'; '.join(left)}." if left else sentence


def _where(place: SourcePlace, origin: DtypeOrigin) -> str:
    """A place as read below an origin, whose file needs no name."""
    return f"line {place.line}" if place.file == origin.place.file else place_text(place)


def _lines_fixed(origin: DtypeOrigin) -> str:
    """The lines that the fixes change."""
    here = origin.place
    places = [fix.place for fix in origin.fixes]
    near = dict.fromkeys(place.line for place in places if place.file == here.file)
    named = ["this line"] if here.line in near else []
    lines = [str(line) for line in near if line != here.line]
    named += [f"{'lines' if len(lines) > 1 else 'line'} {', '.join(lines)}"] if lines else []
    named += dict.fromkeys(place_text(place) for place in places if place.file != here.file)
    return " and ".join(named)


def _code_lines(origin: DtypeOrigin, paint: Paint) -> list[str]:
    """The source before and after the fix, in whole lines, which are easy to find in the file."""
    if not origin.fixes:
        return [f"{_MARGIN}  {line}" for line in lines_at(origin.place)]
    lines = []
    for old, new in changed_lines(origin.fixes):
        lines += [paint(f"{_MARGIN}- {line}", "refused") for line in old]
        lines += [paint(f"{_MARGIN}+ {line}", "float") for line in new]
    return lines


def _finding_text(
    finding: Finding, origin: DtypeOrigin, hazards: tuple[str, ...], paint: Paint, width: int
) -> str:
    """Where it happened, the operation, its size and count, and what it may cost."""
    where = _where(finding.place, origin)
    where += f", {finding.inside}" if finding.inside else ""
    operation = operation_text(finding)
    pieces: list[tuple[str, str | None]] = [(operation, None)]
    parts = [*_costs(finding, origin), alive_text(finding)]
    pieces += [(part, None) for part in parts if part]
    if hazards:
        pieces.append((", ".join(hazards), "hazard"))
    return filled(pieces, width, len(_MARGIN) + 2, f"{_MARGIN}{where}: ", paint)


def operation_text(finding: Finding) -> str:
    """The operation and its result; one without a rule is only what was observed."""
    observed = ", as observed" if finding.operation.is_observed else ""
    expected = ", expected" if finding.is_expected else ""
    return f"{finding}{observed}{expected}"


def cost_text(finding: Finding, origin: DtypeOrigin) -> str:
    """How much a finding costs and how often it happened, or ""."""
    return ", ".join(_costs(finding, origin))


def _costs(finding: Finding, origin: DtypeOrigin) -> list[str]:
    saved = origin.saved_by(finding)
    size = [size_text(saved)] if saved else []
    times = [f"{finding.count:,} times"] if finding.count > 1 else []
    traced = ["per trace"] if finding.is_traced else []
    return [*size, *times, *traced]


def alive_text(finding: Finding) -> str:
    """How much of the results was alive at one time, or ""."""
    is_told = finding.alive and finding.count > 1 and not finding.inside
    return f"{size_text(finding.alive)} alive at once" if is_told else ""


def _rest(origins: tuple[DtypeOrigin, ...], listing: Listing) -> str:
    findings = quantity(sum(len(origin.findings) for origin in origins), "finding")
    lines = quantity(len(origins), "more line")
    return f"And {lines} with {findings}: {listing.how_to_list_all}."


def _hazards_text(audit: Audit, paint: Paint, width: int) -> str:
    counts = audit.hazards
    longest = max(map(len, counts), default=0)
    lines = [paint("What the casts may cost", "title")]
    for hazard, count in counts.items():
        text = f"{quantity(count, 'finding')}: {HAZARDS[hazard]}"
        line = folded(text, width, longest + 4, f"  {hazard.ljust(longest)}  ")
        lines.append(line.replace(hazard, paint(hazard, "hazard"), 1))
    return "\n".join(lines)


# The result of trying the fixes, for the terminal.

_LEFT_OUT = 3  # that are named


def trial_text(trial: Trial, width: int = 80) -> str:
    """What the fixes change, measured, and which were withdrawn."""
    if trial.stopped:
        return folded(f"The fixes were not tried: {trial.stopped}.", width)
    if not trial.fixes and not trial.withdrawn:
        return "There are no fixes to try."
    lines = []
    if trial.fixes:
        runs = quantity(trial.runs, "more run")
        lines += [f"With {quantity(len(trial.fixes), 'fix', 'es')}, tried in memory, in {runs}:"]
        lines += _measured(trial, width)
    if trial.withdrawn:
        fixes = sum(len(origin.withdrawn.fixes) for origin in trial.withdrawn if origin.withdrawn)
        lines.append(f"Withdrawn: {quantity(fixes, 'fix', 'es')}.")
        lines += [folded(f"  {_place(origin)}: {_why(origin)}.", width, 4)
                  for origin in trial.withdrawn]  # fmt: skip
    return "\n".join(lines)


def _measured(trial: Trial, width: int) -> list[str]:
    before, after = (size_text(peak) for peak in trial.peak_memory)
    lines = [
        f"findings     {trial.findings[0]:,} -> {trial.findings[1]:,}",
        f"peak memory  {before} -> {after}",
        f"results      {_results(trial)}",
    ]
    if trial.left_out and not trial.not_compared:
        named = "; ".join(trial.left_out[:_LEFT_OUT])
        more = f"; and {len(trial.left_out) - _LEFT_OUT:,} more"
        named += more if len(trial.left_out) > _LEFT_OUT else ""
        lines.append(f"left out     what differs between two plain runs: {named}")
    return [folded(f"  {line}", width, 15) for line in lines]


def _results(trial: Trial) -> str:
    if trial.not_compared:
        return f"cannot be compared: {trial.not_compared}"
    if not trial.change or not trial.change.size:
        return "do not change"
    return f"change by at most {trial.change.size:.1e} of their size ({trial.change.where})"


def _place(origin: DtypeOrigin) -> str:
    assert origin.withdrawn is not None  # only called for such origins
    return place_text(origin.withdrawn.fixes[0].place)


def _why(origin: DtypeOrigin) -> str:
    assert origin.withdrawn is not None
    texts = " and ".join(fix.text for fix in origin.withdrawn.fixes)
    return f"with {texts}, {origin.withdrawn.why}"


# A line on the terminal that shows that a running program is being audited.

_PATIENCE = 2.0  # seconds a program runs before the line appears
_REDRAW = 0.5  # seconds between two updates of the line
_LINES = 10.0  # seconds between two lines that stay on the terminal
_COUNT = 2.0  # seconds between two counts of what was seen
_CLEAR = "\r\x1b[K"


class Progress:
    """A callback for a running program: it updates one line, or prints a new one now and then.

    The program writes to the same terminal. If its stdout goes there too, redrawing a line would
    cut the program's lines in two, so whole lines are printed instead.
    """

    def __init__(self, stream: TextIO, stdout: TextIO, doing: str = "") -> None:
        self._stream = stream
        self._doing = f"{doing}, " if doing else ""
        is_shared = not doing and _is_same(stream, stdout)  # other runs are not shown
        self._redraws = not (is_plain(stream) or is_shared)
        self._next_draw = _PATIENCE if self._redraws else _LINES
        self._next_count = 0.0
        self._seen = ""
        self._is_drawn = False

    def __call__(self, seconds: float, directory: Path) -> None:
        if seconds < self._next_draw:
            return
        if seconds >= self._next_count:
            self._seen = _seen_in(directory)
            self._next_count = seconds + _COUNT
        self._next_draw = seconds + (_REDRAW if self._redraws else _LINES)
        text = f"castwise: {self._doing}{seconds:.0f} s{self._seen}"[
            : terminal_width(self._stream) - 1
        ]
        # The cursor goes back to the start, where the program's next line on stderr begins.
        self._stream.write(f"{_CLEAR}{text}\r" if self._redraws else f"{text}\n")
        self._stream.flush()
        self._is_drawn = self._redraws

    def close(self) -> None:
        """Removes the line."""
        if self._is_drawn:
            self._stream.write(_CLEAR)
            self._stream.flush()


def progress_on_stderr(doing: str = "") -> Progress | None:
    """The progress of a program, or None if stderr is not a terminal. `doing` says what it runs
    for."""
    return Progress(sys.stderr, sys.stdout, doing) if sys.stderr.isatty() else None


def _is_same(one: TextIO, other: TextIO) -> bool:
    if not other.isatty():
        return False
    return os.path.samestat(os.fstat(one.fileno()), os.fstat(other.fileno()))


def _seen_in(directory: Path) -> str:
    """What the processes have reported so far; they report about once a second."""
    operations, processes = 0, 0
    for file in directory.glob("*.json"):
        try:
            seen = load_process(file)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # not the report of a process
        operations += sum(event.count for event in seen.events)
        processes += 1
    if not operations:
        return ""
    where = f" in {processes} processes" if processes > 1 else ""
    return f", {quantity(operations, 'operation')} on arrays{where}"


# Fixes in files: as a diff, and what was written.

_STYLES = {"-": "refused", "+": "float", "@": "faint"}
_NO_END = "\\ No newline at end of file\n"


def diff_text(patch: Patch, paint: Paint = plain) -> str:
    """A patch as `patch -p1` and `git apply` take it, if the file is below this directory."""
    before, after = (_lines(content) for content in (patch.before, patch.after))
    name = _name(patch.file)
    old, new = (f"a/{name}", f"b/{name}") if not os.path.isabs(name) else (name, name)
    lines = list(difflib.unified_diff(before, after, old, new))
    return "".join(_line(line, paint, is_head=n < 2) for n, line in enumerate(lines))


def _line(line: str, paint: Paint, *, is_head: bool) -> str:
    text, end = (line[:-1], "\n") if line.endswith("\n") else (line, f"\n{_NO_END}")
    style = "title" if is_head else _STYLES.get(line[:1])
    return (paint(text, style) if style else text) + end


def _lines(content: bytes) -> list[str]:
    """The lines with their ends, so that a diff keeps them."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(content).readline)
    text = content.decode("utf-8" if encoding == "utf-8-sig" else encoding, "replace")
    return list(io.StringIO(text, newline="\n"))


def written_text(written: Sequence[Patch]) -> str:
    """Which files were written, and where."""
    if not written:
        return "No fix was written."
    fixes = quantity(sum(len(patch.fixes) for patch in written), "fix", "es")
    lines = [f"Wrote {fixes} to {quantity(len(written), 'file')}:"]
    for patch in written:
        numbers = ", ".join(str(n) for n in sorted({fix.place.line for fix in patch.fixes}))
        lines.append(f"  {_name(patch.file)}: {'lines' if ',' in numbers else 'line'} {numbers}")
    return "\n".join(lines)


def refused_text(refused: Sequence[Unpatched]) -> str:
    """Which files stay as they are, and why."""
    return "\n".join(f"{_name(file)} stays as it is: {why}." for file, why in refused)


def _name(file: str) -> str:
    near = os.path.relpath(file)
    return file if near.startswith("..") else near
