"""Turns an observed operation into a question that resolve can answer, or says why not."""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from typing import Any

from castwise.auditing.hook import Hook
from castwise.auditing.hooks import find_hook
from castwise.auditing.records import (
    Event,
    Operands,
    Operation,
    SeenArray,
    SeenCall,
    SeenList,
    SeenNumber,
    SeenOperand,
    Site,
    arrays_in,
)
from castwise.catalog import dialect_named
from castwise.engine.ask import answer, find_op
from castwise.engine.decision import NOTHING, Decision, Named, Question
from castwise.errors import CastwiseError, UsageError
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype, find_dtype
from castwise.vocab.operands import (
    Operand,
    array_operand,
    list_operand,
    numpy_scalar_operand,
    scalar_operand,
)
from castwise.vocab.ops import ARBITRARY, LAYERS, Op, op_of_symbol

EXAMPLES: dict[str, Any] = {"bool": True, "int": 1, "float": 1.5, "complex": 1j}


class NotUnderstood(Exception):  # noqa: N818 -- not an error: it is counted
    """Raised for an unknown operation, or one whose operands are not visible."""


class Harmless(Exception):  # noqa: N818 -- not an error: it is counted as seen
    """Raised for a call that casts nothing, or only on request."""

    def __init__(self, why: str, *, is_explicit: bool = False) -> None:
        super().__init__(why)
        self.is_explicit = is_explicit  # the program names the dtype of the result


def understand(event: Event, site: Site, dialects: dict[str, str]) -> Operation:
    """The operation of an event.

    Raises Harmless or NotUnderstood if there is none.
    """
    if event.call is None or not event.call.gives_dtype:
        return _understood(event, site, dialects)
    asked = Harmless("a call with a dtype, whose casts are requested", is_explicit=True)
    try:
        found = _understood(event, site, dialects)
    except NotUnderstood:
        raise asked from None
    if found.decision is None:  # not a call known to take dtype=
        raise asked
    return found


def _understood(event: Event, site: Site, dialects: dict[str, str]) -> Operation:
    if site.kind == "write":
        raise Harmless("a write")
    framework = event_framework(event)
    hook = find_hook(framework)
    named = dialects.get(framework)
    if hook is None or named is None:
        raise NotUnderstood(f"arrays of {framework}")
    dialect = dialect_named(named)
    if event.call is not None:
        row, given_operands, inplace, out = _call(event, event.call, hook, dialect)
        form = "operator" if row.symbol and _is_python(event.call) else "function"
    else:
        row, form = _operator(site, hook)
        given_operands, inplace, out = event.operands, False, None
    operands = _arrays_and_numbers(given_operands)
    if not any(isinstance(o, SeenArray) and o.dtype for o in operands):
        raise Harmless("arrays of text, objects or records")
    # Of functions of its own, some make arrays of an event's Python numbers, of their own dtypes.
    is_own = event.call is None or find_hook(event.call.module) is hook
    is_array = is_own and row.name in hook.calls.becomes_array.split()
    asked = tuple(as_operand(o, framework, is_array) for o in operands)
    given_dtype = event.call.dtype if event.call is not None else None
    given = Named(dtype=dtype(given_dtype)) if given_dtype else NOTHING
    question = Question(row, asked, dialect, form, inplace, out, named=given)
    called = _called(event, question, hook)
    result = dtype(event.result.dtype) if event.result and event.result.dtype else None
    found = Operation(event, operands, question, _decided(question), result, called=called)
    for mode in () if found.is_expected else hook.modes.split():
        switched = replace(question, dialect=dialect_named(mode))
        other = replace(found, question=switched, decision=_decided(switched))
        if other.is_expected:
            return other
    return found


def _arrays_and_numbers(operands: Operands) -> tuple[SeenOperand, ...]:
    """The operands, checked to be arrays, Python numbers or lists of such numbers.

    Raises NotUnderstood if one is neither.
    """
    found = tuple(o for o in operands if o is not None)
    if len(found) < len(operands) or any(isinstance(o, SeenList) and arrays_in([o]) for o in found):
        raise NotUnderstood("an operand that is not an array")
    return found


