"""Who watches: the audit of the process, and the scopes of this thread or task.

Rewritten modules call observers by name. Which ones they find depends on who watches: nobody, only
the audit of the process, or scopes too; what is off costs nothing.
"""

from __future__ import annotations

import linecache
import sys
from _thread import _local, allocate_lock
from collections.abc import Callable
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Any, Protocol

from castwise.auditing import observers, rewriting
from castwise.auditing.arrays import ARRAYS, NUMBERS, Note, is_array_type, note
from castwise.auditing.calls import Callee, PendingCall, is_observed, pending_call
from castwise.auditing.hook import Hook
from castwise.auditing.hooks import all_hooks
from castwise.auditing.log import FILES, LOG, SITES, Log, PendingOperation, frame_spot
from castwise.auditing.observers import NOTES, note_operand, operands, peek, write_observers
from castwise.auditing.process import in_every_thread, when_imported
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
_entered = 0  # number of scopes in all threads and tasks
_lock = allocate_lock()


def _active_scopes() -> tuple[AuditScope, ...]:
    """The scopes that watch this thread or task."""
    return (*_everywhere, *_here.get()) if _everywhere else _here.get()


def _is_watched() -> bool:
    """Whether anything watches this thread or task."""
    return _is_recording or bool(_active_scopes())


def _logs() -> list[Log]:
    """The logs for this thread or task."""
    found = [scope.log for scope in _active_scopes() if scope.log is not None]
    return [LOG, *found] if _is_recording else found


def enter(scope: AuditScope) -> None:
    """Starts a scope, for this thread or task."""
    _here.set((*_here.get(), scope))
    _switch(1)


def leave(scope: AuditScope) -> None:
    """Ends the latest entry of this scope."""
    found = list(_here.get())
    for place in reversed(range(len(found))):
        if found[place] is scope:
            del found[place]
            break
    _here.set(tuple(found))
    _switch(-1)


def enter_everywhere(scope: AuditScope) -> None:
    """Starts a scope of the whole process, which does not end."""
    _everywhere.append(scope)
    _switch(1)


def record() -> None:
    """Starts the audit of the process."""
    global _is_recording
    _is_recording = True
    _switch(0)


def prepare() -> None:
    """Makes sure that rewritten functions find observers."""
    _switch(0)


def _switch(change: int) -> None:
    """Counts scopes that start or end, and installs the observers they need."""
    global _entered
    with _lock:
        _entered += change
        if _entered:
            observers.put(observers.OBSERVERS | _WATCHING)
        elif _is_recording:
            observers.put(observers.OBSERVERS)
        else:
            observers.put(observers.OBSERVERS | _IDLE)


def _pass(mark: int, thing: Any, *others: Any) -> Any:
    return thing


def _pass_argument(mark: int, name: int | str, thing: Any) -> Any:
    return thing


_IDLE: dict[str, Any] = {
    **dict.fromkeys(
        (rewriting.LEFT, rewriting.RIGHT, rewriting.POST, rewriting.SETTLE, rewriting.PEEK,
         rewriting.CALLEE, rewriting.RETURNED, rewriting.TEXT, rewriting.WRITE, rewriting.INTO,
         rewriting.PART, rewriting.BASE, rewriting.TOOK),
        _pass,
    ),
    rewriting.ARGUMENT: _pass_argument,
    rewriting.QUIET: frozenset(),
}  # fmt: skip

# The observers while scopes watch: they judge an operation once all its operands are known, before
# it runs, and log it for every scope.

_frame = sys._getframe


def left(mark: int, thing: Any) -> Any:
    """Records the first operand of an operator, and judges the operation if there is no other."""
    if not _is_watched():
        return thing
    frame = _frame(1)
    note_operand(mark, thing, id(frame))
    literals = SITES[mark].literals
    if len(literals) == 1 or literals[1] is not None:
        _check_operator(mark, frame)
    return thing


def right(mark: int, thing: Any) -> Any:
    """Records the second operand of an operator, and judges the operation."""
    if not _is_watched():
        return thing
    frame = _frame(1)
    note_operand(~mark, thing, id(frame))
    _check_operator(mark, frame)
    return thing


def _check_operator(mark: int, frame: FrameType) -> None:
    """Judges an operator whose operands have been recorded."""
    known = []
    for place, literal in zip((mark, ~mark), SITES[mark].literals, strict=False):
        if literal is None and (place, id(frame)) not in NOTES:
            return  # the operand is read after the operation: the file was not rewritten for checks
        known.append(NOTES[place, id(frame)] if literal is None else literal)
    if any([type(operand) is Note for operand in known]):
        _check(PendingOperation(mark, None, tuple(known)), frame)


def _check(pending: PendingOperation, frame: FrameType, *, is_in_mode: bool = False) -> None:
    """Lets the scopes judge an operation, unless a mode of this thread sees it too and does so."""
    for scope in _active_scopes():
        if scope.is_checking and (is_in_mode or not _is_covered(pending.operands)):
            scope.check(pending, frame)


