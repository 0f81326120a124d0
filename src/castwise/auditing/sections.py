"""What an audit reports beside its findings, each part only if there is something to say."""

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
from typing import TypeVar

from castwise.auditing.detect import LEAST_TERMS, Step, finding_key, running_sums
from castwise.auditing.fixes import instead_of, spelled
from castwise.auditing.hook import Hook
from castwise.auditing.hooks import find_hook
from castwise.auditing.operations import Harmless, NotUnderstood, event_framework, understand
from castwise.auditing.plans import Log
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
    SeenLoss,
    SeenOperand,
    SourcePlace,
    arrays_in,
)
from castwise.auditing.source import applies, text_at, with_dtype
from castwise.catalog.dialects import dialect_named
from castwise.engine.ask import answer
from castwise.errors import CastwiseError, PromotionError
from castwise.vocab.dtypes import DType, dtype, find_dtype

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


def autocasts_in(seen: Seen) -> Autocasts:
    """The ops by line, and the arrays that were cast most often first."""
    ops: dict[object, ListedOp] = {}
    for op in seen.beyond.autocast_ops:
        place = seen.sites[op.mark].place
        key = op.mark, op.op, op.autocast, op.device, op.changes, op.result
        old = ops.get(key)
        modules = (*(old.modules if old else ()), *((op.module,) if op.module else ()))
        ops[key] = ListedOp(place, modules, _sum(old.seen if old else None, op))
    repeats: dict[object, CastAgain] = {}
    for again in seen.beyond.repeats:
        place = seen.sites[again.mark].place
        name = again.mark, again.name, again.source, again.target, again.shape
        known = repeats.get(name)
        more = replace(again, casts=again.casts + known.seen.casts,
                       blocks=max(again.blocks, known.seen.blocks)) if known else again  # fmt: skip
        repeats[name] = CastAgain(place, more)
    return Autocasts(
        _sorted(ops.values()),
        tuple(sorted(repeats.values(), key=_most_often_first)),
    )


def _most_often_first(again: CastAgain) -> tuple[object, ...]:
    """Equal counts by line and name: in which order an op casts its operands is the compiler's."""
    seen = again.seen
    return (again.is_once_per_block, -seen.casts, again.place,
            not seen.name, seen.name, seen.shape)  # fmt: skip


def _sum(old: AutocastOp | None, new: AutocastOp) -> AutocastOp:
    if old is None:
        return new
    return replace(
        new,
        count=old.count + new.count,
        casts=old.casts + new.casts,
        bytes=old.bytes + new.bytes,
    )


_Placed = TypeVar("_Placed", bound=ListedOp)


def _sorted(ops: Iterable[_Placed]) -> tuple[_Placed, ...]:
    return tuple(sorted(ops, key=lambda o: (o.seen.autocast, o.place)))


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


# Functions that were compiled again only because a weak type or a Python number changed.

_KINDS = {"bool": "bool", "int": "int", "float": "float", "complex": "complex"}


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


def retraces_in(seen: Seen) -> tuple[Retrace, ...]:
    """The compilations that differ from an earlier one only in weak types or Python numbers."""
    functions: dict[object, list[Compilation]] = {}
    for found in seen.beyond.compilations:
        functions.setdefault((found.function, found.file, found.line), []).append(found)
    return tuple(_merged([r for calls in functions.values() for r in _retraces(calls, seen)]))


def _retraces(calls: Sequence[Compilation], seen: Seen) -> Iterator[Retrace]:
    for number, call in enumerate(calls):
        earlier = [(old, diff) for old in calls[:number] if (diff := _differences(old, call))]
        if not earlier:
            continue
        old, diff = min(earlier, key=lambda entry: _distance(entry[1]))
        changed = tuple(_changed(a, b, old, call, seen) for a, b in diff)
        where = f"{call.file}:{call.line}" if call.file else ""
        places = seen.sites[call.mark].place, seen.sites[old.mark].place
        yield Retrace(call.function, where, *places, changed)


def _merged(retraces: Iterable[Retrace]) -> Iterator[Retrace]:
    """The retraces of one call because of a static number, as one."""
    found: dict[object, Retrace] = {}
    for retrace in retraces:
        is_static = all(changed.is_static for changed in retrace.changed)
        labels = tuple(changed.label for changed in retrace.changed)
        key = (retrace.function, retrace.place, labels) if is_static else id(retrace)
        old = found.get(key)
        found[key] = retrace if old is None else replace(old, times=old.times + 1)
    yield from found.values()


def _distance(pairs: Sequence[_Pair]) -> tuple[int, int]:
    """How far apart two compilations are: how many arguments, and how many dtypes."""
    return len(pairs), sum(a.dtype != b.dtype for a, b in pairs)


_Pair = tuple[SeenArgument, SeenArgument]


