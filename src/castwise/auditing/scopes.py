"""Who watches: the audit of the process, and the scopes of this thread or task."""

from __future__ import annotations

import functools
import linecache
import sys
import threading
import types
from _thread import _local
from collections.abc import Callable
from contextvars import ContextVar
from importlib.machinery import ModuleSpec
from types import CodeType, FrameType
from typing import Any, Protocol, TypeVar

from castwise.auditing.arrays import Callee, Note, PendingCall, is_array_type, is_observed, note
from castwise.auditing.hook import Hook
from castwise.auditing.hooks import all_hooks
from castwise.auditing.log import FILES, LOG, SITES, Log, PendingOperation, frame_spot
from castwise.auditing.records import Site
from castwise.auditing.rewriting import SITES_PER_FILE, first_mark, full_path


class AuditScope(Protocol):
    """A scope that watches operations, or judges them before they run."""

    log: Log | None  # receives what is seen
    is_checking: bool

    def check(self, pending: PendingOperation, frame: FrameType) -> None:
        """Judges an operation that is about to run; the program sees the errors it raises."""


_here: ContextVar[tuple[AuditScope, ...]] = ContextVar("castwise scopes", default=())
_everywhere: list[AuditScope] = []  # of the whole process
_is_recording = False  # whether the process is audited


def active_scopes() -> tuple[AuditScope, ...]:
    """The scopes that watch this thread or task."""
    return (*_everywhere, *_here.get()) if _everywhere else _here.get()


def is_recording() -> bool:
    """Whether the process is audited."""
    return _is_recording


def is_watched() -> bool:
    """Whether anything watches this thread or task."""
    return _is_recording or bool(active_scopes())


def logs() -> list[Log]:
    """The logs for this thread or task."""
    found = [scope.log for scope in active_scopes() if scope.log is not None]
    return [LOG, *found] if _is_recording else found


def add(scope: AuditScope) -> None:
    """Adds a scope to those of this thread or task."""
    _here.set((*_here.get(), scope))


def remove(scope: AuditScope) -> None:
    """Removes the latest entry of this scope."""
    found = list(_here.get())
    for place in reversed(range(len(found))):
        if found[place] is scope:
            del found[place]
            break
    _here.set(tuple(found))


def add_everywhere(scope: AuditScope) -> None:
    """Adds a scope of the whole process, which does not end."""
    _everywhere.append(scope)


def set_recording() -> None:
    """Marks the process as audited."""
    global _is_recording
    _is_recording = True


# Actions that wait for a module to be imported.

_waiting: dict[str, Callable[[], None]] = {}


def when_imported(name: str, action: Callable[[], None]) -> None:
    """Runs an action once a module is imported, or now if it already is."""
    if name in sys.modules:
        action()
    else:
        _waiting[name] = action


def notice(spec: ModuleSpec) -> None:
    """Schedules the action waiting for a module to run after its loader."""
    loader: Any = spec.loader
    if spec.name not in _waiting or loader is None:
        return
    run = loader.exec_module

    def run_and_act(module: types.ModuleType) -> None:
        del loader.exec_module  # restore the program's loader
        run(module)
        action = _waiting.pop(spec.name, None)  # not earlier: a spec may be looked up and not used
        if action is not None:
            action()

    loader.exec_module = run_and_act


# Actions at the beginning and at the end of every thread.


def in_every_thread(enter: Callable[[], Callable[[], object]]) -> None:
    """Enters something in every thread that `threading` starts from now on; what `enter` returns
    ends it."""
    threads: Any = threading.Thread
    begin, end = threads._set_ident, threads._delete
    entered = _local()

    # Not around the thread's own function: the program would see another frame in its stack.
    @functools.wraps(begin)
    def begin_inside(thread: threading.Thread) -> None:
        begin(thread)
        if not isinstance(thread, threading._DummyThread):
            entered.leave = enter()

    @functools.wraps(end)
    def end_inside(thread: threading.Thread) -> None:
        leave = entered.__dict__.pop("leave", None)
        if leave is not None:
            leave()
        end(thread)

    threads._set_ident, threads._delete = begin_inside, end_inside


# Keeps castwise out of the program's tracebacks.

Wrapped = TypeVar("Wrapped", bound=Callable[..., Any])


def hide_own_frames(error: BaseException, *others: CodeType | None) -> None:
    """Removes castwise's frames from the start of an error's traceback, and those of other code
    that only castwise calls. A bare `raise` then adds no frame, from Python 3.11 on."""
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        is_own = str(frame.f_globals.get("__name__", "")).startswith("castwise.")
        if not is_own and frame.f_code not in others:
            break
        trace = trace.tb_next
    error.__traceback__ = trace


def stand_in_for(plain: Callable[..., Any]) -> Callable[[Wrapped], Wrapped]:
    """Makes a function look like the one it stands in for, in tracebacks too."""

    def decorate(function: Wrapped) -> Wrapped:
        @functools.wraps(plain)
        def stand_in(*arguments: Any, **named: Any) -> Any:
            try:
                return function(*arguments, **named)
            except BaseException as error:
                hide_own_frames(error)
                raise

        return stand_in  # type: ignore[return-value]

    return decorate


# Modes in which frameworks report every call, entered while scopes watch.

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
        if not active_scopes() or type(name) is not str:
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
    for scope in active_scopes():
        if scope.is_checking:
            scope.check(PendingOperation(mark, callee, operands, flags), frame)


def _log(add: Callable[[Any], None]) -> None:
    for scope in active_scopes():
        if scope.log is not None:
            try:
                add(scope.log)
            except Exception as error:
                scope.log.failed(error)


# (id of the code, instruction, name) -> mark; the code is kept alive so that its id stays unique
_marks: dict[tuple[int, int, str], tuple[int, CodeType]] = {}
_counts: dict[str, int] = {}


def _mark(caller: FrameType, hook: Hook, kind: str, name: str, operands: int) -> int:
    """The mark of a place in source that was not rewritten: the user's line that led to it. Such
    marks count down from a file's last mark; those of rewritten source count up from its first."""
    frame = caller
    while frame.f_back is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module.partition(".")[0] != hook.framework:
            break
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


def _position(frame: FrameType) -> tuple[int, int, int, int]:
    """Start and end of the current expression: exact if Python knows it, else the whole line."""
    spot = frame_spot(frame)
    if spot.end_column:
        return spot[1:]
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).rstrip()
    indent = len(text) - len(text.lstrip())
    return frame.f_lineno, indent, frame.f_lineno, len(text.encode())
