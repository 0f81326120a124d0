"""Modes in which frameworks report every call, entered while scopes watch."""

from __future__ import annotations

import linecache
import sys
from _thread import _local
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from castwise.auditing.hook import Hook, all_hooks
from castwise.auditing.noting.arrays import Note, is_array_type, note
from castwise.auditing.noting.callees import Callee, PendingCall, is_observed
from castwise.auditing.noting.frames import spot_of
from castwise.auditing.noting.log import FILES, SITES, PendingOperation
from castwise.auditing.observing.arrivals import when_imported
from castwise.auditing.observing.scopes import scopes
from castwise.auditing.observing.threads import in_every_thread
from castwise.auditing.records.places import Site
from castwise.auditing.rewriting.marks import SITES_PER_FILE, first_mark, full_path

After = Callable[[Any], None]  # called with the result

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "div": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "neg": "-", "pos": "+",
    "invert": "~",
}  # fmt: skip
_thread = _local()


def available_modes() -> list[Hook]:
    """The hooks of imported frameworks that have a mode."""
    return [hook for hook in all_hooks() if hook.watching.mode and hook.framework in sys.modules]


def entered_modes() -> dict[str, list[Any]]:
    """The modes of this thread: by framework, the mode and how many scopes use it."""
    try:
        return _thread.modes  # type: ignore[no-any-return]
    except AttributeError:
        _thread.modes = {}
        return _thread.modes  # type: ignore[no-any-return]


def enter_modes() -> None:
    """Makes every available mode watch this thread."""
    for hook in available_modes():
        entry = entered_modes().get(hook.framework)
        if entry is None:
            assert hook.watching.mode is not None  # available_modes checked it
            entry = entered_modes()[hook.framework] = [hook.watching.mode(_watcher(hook)), 0]
        entry[1] += 1


def enter_modes_everywhere() -> None:
    """Makes every mode watch this thread and all threads started later, once its framework is
    imported. The process has entered its scope."""
    for hook in all_hooks():
        if hook.watching.mode:
            when_imported(hook.framework, enter_modes)

    def enter() -> Callable[[], None]:
        enter_modes()
        return leave_modes

    in_every_thread(enter)


def leave_modes() -> None:
    """Ends the modes that no scope of this thread uses any more. One with other modes on top stays,
    but watches nothing."""
    for framework, entry in list(entered_modes().items()):
        entry[1] -= 1
        if entry[1] <= 0 and entry[0].leave():
            del entered_modes()[framework]


def is_covered(operands: tuple[Any, ...], frameworks: dict[type, Any]) -> bool:
    """Whether a mode of this thread watches arrays such as these."""
    modes = getattr(_thread, "modes", None)
    if not modes:
        return False
    notes = [o for o in operands if type(o) is Note]
    return any(frameworks[o.signature.kind].hook.framework in modes for o in notes)


def _watcher(hook: Hook) -> Callable[[Any, tuple[Any, ...], dict[str, Any]], After | None]:
    def watch(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> After | None:
        """Judges a call that is about to run; returns a callback for its result."""
        name = getattr(function, "__name__", None)
        if not scopes() or type(name) is not str:
            return None
        caller = _caller(function, hook)
        if name.startswith("__"):
            return _watch_operator(name, args, caller, hook)
        return _watch_call(Callee(hook.framework, name), args, kwargs, caller, hook)

    return watch


def _caller(function: Any, hook: Hook) -> FrameType:
    """The frame that calls a function, skipping this file, the framework's dispatch and the
    function itself."""
    own = getattr(function, "__code__", None)
    dispatch = hook.watching.dispatch.split()
    frame = sys._getframe(2)
    while frame.f_back is not None:
        module = str(frame.f_globals.get("__name__", ""))
        is_dispatch = module in dispatch or module.startswith("castwise.auditing.")
        if not is_dispatch and frame.f_code is not own:
            break
        frame = frame.f_back
    return frame


def _watch_operator(
    name: str, args: tuple[Any, ...], caller: FrameType, hook: Hook
) -> After | None:
    core, flipped, augmented = name.strip("_"), False, False
    if core not in _SYMBOLS:
        flipped, augmented = core.startswith("r"), core.startswith("i")
        core = core[1:]
    symbol = _SYMBOLS.get(core)
    if symbol is None or not args:
        return None
    operands = tuple([note(arg) for arg in (reversed(args[:2]) if flipped else args[:2])])
    kind = "augmented" if augmented else "operator"
    mark = _mark(caller, hook, kind, symbol + "=" * augmented, len(operands))
    _check(mark, None, operands, (), caller)
    if is_observed(caller.f_code):
        return None  # the observers log it

    def after(result: Any) -> None:
        if is_array_type(type(result)):
            _log(lambda log: log.operator(mark, operands, result))

    return after


def _watch_call(
    callee: Callee, args: tuple[Any, ...], kwargs: dict[str, Any], caller: FrameType, hook: Hook
) -> After | None:
    called = PendingCall(callee, [])
    for place, arg in enumerate(args):
        called.add(place, arg)
    for key, arg in kwargs.items():
        called.add(key, arg)
    mark = _mark(caller, hook, "call", callee.name, 0)
    operands = tuple(called.notes)
    if any([type(operand) in (Note, tuple) for operand in operands]):
        _check(mark, callee, operands, called.flags, caller)
    if is_observed(caller.f_code):
        return None
    return lambda result: _log(lambda log: log.call(mark, called, result))


def _check(mark: int, callee: Any, operands: tuple[Any, ...], flags: Any, frame: FrameType) -> None:
    for scope in scopes():
        if scope.is_checking:
            scope.check(PendingOperation(mark, callee, operands, flags), frame)


def _log(tell: Callable[[Any], None]) -> None:
    for scope in scopes():
        if scope.log is not None:
            try:
                tell(scope.log)
            except Exception as error:
                scope.log.failed(error)


# (id of the code, instruction, name) -> mark; the code is kept alive so that its id stays unique
_marks: dict[tuple[int, int, str], tuple[int, CodeType]] = {}
_counts: dict[str, int] = {}


def _mark(caller: FrameType, hook: Hook, kind: str, name: str, operands: int) -> int:
    """The mark of a place in source that was not rewritten: the user's line that led to it. Such
    marks count down from a file's last mark; those of rewritten source count up from its first."""
    frame = caller
    while frame.f_back is not None and _is_of(frame, hook):
        frame = frame.f_back
    key = (id(frame.f_code), frame.f_lasti, name)
    known = _marks.get(key)
    if known is not None:
        return known[0]
    path = full_path(frame.f_code.co_filename)
    count = _counts[path] = _counts.get(path, 0) + 1
    mark = first_mark(path) + SITES_PER_FILE - count
    FILES[first_mark(path)] = path
    SITES[mark] = Site(*_position(frame), kind, name, (None,) * operands)
    _marks[key] = (mark, frame.f_code)
    return mark


def _is_of(frame: FrameType, hook: Hook) -> bool:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0] == hook.framework


def _position(frame: FrameType) -> tuple[int, int, int, int]:
    """Start and end of the current expression: exact if Python knows it, else the whole line."""
    spot = spot_of(frame)
    if spot.end_column:
        return spot[1:]
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).rstrip()
    indent = len(text) - len(text.lstrip())
    return frame.f_lineno, indent, frame.f_lineno, len(text.encode())