def _differences(old: Compilation, new: Compilation) -> list[_Pair]:
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


def _changed(
    a: SeenArgument, b: SeenArgument, old: Compilation, new: Compilation, seen: Seen
) -> ChangedArgument:
    is_static = (a.dtype, a.is_weak) == (b.dtype, b.is_weak)
    fix = None if is_static else _fix(a, b, old, new, seen)
    return ChangedArgument(b.label, _shown(a), _shown(b), is_static, fix)


def _shown(argument: SeenArgument) -> str:
    if argument.number:
        return f"the Python number {argument.number}"
    shape = ",".join(map(str, argument.shape))
    return f"{argument.dtype}{'*' if argument.is_weak else ''}[{shape}]"


def _fix(
    a: SeenArgument, b: SeenArgument, old: Compilation, new: Compilation, seen: Seen
) -> Fix | None:
    """What makes both compilations see the same: a strong dtype, or the same kind of number."""
    weak, strong, calls = (a, b, (old, new)) if a.is_weak else (b, a, (new, old))
    hook = _hook(seen)
    if hook is None or weak.label not in (weak.place, _parameter(weak)):
        return None
    candidates = _numbers(a, b, old, new, seen) if strong.is_weak else _strong(
        weak, strong, calls, seen, hook
    )  # fmt: skip
    return next((fix for fix in candidates if applies([fix])), None)


def _parameter(argument: SeenArgument) -> str:
    """The label of an argument that is a whole parameter."""
    return argument.label if argument.label.isidentifier() else ""


def _hook(seen: Seen) -> Hook | None:
    hooks = [find_hook(name) for name in seen.facts.dialects]
    return next((hook for hook in hooks if hook and hook.compiling.compilations), None)


def _numbers(
    a: SeenArgument, b: SeenArgument, old: Compilation, new: Compilation, seen: Seen
) -> Iterator[Fix]:
    """An int where the other call gives a float: it becomes a float too."""
    ranks = {"bool": 0, "int": 1, "uint": 1, "float": 2, "complex": 3}
    kinds = [d.kind if (d := find_dtype(x.dtype)) else "" for x in (a, b)]
    if not (a.number and b.number) or any(kind not in ranks for kind in kinds):
        return
    low = 0 if ranks[kinds[0]] < ranks[kinds[1]] else 1
    argument, call = ((a, old), (b, new))[low]
    kind = _KINDS.get(kinds[1 - low])
    found = _argument_at(seen.sites[call.mark].place, argument.place)
    if found is None or kind is None:
        return
    place, text = found
    is_literal = kind == "float" and text.lstrip("-").isdigit()
    new_text = f"{text}.0" if is_literal else f"{kind}({text})"
    yield Fix(place, new_text, f"a {kind} as in the other call", None, call.mark)


def _strong(
    weak: SeenArgument,
    strong: SeenArgument,
    calls: tuple[Compilation, Compilation],
    seen: Seen,
    hook: Hook,
) -> Iterator[Fix]:
    """The weak argument with the dtype of the strong one: where it is made, or at the call. A
    scalar object becomes a number as in the other call."""
    target = find_dtype(strong.dtype)
    call, other = calls
    if target and strong.is_scalar and weak.number and weak.dtype == strong.dtype:
        found = _argument_at(seen.sites[other.mark].place, strong.place)
        kind = _KINDS.get(target.kind)
        if found and kind:
            does = f"a Python {kind} as in the other call"
            yield Fix(found[0], f"{kind}({found[1]})", does, None, other.mark)
    made = seen.sites.get(weak.maker)
    if target is None:
        return
    does = f"gives it the dtype {target}, which is not weak"
    if made is not None and made.site.name.rpartition(".")[2] in hook.calls.makes.split():
        name = spelled(target, hook, made.place)
        place = hook.spelling.dtype_places.get(made.site.name.rpartition(".")[2])
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


def sixteen_bits_in(steps: Sequence[Step], seen: Seen) -> SixteenBits:
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
    found = dtype(array.dtype) if array is not None and array.dtype else None
    return found if found and found.kind == "float" and found.bits == 16 else None


def _reductions(steps: Iterable[Step]) -> Iterator[NarrowSum]:
    """Sums and means over the elements of an array."""
    for step in steps:
        event, operation = step.event, step.operation
        result = _narrow(event.result)
        if operation is None or result is None or not _is_sum(operation):
            continue
        terms = max((_terms(a, event) for a in arrays_in(event.operands[:1])), default=0)
        if terms >= LEAST_TERMS:
            hook, op = find_hook(event_framework(event)), operation.question.op
            rounds = hook is not None and op.name in hook.inside.rounds_sums.split()
            yield NarrowSum(step.located.place, str(operation.question), result, terms, rounds)


def _is_sum(operation: Operation) -> bool:
    op = operation.question.op
    return op.accumulates or op.name in ("mean", "nanmean")


