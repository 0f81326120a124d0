"""Chooses the observers that rewritten modules call.

Rewritten modules call observers by name. Which ones they find depends on who watches: nobody, only
the audit of the process, or scopes too; what is off costs nothing.
"""

from __future__ import annotations

import sys
from _thread import allocate_lock
from types import FrameType
from typing import Any

from castwise.auditing import observers, rewriting, scopes
from castwise.auditing.arrays import ARRAYS, NUMBERS, Note, PendingCall, is_array_type, pending_call
from castwise.auditing.log import SITES, PendingOperation
from castwise.auditing.observers import NOTES, OF_SCOPES, note_operand, operands, peek
from castwise.auditing.rewriting import BASE, INTO, PART, TOOK, WRITE
from castwise.auditing.scopes import AuditScope, active_scopes, is_covered, is_watched, logs

_lock = allocate_lock()
_entered = 0  # number of scopes in all threads and tasks


def enter(scope: AuditScope) -> None:
    """Starts a scope, for this thread or task."""
    scopes.add(scope)
    _switch(1)


def leave(scope: AuditScope) -> None:
    """Ends the latest entry of this scope."""
    scopes.remove(scope)
    _switch(-1)


def enter_everywhere(scope: AuditScope) -> None:
    """Starts a scope of the whole process, which does not end."""
    scopes.add_everywhere(scope)
    _switch(1)


def record() -> None:
    """Starts the audit of the process."""
    scopes.set_recording()
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
            observers.put(observers.OBSERVERS | WATCHING)
        elif scopes.is_recording():
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
         rewriting.CALLEE, rewriting.RETURNED, rewriting.TEXT, WRITE, INTO, PART, BASE, TOOK),
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
    if not is_watched():
        return thing
    frame = _frame(1)
    note_operand(mark, thing, id(frame))
    literals = SITES[mark].literals
    if len(literals) == 1 or literals[1] is not None:
        check_operator(mark, frame)
    return thing


def right(mark: int, thing: Any) -> Any:
    """Records the second operand of an operator, and judges the operation."""
    if not is_watched():
        return thing
    frame = _frame(1)
    note_operand(~mark, thing, id(frame))
    check_operator(mark, frame)
    return thing


def check_operator(mark: int, frame: FrameType) -> None:
    """Judges an operator whose operands have been recorded."""
    known = []
    for place, literal in zip((mark, ~mark), SITES[mark].literals, strict=False):
        if literal is None and (place, id(frame)) not in NOTES:
            return  # the operand is read after the operation: the file was not rewritten for checks
        known.append(NOTES[place, id(frame)] if literal is None else literal)
    if any([type(operand) is Note for operand in known]):
        _check(mark, None, tuple(known), (), frame)


def _check(mark: int, callee: Any, known: tuple[Any, ...], flags: Any, frame: FrameType) -> None:
    for scope in active_scopes():
        if scope.is_checking and not is_covered(known, ARRAYS):
            scope.check(PendingOperation(mark, callee, known, flags), frame)


def post(mark: int, result: Any, first: Any, second: Any = None) -> Any:
    """Logs an operator's result with its operands; `...` stands for one recorded before."""
    kind = type(result)
    if kind in NUMBERS or not is_array_type(kind):
        return result
    found = logs()
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
    if not is_watched():
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
        _check(mark, called.callee, known, called.flags, frame)


def returned(mark: int, result: Any) -> Any:
    """Logs what a call returns."""
    called = NOTES.pop((mark, id(_frame(1))), None)
    found = logs()
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


WATCHING: dict[str, Any] = {
    rewriting.LEFT: left,
    rewriting.RIGHT: right,
    rewriting.POST: post,
    rewriting.SETTLE: post,
    rewriting.PEEK: peek,
    rewriting.CALLEE: callee,
    rewriting.ARGUMENT: argument,
    rewriting.RETURNED: returned,
    rewriting.QUIET: frozenset(),  # a quiet site may see arrays now
    **OF_SCOPES,
}
