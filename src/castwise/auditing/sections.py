"""What an audit reports beside its findings, each section only if it has something to say.

First what ended the program, then what no single operation shows: autocast, compiled functions,
compilations, 16-bit sums. What only an option asks for is last: libraries, and values.
"""

from __future__ import annotations

import ast
import functools
import linecache
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import add, attrgetter

from castwise.auditing.detect import LEAST_TERMS, Step, add_up, finding_key, running_sums
from castwise.auditing.fixes import instead_of, spelled
from castwise.auditing.hook import Hook
from castwise.auditing.hooks import find_hook
from castwise.auditing.operations import (
    Harmless,
    NotUnderstood,
    array_dtype,
    event_framework,
    understand,
)
from castwise.auditing.plans import Program
from castwise.auditing.records import (
    AutocastOp,
    CodeSpot,
    ComparedCompilation,
    Compilation,
    CompiledDifference,
    Crash,
    CrashedOperation,
    Event,
    Finding,
    Fix,
    InsideCast,
    InsideCoverage,
    Operation,
    RepeatedCast,
    Seen,
    SeenArgument,
    SeenArray,
    SeenInside,
    SeenList,
    SeenOperand,
    SourcePlace,
    arrays_in,
)
from castwise.auditing.source import applies, text_at, with_dtype
from castwise.catalog import dialect_named
from castwise.engine.ask import answer
from castwise.errors import CastwiseError, PromotionError
from castwise.vocab.dtypes import DType, dtype, find_dtype

# Why the program ended with an error about dtypes, and what to write instead.


@dataclass(frozen=True, slots=True)
class ExplainedCrash:
    """An error about dtypes that ended a program."""

    place: SourcePlace
    code: str
    error: str  # the framework's own words
    operation: str  # with the dtypes of its operands; "" if castwise could not see them
    why: str = ""  # the dialect's reason; "" if it has no rule for the operation
    dialect: str = ""
    advice: str = ""
    inside: str = ""  # the library's line that raised it
    fix: Fix | None = None
    result: str = ""  # what the fixed operation returns


def crashes_in(seen: Seen) -> tuple[ExplainedCrash, ...]:
    """The crashes that are about dtypes, explained."""
    found = [_explain_crash(crash, seen) for crash in seen.crashes]
    return tuple(dict.fromkeys(filter(None, found)))


def _explain_crash(crash: Crash, seen: Seen) -> ExplainedCrash | None:
    dialects = _in_force(crash, seen.facts.dialects)
    for crashed in crash.operations:
        operation = _crashed_operation(crashed, dialects)
        refusal = _refusal(operation) if operation else None
        if operation is not None and refusal is not None:
            return _explain_refusal(crash, crashed, operation, refusal)
    if not crash.is_about_dtypes:
        return None
    shown = [o for o in crash.operations if not (o.event.call and o.event.call.hides)]
    first = next(iter((*shown, *crash.operations)), None)
    place = crash.spot.place
    code = text_at(place) if place.end_column > 1 else ""
    operation_text = _operation_text(first) if first else ""
    inside = _spot_text(crash.inside) if crash.inside else ""
    return ExplainedCrash(place, code, crash.error, operation_text, inside=inside)


def _in_force(crash: Crash, at_exit: dict[str, str]) -> dict[str, str]:
    """The dialects when the error was raised: a block that switched to a stricter one has ended
    since, but the message tells."""
    found = dict(at_exit)
    for framework, name in at_exit.items():
        hook = find_hook(framework)
        if hook and re.search(hook.inside.strict_error, crash.error):
            found[framework] = hook.inside.stricter.get(name, name)
    return found


def _crashed_operation(crashed: CrashedOperation, dialects: dict[str, str]) -> Operation | None:
    try:
        found = understand(crashed.event, crashed.located.site, dialects)
    except (Harmless, NotUnderstood):
        return None
    # Not in a mode that would accept it: the operation was refused.
    named = dialect_named(dialects[event_framework(crashed.event)])
    return replace(found, question=replace(found.question, dialect=named))