def _terms(array: SeenArray, event: Event) -> int:
    """How many elements were added for one element of the result, as far as shapes tell."""
    shape, made = array.shape or (), (event.result.shape if event.result else None) or ()
    if shape == made:  # a running sum along one axis
        return max(shape, default=0)
    return math.prod(shape) // max(1, math.prod(made))


def _loops(steps: Sequence[Step]) -> Iterator[NarrowSum]:
    """Lines that add to what they made before."""
    for step, terms in running_sums(steps, _narrow):
        result, operation = _narrow(step.event.result), step.operation
        if operation is not None and result is not None:
            yield NarrowSum(step.located.place, str(operation.question), result, terms, True)


# Findings inside libraries and in backward, and casts that nobody wrote.


def find_inside(log: Log, seen: Seen) -> tuple[dict[int, Finding], InsideCoverage]:
    """The findings inside libraries that the user's source does not show, by the position of their
    step, and the coverage."""
    shown = {finding_key(f) for p, f in log.findings.items() if log.steps[p].event.inside is None}
    found: dict[int, Finding] = {}
    casts: dict[object, InsideCast] = {}
    autocast_at = {e.mark for e in seen.inside if e.inside and e.inside.autocast}
    count, unclear = seen.counts.plain, Counter[str]()
    for position, step in enumerate(log.steps):
        event, located, operation, why = step.event, step.located, step.operation, step.unclear
        if event.inside is None:
            continue
        count += event.count
        try:
            cast = _cast(event, located.place, event.mark in autocast_at)
        except Harmless:
            continue
        if cast is not None:
            _add(casts, cast)
        elif why and not _has_one_dtype(event):
            unclear[why] += event.count
        elif operation is not None and not operation.is_expected:
            unclear[str(operation.question)] += event.count
        finding = log.findings.get(position)
        if finding and (event.inside.backward_of or finding_key(finding) not in shown):
            found[position] = replace(finding, inside=_inside_text(event.inside))
    ordered = sorted(casts.values(), key=lambda c: (-c.bytes, c.place))
    return found, InsideCoverage(count, unclear, tuple(ordered), _closed(seen))


def _add(casts: dict[object, InsideCast], new: InsideCast) -> None:
    key = new.place, new.source, new.target, new.why
    old = casts.get(key)
    casts[key] = (
        replace(
            old,
            count=old.count + new.count,
            elements=old.elements + new.elements,
            seconds=old.seconds + new.seconds,
        )
        if old
        else new
    )


def _closed(seen: Seen) -> tuple[str, ...]:
    hooks = [(name, find_hook(name)) for name in sorted(seen.facts.dialects)]
    return tuple(name for name, hook in hooks if hook and not hook.watching.shows_inside)


def _has_one_dtype(event: Event) -> bool:
    """Whether all inputs and outputs have one dtype: nothing was cast."""
    return len({array.dtype for array in event.arrays}) == 1


def _how(event: Event) -> SeenInside:
    assert event.inside is not None  # only called for such events
    return event.inside


def _inside_text(how: SeenInside) -> str:
    if how.backward_of:
        return f"backward of {how.backward_of}"
    return f"inside {spot_text(how.spot)}"


def spot_text(spot: CodeSpot | None) -> str:
    """A line of a library."""
    assert spot is not None  # only events in backward have no spot
    return f"{_library_text(spot.file)}:{spot.line}"


def _library_text(file: str) -> str:
    """A library's file, relative to its package's parent."""
    _, found, inside = file.replace(os.sep, "/").rpartition("-packages/")
    return inside if found else os.path.basename(file)


def _cast(event: Event, place: SourcePlace, is_autocast_site: bool) -> InsideCast | None:
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
    why = _why(_how(event), hook, is_autocast_site)
    return InsideCast(
        place, dtype(source), dtype(target), why, event.count, event.elements, event.seconds
    )


def _why(how: SeenInside, hook: Hook, is_autocast_site: bool) -> str:
    """What caused a cast, as far as is known."""
    of, spot = how.backward_of, how.spot
    if of in hook.inside.casts.split():
        if is_autocast_site:
            return "backward of a cast by autocast"
        raise Harmless("the gradient of a cast")
    if of:
        return f"backward of {of}"
    call = _call_at(spot)
    if call.is_cast or call.name in hook.calls.casts.split():
        raise Harmless(call.name)
    autocasts = " ".join(hook.inside.autocasts.values()).split()
    if how.autocast and (not call.name or call.name in autocasts):
        return f"autocast for {call.name or 'an operator'}"
    return f"unknown origin, inside {spot_text(spot)}"


@dataclass(frozen=True)
class _SourceCall:
    """The call at a place in the source."""

    name: str = ""
    is_cast: bool = False  # it names the dtype


