"""An audit in words: for the terminal, and in the sentences that its page has too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from castwise.auditing.origins import Audit, DtypeOrigin
from castwise.auditing.plans import Target
from castwise.auditing.records import (
    Coverage,
    Finding,
    Fix,
    InsideCast,
    InsideCoverage,
    SourcePlace,
    UnobservedFunction,
)
from castwise.auditing.sections import (
    Autocasts,
    CastAgain,
    ChangedArgument,
    ComparedFunctions,
    CompiledFinding,
    ExplainedCrash,
    ListedOp,
    LostValues,
    NarrowState,
    NarrowSum,
    Retrace,
    Sections,
    SixteenBits,
)
from castwise.auditing.source import changed_lines, fixed_lines, lines_at
from castwise.engine.decision import HAZARDS
from castwise.report.terminal import Paint, file_text, filled, folded, place_text, plain, size_text
from castwise.showing import quantity

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
    sentences = notes(audit, listing.how_to_list_expected)
    title = paint(folded(summary(audit), width), "title")
    parts.append("\n".join([title, *(folded(sentence, width) for sentence in sentences)]))
    for number, origin in enumerate(audit.origins[: listing.origins], 1):
        parts.append(origin_text(number, origin, paint, width, listing))
    left = audit.origins[listing.origins :] if listing.origins is not None else ()
    if left:
        findings = quantity(sum(len(origin.findings) for origin in left), "finding")
        rest = f"And {quantity(len(left), 'more line')} with {findings}: {listing.how_to_list_all}."
        parts.append(folded(rest, width))
    if audit.findings:
        parts.append(_hazards_text(audit, paint, width))
    parts += [_section_text(lines, width) for lines in section_lines(audit.sections)]
    if audit.losses is not None:
        parts.append(_losses_text(audit.losses, paint, width))
    if audit.inside:
        parts.append(inside_text(audit.inside, width))
    coverage = coverage_text(audit.coverage, width, listing.names, listing.how_to_list_all)
    return "\n\n".join([*parts, coverage])


def summary(audit: Audit) -> str:
    """The audit in a sentence."""
    findings, seen = len(audit.findings), quantity(audit.coverage.seen, "operation")
    unclear = sum(audit.coverage.not_understood.values())
    compiled = _compiled_count(audit.sections.compared)
    if not audit.coverage.seen:
        if unclear:
            return f"Understood 0 of {quantity(unclear, 'operation')} on arrays."
        return f"No operation on arrays was seen{compiled}."
    were = "was" if unclear == 1 else "were"
    others = f"; {unclear:,} more {were} not understood" if unclear else ""
    expected = f"{compiled}{_expected_count(audit)}"
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
        sentences.append(_target_text(audit.target))
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
    expected = _expected_text(audit, where_expected)
    return [*sentences, expected] if expected else sentences


def origin_text(
    number: int, origin: DtypeOrigin, paint: Paint, width: int, listing: Listing
) -> str:
    """A line that caused findings: what to write instead, and the findings."""
    lines = [
        f"{number}. {paint(place_text(origin.place), 'title')}",
        folded(gain(origin), width, len(_MARGIN), _MARGIN),
        "",
        *_code_lines(origin.place, origin.fixes, paint),
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


def _target_text(target: Target) -> str:
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
    here = origin.place
    places = [fix.place for fix in origin.fixes]
    near = dict.fromkeys(place.line for place in places if place.file == here.file)
    named = ["this line"] if here.line in near else []
    lines = [str(line) for line in near if line != here.line]
    named += [f"{'lines' if len(lines) > 1 else 'line'} {', '.join(lines)}"] if lines else []
    named += dict.fromkeys(place_text(place) for place in places if place.file != here.file)
    return " and ".join(named)


def _code_lines(place: SourcePlace, fixes: Iterable[Fix], paint: Paint) -> Iterator[str]:
    """The source before and after the fixes, in whole lines, which are easy to find in the file."""
    if not fixes:
        yield from (f"{_MARGIN}  {line}" for line in lines_at(place))
    for old, new in changed_lines(fixes):
        yield from (paint(f"{_MARGIN}- {line}", "refused") for line in old)
        yield from (paint(f"{_MARGIN}+ {line}", "float") for line in new)


def _finding_text(
    finding: Finding, origin: DtypeOrigin, hazards: tuple[str, ...], paint: Paint, width: int
) -> str:
    """Where it happened, the operation, its size and count, and what it may cost."""
    where = _where(finding.place, origin)
    where += f", {finding.inside}" if finding.inside else ""
    said = [operation_text(finding), *_costs(finding, origin)]
    pieces: list[tuple[str, str | None]] = [(part, None) for part in said]
    if finding.alive and finding.count > 1 and not finding.inside:
        pieces.append((f"{size_text(finding.alive)} alive at once", None))
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


def _hazards_text(audit: Audit, paint: Paint, width: int) -> str:
    counts = audit.hazards
    longest = max(map(len, counts), default=0)
    lines = [paint("What the casts may cost", "title")]
    for hazard, count in counts.items():
        text = f"{quantity(count, 'finding')}: {HAZARDS[hazard]}"
        line = folded(text, width, longest + 4, f"  {hazard.ljust(longest)}  ")
        lines.append(line.replace(hazard, paint(hazard, "hazard"), 1))
    return "\n".join(lines)


# The sections after the findings.


def section_lines(sections: Sections) -> Iterator[list[str]]:
    """The lines of each section that has some: a sentence, then lines with a margin."""
    for lines in (
        _autocast_lines(sections.autocasts),
        _retrace_lines(sections.retraces),
        _sixteen_bits_lines(sections.sixteen_bits),
        _compiled_lines(sections.compared),
    ):
        found = list(lines)
        if found:
            yield found


def _section_text(lines: Iterable[str], width: int) -> str:
    """The lines of a section folded, except those of the source."""
    return "\n".join(
        line
        if line.startswith(("     -", "     +"))
        else folded(line, width, 5 if line[0] == " " else 2)
        for line in lines
    )


def _first_lines(lines: list[str], most: int) -> Iterator[str]:
    """Some of the lines, and how many there are besides."""
    yield from lines[:most]
    yield from _left_line(len(lines) - most)


def _left_line(left: int) -> Iterator[str]:
    if left > 0:
        yield f"   and {left} more: --json FILE lists them all"


# What autocast did.

_MOST_AUTOCASTS = 12
_MOST_MODULES = 3


def _autocast_lines(found: Autocasts) -> Iterator[str]:
    """The ops by line, then what was cast again."""
    if found.ops:
        casts = quantity(sum(op.seen.casts for op in found.ops), "cast")
        size = size_text(sum(op.seen.bytes for op in found.ops))
        targets = dict.fromkeys(f"{o.seen.autocast} on {o.seen.device}" for o in found.ops)
        yield f"Autocast to {' and to '.join(targets)}: {casts}, {size} of copies."
    yield from _first_lines([_op_line(op) for op in found.ops], _MOST_AUTOCASTS)
    yield from _repeat_lines(found)


def _op_line(op: ListedOp) -> str:
    seen = op.seen
    times = f", {seen.count:,} times" if seen.count > 1 else ""
    named = ", ".join(op.modules[:_MOST_MODULES])
    more = len(op.modules) - _MOST_MODULES
    modules = f" in {named}{f' and {more} more' if more > 0 else ''}" if named else ""
    casts = f"; {', '.join(seen.changes)}, {quantity(seen.casts, 'cast')}" if seen.casts else ""
    what = f"{seen.op}{modules} ran in {seen.result} (list: {seen.rule})"
    return f"   {place_text(op.place)}: {what}{times}{casts}"


def _repeat_lines(found: Autocasts) -> Iterator[str]:
    trained = [r for r in found.repeats if r.is_once_per_block and r.seen.is_cached]
    others = [r for r in found.repeats if r not in trained]
    if others:
        yield (
            "Autocast casts these again and again: until a block ends, it keeps the copies only of "
            "leaves that require a gradient. Cast them once instead."
        )
    yield from _first_lines([_repeat_line(again) for again in others], _MOST_AUTOCASTS)
    if trained:
        casts = quantity(sum(again.seen.casts for again in trained), "cast")
        arrays = quantity(len(trained), "weight")
        yield f"Autocast casts {arrays} that are trained once in each block: {casts}."


def _repeat_line(again: CastAgain) -> str:
    seen = again.seen
    shape = ",".join(map(str, seen.shape))
    name = f"{seen.name} " if seen.name else ""
    what = f"{name}{seen.source}[{shape}] -> {seen.target}"
    blocks = quantity(seen.blocks, "block")
    return f"   {place_text(again.place)}: {what}, {seen.casts:,} times in {blocks}"


# Functions that were compiled again only because a weak type or a Python number changed.

_MOST_RETRACES = 8


def _retrace_lines(found: Sequence[Retrace]) -> Iterator[str]:
    """Each retrace with what changed, and what to write."""
    if found:
        times = quantity(sum(retrace.times for retrace in found), "time")
        yield (
            f"Compiled again {times} only because a weak type or a Python number changed "
            "(* marks a weak type)."
        )
    for retrace in found[:_MOST_RETRACES]:
        yield from _one_retrace(retrace)
    yield from _left_line(len(found) - _MOST_RETRACES)


def _one_retrace(retrace: Retrace) -> Iterator[str]:
    changes = "; ".join(_change(changed) for changed in retrace.changed)
    earlier = place_text(retrace.earlier)
    times = f", {retrace.times:,} times" if retrace.times > 1 else ""
    what = f"{retrace.function}, compiled before at {earlier}: {changes}{times}"
    yield f"   {place_text(retrace.place)}: {what}"
    for changed in retrace.changed:
        fix = changed.fix
        if fix:
            yield f"     line {fix.place.line}, {fix.does}:"
            yield from (f"     - {line}" for line in lines_at(fix.place))
            yield from (f"     + {line}" for line in fixed_lines(fix))


def _change(changed: ChangedArgument) -> str:
    static = ", and it is static: each value is compiled" if changed.is_static else ""
    return f"{changed.label} was {changed.before} and is {changed.after}{static}"


# What a program keeps and sums in 16 bits.

_MOST_SIXTEEN_BITS = 8  # listed of each


def _sixteen_bits_lines(found: SixteenBits) -> Iterator[str]:
    """The states and the sums, one per line."""
    if found.states:
        yield "Optimizer states in 16 bits: small updates are lost."
        yield from _first_lines([_state_line(state) for state in found.states], _MOST_SIXTEEN_BITS)
    if found.sums:
        yield "Sums in 16 bits."
        yield from _first_lines([_sum_line(narrow) for narrow in found.sums], _MOST_SIXTEEN_BITS)


def _state_line(state: NarrowState) -> str:
    arrays, size = quantity(state.arrays, "array"), size_text(state.bytes)
    what = f"{state.owner}: {state.name} {state.dtype}"
    return f"   {place_text(state.place)}: {what}, {arrays}, {size}"


def _sum_line(narrow: NarrowSum) -> str:
    how = "each partial sum" if narrow.rounds_each else "the result"
    what = f"{narrow.operation}, {narrow.terms:,} terms"
    return f"   {place_text(narrow.place)}: {what}, rounds {how} to {narrow.dtype}"


# What compiled functions give otherwise than the functions themselves.

_MOST_COMPILED = 12


def _compiled_lines(found: ComparedFunctions | None) -> Iterator[str]:
    """Each difference with its line, then what could not be compared."""
    if found is None:
        return
    yield f"Compiled functions, run without their compilers too: {_compared_count(found)}."
    yield from _first_lines([_compiled_line(f) for f in found.findings], _MOST_COMPILED)
    for skipped in found.skipped[:_MOST_COMPILED]:
        where = f" at {file_text(skipped.file)}:{skipped.line}" if skipped.file else ""
        yield f"   not compared: {skipped.function}{where}, because {skipped.skipped}"


def _compiled_count(found: ComparedFunctions | None) -> str:
    """How many differences there are, for the first sentence of a report."""
    if found is None or not found.findings:
        return ""
    return f"; {quantity(len(found.findings), 'difference')} in compiled functions"


def _compiled_line(finding: CompiledFinding) -> str:
    where = f"{place_text(finding.place)}: " if finding.place.file else ""
    return f"   {where}{compiled_sentence(finding)}"


def _compared_count(found: ComparedFunctions) -> str:
    if not found.compilations and not found.skipped:
        return "none was compiled"
    compared = quantity(found.compilations, "compilation")
    if not found.findings:
        return f"{compared} compared, and no dtype differs"
    return f"{compared} compared, {quantity(len(found.findings), 'difference')}"


def compiled_sentence(finding: CompiledFinding) -> str:
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


# The values that a program lost, for every kind of report.

_MOST_LOSSES = 20  # lines in a short report


def _losses_summary(losses: tuple[LostValues, ...]) -> str:
    """The values that were lost, in a sentence."""
    if not losses:
        return "No values were lost, where castwise looked at them."
    lost = quantity(sum(loss.lost for loss in losses), "value")
    lines = quantity(len({(loss.place.file, loss.place.line) for loss in losses}), "line")
    return f"{lost} lost, on {lines}."


def _losses_text(losses: tuple[LostValues, ...], paint: Paint, width: int) -> str:
    """The values that were lost, one operation per line."""
    lines = [paint("Lost values", "title"), folded(_losses_summary(losses), width, 2, "  ")]
    for loss in losses[:_MOST_LOSSES]:
        text = f"{place_text(loss.place)}: {losses_sentence(loss)}"
        lines.append(folded(text, width, 4, "  "))
    if len(losses) > _MOST_LOSSES:
        lines.append(f"  and {len(losses) - _MOST_LOSSES:,} more: --json FILE lists them all")
    return "\n".join(lines)


def losses_sentence(loss: LostValues) -> str:
    """What an operation lost."""
    times = f", in {loss.count:,} runs" if loss.count > 1 else ""
    share = f"{loss.lost:,} of {quantity(loss.elements, 'element')} {loss.how}"
    return f"{loss.what}: {share}{times}, such as {loss.example}"


# What an audit saw inside libraries and in backward, for the terminal.

_MOST_CASTS = 8


def inside_text(inside: InsideCoverage, width: int = 80) -> str:
    """The implicit casts, and how much was seen, so that "none" means something."""
    return _section_text(inside_lines(inside), width)


def inside_lines(inside: InsideCoverage) -> Iterator[str]:
    """The same, one point per line."""
    if inside.casts:
        size = size_text(sum(cast.bytes for cast in inside.casts))
        times = quantity(sum(cast.count for cast in inside.casts), "cast")
        spent = _time_text(sum(cast.seconds for cast in inside.casts))
        yield f"Inside libraries and in backward: {times}, {size} of copies{spent}."
    for cast in inside.casts[:_MOST_CASTS]:
        yield _cast_line(cast)
    if len(inside.casts) > _MOST_CASTS:
        yield f"   and {len(inside.casts) - _MOST_CASTS} more"
    yield f"Seen inside libraries and in backward: {quantity(inside.seen, 'operation')}."
    if inside.not_understood:
        total = sum(inside.not_understood.values())
        most = ", ".join(f"{name} {n:,}" for name, n in inside.not_understood.most_common(5))
        yield f"Not understood there: {total:,} ({most})."
    if inside.cannot_show:
        named = " and ".join(inside.cannot_show)
        have = "has" if len(inside.cannot_show) == 1 else "have"
        yield f"{named} {have} no hook to look inside libraries: audit them with --include PACKAGE."


def _cast_line(cast: InsideCast) -> str:
    times = f", {cast.count:,} times" if cast.count > 1 else ""
    change = f"{cast.source} -> {cast.target}"
    cost = f"{size_text(cast.bytes)}{times}{_time_text(cast.seconds)}"
    return f"   {place_text(cast.place)}: {change}, {cast.why}, {cost}"


def _time_text(seconds: float) -> str:
    """The time on the device, if it was measured."""
    return f", {1000 * seconds:.3g} ms on the GPU" if seconds else ""


# What an audit saw and did not see, so that "no findings" means something.

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
    where = quantity(coverage.files, "file")
    processes = f", {coverage.processes} processes" if coverage.processes > 1 else ""
    yield f"Seen: {quantity(coverage.seen, 'operation')} on arrays, in {where}{processes}."
    if coverage.by_dtypes:
        yield f"No rule for these, so only their dtypes were checked: {_named(coverage.by_dtypes)}."
    if coverage.asked:
        yield f"Explicit casts by dtype=: {_total(coverage.asked)}."
    unclear = coverage.not_understood
    if unclear:
        is_cut = names is not None and len(unclear) > names and how_to_list_all
        yield f"Not understood: {_named(unclear, names)}{f'; {how_to_list_all}' * bool(is_cut)}."
    missed = coverage.not_observed
    if missed:
        named = [_unobserved(function) for function in missed[:_NAMES]]
        pieces = quantity(len(missed), "piece")
        yield f"Not observed: {pieces} of code, {_some(named, len(missed))}."
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
    return f"{function.name} at {file_text(function.file)}:{function.line} ({function.why})"


# Why a program ended with an error about dtypes.

_MOST_LINES = 6  # of a message


def crash_text(crash: ExplainedCrash, paint: Paint = plain, width: int = 80) -> str:
    """What raised the error, why, and what to write."""
    lines = [paint(f"The program ended at {place_text(crash.place)}: a dtype error.", "title")]
    lines += [folded(s, width, len(_MARGIN), _MARGIN) for s in crash_sentences(crash)]
    fixes = (crash.fix,) if crash.fix else ()
    return "\n".join([*lines, "", *_code_lines(crash.place, fixes, paint)])


def crash_sentences(crash: ExplainedCrash) -> list[str]:
    """The same in sentences, without the source: the framework's own words, of which the first
    line is enough where castwise explains them, then why and what to write."""
    words = [line.strip() for line in crash.error.splitlines() if line.strip()]
    inside = f", inside {crash.inside}" if crash.inside else ""
    if crash.why:
        sentences = [f"{crash.operation}{inside} is refused in {crash.dialect}: {crash.why}."]
    else:
        sentences = [f"{crash.operation}{inside}: castwise has no rule for it."]
        if not crash.operation:
            sentences = [f"Raised{inside}."] if inside else []
    if crash.advice:
        sentences.append(crash.advice)
    if crash.fix:
        sentences.append(f"What to write: {crash.fix.does}, {crash.result}.")
    return [*words[: 1 if crash.why else _MOST_LINES], *sentences]


# The findings that are expected, in a sentence.

_WORDS = {"int": "integers", "bool": "masks", "float": "real numbers"}


def _expected_text(audit: Audit, where: str) -> str:
    """What is not listed, and where to find it; "" if there is nothing."""
    found = audit.expected_findings
    if not found:
        return ""
    casts = [cast for finding in found for cast in finding.operation.casts]
    kinds = {cast.source.kind for cast in casts if cast.source}
    sources = _joined(word for kind, word in _WORDS.items() if kind in kinds)
    targets = _joined(sorted({cast.target.name for cast in casts}, reverse=True))
    of_kinds = sorted({cast.target.kind for cast in casts}, reverse=True)
    whose = f"this program's {_joined(of_kinds)} dtype{'s' if len(of_kinds) > 1 else ''}"
    is_one = len(found) == 1
    return (
        f"{quantity(len(found), 'cast')} of {sources} to {targets}, {whose}, "
        f"{'is' if is_one else 'are'} expected and not listed; "
        f"{where.format('it' if is_one else 'them')}."
    )


def _expected_count(audit: Audit) -> str:
    """How many there are, for the end of a sentence."""
    apart = len(audit.expected_findings)
    listed = sum(finding.is_expected for finding in audit.findings)
    verb = "is" if listed == 1 else "are"
    text = f"; {quantity(listed, 'finding')} {verb} expected" if listed else ""
    noun = "more expected cast" if listed else "expected cast"
    return f"{text}; {quantity(apart, noun)}" if apart else text


def _joined(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last