def _refusal(operation: Operation) -> tuple[str, str] | None:
    """Why a dialect refuses an operation, and its advice; None if it does not."""
    try:
        decision = answer(operation.question)
    except PromotionError as error:
        _, _, advice = str(error).partition(f"{error.why}. ")
        return error.why, advice
    except CastwiseError as error:
        return str(error), ""
    return None if decision.has_kernel else (" ".join(decision.notes).rstrip("."), "")


def _explain_refusal(
    crash: Crash, crashed: CrashedOperation, operation: Operation, refusal: tuple[str, str]
) -> ExplainedCrash:
    question, located = operation.question, crashed.located
    is_users = crashed.event.mark != 0
    place = located.place if is_users else crash.spot.place
    inside = "" if is_users else _spot_text(crash.inside)
    fix, result = _crash_fix(operation, crashed) if is_users else (None, "")
    why, advice = refusal
    return ExplainedCrash(place, text_at(place), crash.error, str(question), why,
                          question.dialect.name, "" if fix else advice, inside, fix,
                          result)  # fmt: skip


def _crash_fix(operation: Operation, crashed: CrashedOperation) -> tuple[Fix | None, str]:
    """The first way to write the operation that its dialect accepts."""
    hook = find_hook(event_framework(crashed.event))
    place = crashed.located.place
    if hook is None:
        return None, ""
    for text, question, does in instead_of(operation.question, crashed.located, hook):
        try:
            decision = answer(question)
        except CastwiseError:
            continue
        fix = Fix(place, text, does, decision.result, crashed.event.mark)
        if decision.has_kernel and applies([fix]):
            return fix, str(decision.result)
    return None, ""


def _operation_text(crashed: CrashedOperation) -> str:
    """An operation without a rule, with the dtypes of its operands."""
    event, symbol = crashed.event, crashed.located.site.name
    words = [_operand_text(operand) for operand in event.operands]
    if event.call is None:
        return f" {symbol} ".join(words) if len(words) > 1 else f"{symbol}{words[0]}"
    free = len(words) - len(event.named)
    given = [*words[:free], *map("{}={}".format, event.named, words[free:])]
    return f"{event.call.name}({', '.join(given)})"


def _operand_text(operand: SeenOperand | None) -> str:
    if operand is None:
        return "..."
    if isinstance(operand, SeenList):
        return f"[{', '.join(map(_operand_text, operand.elements))}]"
    if isinstance(operand, SeenArray):
        shape = ",".join(map(str, operand.shape or ()))
        return f"{operand.dtype or 'an unknown dtype'}[{shape}]"
    return operand.kind if operand.low is None else str(operand.low)


# What autocast did: which op ran in which dtype because of which list, and what it cast again.


@dataclass(frozen=True, slots=True)
class ListedOp:
    """An op at a line of the user, in all modules that ran it there."""

    place: SourcePlace
    modules: tuple[str, ...]
    seen: AutocastOp


@dataclass(frozen=True, slots=True)
class CastAgain:
    """An array that autocast cast more than once."""

    place: SourcePlace
    seen: RepeatedCast

    @property
    def is_once_per_block(self) -> bool:
        """Whether it was cast only once in each block, as a weight that is trained must be."""
        return self.seen.casts == self.seen.blocks


@dataclass(frozen=True, slots=True)
class Autocasts:
    """What autocast did."""

    ops: tuple[ListedOp, ...] = ()
    repeats: tuple[CastAgain, ...] = ()


