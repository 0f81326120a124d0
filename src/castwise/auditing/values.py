"""Looks at the values of operands and results, while a program runs. Off unless asked for, because
each operation is computed twice."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from castwise.auditing import observers, scopes
from castwise.auditing.arrays import ARRAYS, NUMBERS, is_array_type
from castwise.auditing.calls import PendingCall, pending_call
from castwise.auditing.hooks import find_hook
from castwise.auditing.hooks.numpy_losses import (
    Loss,
    Values,
    call_function,
    count_inputs,
    is_checked,
    lost_in_cast,
    lost_in_operation,
    operator_function,
    share_memory,
    takes_axis,
)
from castwise.auditing.log import LOG, SITES
from castwise.auditing.rewriting import INTO, PART, WRITE
from castwise.errors import UsageError
from castwise.vocab.live import to_dtype

_MOST_KEPT = 64  # of operands of unfinished operations; those that raised never finish
_NOT_OPERANDS = ("dtype", "out", "casting")
_WHERE = "where"
_AXES = {"axis": "axis", "dim": "axis", "keepdims": "keepdims", "keepdim": "keepdims"}

_note_operand, _log, _pending_call = observers.note_operand, observers.log_operator, pending_call
_call = LOG.call
_plain_write = observers.OBSERVERS[WRITE]
_live: dict[tuple[int, int], Any] = {}


class _LiveCall(PendingCall):
    """A call with its arguments themselves."""

    __slots__ = ("before", "given", "inputs", "named")

    def __init__(self, called: PendingCall, function: Any) -> None:
        super().__init__(called.callee, called.arguments)
        self.given: list[Any] = [function.__self__] if called.callee.is_method else []
        self.named: dict[str, Any] = {}
        self.inputs = count_inputs(function)
        self.before: list[Any] | None = None  # the operands, if the call changes one of them
        self._keep_before()

    def add(self, name: int | str, thing: Any) -> None:
        """Records an argument."""
        super().add(name, thing)
        if isinstance(name, int):
            self.given.append(thing)
        else:
            self.named[name] = thing
        self._keep_before()

    @property
    def operands(self) -> list[Any]:
        """The operands with the values they have before the call."""
        found = self.given if self.before is None else self.before
        return found if self.inputs is None else found[: self.inputs]

    @property
    def function(self) -> str | None:
        """How the call is computed again; None if it is not checked."""
        name = self.callee.name
        return call_function(name.removesuffix("_") if self.callee.is_method else name)

    def _keep_before(self) -> None:
        """Keeps the operands as they are now: evaluating an argument may change another one, so
        only those after the last argument are those of the call."""
        changed = self._changed()
        if is_array_type(type(changed)) and self.function:
            self.before = [_before(thing, changed) for thing in self.given]

    def _changed(self) -> Any:
        """What the call writes to."""
        if self.callee.is_method and self.callee.name.endswith("_"):
            return self.given[0]
        if self.inputs is not None and len(self.given) > self.inputs:
            return self.given[self.inputs]
        out = self.named.get("out")
        return out[0] if type(out) is tuple and len(out) == 1 else out


class _Target(NamedTuple):
    """What `x += y` changes, and its values before."""

    array: Any
    before: Values | None


def start() -> None:
    """Checks values from now on."""
    LOG.checks_values = True
    setattr(observers, "note_operand", _noted)  # noqa: B010 -- types do not allow functions to change
    setattr(observers, "log_operator", _logged)  # noqa: B010
    setattr(observers, "pending_call", _pending)  # noqa: B010
    setattr(LOG, "call", _called)  # noqa: B010
    observers.OBSERVERS.update({WRITE: _write, INTO: _into, PART: _part})
    scopes.prepare()


def _write(mark: int, value: Any, *target: Any) -> Any:
    if target:
        _check_write(mark, value, target[0])
        return _plain_write(mark, value, *target)
    _keep_written(mark, id(sys._getframe(1)), value)
    return value


def _into(mark: int, target: Any) -> Any:
    frame = id(sys._getframe(1))
    _check_write(mark, _live.pop((mark, frame), None), target)
    observers.log_kept(mark, frame, target)
    return target


def _part(mark: int, values: Any, number: int, count: int) -> Any:
    _keep_written(mark, id(sys._getframe(1)), observers.unpacked_value(values, number, count))
    return values


def _keep_written(mark: int, frame: int, value: Any) -> None:
    """Keeps a value until its target is known."""
    observers.keep(mark, frame, value)
    _live.pop((mark, frame), None)  # of a write that raised, in a frame with the same id
    _keep_live(mark, frame, value, are_numbers_kept=True)


def _noted(mark: int, thing: Any, frame: int) -> None:
    """Keeps an operand itself, or its values if it is changed in place."""
    _note_operand(mark, thing, frame)
    try:
        if SITES[max(mark, ~mark)].kind == "augmented":
            thing = _noted_change(mark, thing, frame)
    except Exception as error:
        LOG.failed(error)
    _keep_live(mark, frame, thing)


def _noted_change(mark: int, thing: Any, frame: int) -> Any:
    """The same for `x += y`: `x` with its values, or `y`, before which `x` may have changed."""
    if mark >= 0:
        return _Target(thing, _copy(thing)) if is_array_type(type(thing)) else None
    target = _live.get((~mark, frame))
    if target is None:
        return thing
    _live[~mark, frame] = _Target(target.array, _copy(target.array))
    return _before(thing, target.array)


def _keep_live(mark: int, frame: int, thing: Any, *, are_numbers_kept: bool = False) -> None:
    kind = type(thing)
    is_kept = kind in (Values, _Target) or is_array_type(kind)
    if is_kept or (are_numbers_kept and kind in NUMBERS):
        if len(_live) > _MOST_KEPT:
            _live.clear()
        _live[mark, frame] = thing


def _copy(thing: Any) -> Values | None:
    found = _values(thing)
    return None if found is None else Values(found.held.copy(), found.dtype)


def _before(thing: Any, changed: Any) -> Any:
    """An operand as it is before an array is changed that may share its memory."""
    if not is_array_type(type(thing)):
        return thing
    return _copy(thing) if _may_share(thing, changed) else _values(thing)


def _may_share(one: Any, other: Any) -> bool:
    """Whether two arrays may have elements in common."""
    if not (is_array_type(type(one)) and is_array_type(type(other))):
        return False
    first, second = _values(one), _values(other)
    return bool(first and second and share_memory(first.held, second.held))


def _logged(mark: int, result: Any, first: Any, second: Any, frame: int) -> None:
    kept = [_live.pop((place, frame), None) for place in (mark, ~mark)]
    site = SITES[mark]
    given = [kept[0] if first is ... else first, kept[1] if second is ... else second]
    if type(given[0]) is _Target:
        given = _operands_of_change(given[0], given[1])
    _log(mark, result, first, second, frame)
    symbol = site.name[:-1] if site.kind == "augmented" else site.name
    function = operator_function(symbol, len(site.literals))
    if function:
        _checked(mark, site.name, function, given[: len(site.literals)], {}, result)


def _operands_of_change(target: _Target, second: Any) -> list[Any]:
    """The operands of `x += y`. A name `y` is read after `x` has changed."""
    if second is target.array:
        return [target.before, target.before]
    return [target.before, None if _may_share(target.array, second) else second]


def _pending(function: Any) -> PendingCall | None:
    called = _pending_call(function)
    return None if called is None else _LiveCall(called, function)


def _called(mark: int, called: PendingCall, result: Any) -> bool:
    if isinstance(called, _LiveCall):
        try:
            if is_array_type(type(result)):
                _check_call(mark, called, result)
            _check_written(mark, called, result)
        except Exception as error:
            LOG.failed(error)
    return _call(mark, called, result)


def _check_call(mark: int, called: _LiveCall, result: Any) -> None:
    name, hook = called.callee.name, ARRAYS[type(result)].hook
    named = {key: thing for key, thing in called.named.items() if key not in _NOT_OPERANDS}
    function = called.function
    if function and {*named} <= {*_AXES, _WHERE}:
        again = {_AXES[key]: thing for key, thing in named.items() if key != _WHERE}
        given, mask = called.operands, _mask(named)
        if takes_axis(function) and len(given) == 2:
            given, again["axis"] = given[:1], given[1]
        if mask is not None and len(given) <= 2 and all([_is_operand(thing) for thing in given]):
            _checked(mark, name, function, given, again | mask, result)
    elif name in hook.calls.value_casts.split() and called.given:
        source = _values(called.given[0])
        made = _values(result)
        if source and made and made.dtype and source.dtype != made.dtype:
            _keep(mark, f"{_asked(name, [_word(source)])} -> {made.dtype}", _lost_in(source, made))


def _mask(named: dict[str, Any]) -> dict[str, Any] | None:
    """What says which elements are computed; None if it cannot be read."""
    if _WHERE not in named:
        return {}
    found = _values(named[_WHERE])
    return None if found is None else {_WHERE: found.held}


def _check_written(mark: int, called: _LiveCall, result: Any) -> None:
    """Checks a call that writes a whole value into an array, or into a new one."""
    name, hook = called.callee.name, find_hook(called.callee.module)
    if hook is None or name not in hook.calls.writes_all.split() or _WHERE in called.named:
        return
    place, source, keyword = hook.calls.writes[name]
    given = dict(enumerate(called.given))
    target = result if is_array_type(type(result)) else given.get(place)
    value = given.get(source, called.named.get(keyword))
    if not _may_share(value, target):  # otherwise the value is gone
        _check_write(mark, value, target)


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
    kind = type(thing)
    return kind in NUMBERS or kind is Values or is_array_type(kind)


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
        return f"{name}({', '.join(words)})"
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
