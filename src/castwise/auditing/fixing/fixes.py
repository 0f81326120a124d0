"""What might be written instead, at the line where a dtype comes from or where it is used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from castwise.auditing.fixing.edits import is_simple, operands_of
from castwise.auditing.fixing.intent import is_constant, is_meant
from castwise.auditing.fixing.scopes import module_at
from castwise.auditing.fixing.wording import (
    call_with,
    cast_to,
    operator_in,
    spelled,
    with_cast_operand,
    with_number,
)
from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.records.events import Event, SeenArray
from castwise.auditing.records.findings import Finding, Fix
from castwise.auditing.records.places import LocatedSite
from castwise.auditing.rewriting.source import text_at
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import Role

LEAST_FOR_COUNTS = 32  # bits of the floats that counts may become
_BYTE = 8
_A_NUMBER = "a Python number takes the array's dtype"


class DtypeSource(NamedTuple):
    """A site, and everything that was seen there."""

    mark: int
    located: LocatedSite
    events: tuple[Event, ...]

    @property
    def results(self) -> list[SeenArray]:
        """What the site makes, if it makes arrays of one dtype and framework and nothing else."""
        found = [event.result for event in self.events if event.result and not _is_list(event)]
        kinds = {(a.framework, a.dtype, a.is_scalar) for a in found}
        return found if len(found) == len(self.events) and len(kinds) == 1 else []


def _is_list(event: Event) -> bool:
    """Whether the result is one of several, in a list: nothing can be written after the call."""
    return event.call is not None and bool(event.call.returns)


def is_explicit(source: DtypeSource) -> bool:
    """Whether the program names the dtype that a site makes."""
    hook = _hook(source)
    code = text_at(source.located.place)
    return hook is not None and any(is_meant(code, event.call, hook) for event in source.events)


def fixes_at(
    source: DtypeSource, targets: Sequence[DType], *, undoes_constants: bool = False
) -> Iterator[Fix]:
    """Changes to a site, so that it makes another dtype. What the program names is not undone, or
    only where it makes an array of a constant dtype."""
    mark, place, hook = source.mark, source.located.place, _hook(source)
    code = text_at(place)
    if hook is None or not code or not source.results:
        return
    if is_explicit(source) and not (undoes_constants and _names_constant(source, hook)):
        return
    made = source.results[0]
    if made.is_scalar:
        text = f"{_number_kind(made)}({code})"
        yield Fix(place, text, _A_NUMBER, None, mark, is_after=True)
        return  # NumPy's float64 is a Python float, which a narrower scalar is not: json takes none
    for target in targets:
        name = spelled(target, hook, place)
        if name is not None and target.name != made.dtype and _keeps_parts(made, target):
            yield from _fixes_to(source, code, name, target, hook)


def _fixes_to(
    source: DtypeSource, code: str, name: str, target: DType, hook: Hook
) -> Iterator[Fix]:
    mark, place, site = source.mark, source.located.place, source.located.site
    call = source.events[0].call
    if call is None:
        array = _array_place(source.events)
        text = operator_in(code, site.name, name, hook, place, array)
        if text and site.kind == "operator":
            yield Fix(place, text, f"computes in {target}", target, mark)
        return
    text = call_with(code, call.name, name, hook) if find_hook(call.module) is hook else None
    if text:
        yield Fix(place, text, f"makes it {target} from the start", target, mark)
        return
    text = cast_to(code, name, hook, module_at(place.file, place.line, hook.spelling.names))
    if text:
        yield Fix(place, text, f"casts it to {target} once, here", target, mark, is_after=True)


def _names_constant(source: DtypeSource, hook: Hook) -> bool:
    """Whether a site makes an array, and its dtype is a constant."""
    place, call = source.located.place, source.events[0].call
    if call is None or call.name not in hook.calls.makes.split():
        return False
    module = module_at(place.file, place.line, hook.spelling.names)
    return is_constant(text_at(place), call, hook, module)


def fixes_where_used(finding: Finding, mark: int, events: Sequence[Event]) -> Iterator[Fix]:
    """Changes to one operation, so that the operand that caused its cast fits the others."""
    code, culprit, operands = text_at(finding.place), finding.culprit, finding.operands
    texts = operands_of(code)
    if culprit is None or not texts or any(event.call for event in events):
        return
    if operands[culprit].role is Role.NUMPY_SCALAR:
        if all(isinstance(o := event.operands[culprit], SeenArray) and o.is_scalar
               for event in events):  # fmt: skip
            text = with_number(code, culprit, operands[culprit].kind)
            if text:
                yield Fix(finding.place, text, _A_NUMBER, None, mark, operand=culprit)
        return
    other = 1 - culprit
    seen = [(event.operands[culprit], event.operands[other]) for event in events]
    is_of_arrays = all(_may_become(given, meant) for given, meant in seen)
    hook = find_hook(seen[0][0].framework) if isinstance(seen[0][0], SeenArray) else None
    if not is_of_arrays or hook is None:
        return
    place, kinds = finding.place, {meant.dtype for _, meant in seen if isinstance(meant, SeenArray)}
    if is_simple(texts[other]):
        text = with_cast_operand(code, culprit, f"{texts[other]}.dtype", hook, place)
        does = f"casts it to the dtype of {texts[other]}"
        fix = Fix(place, text or "", does, None, mark, operand=culprit, like=other)
    else:
        target = dtype(kinds.pop() or "") if len(kinds) == 1 else None
        name = spelled(target, hook, place) if target else None
        text = with_cast_operand(code, culprit, name, hook, place) if name else None
        fix = Fix(place, text or "", f"casts it to {target}", target, mark, operand=culprit)
    if text:
        yield fix


def _hook(source: DtypeSource) -> Hook | None:
    made = next((event.result for event in source.events if event.result), None)
    return find_hook(made.framework) if made else None


def _may_become(given: object, meant: object) -> bool:
    """Whether an array may be cast to the dtype of another: both are real or both complex, or it
    holds integers, which a float of 16 bits would round."""
    kind = _float_kind(meant)
    if not isinstance(given, SeenArray) or not given.dtype or not isinstance(meant, SeenArray):
        return False
    found, wanted = dtype(given.dtype), dtype(meant.dtype or given.dtype)
    is_held = wanted.bits >= LEAST_FOR_COUNTS or not holds_counts(found)
    is_integer = found.kind == "int" and kind == "float" and is_held and not given.is_scalar
    return is_integer or bool(kind and kind == _float_kind(given))


def holds_counts(found: DType) -> bool:
    """Whether it holds integers that a narrow float rounds: numbers, not bytes of an image."""
    return found.kind == "int" and found.bits > _BYTE


def makes_integers(source: DtypeSource) -> bool:
    """Whether a site makes integers, which may be indices somewhere that no log shows."""
    return any(map(holds_integers, source.results))


def holds_integers(array: SeenArray) -> bool:
    """Whether an array holds integers or masks."""
    return array.dtype is not None and dtype(array.dtype).kind in ("bool", "int")


def _float_kind(operand: object) -> str:
    """float or complex, if an operand is such an array; else ""."""
    if not isinstance(operand, SeenArray) or operand.dtype is None:
        return ""
    kind = dtype(operand.dtype).kind
    return kind if kind in ("float", "complex") else ""


def _keeps_parts(made: SeenArray, target: DType) -> bool:
    """Whether a dtype keeps the imaginary parts of an array that has them."""
    return not made.dtype or dtype(made.dtype).kind != "complex" or target.kind == "complex"


def _array_place(events: Sequence[Event]) -> int:
    """An operand that is an array whenever the operation runs."""
    count = min(len(event.operands) for event in events)
    for place in range(count):
        given = [event.operands[place] for event in events]
        if all(isinstance(o, SeenArray) and not o.is_scalar for o in given):
            return place
    return 0


def _number_kind(scalar: SeenArray) -> str:
    kind = dtype(scalar.dtype).kind if scalar.dtype else ""
    return kind if kind in ("int", "bool", "complex") else "float"
