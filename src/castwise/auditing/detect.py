"""Which observed operations cast an array implicitly, and what caused it.

A step is an event with how it is understood: by a rule, as a write, by its framework's own rules,
or by its dtypes alone. A finding is a step that casts, with the line where the dtype comes from.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import add, and_
from typing import Any, NamedTuple, TypeAlias, TypeVar

from castwise.auditing.hook import Hook
from castwise.auditing.hooks import find_hook
from castwise.auditing.operations import (
    Harmless,
    NotUnderstood,
    are_related,
    as_operand,
    event_framework,
    understand,
)
from castwise.auditing.records import (
    Event,
    Finding,
    LocatedSite,
    Operation,
    Seen,
    SeenArray,
    SeenCall,
    SeenList,
    SeenNumber,
    SeenOperand,
    Site,
    SourcePlace,
    arrays_in,
)
from castwise.catalog import dialect_named
from castwise.engine.ask import answer
from castwise.engine.decision import HAZARDS, Cast, Decision, Question, cast_between
from castwise.errors import CastwiseError
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype, find_dtype
from castwise.vocab.operands import Operand, array_operand
from castwise.vocab.ops import Op, op

# Every observed event with what it does to dtypes, in the order of the log.


class Step(NamedTuple):
    """An event and how it is understood."""

    event: Event
    located: LocatedSite
    operation: Operation | None = None  # None: there is no rule for it, or it needs none
    passes_dtype: bool = False  # its result has the dtype of an operand, whatever that is
    unclear: str = ""  # why it is not understood
    observed: Operation | None = None  # its casts, if no rule but its dtypes show them
    is_seen: bool = False  # there is no rule, but all its dtypes were seen


def make_steps(events: tuple[Event, ...], seen: Seen) -> tuple[Step, ...]:
    """The steps of events."""
    dialects = seen.facts.dialects
    autocast = {op.mark for op in seen.beyond.autocast_ops}
    steps = [_step(event, seen.site(event), dialects) for event in events]
    # The section about autocast has its casts, which the program asked for.
    return tuple([s._replace(observed=None) if s.event.mark in autocast else s for s in steps])


def _step(event: Event, located: LocatedSite, dialects: dict[str, str]) -> Step:
    site = located.site
    found = _as_write(event, site, dialects) or _by_own_rules(event, site, dialects)
    try:
        operation = found or _with_unsafe_output(understand(event, site, dialects))
        return Step(event, located, operation)
    except Harmless as harmless:
        return Step(event, located, passes_dtype=not harmless.is_explicit)
    except NotUnderstood as reason:
        return _by_dtypes(event, located, dialects, str(reason))


def _by_dtypes(event: Event, located: LocatedSite, dialects: dict[str, str], why: str) -> Step:
    """The step of an event without a rule."""
    if event.inside is not None:
        return Step(event, located, unclear=why)
    try:
        observed = as_observed(event, dialects)
    except Harmless as harmless:
        return Step(event, located, passes_dtype=not harmless.is_explicit)
    except NotUnderstood:
        return Step(event, located, unclear=why)
    return Step(event, located, observed=observed, is_seen=True)


# Values written into an array that does not hold them: `x[i] = value`, `x.copy_(y)`.

_WRITE, _CUT = "write", "cut"  # forms of questions that only an audit asks


def is_write(operation: Operation) -> bool:
    """Whether an operation is a write."""
    return operation.question.form in (_WRITE, _CUT)


def _as_write(event: Event, site: Site, dialects: dict[str, str]) -> Operation | None:
    """The write that an event is; None if it is none, or one that its dialect refuses."""
    pair = _pair(event, site)
    if pair is None:
        return None
    target, value, form = pair
    framework = target.framework
    if framework not in dialects:
        return None
    dialect = dialect_named(dialects[framework])
    given = as_operand(value, framework)
    seen: tuple[SeenArray | SeenNumber, ...]
    if form == _CUT:
        seen, asked = (value, target), (given, array_operand(_dtype(target), None))
    else:
        seen, asked = (target, value), (as_operand(target, framework), given)
    question = Question(op("cast" if form == _CUT else "fill"), asked, dialect, form)
    try:
        decision = answer(question)
    except CastwiseError:
        return None
    if form == _CUT and given.dtype:  # the rules take a cast for an explicit one
        decision = replace(decision, casts=(cast_between(given.dtype, _dtype(target)), None))
    return Operation(event, seen, question, decision, _dtype(target))


_Pair: TypeAlias = "tuple[SeenArray, SeenArray | SeenNumber, str]"


def _pair(event: Event, site: Site) -> _Pair | None:
    """The array that is written to, the value, and how: by a write, or by a call that cuts it."""
    call = event.call
    if call is None:
        target, value = event.operands if site.kind == "write" else (None, None)
        return _known(target, value, _WRITE)
    hook = find_hook(event_framework(event)) if event.arrays else None
    if call.gives_dtype or hook is None or find_hook(call.module) is not hook:
        return None
    if call.name in hook.calls.cuts.split() and event.result and event.operands:
        return _cut(event.result, event.operands[0])
    if call.name not in hook.calls.writes:
        return None
    target_place, value_place, keyword = hook.calls.writes[call.name]
    given = dict(enumerate(event.operands[: call.positional]))
    written = given.get(value_place) or event.named.get(keyword)
    return _known(given.get(target_place), written, _WRITE)


def _known(target: object, value: object, form: str) -> _Pair | None:
    if not isinstance(target, SeenArray) or not isinstance(value, (SeenArray, SeenNumber)):
        return None
    is_known = target.dtype and not target.is_scalar
    is_known_value = isinstance(value, SeenNumber) or value.dtype
    return (target, value, form) if is_known and is_known_value else None


def _cut(made: SeenArray, given: object) -> _Pair | None:
    """An array of integers that a framework keeps in fewer bits. Floats too are kept in fewer by
    such a framework, but that is the precision it is made for."""
    if not isinstance(given, SeenArray) or not given.dtype or not made.dtype:
        return None
    is_cut = dtype(given.dtype).kind == dtype(made.dtype).kind == "int" and not given.is_scalar
    return _known(made, given, _CUT) if is_cut and given.dtype != made.dtype else None


def _dtype(array: SeenArray) -> DType:
    assert array.dtype is not None  # only asked of arrays with one
    return dtype(array.dtype)


def _with_unsafe_output(operation: Operation) -> Operation:
    """An operation whose result went into out= although the rules refuse it: the program said
    casting="unsafe", which no log shows."""
    question = operation.question
    if operation.decision is not None or question.out is None:
        return operation
    asked = replace(question, named=replace(question.named, casting="unsafe"))
    try:
        return replace(operation, question=asked, decision=answer(asked))
    except CastwiseError:
        return operation


# Operations that only their framework has rules for: what they cast shows in their results.

_OWN = "own"  # a form of questions that nobody asks: the answer was seen


def has_own_rules(operation: Operation) -> bool:
    """Whether only the framework has rules for an operation, so that its answer was seen."""
    return operation.question.form == _OWN


def _by_own_rules(event: Event, site: Site, dialects: dict[str, str]) -> Operation | None:
    """The operation of an event that no dialect decides; None if it is none, or one that makes
    arrays of no known dtype."""
    arrays = arrays_in(event.operands)
    framework = event_framework(event) if event.arrays else ""
    is_own = any(a.names for a in arrays) or _is_named(event) or _declared_by(event) is not None
    if event.result is None or framework not in dialects or not is_own:
        return None
    parts = [(array, part) for array in arrays for part in _dtypes(array)]
    made = [part for part in _dtypes(event.result) if part not in [p for _, p in parts]]
    result = max(made or _dtypes(event.result), key=lambda part: part.bits, default=None)
    if result is None or not parts:
        return None
    is_mixed = any(len(array.names) > 1 for array in arrays)
    if not _is_named(event) and is_mixed and (event.call or not made):
        return None  # what happens to which column does not show
    name = event.call.name if event.call else site.name
    operands = tuple(array_operand(part, array.shape) for array, part in parts)
    symbol = None if event.call else name.removesuffix("=")
    row = Op(name, (1, len(operands)), symbol=symbol)
    question = Question(row, operands, dialect_named(dialects[framework]), _OWN)
    casts = tuple(cast_between(part, result) if part.kind != "bool" else None for _, part in parts)
    decision = Decision(question, result, result, casts)
    shown = event.operands if event.call is None else arrays
    words = [_word(operand) for operand in shown if operand is not None]
    is_operator = symbol is not None and len(words) == 2
    if _declared_by(event):
        words = [f"declared {word}" for word in words]
    text = f" {symbol} ".join(words) if is_operator else f"{name}({', '.join(words)})"
    seen = tuple(array for array, _ in parts)
    return Operation(event, seen, question, decision, result, True, text, _names(event.result))


def _is_named(event: Event) -> bool:
    """Whether a hook names the call as one that only its framework decides."""
    hooks = {find_hook(array.framework) for array in event.arrays}
    name = event.call.name if event.call else ""
    return any(hook is not None and name in hook.own_rules.observes.split() for hook in hooks)


def _declared_by(event: Event) -> SeenArray | None:
    """The lazy array that an event computes, whose dtype is what it was declared to be."""
    call = event.call
    for array in arrays_in(event.operands) if call and not call.gives_dtype else ():
        hook = find_hook(array.framework)
        if hook is not None and call is not None and call.name in hook.own_rules.computes.split():
            return array
    return None


def _dtypes(array: SeenArray) -> list[DType]:
    """The dtypes of an array, or of the columns of a frame, as far as castwise knows them."""
    names = [array.dtype] if array.dtype else [_plain(n, array.framework) for n in array.names]
    return [found for name in names if name and (found := find_dtype(name))]


def _plain(name: str, framework: str) -> str:
    """castwise's name for a framework's own: Int64 is an int64 with missing values."""
    hook, word = find_hook(framework), name.partition("[")[0].lower()
    return hook.own_rules.dtype_words.get(word, word) if hook else word


def _names(array: SeenArray) -> str:
    return " and ".join(array.names) or str(array.dtype)


def _word(array: SeenOperand) -> str:
    if isinstance(array, SeenList):
        return ", ".join(_word(element) for element in array.elements if element is not None)
    if isinstance(array, SeenNumber):
        return array.kind if array.low is None else str(array.low)
    sizes = ",".join(map(str, array.shape or ()))
    names = _names(array)
    return f"({names})[{sizes}]" if len(array.names) > 1 else f"{names}[{sizes}]"


# Calls that no rule covers: the dtypes that were seen show their casts. Nothing is decided here.

_COMPUTING = ("builtins.sum", "_operator")  # of the standard library: what computes with arrays
_ANSWERS = ("float", "complex", "")  # of a call; any other type says something about an array
_CHECKS = "assert"  # how the names of checks in tests begin, which compare any dtypes
_WIDEST = ("float64", "complex128")
_COMPLEX_OF = {"float16": "complex32", "float32": "complex64", "float64": "complex128"}


def as_observed(event: Event, dialects: dict[str, str]) -> Operation | None:
    """The casts of a call that the dtypes of its arrays show; None if they show none. One that is
    about to run has no result, and casts if its arrays have several widths.

    Raises Harmless if the call computes nothing, NotUnderstood if not all of it could be seen.
    """
    call, framework = event.call, event_framework(event)
    hook = find_hook(framework)
    if call is None or hook is None or framework not in dialects:
        raise NotUnderstood
    _check_computes(event, call, hook)
    is_visible = all(array.dtype for array in event.arrays) and _inputs(event)
    is_mixed = _is_mixed(event, call, hook)
    if not call.is_complete or not is_visible or (event.result is None and not is_mixed):
        raise NotUnderstood
    if is_mixed or _is_widened(event, call, hook):
        return _observed_operation(event, call.name, dialect_named(dialects[framework]))
    return None


def _inputs(event: Event) -> list[SeenArray]:
    """The arrays that a call takes, without the one it writes to."""
    call = event.call
    if call is None or "out" not in call.keywords:
        return arrays_in(event.operands)
    place = call.positional + call.keywords.index("out")
    return arrays_in((*event.operands[:place], *event.operands[place + 1 :]))


def _check_computes(event: Event, call: SeenCall, hook: Hook) -> None:
    """Raises Harmless for a call that computes no array: a question about one, a check of a test,
    random numbers, or what holds any objects."""
    own = find_hook(call.module)
    mixing = f"{hook.calls.mixes} {own.calls.mixes if own else ''}".split()
    if call.module in sys.stdlib_module_names and not _is_arithmetic(call):
        raise Harmless(f"{call.module}.{call.name}")
    if not _inputs(event) and call.is_complete and not call.hides:
        raise Harmless(f"{call.name}, which makes an array", is_explicit=True)
    if event.result is None and call.returns not in _ANSWERS:
        raise Harmless(f"{call.name}, a question")
    if own is not None and call.module in own.callables.random.split():
        raise Harmless(f"{call.name}, random numbers", is_explicit=True)
    if call.name.startswith(_CHECKS) or call.name in mixing:
        raise Harmless(call.name)


def _is_arithmetic(call: SeenCall) -> bool:
    """Whether a function of the standard library applies operators of the arrays."""
    return call.module in _COMPUTING or f"{call.module}.{call.name}" in _COMPUTING


def _is_mixed(event: Event, call: SeenCall, hook: Hook) -> bool:
    """Whether the arrays have floating dtypes of several widths. A library may have its reasons, so
    for its calls the result must have the widest of them."""
    found = {_real(a) for a in _inputs(event) if _is_floating(a) and not a.is_scalar}
    made = event.result
    is_own = are_related(find_hook(call.module), hook)
    if len(found) < 2 or is_own or _is_arithmetic(call):
        return len(found) > 1
    widest = max(real.bits for real in found)
    return made is not None and _is_floating(made) and _real(made).bits >= widest


def _is_widened(event: Event, call: SeenCall, hook: Hook) -> bool:
    """Whether the result is wider than its arrays: than the floating ones, or float64 of
    integers, as for operations that have a rule."""
    result = event.result
    if result is None or not _is_floating(result) or call.hides or "out" in call.keywords:
        return False
    if str(result.dtype) in call.name:
        return False  # it says so
    arrays = [a for a in _inputs(event) if not a.is_scalar]
    floats = [_real(a).bits for a in arrays if _is_floating(a)]
    is_own = are_related(find_hook(call.module), hook)
    if not is_own and (call.returns or result.is_zero_d):
        return False  # a library's lists and numbers are seldom the values of its arrays
    if floats:
        return _real(result).bits > max(floats)
    kinds = {dtype(a.dtype).kind for a in arrays if a.dtype}
    return "int" in kinds and result.dtype in _WIDEST and is_own


def _is_floating(array: SeenArray) -> bool:
    """Whether an array has a floating dtype that was chosen, which a weak one has not."""
    return bool(array.dtype) and not array.is_weak and _dtype(array).kind in ("float", "complex")


def _real(array: SeenArray) -> DType:
    """The dtype of an array's numbers; of a complex array, that of their parts."""
    return _dtype(array).part