def _call_at(spot: CodeSpot | None) -> _SourceCall:
    assert spot is not None  # only events in backward have no spot
    try:
        node = ast.parse(text_at(spot.place).strip())
    except SyntaxError:
        return _SourceCall()
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    if not calls:
        return _SourceCall()
    function = calls[0].func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    return _SourceCall(name, any(keyword.arg == "dtype" for keyword in calls[0].keywords))


# Why a program ended with an error about dtypes, and what to write instead.


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
    found = [_explained(crash, seen) for crash in seen.crashes]
    return tuple(dict.fromkeys(crash for crash in found if crash is not None))


def _explained(crash: Crash, seen: Seen) -> ExplainedCrash | None:
    dialects = _in_force(crash, seen.facts.dialects)
    for crashed in crash.operations:
        operation = _operation(crashed, dialects)
        refusal = _refusal(operation) if operation else None
        if operation is not None and refusal is not None:
            return _refused(crash, crashed, operation, refusal)
    if not crash.is_about_dtypes:
        return None
    shown = [o for o in crash.operations if not (o.event.call and o.event.call.hides)]
    first = next(iter((*shown, *crash.operations)), None)
    return _plain(crash, _operation_text(first) if first else "")


def _in_force(crash: Crash, at_exit: dict[str, str]) -> dict[str, str]:
    """The dialects when the error was raised: a block that switched to a stricter one has ended
    since, but the message tells."""
    found = dict(at_exit)
    for framework, name in at_exit.items():
        hook = find_hook(framework)
        if hook and re.search(hook.inside.strict_error, crash.error):
            found[framework] = hook.inside.stricter.get(name, name)
    return found


def _operation(crashed: CrashedOperation, dialects: dict[str, str]) -> Operation | None:
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


def _plain(crash: Crash, operation: str) -> ExplainedCrash:
    place = crash.spot.place
    inside = spot_text(crash.inside) if crash.inside else ""
    code = text_at(place) if place.end_column > 1 else ""
    return ExplainedCrash(place, code, crash.error, operation, inside=inside)


def _refused(
    crash: Crash, crashed: CrashedOperation, operation: Operation, refusal: tuple[str, str]
) -> ExplainedCrash:
    question, located = operation.question, crashed.located
    is_users = crashed.event.mark != 0
    place = located.place if is_users else crash.spot.place
    inside = "" if is_users else spot_text(crash.inside)
    fix, result = _fix_of_crash(operation, crashed) if is_users else (None, "")
    why, advice = refusal
    return ExplainedCrash(
        place, text_at(place), crash.error, str(question), why, question.dialect.name,
        "" if fix else advice, inside, fix, result,
    )  # fmt: skip


def _fix_of_crash(operation: Operation, crashed: CrashedOperation) -> tuple[Fix | None, str]:
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
    named = event.call.keywords
    free = len(words) - len(named)
    given = [*words[:free], *(f"{n}={w}" for n, w in zip(named, words[free:], strict=True))]
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
    return Sections(
        crashes_in(seen),
        autocasts_in(seen),
        retraces_in(seen),
        sixteen_bits_in(steps, seen),
        compared_in(seen),
    )


# The values that a program lost, by line.

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
    found: dict[object, LostValues] = {}
    for loss in seen.losses:
        place = seen.sites[loss.mark].place
        if not _is_cut(place):
            _add_loss(found, loss, place)
    return tuple(sorted(found.values(), key=lambda lost: lost.place))


def _add_loss(found: dict[object, LostValues], loss: SeenLoss, place: SourcePlace) -> None:
    key = place, loss.what, loss.how
    old = found.get(key)
    new = LostValues(place, loss.what, loss.how, loss.count, loss.lost, loss.elements, loss.example)
    if old is not None:
        new = replace(old, count=old.count + new.count, lost=old.lost + new.lost,
                      elements=old.elements + new.elements)  # fmt: skip
    found[key] = new


def _is_cut(place: SourcePlace) -> bool:
    """Whether the expression around a place cuts its result with a bit operation or `%`."""
    here = _span(place.line, place.column - 1, place.end_line, place.end_column - 1)
    return any(
        _is_inside(here, other) for other in _cuts_in("".join(linecache.getlines(place.file)))
    )


_Span = tuple[tuple[int, int], tuple[int, int]]


def _span(line: int, column: int, end_line: int, end_column: int) -> _Span:
    return (line, column), (end_line, end_column)


def _is_inside(one: _Span, other: _Span) -> bool:
    return one != other and other[0] <= one[0] and one[1] <= other[1]


@functools.lru_cache(maxsize=64)
def _cuts_in(source: str) -> tuple[_Span, ...]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ()
    return tuple(_spans(ast.walk(tree)))


def _spans(nodes: Iterable[ast.AST]) -> Iterable[_Span]:
    for node in nodes:
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, _CUTTING):
            yield _span(
                node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0
            )
