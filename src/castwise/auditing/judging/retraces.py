"""Functions that were compiled again only because a weak type or a Python number changed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from castwise.auditing.fixing.applying import applies
from castwise.auditing.fixing.edits import with_dtype
from castwise.auditing.fixing.wording import spelled
from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.records.beyond import Compilation, SeenArgument
from castwise.auditing.records.findings import Fix
from castwise.auditing.records.places import SourcePlace
from castwise.auditing.records.seen import Seen
from castwise.auditing.rewriting.source import text_at
from castwise.vocab.dtypes import find_dtype

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