def _autocasts(seen: Seen) -> Autocasts:
    """The ops by line, and the arrays that were cast most often first."""
    key = attrgetter("mark", "op", "autocast", "device", "changes", "result")
    modules: dict[object, list[str]] = {}
    for op in seen.beyond.autocast_ops:
        modules.setdefault(key(op), []).extend([op.module] if op.module else [])
    ops = [
        ListedOp(seen.sites[op.mark].place, tuple(modules[key(op)]), op)
        for op in add_up(seen.beyond.autocast_ops, key, count=add, casts=add, bytes=add)
    ]
    array = attrgetter("mark", "name", "source", "target", "shape")
    repeats = [
        CastAgain(seen.sites[again.mark].place, again)
        for again in add_up(seen.beyond.repeats, array, casts=add, blocks=max, is_cached=_last)
    ]
    return Autocasts(
        tuple(sorted(ops, key=lambda op: (op.seen.autocast, op.place))),
        tuple(sorted(repeats, key=_most_often_first)),
    )


def _last(_: object, new: object) -> object:
    return new


def _most_often_first(again: CastAgain) -> tuple[object, ...]:
    """Equal counts by line and name: in which order an op casts its operands is the compiler's."""
    seen = again.seen
    return (again.is_once_per_block, -seen.casts, again.place,
            not seen.name, seen.name, seen.shape)  # fmt: skip


# What compiled functions give otherwise than the functions themselves.


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


def _compared(seen: Seen) -> ComparedFunctions | None:
    """What was compared; None if nobody asked for it."""
    if not seen.facts.compares:
        return None
    found = seen.beyond.compared
    counts = Counter((d, c.compiler, c.function, c.file, c.line) for c in found
                     for d in c.differences)  # fmt: skip
    findings = []
    for (difference, compiler, function, file, line), times in counts.items():
        if difference.file:  # the line from which on they differ; else that of the function
            file, line = difference.file, difference.line
        place = SourcePlace(file, line, 0, line, 0)
        findings.append(CompiledFinding(difference, compiler, function, place, times))
    skipped = tuple(dict.fromkeys(one for one in found if one.skipped))
    compared = sum(not one.skipped for one in found)
    ordered = tuple(sorted(findings, key=lambda finding: finding.place))
    return ComparedFunctions(compared, ordered, skipped)


# Functions that were compiled again only because a weak type or a Python number changed.


@dataclass(frozen=True, slots=True)
class ChangedArgument:
    """An argument that two compilations see differently."""

    label: str
    before: str
    after: str
    is_static: bool = False  # its value is a part of the program
    fix: Fix | None = None


@dataclass(frozen=True, slots=True)
class Retrace:
    """A call for which a function was compiled again."""

    function: str
    defined: str  # its file and line, "" if unknown
    place: SourcePlace
    earlier: SourcePlace  # the call that it was compiled for before
    changed: tuple[ChangedArgument, ...]
    times: int = 1


def _retraces(seen: Seen) -> tuple[Retrace, ...]:
    """The compilations that differ from an earlier one only in weak types or Python numbers."""
    functions: dict[object, list[Compilation]] = {}
    for compiled in seen.beyond.compilations:
        name = compiled.function, compiled.file, compiled.line
        functions.setdefault(name, []).append(compiled)
    found = [r for calls in functions.values() for r in _function_retraces(calls, seen)]
    return tuple(add_up(found, _static_call, times=add))


def _function_retraces(calls: Sequence[Compilation], seen: Seen) -> Iterator[Retrace]:
    """Those of one function, each with the nearest of its earlier compilations."""
    for number, call in enumerate(calls):
        earlier = [(old, diff) for old in calls[:number] if (diff := _differences(old, call))]
        if not earlier:
            continue
        # The nearest: by how many arguments differ, then by how many dtypes.
        old, diff = min(
            earlier, key=lambda e: (len(e[1]), sum(a.dtype != b.dtype for a, b in e[1]))
        )
        changed = tuple(_changed_argument(a, b, old, call, seen) for a, b in diff)
        where = f"{call.file}:{call.line}" if call.file else ""
        places = seen.sites[call.mark].place, seen.sites[old.mark].place
        yield Retrace(call.function, where, *places, changed)