def _observed_operation(event: Event, name: str, dialect: Dialect) -> Operation:
    """The operation with what was seen in place of a decision."""
    arrays = tuple(_inputs(event))
    widest = _widest([a for a in (*arrays, event.result) if a is not None])
    result = _dtype(event.result) if event.result and event.result.dtype else widest
    row = Op(name, (len(arrays), len(arrays)))
    framework = event_framework(event)
    question = Question(row, tuple(as_operand(a, framework) for a in arrays), dialect)
    has_floats = any(map(_is_floating, arrays))  # then integers may be indices
    casts = tuple(_observed_cast(array, widest, has_floats) for array in arrays)
    decision = Decision(question, result, widest, casts)
    return Operation(event, arrays, question, decision, result, is_observed=True)


def _widest(arrays: list[SeenArray]) -> DType:
    """The widest floating dtype, complex if one is."""
    floats = [array for array in arrays if _is_floating(array)]
    real = max([_real(array) for array in floats], key=lambda found: found.bits)
    is_complex = any(_dtype(array).kind == "complex" for array in floats)
    return dtype(_COMPLEX_OF.get(real.name, real.name)) if is_complex else real


def _observed_cast(array: SeenArray, widest: DType, has_floats: bool) -> Cast | None:
    """The cast of an array that is narrower than the widest."""
    given = _dtype(array)
    if not _is_floating(array):
        return None if has_floats else cast_between(given, widest)
    if given.part == widest.part:
        return None
    return cast_between(given, widest if given.kind == "complex" else widest.part)


