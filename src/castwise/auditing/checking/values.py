"""Looks at the values of operands and results, while a program runs. Off unless asked for, because
each operation is computed twice."""

from __future__ import annotations

import sys
from typing import Any

from castwise.auditing.hooks.inside.lost_values import (
    Loss,
    Values,
    function_called,
    function_of,
    is_checked,
    lost_in_cast,
    lost_in_operation,
    takes_axis,
)
from castwise.auditing.noting.arrays import ARRAYS, NUMBERS, is_array_type
from castwise.auditing.noting.callees import PendingCall, pending_call
from castwise.auditing.noting.log import LOG, SITES
from castwise.auditing.observing import observe, switching, writes
from castwise.auditing.rewriting.writes import INTO, PART, WRITE
from castwise.errors import UsageError
from castwise.vocab.live import to_dtype

_MOST_KEPT = 64  # of operands of unfinished operations; those that raised never finish
_AXES = {"axis": "axis", "dim": "axis", "keepdims": "keepdims", "keepdim": "keepdims"}

_note_operand, _log, _pending_call = observe.note_operand, observe.log_operator, pending_call
_call = LOG.call
_plain_write = observe.OBSERVERS[WRITE]
_live: dict[tuple[int, int], Any] = {}


class LiveCall(PendingCall):
    """A call with its arguments themselves."""

    __slots__ = ("given", "named")

    def __init__(self, called: PendingCall, function: Any) -> None:
        super().__init__(called.callee, called.arguments)
        self.given: list[Any] = [function.__self__] if called.callee.is_method else []
        self.named: dict[str, Any] = {}

    def add(self, name: int | str, thing: Any) -> None:
        """Records an argument."""
        super().add(name, thing)
        if isinstance(name, int):
            self.given.append(thing)
        else:
            self.named[name] = thing


def start() -> None:
    """Checks values from now on."""
    LOG.checks_values = True
    setattr(observe, "note_operand", _noted)  # noqa: B010 -- types do not allow functions to change
    setattr(observe, "log_operator", _logged)  # noqa: B010
    setattr(observe, "pending_call", _pending)  # noqa: B010
    setattr(LOG, "call", _called)  # noqa: B010
    observe.OBSERVERS.update({WRITE: _write, INTO: _into, PART: _part})
    switching.prepare()


def _write(mark: int, value: Any, *target: Any) -> Any:
    if target:
        _check_write(mark, value, target[0])
        return _plain_write(mark, value, *target)
    _keep_written(mark, id(sys._getframe(1)), value)
    return value


def _into(mark: int, target: Any) -> Any:
    frame = id(sys._getframe(1))
    _check_write(mark, _live.pop((mark, frame), None), target)
    writes.log_kept(mark, frame, target)
    return target


def _part(mark: int, values: Any, number: int, count: int) -> Any:
    _keep_written(mark, id(sys._getframe(1)), writes.one_of(values, number, count))
    return values


def _keep_written(mark: int, frame: int, value: Any) -> None:
    """Keeps a value until its target is known."""
    writes.keep(mark, frame, value)
    _live.pop((mark, frame), None)  # of a write that raised, in a frame with the same id
    _keep_live(mark, frame, value, are_numbers_kept=True)


def _noted(mark: int, thing: Any, frame: int) -> None:
    """Keeps an operand itself; a copy of one that is changed in place."""
    _note_operand(mark, thing, frame)
    is_target = mark >= 0 and SITES[mark].kind == "augmented"
    _keep_live(mark, frame, _copy(thing) if is_target else thing)


def _keep_live(mark: int, frame: int, thing: Any, *, are_numbers_kept: bool = False) -> None:
    kind = type(thing)
    if kind is Values or is_array_type(kind) or (are_numbers_kept and kind in NUMBERS):
        if len(_live) > _MOST_KEPT:
            _live.clear()
        _live[mark, frame] = thing


def _copy(thing: Any) -> Any:
    found = _values(thing)
    return None if found is None else Values(found.held.copy(), found.dtype)