def _static_call(retrace: Retrace) -> object:
    """A key that retraces of one call because of a static number share; any other has its own."""
    is_static = all(changed.is_static for changed in retrace.changed)
    labels = tuple(changed.label for changed in retrace.changed)
    return (retrace.function, retrace.place, labels) if is_static else id(retrace)


def _differences(old: Compilation, new: Compilation) -> list[tuple[SeenArgument, SeenArgument]]:
    """The arguments that differ; none if the two differ in something else, or in nothing."""
    if [(a.place, a.label) for a in old.arguments] != [(a.place, a.label) for a in new.arguments]:
        return []
    pairs = list(zip(old.arguments, new.arguments, strict=True))
    if any(a.shape != b.shape for a, b in pairs):
        return []
    changed = [(a, b) for a, b in pairs if (a.dtype, a.is_weak) != (b.dtype, b.is_weak)]
    if any(not (a.is_weak or b.is_weak) for a, b in changed):
        return []  # the dtype of an array
    # Numbers that are traced may differ without a compilation, so these are static.
    return changed or [(a, b) for a, b in pairs if a.number and a.number != b.number]


def _changed_argument(
    a: SeenArgument, b: SeenArgument, old: Compilation, new: Compilation, seen: Seen
) -> ChangedArgument:
    is_static = (a.dtype, a.is_weak) == (b.dtype, b.is_weak)
    fix = None if is_static else _retrace_fix(a, b, old, new, seen)
    return ChangedArgument(b.label, _argument_text(a), _argument_text(b), is_static, fix)


def _argument_text(argument: SeenArgument) -> str:
    if argument.number:
        return f"the Python number {argument.number}"
    shape = ",".join(map(str, argument.shape))
    return f"{argument.dtype}{'*' if argument.is_weak else ''}[{shape}]"


def _retrace_fix(
    a: SeenArgument, b: SeenArgument, old: Compilation, new: Compilation, seen: Seen
) -> Fix | None:
    """What makes both compilations see the same: a strong dtype, or the same kind of number."""
    weak, strong, calls = (a, b, (old, new)) if a.is_weak else (b, a, (new, old))
    hooks = [find_hook(name) for name in seen.facts.dialects]
    hook = next((hook for hook in hooks if hook and hook.compiling.compilations), None)
    is_parameter = weak.label == weak.place or weak.label.isidentifier()  # and no part of one
    if hook is None or not is_parameter:
        return None
    if strong.is_weak:
        candidates = _number_fixes(a, b, old, new, seen)
    else:
        candidates = _strong_fixes(weak, strong, calls, seen, hook)
    return next((fix for fix in candidates if applies([fix])), None)


def _number_fixes(
    a: SeenArgument, b: SeenArgument, old: Compilation, new: Compilation, seen: Seen
) -> Iterator[Fix]:
    """An int where the other call gives a float: it becomes a float too."""
    one, other = find_dtype(a.dtype), find_dtype(b.dtype)
    if not (a.number and b.number) or one is None or other is None:
        return
    argument, call, kind = (a, old, other.kind) if one.rank < other.rank else (b, new, one.kind)
    found = _argument_at(seen.sites[call.mark].place, argument.place)
    if found is None:
        return
    place, text = found
    is_literal = kind == "float" and text.lstrip("-").isdigit()
    new_text = f"{text}.0" if is_literal else f"{kind}({text})"
    yield Fix(place, new_text, f"a {kind} as in the other call", None, call.mark)