# Where dtypes come from: followed from an array back through the operations that made it.


class Provenance:
    """Which arrays the operations of a program made from which."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._made_by: dict[tuple[int, str | None], list[Event]] = {}
        for event in events:
            if event.result is not None:
                self._made_by.setdefault((event.mark, event.result.dtype), []).append(event)

    def origin(self, array: SeenArray) -> int:
        """The mark of the site where an array's dtype first appeared: the nearest one that made it
        from no array of that dtype. 0 if unknown."""
        return self._origin(array, set()) or array.maker

    def nearest(self, array: SeenArray, names: Collection[str]) -> int:
        """The mark of the nearest site, on the way back from an array, that calls one of these
        names; the site that made the array if there is none."""
        waiting, visited = [array], set[int]()
        while waiting:
            maker, dtype = (found := waiting.pop(0)).maker, found.dtype
            for event in self._made_by.get((maker, dtype), ()) if maker not in visited else ():
                if event.call is not None and event.call.name in names:
                    return maker
                waiting += arrays_in(event.operands)
            visited.add(maker)
        return array.maker

    def _origin(self, array: SeenArray, visited: set[int]) -> int:
        """As above; 0 if every path leads back to a site that was visited."""
        maker = array.maker
        if maker in visited:
            return 0
        visited.add(maker)
        events = self._made_by.get((maker, array.dtype))
        if events is None:
            return maker  # it made the array as a part, such as a column, or was not seen
        for event in events:
            taken = () if _gives_indices(event) else event.operands
            sources = [a for a in arrays_in(taken) if a.dtype == array.dtype and a.maker]
            if not sources:
                return maker
            for source in sources:
                origin = self._origin(source, visited)
                if origin:
                    return origin
        return 0


def _gives_indices(event: Event) -> bool:
    """Whether a call gives positions or counts: their dtype comes from no operand."""
    hook = find_hook(event.call.module) if event.call is not None else None
    return hook is not None and event.call.name in hook.calls.indices.split()  # type: ignore[union-attr]


# The findings: the operations that cast what nobody asked for.


def find_cast(
    operation: Operation, place: SourcePlace, provenance: Provenance, with_accumulators: bool
) -> Finding | None:
    """The finding for an operation; None if it casts nothing implicitly."""
    if is_write(operation):
        return _find_write(operation, place, provenance)
    if has_own_rules(operation):
        return _find_own_cast(operation, place, provenance)
    decision, question = operation.decision, operation.question
    assert decision is not None  # such a cast is expected
    is_sum = question.op.accumulates
    casts = operation.casts
    if operation.is_asked or not casts or (is_sum and not with_accumulators):
        return None
    culprit = _culprit(question.operands, decision.as_promoted().compute)
    if operation.is_observed and decision.compute not in [o.dtype for o in question.operands]:
        culprit = None  # no operand is as wide
    is_narrowed = bool(_losses(decision.result_cast))
    if culprit is None and not is_sum and not is_narrowed and not _is_caused_by_op(operation):
        return None
    hazards = _ordered(hazard for cast in casts for hazard in cast.hazards)
    event = operation.event
    widest = operation.operands[culprit] if culprit is not None else None
    origin = provenance.origin(widest) if isinstance(widest, SeenArray) else 0
    return Finding(place, question.op.name, operation, culprit, origin or event.mark,
                   hazards, event.count, event.elements, _temporary_bytes(operation),
                   alive=event.alive)  # fmt: skip


def _ordered(hazards: Iterable[str]) -> tuple[str, ...]:
    """Hazards in the order of HAZARDS, each once."""
    found = set(hazards)
    return tuple(hazard for hazard in HAZARDS if hazard in found)


def _is_caused_by_op(operation: Operation) -> bool:
    """Whether an op casts by itself what the program did not ask for: integers become floats, or
    anything becomes float64."""
    assert operation.decision is not None  # such a cast is expected
    result = operation.decision.result
    becomes_float = result.kind in ("float", "complex") and any(
        cast.source and cast.source.kind in ("bool", "int") for cast in operation.casts
    )
    return becomes_float or result.name in _WIDEST or operation.is_observed


_KIND_RANK = {"bool": 0, "int": 1, "float": 2, "complex": 3}


def _culprit(operands: tuple[Operand, ...], compute: DType) -> int | None:
    """The widest operand, if another is cast because of it; None if the op itself is the cause."""
    arrays = {n: o.dtype for n, o in enumerate(operands) if o.dtype}
    numbers = {n: _KIND_RANK[o.kind] for n, o in enumerate(operands) if not o.dtype}
    highest = max((found.rank for found in arrays.values()), default=0)
    raising = [n for n, rank in numbers.items() if rank > highest]
    if raising and compute.rank >= min(numbers[n] for n in raising):
        return raising[0]
    if len(set(arrays.values())) < 2:
        return None
    return max(arrays, key=lambda n: (arrays[n].bits, arrays[n].rank))


_FLOAT = dtype("float32").rank
# What a narrower or other dtype costs a value. The array that is written to has its size anyway.
_LOSSES = ("loses-precision", "loses-range", "wraps", "changes-kind", "drops-imaginary")


def _find_write(operation: Operation, place: SourcePlace, provenance: Provenance) -> Finding | None:
    """The finding for a write; None if the array holds what is written."""
    place_of_value = 0 if operation.question.form == _CUT else 1
    value, target = operation.operands[place_of_value], operation.operands[1 - place_of_value]
    assert isinstance(target, SeenArray)  # by _as_write
    assert not isinstance(value, SeenList)  # likewise
    hazards = _write_hazards(value, _dtype(target))
    if not hazards:
        return None
    event, origin = operation.event, 0
    if isinstance(value, SeenArray):
        kinds = {dtype(array.dtype).kind for array in (value, target) if array.dtype}
        origin = provenance.origin(value) if kinds == {"float"} else 0
    return Finding(place, operation.question.op.name, operation, place_of_value,
                   origin or event.mark, hazards, event.count, event.elements)  # fmt: skip


def _write_hazards(value: SeenArray | SeenNumber, target: DType) -> tuple[str, ...]:
    """What is lost. A write into booleans asks whether a value is true, and every integer that a
    float holds roughly was meant to be one."""
    if target.kind == "bool":
        return ()
    if value.low is not None and value.high is not None:
        return _number_hazards((value.low, value.high), target)
    if isinstance(value, SeenNumber) or not value.dtype:
        return ()
    return _losses(cast_between(dtype(value.dtype), target))


def _losses(cast: Cast | None) -> tuple[str, ...]:
    """What a value loses by a cast to the dtype of the array it is written to."""
    found = set(cast.hazards) & set(_LOSSES) if cast else set()
    is_integer = cast is not None and cast.source is not None and cast.source.rank < _FLOAT
    if is_integer and found == {"loses-precision"}:
        return ()
    return _ordered(found)


def _number_hazards(numbers: tuple[float, float], target: DType) -> tuple[str, ...]:
    """What is lost of known numbers. Rounding to a narrower float is not counted: a Python number
    is rounded so too."""
    if target.kind != "int":
        is_lost = any(math.isfinite(n) and abs(n) > target.max for n in numbers)
        return ("loses-range",) if is_lost else ()
    if any(not math.isfinite(n) or not target.min <= n <= target.max for n in numbers):
        return ("loses-range",)
    return ("changes-kind",) if any(n != int(n) for n in numbers) else ()


def _find_own_cast(
    operation: Operation, place: SourcePlace, provenance: Provenance
) -> Finding | None:
    """The finding for an operation that made float64 of something else."""
    casts, decision, event = operation.casts, operation.decision, operation.event
    declared = _declared_by(event)
    if decision is None or not (decision.result.name in _WIDEST or declared):
        return None
    culprit = next((n for n, o in enumerate(operation.question.operands)
                    if o.dtype == decision.result), None)  # fmt: skip
    if culprit is not None:  # the float64 was there before: integers of 64 bits do not grow
        casts = tuple(cast for cast in casts if "widens" in cast.hazards)
    if not casts:
        return None
    wide = operation.operands[culprit] if culprit is not None else None
    origin = provenance.origin(wide) if isinstance(wide, SeenArray) else 0
    if declared is not None:
        hook = find_hook(declared.framework)
        names = hook.own_rules.declares.split() if hook else ()
        origin = provenance.nearest(declared, names)
    hazards = _ordered(hazard for cast in casts for hazard in cast.hazards)
    return Finding(place, operation.question.op.name, operation, culprit, origin or event.mark,
                   hazards, event.count, event.elements)  # fmt: skip


def _temporary_bytes(operation: Operation) -> int:
    """The bytes of the temporaries of an operation; 0 if the framework makes none."""
    hook = find_hook(event_framework(operation.event))
    if hook is None or not hook.inside.makes_temporaries or operation.decision is None:
        return 0
    return sum(
        _elements(operand, operation.event) * cast.target.itemsize
        for operand, cast in zip(operation.operands, operation.decision.casts, strict=True)
        if cast and cast.source
    )


def _elements(operand: SeenOperand, event: Event) -> int:
    """How many elements of an operand were cast in all runs, scaled from the first run's shapes by
    the number of result elements."""
    if not isinstance(operand, SeenArray) or operand.shape is None:
        return 0
    if event.result and operand.shape == event.result.shape:
        return event.elements
    return math.prod(operand.shape) * event.count


def finding_key(finding: Finding) -> object:
    """What identifies a finding."""
    dtypes = tuple(o.dtype or o.kind for o in finding.operands)
    return finding.place, finding.op, dtypes, finding.result, finding.origin, finding.inside


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """The findings, equal ones as one, largest first."""
    found = add_up(findings, finding_key, count=add, elements=add, temporaries=add, alive=max,
                   is_expected=and_)  # fmt: skip
    return sorted(found, key=lambda f: -f.elements)


_Entry = TypeVar("_Entry")


def add_up(
    entries: Iterable[_Entry], key: Callable[[_Entry], object], **ways: Callable[[Any, Any], Any]
) -> list[_Entry]:
    """The entries of a dataclass, those with equal keys as one: the first of them, whose fields
    named here are made of those of all, each in its way."""
    found: dict[object, Any] = {}
    for entry in entries:
        name = key(entry)
        old = found.get(name)
        found[name] = entry if old is None else replace(
            old, **{field: way(getattr(old, field), getattr(entry, field))
                    for field, way in ways.items()},
        )  # fmt: skip
    return list(found.values())


# Loops that add to what they made before: `total += x`, `mean = 0.9 * mean + 0.1 * x`.

LEAST_TERMS = 16  # of a sum that loses too much if each partial sum is rounded to 16 bits
_ADDING = frozenset({"add", "sub"})


def running_sums(
    steps: Sequence[Step], is_summed: Callable[[SeenArray | None], object]
) -> Iterator[tuple[Step, int]]:
    """The first step of each line that adds to what it made before, directly or through other
    lines, with the number of terms; among the arrays that may be a sum."""
    at: dict[int, list[Step]] = {}
    users: dict[int, set[int]] = {}
    makers: dict[int, set[int]] = {}
    made: dict[int, int] = {}
    for step in steps:
        event = step.event
        made[event.mark] = made.get(event.mark, 0) + event.count
        if is_summed(event.result):
            at.setdefault(event.mark, []).append(step)
            for array in arrays_in(event.operands):
                if is_summed(array):
                    users.setdefault(array.maker, set()).add(event.mark)
                    makers.setdefault(event.mark, set()).add(array.maker)
    for mark, found in at.items():
        adding = [s for s in found if s.operation and s.operation.question.op.name in _ADDING]
        count = sum(s.event.count for s in adding)
        if count < LEAST_TERMS:
            continue
        loop = reached([mark], users) & reached([mark], makers)
        if loop:
            steps_in = [s for m in loop for s in at.get(m, ())]
            begun = sum(s.event.count for s in steps_in if not _uses(s.event, loop, is_summed))
            terms = count // max(1, begun)
        else:
            terms = _terms_in_place(adding, made)
        if terms >= LEAST_TERMS:
            yield adding[0], terms


def _terms_in_place(adding: Sequence[Step], made: dict[int, int]) -> int:
    """How often a call adds to an array for each time that the array was made; 0 if it does not
    work in place."""
    event, operation = adding[0].event, adding[0].operation
    target = event.operands[0] if operation and operation.question.inplace else None
    times = made.get(target.maker, 0) if isinstance(target, SeenArray) else 0
    return sum(s.event.count for s in adding) // times if times else 0


def _uses(event: Event, marks: set[int], is_summed: Callable[[SeenArray | None], object]) -> bool:
    """Whether an operand that may be a sum was made at one of these sites."""
    return any(is_summed(a) and a.maker in marks for a in arrays_in(event.operands))


def reached(marks: Iterable[int], following: Mapping[int, set[int]]) -> set[int]:
    """The sites that follow some sites, directly or not."""
    found: set[int] = set()
    waiting = [*marks]
    while waiting:
        new = following.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found
