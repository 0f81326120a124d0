"""Calls that no rule covers, judged by the dtypes that were seen: nothing is decided here."""

from __future__ import annotations

import sys

from castwise.auditing.finding.operations import (
    Harmless,
    NotUnderstood,
    are_related,
    as_operand,
    framework_of,
)
from castwise.auditing.hook import Hook, find_hook
from castwise.auditing.records.events import Event, SeenArray, SeenCall, arrays_in
from castwise.auditing.records.findings import Operation
from castwise.engine.decision import Cast, Decision, Question, cast_between
from castwise.rules.catalog import dialect_named
from castwise.rules.dialect import Dialect
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.ops import Op

_COMPUTING = ("builtins.sum", "_operator")  # of the standard library: what computes with arrays
_ANSWERS = ("float", "complex", "")  # of a call; any other type says something about an array
_CHECKS = "assert"  # how the names of checks in tests begin, which compare any dtypes
_WIDEST = ("float64", "complex128")
_COMPLEX_OF = {"float16": "complex32", "float32": "complex64", "float64": "complex128"}


def as_observed(event: Event, dialects: dict[str, str], why: str) -> Operation | None:
    """The casts of a call that the dtypes of its arrays show; None if they show none.

    Raises Harmless if the call computes nothing, NotUnderstood if not all of it could be seen.
    """
    call, framework = event.call, framework_of(event)
    hook = find_hook(framework)
    if call is None or hook is None or framework not in dialects:
        raise NotUnderstood(why)
    _check_computes(event, call, hook)
    is_visible = all(array.dtype for array in event.arrays) and _inputs(event)
    is_mixed = _is_mixed(event, call, hook)
    if not call.is_complete or not is_visible or (event.result is None and not is_mixed):
        raise NotUnderstood(why)
    if is_mixed or _is_widened(event, call, hook):
        return _operation(event, call.name, dialect_named(dialects[framework]))
    return None


def as_mixed(event: Event, dialects: dict[str, str]) -> Operation | None:
    """The casts of a call that is about to run, by the dtypes of its arrays; None if they show
    none."""
    call, framework = event.call, framework_of(event)
    hook = find_hook(framework)
    if call is None or hook is None or framework not in dialects or not call.is_complete:
        return None
    try:
        _check_computes(event, call, hook)
    except Harmless:
        return None
    if not all(array.dtype for array in event.arrays) or not _is_mixed(event, call, hook):
        return None
    return _operation(event, call.name, dialect_named(dialects[framework]))


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
    if call.module in sys.stdlib_module_names and not _is_arithmetic(call):
        raise Harmless(f"{call.module}.{call.name}")
    if not _inputs(event) and call.is_complete and not call.hides:
        raise Harmless(f"{call.name}, which makes an array", is_explicit=True)
    if event.result is None and call.returns not in _ANSWERS:
        raise Harmless(f"{call.name}, a question")
    if own is not None and call.module in own.callables.random.split():
        raise Harmless(f"{call.name}, random numbers", is_explicit=True)
    if call.name.startswith(_CHECKS) or call.name in _mixing(hook, own):
        raise Harmless(call.name)


def _is_arithmetic(call: SeenCall) -> bool:
    """Whether a function of the standard library applies operators of the arrays."""
    return call.module in _COMPUTING or f"{call.module}.{call.name}" in _COMPUTING


def _mixing(hook: Hook, own: Hook | None) -> list[str]:
    return f"{hook.calls.mixes} {own.calls.mixes if own else ''}".split()


def _is_of_framework(call: SeenCall, hook: Hook) -> bool:
    own = find_hook(call.module)
    return own is hook or (own is not None and are_related(own, hook))


def _is_mixed(event: Event, call: SeenCall, hook: Hook) -> bool:
    """Whether the arrays have floating dtypes of several widths. A library may have its reasons, so
    for its calls the result must have the widest of them."""
    found = {_real(a) for a in _inputs(event) if _is_floating(a) and not a.is_scalar}
    if len(found) < 2:
        return False
    return (
        _is_of_framework(call, hook)
        or _is_arithmetic(call)
        or (
            event.result is not None
            and _is_floating(event.result)
            and _real(event.result).bits >= max(real.bits for real in found)
        )
    )


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
    is_own = _is_of_framework(call, hook)
    if not is_own and (call.returns or result.is_zero_d):
        return False  # a library's lists and numbers are seldom the values of its arrays
    if floats:
        return _real(result).bits > max(floats)
    kinds = {dtype(a.dtype).kind for a in arrays if a.dtype}
    return "int" in kinds and result.dtype in _WIDEST and is_own


def _is_floating(array: SeenArray) -> bool:
    """Whether an array has a floating dtype that was chosen, which a weak one has not."""
    return bool(array.dtype) and not array.is_weak and _kind(array) in ("float", "complex")


def _kind(array: SeenArray) -> str:
    assert array.dtype is not None  # only asked of arrays with one
    return dtype(array.dtype).kind


def _real(array: SeenArray) -> DType:
    """The dtype of an array's numbers; of a complex array, that of their parts."""
    assert array.dtype is not None  # only asked of arrays with one
    return dtype(array.dtype).part


def _operation(event: Event, name: str, dialect: Dialect) -> Operation:
    """The operation with what was seen in place of a decision."""
    arrays = tuple(_inputs(event))
    widest = _widest([a for a in (*arrays, event.result) if a is not None])
    result = dtype(event.result.dtype) if event.result and event.result.dtype else widest
    row = Op(name, (len(arrays), len(arrays)))
    framework = framework_of(event)
    question = Question(row, tuple(as_operand(a, framework) for a in arrays), dialect)
    has_floats = any(map(_is_floating, arrays))  # then integers may be indices
    casts = tuple(_cast(array, widest, has_floats) for array in arrays)
    decision = Decision(question, result, widest, casts)
    return Operation(event, arrays, question, decision, result, is_observed=True)


def _widest(arrays: list[SeenArray]) -> DType:
    """The widest floating dtype, complex if one is."""
    floats = [array for array in arrays if _is_floating(array)]
    real = max([_real(array) for array in floats], key=lambda found: found.bits)
    is_complex = any(_kind(array) == "complex" for array in floats)
    return dtype(_COMPLEX_OF.get(real.name, real.name)) if is_complex else real


def _cast(array: SeenArray, widest: DType, has_floats: bool) -> Cast | None:
    """The cast of an array that is narrower than the widest."""
    assert array.dtype is not None  # checked before
    if not _is_floating(array):
        return None if has_floats else cast_between(dtype(array.dtype), widest)
    real = widest.part
    if _real(array) == real:
        return None
    return cast_between(dtype(array.dtype), widest if _kind(array) == "complex" else real)
