"""Operations that only their framework has rules for: what they cast shows in their results."""

from __future__ import annotations

from castwise.auditing.finding.operations import framework_of
from castwise.auditing.finding.provenance import Provenance
from castwise.auditing.hook import find_hook
from castwise.auditing.records.events import (
    Event,
    SeenArray,
    SeenList,
    SeenNumber,
    SeenOperand,
    arrays_in,
)
from castwise.auditing.records.findings import Finding, Operation
from castwise.auditing.records.places import Site, SourcePlace
from castwise.engine.decision import HAZARDS, Decision, Question, cast_between
from castwise.rules.catalog import dialect_named
from castwise.vocab.dtypes import DType, find_dtype
from castwise.vocab.operands import array_operand
from castwise.vocab.ops import Op

_OWN = "own"  # a form of questions that nobody asks: the answer was seen
_WIDE = ("float64", "complex128")


def by_own_rules(event: Event, site: Site, dialects: dict[str, str]) -> Operation | None:
    """The operation of an event that no dialect decides; None if it is none, or one that makes
    arrays of no known dtype."""
    arrays = arrays_in(event.operands)
    framework = framework_of(event) if event.arrays else ""
    if event.result is None or framework not in dialects or not _is_of_own_rules(event, arrays):
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
    if declared_by(event):
        words = [f"declared {word}" for word in words]
    text = f" {symbol} ".join(words) if is_operator else f"{name}({', '.join(words)})"
    seen = tuple(array for array, _ in parts)
    return Operation(event, seen, question, decision, result, True, text, _names(event.result))


def has_own_rules(operation: Operation) -> bool:
    """Whether only the framework has rules for an operation, so that its answer was seen."""
    return operation.question.form == _OWN


def _is_of_own_rules(event: Event, arrays: list[SeenArray]) -> bool:
    return any(a.names for a in arrays) or _is_named(event) or declared_by(event) is not None


def _is_named(event: Event) -> bool:
    """Whether a hook names the call as one that only its framework decides."""
    hooks = {find_hook(array.framework) for array in event.arrays}
    name = event.call.name if event.call else ""
    return any(hook is not None and name in hook.own_rules.observes.split() for hook in hooks)


def declared_by(event: Event) -> SeenArray | None:
    """The lazy array that an event computes, whose dtype is what it was declared to be."""
    call = event.call
    for array in arrays_in(event.operands) if call and not call.gives_dtype else ():
        hook = find_hook(array.framework)
        if hook is not None and call is not None and call.name in hook.own_rules.computes.split():
            return array
    return None


def _declares(framework: str) -> frozenset[str]:
    hook = find_hook(framework)
    return frozenset(hook.own_rules.declares.split()) if hook else frozenset()


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


def finding_by_own_rules(
    operation: Operation, place: SourcePlace, provenance: Provenance
) -> Finding | None:
    """The finding for an operation that made float64 of something else."""
    casts, decision, event = operation.casts, operation.decision, operation.event
    if decision is None or not (decision.result.name in _WIDE or declared_by(event)):
        return None
    culprit = next((n for n, o in enumerate(operation.question.operands)
                    if o.dtype == decision.result), None)  # fmt: skip
    if culprit is not None:  # the float64 was there before: integers of 64 bits do not grow
        casts = tuple(cast for cast in casts if "widens" in cast.hazards)
    if not casts:
        return None
    wide = operation.operands[culprit] if culprit is not None else None
    origin = provenance.origin(wide) if isinstance(wide, SeenArray) else 0
    declared = declared_by(event)
    if declared is not None:
        origin = provenance.nearest(declared, _declares(declared.framework))
    hazards = {hazard for cast in casts for hazard in cast.hazards}
    ordered = tuple(hazard for hazard in HAZARDS if hazard in hazards)
    return Finding(place, operation.question.op.name, operation, culprit, origin or event.mark,
                   ordered, event.count, event.elements)  # fmt: skip