def event_framework(event: Event) -> str:
    """The framework that ran an event: of NumPy and another one, the other."""
    found = [array.framework for array in event.arrays]
    hosts = [name for name in found if not ((hook := find_hook(name)) and hook.is_guest)]
    return found[-1] if event.result else (hosts or found)[0]


def _operator(site: Site, hook: Hook) -> tuple[Op, str]:
    """The op of an operator or of an augmented assignment, and its form."""
    is_augmented = site.kind == "augmented"
    symbol = site.name[:-1] if is_augmented else site.name
    form = "augmented" if is_augmented and not hook.arrays.rebinds else "operator"
    return op_of_symbol(symbol, len(site.literals)), form


def _call(
    event: Event, call: SeenCall, hook: Hook, dialect: Dialect
) -> tuple[Op, Operands, bool, DType | None]:
    """The op of a call, its operands, whether it is in place, and the dtype of out=."""
    own = find_hook(call.module)
    name = call.name
    if own and own.callables.renamed:
        name = re.sub(own.callables.renamed, "", name)
    if call.gives_dtype and not call.dtype:
        raise Harmless(f"{name} with a dtype that only its framework knows", is_explicit=True)
    if find_dtype(name):
        raise Harmless(f"{name}, which was requested", is_explicit=True)
    is_related = are_related(own, hook)
    if own is not None and _is_python(call) and name in _likeness(own):
        row = find_op(_likeness(own)[name], dialect)
        return row, event.operands[: row.arity[1]], False, None
    if name in _words(hook) or (
        own and name in (_words(own) if is_related else own.calls.keeps.split())
    ):
        explicit = f"{hook.calls.casts} {hook.calls.indices}".split()
        raise Harmless(name, is_explicit=name in explicit)
    if not is_related:
        raise NotUnderstood(f"{call.module}.{name}")
    if own is not None and name in own.calls.unlike.split():
        raise NotUnderstood(name)
    row, is_inplace = _row(_likeness(hook).get(name, name), dialect)
    if not call.is_complete:
        raise NotUnderstood(f"{name} with arguments that could not be seen")
    bound, out = _bound(event, call, row, hook)
    _check_others(event, call, bound, is_alike=name in _likeness(hook))
    return row, bound, is_inplace, out


def _called(event: Event, question: Question, hook: Hook) -> str:
    """What the program calls, if castwise asks about another op, which casts as it does."""
    name = event.call.name if event.call is not None else ""
    is_alike = name in _likeness(hook) and question.form == "function" and not question.inplace
    return name if is_alike else ""


def _is_python(call: SeenCall) -> bool:
    """Whether Python itself has the callable: it applies the array's operator."""
    return call.module == "builtins"


_DEFAULTS = {"bool": "bool", "int": "int64", "float": "float64", "complex": "complex128"}


def _check_others(event: Event, call: SeenCall, bound: Operands, *, is_alike: bool) -> None:
    """Raises NotUnderstood if a call has floats that are no operand of its op, such as weights."""
    is_0d = any(isinstance(o, SeenArray) and o.is_zero_d for o in bound)
    if is_alike and is_0d and len(bound) > 1:
        raise NotUnderstood(f"{call.name} of 0-d arrays")  # which it may take as vectors
    for operand in event.operands:
        if operand is event.named.get("out") or any(operand is b for b in bound):
            continue
        if isinstance(operand, SeenList) and operand.elements is bound:
            continue
        floats = [a for a in arrays_in([operand]) if a.dtype and dtype(a.dtype).rank >= _FLOATS]
        if floats or (is_alike and isinstance(operand, SeenList)):
            raise NotUnderstood(f"{call.name} with more arrays")


_FLOATS = dtype("float32").rank


@functools.cache
def _likeness(hook: Hook) -> dict[str, str]:
    """Maps a callable's name to the op that casts the same way."""
    return {name: op for op, names in hook.calls.like.items() for name in names.split()}


