"""What an audit reports beside its findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

from castwise.auditing.origins import Audit
from castwise.auditing.records import (
    Coverage,
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
from castwise.auditing.source import columns_at, fixed_lines, fixed_text, lines_at
from castwise.report.terminal import Paint, folded, place_text, plain, size_text
from castwise.showing import quantity

# What autocast did.

_MOST_AUTOCASTS = 12
_MOST_MODULES = 3


def autocast_lines(found: Autocasts) -> Iterator[str]:
    """The ops by line, then what was cast again."""
    if found.ops:
        casts = quantity(sum(op.seen.casts for op in found.ops), "cast")
        size = size_text(sum(op.seen.bytes for op in found.ops))
        targets = dict.fromkeys(f"{o.seen.autocast} on {o.seen.device}" for o in found.ops)
        yield f"Autocast to {' and to '.join(targets)}: {casts}, {size} of copies."
    for op in found.ops[:_MOST_AUTOCASTS]:
        yield _op_line(op)
    if len(found.ops) > _MOST_AUTOCASTS:
        yield f"   and {len(found.ops) - _MOST_AUTOCASTS} more: --json FILE lists them all"
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
    for again in others[:_MOST_AUTOCASTS]:
        yield _repeat_line(again)
    if len(others) > _MOST_AUTOCASTS:
        yield f"   and {len(others) - _MOST_AUTOCASTS} more: --json FILE lists them all"
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


def autocast_json(found: Autocasts) -> dict[str, Any]:
    """The same for programs."""
    return {
        "ops": [
            {
                "file": op.place.file,
                "line": op.place.line,
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
                "file": again.place.file,
                "line": again.place.line,
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


# What compiled functions give otherwise than the functions themselves.

_MOST_COMPILED = 12


def compiled_lines(found: ComparedFunctions | None) -> Iterator[str]:
    """Each difference with its line, then what could not be compared."""
    if found is None:
        return
    yield f"Compiled functions, run without their compilers too: {_summary(found)}."
    for finding in found.findings[:_MOST_COMPILED]:
        where = f"{place_text(finding.place)}: " if finding.place.file else ""
        yield f"   {where}{compiled_sentence(finding)}"
    if len(found.findings) > _MOST_COMPILED:
        yield f"   and {len(found.findings) - _MOST_COMPILED} more: --json FILE lists them all"
    for skipped in found.skipped[:_MOST_COMPILED]:
        place = SourcePlace(skipped.file, skipped.line, 0, skipped.line, 0)
        where = f" at {place_text(place)}" if skipped.file else ""
        yield f"   not compared: {skipped.function}{where}, because {skipped.skipped}"


def compiled_count(found: ComparedFunctions | None) -> str:
    """How many differences there are, for the first sentence of a report."""
    if found is None or not found.findings:
        return ""
    return f"; {quantity(len(found.findings), 'difference')} in compiled functions"


def _summary(found: ComparedFunctions) -> str:
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


# A fix for programs.


def fix_json(fix: Fix) -> dict[str, Any]:
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


# Functions that were compiled again only because a weak type or a Python number changed.

_MOST_RETRACES = 8


def retrace_lines(found: Sequence[Retrace]) -> Iterator[str]:
    """Each retrace with what changed, and what to write."""
    if found:
        times = quantity(sum(retrace.times for retrace in found), "time")
        yield (
            f"Compiled again {times} only because a weak type or a Python number changed "
            "(* marks a weak type)."
        )
    for retrace in found[:_MOST_RETRACES]:
        yield from _lines_of(retrace)
    if len(found) > _MOST_RETRACES:
        yield f"   and {len(found) - _MOST_RETRACES} more: --json FILE lists them all"


def _lines_of(retrace: Retrace) -> Iterator[str]:
    changes = "; ".join(_change(changed) for changed in retrace.changed)
    earlier = place_text(retrace.earlier)
    times = f", {retrace.times:,} times" if retrace.times > 1 else ""
    what = f"{retrace.function}, compiled before at {earlier}: {changes}{times}"
    yield f"   {place_text(retrace.place)}: {what}"
    for changed in retrace.changed:
        if changed.fix:
            yield from _fix_lines(changed.fix)


def _change(changed: ChangedArgument) -> str:
    static = ", and it is static: each value is compiled" if changed.is_static else ""
    return f"{changed.label} was {changed.before} and is {changed.after}{static}"


def _fix_lines(fix: Fix) -> Iterator[str]:
    yield f"     line {fix.place.line}, {fix.does}:"
    yield from (f"     - {line}" for line in lines_at(fix.place))
    yield from (f"     + {line}" for line in fixed_lines(fix))


def retraces_json(found: Sequence[Retrace]) -> list[dict[str, Any]]:
    """The same for programs."""
    return [
        {
            "function": retrace.function,
            "defined": retrace.defined,
            "file": retrace.place.file,
            "line": retrace.place.line,
            "earlier": {"file": retrace.earlier.file, "line": retrace.earlier.line},
            "times": retrace.times,
            "changed": [_changed_json(changed) for changed in retrace.changed],
        }
        for retrace in found
    ]


def _changed_json(changed: ChangedArgument) -> dict[str, Any]:
    fix = changed.fix
    return {
        "argument": changed.label,
        "from": changed.before,
        "to": changed.after,
        "static": changed.is_static,
        "fixes": [] if fix is None else [fix_json(fix)],
    }


# What a program keeps and sums in 16 bits.

_MOST_SIXTEEN_BITS = 8  # listed of each


def sixteen_bits_lines(found: SixteenBits) -> Iterator[str]:
    """The states and the sums, one per line."""
    if found.states:
        yield "Optimizer states in 16 bits: small updates are lost."
        yield from _listed([_state_line(state) for state in found.states])
    if found.sums:
        yield "Sums in 16 bits."
        yield from _listed([_sum_line(narrow) for narrow in found.sums])


def _listed(lines: list[str]) -> Iterator[str]:
    yield from lines[:_MOST_SIXTEEN_BITS]
    if len(lines) > _MOST_SIXTEEN_BITS:
        yield f"   and {len(lines) - _MOST_SIXTEEN_BITS} more: --json FILE lists them all"


def _state_line(state: NarrowState) -> str:
    arrays, size = quantity(state.arrays, "array"), size_text(state.bytes)
    what = f"{state.owner}: {state.name} {state.dtype}"
    return f"   {place_text(state.place)}: {what}, {arrays}, {size}"


def _sum_line(narrow: NarrowSum) -> str:
    how = "each partial sum" if narrow.rounds_each else "the result"
    what = f"{narrow.operation}, {narrow.terms:,} terms"
    return f"   {place_text(narrow.place)}: {what}, rounds {how} to {narrow.dtype}"


def sixteen_bits_json(found: SixteenBits) -> dict[str, Any]:
    """The same for programs."""
    return {
        "states": [
            {
                "file": state.place.file,
                "line": state.place.line,
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
                "file": narrow.place.file,
                "line": narrow.place.line,
                "operation": narrow.operation,
                "dtype": str(narrow.dtype),
                "terms": narrow.terms,
                "rounds": "each partial sum" if narrow.rounds_each else "the result",
            }
            for narrow in found.sums
        ],
    }


def section_texts(sections: Sections, width: int = 80) -> Iterator[str]:
    """The sections after the findings, for the terminal."""
    for lines in section_lines(sections):
        yield "\n".join(_line(line, width) for line in lines)


def _line(line: str, width: int) -> str:
    """A line, folded unless it is one of the source."""
    if line.startswith(("     -", "     +")):
        return line
    return folded(line, width, 5 if line[0] == " " else 2)


def section_lines(sections: Sections) -> Iterator[list[str]]:
    """The same, one list of lines per section."""
    for lines in (
        autocast_lines(sections.autocasts),
        retrace_lines(sections.retraces),
        sixteen_bits_lines(sections.sixteen_bits),
        compiled_lines(sections.compared),
    ):
        found = list(lines)
        if found:
            yield found


def sections_json(sections: Sections) -> dict[str, Any]:
    """The same for programs; a section without content is left out."""
    found = {
        "autocast": autocast_json(sections.autocasts),
        "sixteen_bits": sixteen_bits_json(sections.sixteen_bits),
    }
    shown = {name: section for name, section in found.items() if any(section.values())}
    return {
        **shown,
        **({"retraces": retraces_json(sections.retraces)} if sections.retraces else {}),
        **({"compiled": compiled_json(sections.compared)} if sections.compared else {}),
    }


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
    place = SourcePlace(function.file, function.line, 1, function.line, 1)
    return f"{function.name} at {place_text(place)} ({function.why})"


# Why a program ended with an error about dtypes.

_MARGIN = " " * 3
_MOST_LINES = 6  # of a message


def crash_text(crash: ExplainedCrash, paint: Paint = plain, width: int = 80) -> str:
    """What raised the error, why, and what to write."""
    lines = [paint(f"The program ended at {place_text(crash.place)}: a dtype error.", "title")]
    lines += [folded(s, width, len(_MARGIN), _MARGIN) for s in crash_sentences(crash)]
    lines.append("")
    if crash.fix is None:
        lines += [f"{_MARGIN}  {line}" for line in lines_at(crash.place)]
        return "\n".join(lines)
    lines += [paint(f"{_MARGIN}- {line}", "refused") for line in lines_at(crash.fix.place)]
    new = fixed_lines(crash.fix)
    lines += [paint(f"{_MARGIN}+ {line}", "float") for line in new]
    return "\n".join(lines)


def crash_sentences(crash: ExplainedCrash) -> list[str]:
    """The same in sentences, without the source."""
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
    return [*_message(crash), *sentences]


def _message(crash: ExplainedCrash) -> list[str]:
    """The framework's own words: their first line if castwise explains them."""
    lines = [line.strip() for line in crash.error.splitlines() if line.strip()]
    return lines[: 1 if crash.why else _MOST_LINES]