def _strong_fixes(
    weak: SeenArgument,
    strong: SeenArgument,
    calls: tuple[Compilation, Compilation],
    seen: Seen,
    hook: Hook,
) -> Iterator[Fix]:
    """The weak argument with the dtype of the strong one: where it is made, or at the call. A
    scalar object becomes a number as in the other call."""
    target = find_dtype(strong.dtype)
    if target is None:
        return
    call, other = calls
    if strong.is_scalar and weak.number and weak.dtype == strong.dtype:
        found = _argument_at(seen.sites[other.mark].place, strong.place)
        if found:
            does = f"a Python {target.kind} as in the other call"
            yield Fix(found[0], f"{target.kind}({found[1]})", does, None, other.mark)
    made = seen.sites.get(weak.maker)
    does = f"gives it the dtype {target}, which is not weak"
    called = made.site.name.rpartition(".")[2] if made else ""
    if made and called in hook.calls.makes.split():
        name = spelled(target, hook, made.place)
        place = hook.spelling.dtype_places.get(called)
        text = with_dtype(text_at(made.place), name, place) if name else None
        if text:
            yield Fix(made.place, text, does, target, weak.maker)
    found = _argument_at(seen.sites[call.mark].place, weak.place)
    if found is not None:
        name = spelled(target, hook, found[0])
        if name and not name.startswith("'"):  # a string cannot be called
            yield Fix(found[0], f"{name}({found[1]})", does, target, call.mark)