def post(mark: int, result: Any, first: Any, second: Any = None) -> Any:
    """Logs an operator's result with its operands; `...` stands for one recorded before."""
    kind = type(result)
    if kind in NUMBERS or not is_array_type(kind):
        return result
    found = _logs()
    if found:
        try:
            known = operands(mark, first, second, id(_frame(1)))
            for log in found:
                log.operator(mark, known, result)
        except RecursionError:
            pass
        except Exception as error:
            found[0].failed(error)
    return result


def callee(mark: int, function: Any) -> Any:
    """Records what is called, and judges it if it has no arguments."""
    if not _is_watched():
        return function
    frame = _frame(1)
    called = NOTES[mark, id(frame)] = pending_call(function)
    if called is not None and not SITES[mark].arguments:
        _check_call(mark, called, frame)
    return function


def argument(mark: int, name: int | str, thing: Any) -> Any:
    """Records an argument of an observed call, and judges the call at its last argument."""
    frame = _frame(1)
    called = NOTES.get((mark, id(frame)))
    if called is not None:
        called.add(name, thing)
        called.arguments_seen += 1
        if called.arguments_seen == SITES[mark].arguments:
            _check_call(mark, called, frame)
    return thing


def _check_call(mark: int, called: PendingCall, frame: FrameType) -> None:
    known = tuple(called.notes)
    if any([type(operand) in (Note, tuple) for operand in known]):
        _check(PendingOperation(mark, called.callee, known, called.flags), frame)


def returned(mark: int, result: Any) -> Any:
    """Logs what a call returns."""
    called = NOTES.pop((mark, id(_frame(1))), None)
    found = _logs()
    try:
        for log in found:
            if called is not None:
                log.call(mark, called, result)
            elif is_array_type(type(result)):
                log.passed(mark, result)
    except RecursionError:
        pass
    except Exception as error:
        found[0].failed(error)
    return result


_WATCHING: dict[str, Any] = {
    rewriting.LEFT: left,
    rewriting.RIGHT: right,
    rewriting.POST: post,
    rewriting.SETTLE: post,
    rewriting.PEEK: peek,
    rewriting.CALLEE: callee,
    rewriting.ARGUMENT: argument,
    rewriting.RETURNED: returned,
    rewriting.QUIET: frozenset(),  # a quiet site may see arrays now
    **write_observers(_logs, (), lambda mark: None),
}


# Modes in which frameworks report every call, entered while scopes watch.

After = Callable[[Any], None]  # called with the result

_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "div": "/", "floordiv": "//", "mod": "%",
    "pow": "**", "matmul": "@", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "neg": "-", "pos": "+",
    "invert": "~",
}  # fmt: skip


class _Thread(_local):
    """What a thread has entered."""

    def __init__(self) -> None:
        self.modes: dict[str, list[Any]] = {}  # framework -> the mode, and how many scopes use it


_thread = _Thread()


def available_modes() -> list[Hook]:
    """The hooks of imported frameworks that have a mode."""
    return [hook for hook in all_hooks() if hook.watching.mode and hook.framework in sys.modules]


def enter_modes() -> None:
    """Makes every available mode watch this thread."""
    for hook in available_modes():
        if hook.framework not in _thread.modes:
            assert hook.watching.mode is not None  # available_modes checked it
            _thread.modes[hook.framework] = [hook.watching.mode(_watcher(hook)), 0]
        _thread.modes[hook.framework][1] += 1


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
    for framework, entry in list(_thread.modes.items()):
        entry[1] -= 1
        if entry[1] <= 0 and entry[0].leave():
            del _thread.modes[framework]


def _is_covered(operands: tuple[Any, ...]) -> bool:
    """Whether a mode of this thread watches arrays such as these."""
    kinds = [o.signature.kind for o in operands if type(o) is Note] if _thread.modes else []
    return any(ARRAYS[kind].hook.framework in _thread.modes for kind in kinds)


def _watcher(hook: Hook) -> Callable[[Any, tuple[Any, ...], dict[str, Any]], After | None]:
    def watch(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> After | None:
        """Judges a call that is about to run; returns a callback for its result."""
        name = getattr(function, "__name__", None)
        if not _active_scopes() or type(name) is not str:
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
    _check(PendingOperation(mark, None, operands), caller, is_in_mode=True)
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
    given: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    for name, arg in given:
        called.add(name, arg)
    mark = _mark(caller, hook, "call", callee.name, 0)
    operands = tuple(called.notes)
    if any([type(operand) in (Note, tuple) for operand in operands]):
        pending = PendingOperation(mark, callee, operands, called.flags)
        _check(pending, caller, is_in_mode=True)
    if is_observed(caller.f_code):
        return None
    return lambda result: _log(lambda log: log.call(mark, called, result))


def _log(add: Callable[[Any], None]) -> None:
    for scope in _active_scopes():
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