# The findings that are expected, in a sentence.

_WORDS = {"int": "integers", "bool": "masks", "float": "real numbers"}


def expected_text(audit: Audit, where: str) -> str:
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


def expected_count(audit: Audit) -> str:
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


# What an audit saw inside libraries and in backward, for the terminal.

_MOST_CASTS = 8


def inside_text(inside: InsideCoverage, width: int = 80) -> str:
    """The implicit casts, and how much was seen, so that "none" means something."""
    return "\n".join(
        folded(line, width, 5 if line[0] == " " else 2) for line in inside_lines(inside)
    )


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


# The values that a program lost, for every kind of report.

_MOST_LOSSES = 20  # lines in a short report


def losses_summary(losses: tuple[LostValues, ...]) -> str:
    """The values that were lost, in a sentence."""
    if not losses:
        return "No values were lost, where castwise looked at them."
    lost = quantity(sum(loss.lost for loss in losses), "value")
    lines = quantity(len({(loss.place.file, loss.place.line) for loss in losses}), "line")
    return f"{lost} lost, on {lines}."


def losses_text(losses: tuple[LostValues, ...], paint: Paint, width: int) -> str:
    """The values that were lost, one operation per line."""
    lines = [paint("Lost values", "title"), folded(losses_summary(losses), width, 2, "  ")]
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


def losses_html(losses: Iterable[LostValues]) -> Iterator[str]:
    """A table of them."""
    yield "<h2>Lost values</h2>"
    rows = [
        f"<tr><td>{escape(place_text(loss.place))}</td>"
        f"<td>{escape(loss.code)}</td><td>{escape(losses_sentence(loss))}</td></tr>"
        for loss in losses
    ]
    yield f'<div class="wide"><table><tbody>{"".join(rows)}</tbody></table></div>'


def losses_json(losses: Iterable[LostValues]) -> list[dict[str, Any]]:
    """A JSON object for each."""
    return [
        {
            "file": loss.place.file,
            "line": loss.place.line,
            "column": columns_at(loss.place)[0],
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