def _argument_at(call: SourcePlace, place: str) -> tuple[SourcePlace, str] | None:
    """An argument of a call in the source: where it is, and its text."""
    code = text_at(call)
    try:
        tree = ast.parse(code, mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(tree, ast.Call) or call.line != call.end_line:
        return None
    named = {keyword.arg: keyword.value for keyword in tree.keywords}
    node = named.get(place)
    if place.isdigit() and int(place) < len(tree.args):
        node = tree.args[int(place)]
    if node is None or isinstance(node, ast.Starred) or node.end_col_offset is None:
        return None
    first = call.column + node.col_offset
    where = SourcePlace(call.file, call.line, first, call.line, call.column + node.end_col_offset)
    return where, ast.get_source_segment(code, node) or ""


# What a program keeps and sums in 16 bits: optimizer states, loops, sums and running means.


@dataclass(frozen=True, slots=True)
class NarrowState:
    """Arrays of 16 bits that an optimizer keeps from step to step."""

    place: SourcePlace
    owner: str
    name: str
    dtype: DType
    arrays: int
    elements: int

    @property
    def bytes(self) -> int:
        """Their memory."""
        return self.elements * self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class NarrowSum:
    """A sum of many terms whose result has 16 bits."""

    place: SourcePlace
    operation: str
    dtype: DType
    terms: int  # of one sum, as seen
    rounds_each: bool  # every partial sum is rounded, not only the result


@dataclass(frozen=True, slots=True)
class SixteenBits:
    """What is kept and summed in 16 bits."""

    states: tuple[NarrowState, ...] = ()
    sums: tuple[NarrowSum, ...] = ()


def _sixteen_bits(steps: Sequence[Step], seen: Seen) -> SixteenBits:
    """The states and sums of a program, those with the most terms first."""
    states = tuple(
        NarrowState(seen.sites[s.mark].place, s.owner, s.name, dtype(s.dtype), s.arrays, s.elements)
        for s in seen.beyond.states
    )
    sums: dict[object, NarrowSum] = {}
    for found in (*_loops(steps), *_reductions(steps)):
        key = found.place, found.operation
        if key not in sums or sums[key].terms < found.terms:
            sums[key] = found
    return SixteenBits(states, tuple(sorted(sums.values(), key=lambda s: (-s.terms, s.place))))


def _narrow(array: SeenArray | None) -> DType | None:
    """The dtype of an array if it is a float of 16 bits."""
    found = array_dtype(array)
    return found if found and found.kind == "float" and found.bits == 16 else None


def _loops(steps: Sequence[Step]) -> Iterator[NarrowSum]:
    """Lines that add to what they made before."""
    for step, terms in running_sums(steps, _narrow):
        result, operation = _narrow(step.event.result), step.operation
        if operation is not None and result is not None:
            yield NarrowSum(step.located.place, str(operation.question), result, terms, True)


def _reductions(steps: Iterable[Step]) -> Iterator[NarrowSum]:
    """Sums and means over the elements of an array."""
    for step in steps:
        event, operation = step.event, step.operation
        result = _narrow(event.result)
        if operation is None or result is None:
            continue
        op = operation.question.op
        if not op.accumulates and op.name not in ("mean", "nanmean"):
            continue
        terms = max((_terms(a, event) for a in arrays_in(event.operands[:1])), default=0)
        if terms >= LEAST_TERMS:
            hook = find_hook(event_framework(event))
            rounds = hook is not None and op.name in hook.inside.rounds_sums.split()
            yield NarrowSum(step.located.place, str(operation.question), result, terms, rounds)


def _terms(array: SeenArray, event: Event) -> int:
    """How many elements were added for one element of the result, as far as shapes tell."""
    shape, made = array.shape or (), (event.result.shape if event.result else None) or ()
    if shape == made:  # a running sum along one axis
        return max(shape, default=0)
    return math.prod(shape) // max(1, math.prod(made))


# The sections that every audit has; those that a user asks for follow.


@dataclass(frozen=True, slots=True)
class Sections:
    """What ended the program, and what it does that no single operation shows."""

    crashes: tuple[ExplainedCrash, ...] = ()
    autocasts: Autocasts = field(default_factory=Autocasts)
    retraces: tuple[Retrace, ...] = ()
    sixteen_bits: SixteenBits = field(default_factory=SixteenBits)
    compared: ComparedFunctions | None = None  # None: compiled functions ran as they are


def make_sections(steps: Sequence[Step], seen: Seen) -> Sections:
    """The sections of what was seen."""
    return Sections(crashes_in(seen), _autocasts(seen), _retraces(seen),
                    _sixteen_bits(steps, seen), _compared(seen))  # fmt: skip


# Findings inside libraries and in backward, and casts that nobody wrote.


def find_inside(program: Program, seen: Seen) -> tuple[dict[int, Finding], InsideCoverage]:
    """The findings inside libraries that the user's source does not show, by the position of their
    step, and the coverage."""
    shown = {finding_key(finding) for finding in program.own_findings.values()}
    found: dict[int, Finding] = {}
    casts: list[InsideCast] = []
    autocast_at = {e.mark for e in seen.inside if e.inside and e.inside.autocast}
    count, unclear = seen.counts.plain, Counter[str]()
    for position, step in enumerate(program.steps):
        event, located, operation, why = step.event, step.located, step.operation, step.unclear
        if event.inside is None:
            continue
        count += event.count
        try:
            cast = _inside_cast(event, located.place, event.mark in autocast_at)
        except Harmless:
            continue
        is_mixed = len({array.dtype for array in event.arrays}) > 1  # else nothing was cast
        if cast is not None:
            casts.append(cast)
        elif why and is_mixed:
            unclear[why] += event.count
        elif operation is not None and not operation.is_expected:
            unclear[str(operation.question)] += event.count
        finding = program.findings.get(position)
        if finding and (event.inside.backward_of or finding_key(finding) not in shown):
            found[position] = replace(finding, inside=_inside_text(event.inside))
    key = attrgetter("place", "source", "target", "why")
    added_up = add_up(casts, key, count=add, elements=add, seconds=add)
    ordered = sorted(added_up, key=lambda c: (-c.bytes, c.place))
    hooks = [(name, find_hook(name)) for name in sorted(seen.facts.dialects)]
    cannot_show = tuple(name for name, hook in hooks if hook and not hook.watching.shows_inside)
    return found, InsideCoverage(count, unclear, tuple(ordered), cannot_show)


def _inside_cast(event: Event, place: SourcePlace, is_autocast_site: bool) -> InsideCast | None:
    """The cast of a whole array; None for other operations.

    Raises Harmless if the program asked for it.
    """
    call = event.call
    hook = find_hook(call.module) if call else None
    if call is None or hook is None or call.name not in hook.inside.casts.split():
        return None
    before, after = event.operands[0], event.result
    source = before.dtype if isinstance(before, SeenArray) else None
    target = after.dtype if after else None
    if source is None or target is None or source == target:
        raise Harmless(call.name)
    assert event.inside is not None  # only asked of events inside
    why = _why(event.inside, hook, is_autocast_site)
    return InsideCast(
        place, dtype(source), dtype(target), why, event.count, event.elements, event.seconds
    )


def _why(inside: SeenInside, hook: Hook, is_autocast_site: bool) -> str:
    """What caused a cast, as far as is known."""
    backward_of, spot = inside.backward_of, inside.spot
    if backward_of in hook.inside.casts.split():
        if is_autocast_site:
            return "backward of a cast by autocast"
        raise Harmless("the gradient of a cast")
    if backward_of:
        return f"backward of {backward_of}"
    name, names_dtype = _call_at(spot)
    if names_dtype or name in hook.calls.casts.split():
        raise Harmless(name)
    autocasts = " ".join(hook.inside.autocasts.values()).split()
    if inside.autocast and (not name or name in autocasts):
        return f"autocast for {name or 'an operator'}"
    return f"unknown origin, inside {_spot_text(spot)}"


def _call_at(spot: CodeSpot | None) -> tuple[str, bool]:
    """The name of the call at a place in the source, and whether it names the dtype."""
    assert spot is not None  # only events in backward have no spot
    try:
        node = ast.parse(text_at(spot.place).strip())
    except SyntaxError:
        return "", False
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    if not calls:
        return "", False
    function = calls[0].func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return name, any(keyword.arg == "dtype" for keyword in calls[0].keywords)


def _inside_text(inside: SeenInside) -> str:
    if inside.backward_of:
        return f"backward of {inside.backward_of}"
    return f"inside {_spot_text(inside.spot)}"


def _spot_text(spot: CodeSpot | None) -> str:
    """A line of a library, in its file relative to the parent of its package."""
    assert spot is not None  # only events in backward have no spot
    _, found, inside = spot.file.replace(os.sep, "/").rpartition("-packages/")
    return f"{inside if found else os.path.basename(spot.file)}:{spot.line}"


# The values that a program lost, by line.

_Span = tuple[tuple[int, int], tuple[int, int]]  # line and column, first and last

# What is done with a result that is meant to wrap, as in a hash: `(x * 31 + y) & mask`.
_CUTTING = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift, ast.Mod)