def are_related(one: Hook | None, other: Hook) -> bool:
    """Whether the functions of a framework accept the arrays of another, or of its own."""
    if one is None or one is other:
        return one is other
    return one.framework in other.related.split() or other.framework in one.related.split()


@functools.cache
def _words(hook: Hook) -> frozenset[str]:
    """The calls that cast nothing, or only on request."""
    return frozenset(f"{hook.calls.casts} {hook.calls.makes} {hook.calls.keeps}".split())


def _row(name: str, dialect: Dialect) -> tuple[Op, bool]:
    """The op of a callee's name; a name that ends in _ is in place."""
    for word, is_inplace in ((name, False), (name.rstrip("_"), True)):
        try:
            row = find_op(word, dialect)
        except UsageError:
            continue
        if row.name not in LAYERS:  # which have more than operands among their arguments
            return row, is_inplace
    raise NotUnderstood(name)


def _bound(event: Event, call: SeenCall, row: Op, hook: Hook) -> tuple[Operands, DType | None]:
    """The arguments that are operands of an op, in order, and the dtype of out=."""
    out = None
    places = dict(enumerate(event.operands[: call.positional]))
    for name, operand in event.named.items():
        if name == "out" and isinstance(operand, SeenArray):
            out = _known_dtype(operand)
        elif name in hook.callables.operands:
            places[hook.callables.operands[name]] = operand
    first = places.get(0)
    if isinstance(first, SeenList) and arrays_in([first]):
        if row.arity[1] < ARBITRARY:
            raise NotUnderstood(f"{row.name} of a list")
        return first.elements, out
    given = [places[place] for place in sorted(places) if place < row.arity[1]]
    while given and given[-1] is None and len(given) > row.arity[0]:
        given.pop()  # clip(x, 0, None)
    if len(given) < row.arity[0]:
        raise Harmless(row.name) if len(given) == 1 else NotUnderstood(row.name)
    return tuple(given), out


def as_operand(operand: SeenOperand, framework: str, is_array: bool = False) -> Operand:
    """An operand for the rules; `is_array`: the framework makes an array of a Python number."""
    if isinstance(operand, SeenList):
        try:
            return list_operand(_values(operand))
        except UsageError as error:  # a ragged one
            raise NotUnderstood(str(error)) from None
    low = operand.low
    if isinstance(operand, SeenNumber):
        if is_array:
            return array_operand(dtype(_DEFAULTS[operand.kind]), (), value=low)
        return scalar_operand(EXAMPLES[operand.kind] if low is None else low)
    found = _known_dtype(operand)
    if operand.is_scalar:
        return numpy_scalar_operand(found, EXAMPLES[found.kind] if low is None else low)
    shape = () if operand.is_zero_d else operand.shape
    is_numpy = operand.framework != framework
    return array_operand(found, shape, is_weak=operand.is_weak, is_numpy=is_numpy, value=low)


def _values(operand: SeenList) -> list[Any]:
    """The numbers of a list, as in the first run."""
    found: list[Any] = []
    for element in operand.elements:
        if isinstance(element, SeenList):
            found.append(_values(element))
        elif isinstance(element, SeenNumber):
            found.append(EXAMPLES[element.kind] if element.low is None else element.low)
    return found


def _known_dtype(array: SeenArray) -> DType:
    """The dtype of an array.

    Raises NotUnderstood if castwise does not know it.
    """
    if array.dtype is None:
        raise NotUnderstood("a dtype that castwise does not know")
    return dtype(array.dtype)


def array_dtype(array: SeenArray | None) -> DType | None:
    """The dtype of an array; None if there is no array, or castwise does not know its dtype."""
    return dtype(array.dtype) if array is not None and array.dtype else None


def _decided(question: Question) -> Decision | None:
    try:
        return answer(question)
    except UsageError as error:
        raise NotUnderstood(str(error)) from None
    except CastwiseError:
        return None