def _logged(mark: int, result: Any, first: Any, second: Any, frame: int) -> None:
    kept = [_live.pop((place, frame), None) for place in (mark, ~mark)]
    site = SITES[mark]
    given = [kept[0] if first is ... else first, kept[1] if second is ... else second]
    _log(mark, result, first, second, frame)
    symbol = site.name[:-1] if site.kind == "augmented" else site.name
    function = function_of(symbol, len(site.literals))
    if function:
        _checked(mark, site.name, function, given[: len(site.literals)], {}, result)


def _pending(function: Any) -> PendingCall | None:
    called = _pending_call(function)
    return None if called is None else LiveCall(called, function)


def _called(mark: int, called: PendingCall, result: Any) -> bool:
    if isinstance(called, LiveCall) and is_array_type(type(result)):
        _check_call(mark, called, result)
    return _call(mark, called, result)


def _check_call(mark: int, called: LiveCall, result: Any) -> None:
    name, hook = called.callee.name, ARRAYS[type(result)].hook
    named = {key: thing for key, thing in called.named.items() if key not in ("dtype", "out")}
    function = function_called(name)
    if function and {*named} <= {*_AXES} and not _is_changed(called):
        again = {_AXES[key]: thing for key, thing in named.items()}
        given = called.given
        if takes_axis(function) and len(given) == 2:
            given, again["axis"] = given[:1], given[1]
        if all([_is_operand(thing) for thing in given]):
            _checked(mark, name, function, given, again, result)
    elif name in hook.calls.value_casts.split() and called.given:
        source = _values(called.given[0])
        made = _values(result)
        if source and made and made.dtype and source.dtype != made.dtype:
            _keep(mark, f"{_asked(name, [_word(source)])} -> {made.dtype}", _lost_in(source, made))


def _is_changed(called: LiveCall) -> bool:
    """Whether the output of a call is one of its operands, whose values are gone."""
    out = called.named.get("out")
    return out is not None and any(out is thing for thing in called.given)


def _lost_in(source: Values, made: Values) -> Loss | None:
    assert made.dtype is not None  # it is an array
    return lost_in_cast(source, made.dtype, made.held)


def _check_write(mark: int, value: Any, target: Any) -> None:
    try:
        if not is_array_type(type(target)) or not _is_operand(value):
            return
        source, held = _values(value), _values(target)
        if source and held and held.dtype and source.dtype != held.dtype:
            _keep(mark, f"{held.dtype}[...] = {_word(source)}", lost_in_cast(source, held.dtype))
    except Exception as error:
        LOG.failed(error)


def _is_operand(thing: Any) -> bool:
    return type(thing) in NUMBERS or is_array_type(type(thing))


def _checked(
    mark: int, name: str, function: str, given: list[Any], named: dict[str, Any], result: Any
) -> None:
    try:
        made = _values(result)
        if made is None or made.dtype is None or not is_checked(made.dtype):
            return
        operands = [_values(thing) for thing in given]
        known = [operand for operand in operands if operand is not None]
        if len(known) == len(operands):
            what = f"{_asked(name, [_word(operand) for operand in known])} -> {made.dtype}"
            _keep(mark, what, lost_in_operation(function, known, named, made))
    except Exception as error:
        LOG.failed(error)


def _asked(name: str, words: list[str]) -> str:
    if name.isidentifier():
        return f"{name.strip('_')}({', '.join(words)})"
    return f" {name} ".join(words) if len(words) > 1 else f"{name}{words[0]}"


def _word(operand: Values) -> str:
    return str(operand.dtype or type(operand.held).__name__)


def _values(thing: Any) -> Values | None:
    """The values of an operand; None if they cannot be read now, or are not numbers."""
    kind = type(thing)
    if kind is Values:
        return thing  # type: ignore[no-any-return]
    if kind in NUMBERS:
        return None if kind is complex else Values(thing, None)
    if not is_array_type(kind):
        return None
    found = ARRAYS[kind]
    if found.is_traced or found.hook.arrays.held_values is None:
        return None
    try:
        dtype = to_dtype(found.read(thing)[0])
    except UsageError:
        return None
    held = found.hook.arrays.held_values(thing)
    return None if held is None or dtype.kind == "complex" else Values(held, dtype)


def _keep(mark: int, what: str, loss: Loss | None) -> None:
    if loss is not None:
        LOG.lost(mark, what, loss)