@dataclass(frozen=True, slots=True)
class LostValues:
    """Values that a line lost."""

    place: SourcePlace
    what: str
    how: str
    count: int  # runs that lost values
    lost: int  # elements
    elements: int  # of these runs
    example: str

    @property
    def code(self) -> str:
        """The source."""
        return text_at(self.place)


def lost_values(seen: Seen) -> tuple[LostValues, ...]:
    """What was lost, without what an expression cuts anyway, in the order of the source."""
    placed = [(seen.sites[loss.mark].place, loss) for loss in seen.losses]
    found = [LostValues(place, loss.what, loss.how, loss.count, loss.lost, loss.elements,
                        loss.example) for place, loss in placed if not _is_cut(place)]  # fmt: skip
    key = attrgetter("place", "what", "how")
    lines = add_up(found, key, count=add, lost=add, elements=add, example=_last)
    return tuple(sorted(lines, key=lambda lost: lost.place))


def _is_cut(place: SourcePlace) -> bool:
    """Whether the expression around a place cuts its result with a bit operation or `%`."""
    here = (place.line, place.column - 1), (place.end_line, place.end_column - 1)
    around = _cuts_in("".join(linecache.getlines(place.file)))
    return any(here != cut and cut[0] <= here[0] and here[1] <= cut[1] for cut in around)


@functools.lru_cache(maxsize=64)
def _cuts_in(source: str) -> tuple[_Span, ...]:
    """The expressions of a source that cut their result."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ()
    return tuple(
        ((node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0))
        for node in ast.walk(tree)
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, _CUTTING)
    )
