"""Values written into an array that does not hold them: `x[i] = value`, `x.copy_(y)`."""

from __future__ import annotations

import math
from dataclasses import replace

from castwise.auditing.finding.operations import as_operand, framework_of
from castwise.auditing.finding.provenance import Provenance
from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.records.events import Event, SeenArray, SeenCall, SeenList, SeenNumber
from castwise.auditing.records.findings import Finding, Operation
from castwise.auditing.records.places import Site, SourcePlace
from castwise.engine.ask import answer
from castwise.engine.decision import HAZARDS, Cast, Question, cast_between
from castwise.errors import CastwiseError
from castwise.rules.catalog import dialect_named
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import array_operand
from castwise.vocab.ops import op

_WRITE, _CUT = "write", "cut"  # forms of questions that only an audit asks
_FLOAT = dtype("float32").rank
# What a narrower or other dtype costs a value. The array that is written to has its size anyway.
_LOSSES = ("loses-precision", "loses-range", "wraps", "changes-kind", "drops-imaginary")


def write_of(event: Event, site: Site, dialects: dict[str, str]) -> Operation | None:
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


def _dtype(array: SeenArray) -> DType:
    return dtype(array.dtype or "")  # _known has checked that it has one


def with_unsafe_output(operation: Operation) -> Operation:
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


def is_write(operation: Operation) -> bool:
    """Whether an operation is a write."""
    return operation.question.form in (_WRITE, _CUT)


def _pair(event: Event, site: Site) -> tuple[SeenArray, SeenArray | SeenNumber, str] | None:
    """The array that is written to, the value, and how: by a write, or by a call that cuts it."""
    call = event.call
    if call is None:
        target, value = event.operands if site.kind == "write" else (None, None)
        found = _known(target, value, _WRITE)
    elif call.gives_dtype:
        found = None
    else:
        found = _by_call(event, call)
    return found


def _by_call(event: Event, call: SeenCall) -> tuple[SeenArray, SeenArray | SeenNumber, str] | None:
    hook = find_hook(framework_of(event)) if event.arrays else None
    if hook is None or find_hook(call.module) is not hook:
        return None
    if call.name in hook.calls.cuts.split() and event.result and event.operands:
        return _cut(event.result, event.operands[0])
    if call.name not in hook.calls.writes:
        return None
    return _known(*_target_and_value(event, call, hook), _WRITE)


def _target_and_value(event: Event, call: SeenCall, hook: Hook) -> tuple[object, object]:
    target, value, keyword = hook.calls.writes[call.name]
    given = dict(enumerate(event.operands[: call.positional]))
    named = dict(zip(call.keywords, event.operands[call.positional :], strict=True))
    return given.get(target), given.get(value) or named.get(keyword)


def _known(
    target: object, value: object, form: str
) -> tuple[SeenArray, SeenArray | SeenNumber, str] | None:
    if not isinstance(target, SeenArray) or not isinstance(value, (SeenArray, SeenNumber)):
        return None
    is_known = target.dtype and not target.is_scalar
    is_known_value = isinstance(value, SeenNumber) or value.dtype
    return (target, value, form) if is_known and is_known_value else None


def _cut(made: SeenArray, given: object) -> tuple[SeenArray, SeenArray | SeenNumber, str] | None:
    """An array of integers that a framework keeps in fewer bits. Floats too are kept in fewer by
    such a framework, but that is the precision it is made for."""
    if not isinstance(given, SeenArray) or not given.dtype or not made.dtype:
        return None
    is_cut = dtype(given.dtype).kind == dtype(made.dtype).kind == "int" and not given.is_scalar
    return _known(made, given, _CUT) if is_cut and given.dtype != made.dtype else None


def finding_of_write(
    operation: Operation, place: SourcePlace, provenance: Provenance
) -> Finding | None:
    """The finding for a write; None if the array holds what is written."""
    place_of_value = 0 if operation.question.form == _CUT else 1
    value, target = operation.operands[place_of_value], operation.operands[1 - place_of_value]
    assert isinstance(target, SeenArray)  # by write_of
    assert not isinstance(value, SeenList)  # likewise
    hazards = _hazards(value, _dtype(target))
    if not hazards:
        return None
    event, origin = operation.event, 0
    if isinstance(value, SeenArray) and _is_narrowed_float(value, target):
        origin = provenance.origin(value)
    return Finding(place, operation.question.op.name, operation, place_of_value,
                   origin or event.mark, hazards, event.count, event.elements)  # fmt: skip


def _hazards(value: SeenArray | SeenNumber, target: DType) -> tuple[str, ...]:
    """What is lost. A write into booleans asks whether a value is true, and every integer that a
    float holds roughly was meant to be one."""
    if target.kind == "bool":
        return ()
    if value.low is not None and value.high is not None:
        return _hazards_of_numbers((value.low, value.high), target)
    if isinstance(value, SeenNumber) or not value.dtype:
        return ()
    return lost_in(cast_between(dtype(value.dtype), target))


def lost_in(cast: Cast | None) -> tuple[str, ...]:
    """What a value loses by a cast to the dtype of the array it is written to."""
    found = set(cast.hazards) & set(_LOSSES) if cast else set()
    is_integer = cast is not None and cast.source is not None and cast.source.rank < _FLOAT
    if is_integer and found == {"loses-precision"}:
        return ()
    return tuple(hazard for hazard in HAZARDS if hazard in found)


def _hazards_of_numbers(numbers: tuple[float, float], target: DType) -> tuple[str, ...]:
    """What is lost of known numbers. Rounding to a narrower float is not counted: a Python number
    is rounded so too."""
    if target.kind != "int":
        is_lost = any(math.isfinite(n) and abs(n) > target.max for n in numbers)
        return ("loses-range",) if is_lost else ()
    if any(not math.isfinite(n) or not target.min <= n <= target.max for n in numbers):
        return ("loses-range",)
    return ("changes-kind",) if any(n != int(n) for n in numbers) else ()


def _is_narrowed_float(value: SeenArray, target: SeenArray) -> bool:
    return {dtype(array.dtype).kind for array in (value, target) if array.dtype} == {"float"}
