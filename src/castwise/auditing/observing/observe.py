"""The observers that rewritten source calls. Each returns its argument.

They are the only code of castwise that runs between the user's operations, so the common case is
one check of a type; everything else happens only for arrays.
"""

from __future__ import annotations

import builtins
import sys
from types import CodeType, FunctionType
from typing import Any

from castwise.auditing.noting import alive, makers
from castwise.auditing.noting.arrays import ARRAYS, NUMBERS, Note, Numbers, is_array_type, note
from castwise.auditing.noting.callees import is_observed, pending_call
from castwise.auditing.noting.log import LOG, SITES
from castwise.auditing.observing import items, writes
from castwise.auditing.observing.compilations import CompiledCall, compiled, compiled_call
from castwise.auditing.observing.states import STATEFUL, returned_state
from castwise.auditing.rewriting import rewrite
from castwise.auditing.rewriting.released import RELEASE

_frame = sys._getframe

_RUNS_TO_QUIET = 1000  # evaluations with plain numbers after which a site is no longer observed
_MOST_NOTES = 1 << 16  # of unfinished operations; those that raised never finish

_quiet: set[int] = set()
_runs: dict[int, int] = {}
# By mark and frame: no frame runs one operation twice at a time, and no two live frames share an
# id, in any thread, generator or coroutine.
NOTES: dict[tuple[int, int], Any] = {}
_kept: dict[tuple[int, str, int], Any] = {}


def left(mark: int, thing: Any) -> Any:
    """Records the first operand of an operator."""
    if mark not in _quiet:
        note_operand(mark, thing, id(_frame(1)))
    return thing


def right(mark: int, thing: Any) -> Any:
    """Records the second operand of an operator."""
    if mark not in _quiet:
        note_operand(~mark, thing, id(_frame(1)))
    return thing


def note_operand(mark: int, thing: Any, frame: int) -> None:
    """Records an operand; the second one under the inverted mark."""
    try:
        if len(NOTES) > _MOST_NOTES:
            NOTES.clear()
        NOTES[mark, frame] = note(thing)
    except RecursionError:
        pass
    except Exception as error:
        LOG.failed(error)


def post(mark: int, result: Any, first: Any, second: Any = None) -> Any:
    """Logs an operator's result with its operands; `...` stands for one recorded before."""
    kind = type(result)
    if kind in ARRAYS or (kind not in NUMBERS and is_array_type(kind)):
        log_operator(mark, result, first, second, id(_frame(1)))
    return result


def settle(mark: int, result: Any, first: Any, second: Any = None) -> Any:
    """Like post, but quiets a site that has only seen plain numbers."""
    kind = type(result)
    if kind in ARRAYS or (kind not in NUMBERS and is_array_type(kind)):
        if mark in _quiet:
            return peek(mark, result)
        _runs[mark] = _RUNS_TO_QUIET  # this site is never quieted
        log_operator(mark, result, first, second, id(_frame(1)))
    elif mark not in _quiet:
        _settle(mark)
    return result


def _settle(mark: int) -> None:
    """Counts a run without arrays; a site with many such runs is no longer observed."""
    runs = _runs[mark] = _runs.get(mark, 0) + 1
    if runs == _RUNS_TO_QUIET:
        _quiet.add(mark)
        LOG.quieted.add(mark)


def log_operator(mark: int, result: Any, first: Any, second: Any, frame: int) -> None:
    """Logs an operator's result with its operands."""
    try:
        known = _known(mark, first, second, frame)
        if not LOG.again(mark, known, result):
            LOG.operator(mark, _noted(known), result)
    except RecursionError:
        pass
    except Exception as error:
        LOG.failed(error)


def operands(mark: int, first: Any, second: Any, frame: int) -> tuple[Any, ...]:
    """The notes of an operator's operands, fetched if recorded before."""
    return _noted(_known(mark, first, second, frame))


def _known(mark: int, first: Any, second: Any, frame: int) -> tuple[Any, ...]:
    """An operator's operands, or their notes if recorded before."""
    one = NOTES.pop((mark, frame), None) if first is ... else first
    if len(SITES[mark].literals) == 1:
        return (one,)
    return one, NOTES.pop((~mark, frame), None) if second is ... else second


def _noted(known: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([o if type(o) in _RECORDS else note(o) for o in known])


_RECORDS = (Note, Numbers)


def peek(mark: int, result: Any) -> Any:
    """Checks the result of a quiet site, and reactivates it when it sees arrays."""
    kind = type(result)
    if kind not in NUMBERS and is_array_type(kind):
        _quiet.discard(mark)
        _runs[mark] = _RUNS_TO_QUIET  # this site is never quieted again
        LOG.woken(mark)
    return result


def callee(mark: int, function: Any) -> Any:
    """Records what is called."""
    if mark in _quiet:
        return function
    try:
        called: Any = pending_call(function)
        if called is None and type(function) is not FunctionType:
            called = compiled_call(mark, function)
        NOTES[mark, id(_frame(1))] = called
    except RecursionError:  # the program is about to raise its own error; call nothing here
        pass
    except Exception as error:
        LOG.failed(error)
    return function


def argument(mark: int, name: int | str, thing: Any) -> Any:
    """Records an argument of an observed call."""
    if mark in _quiet:
        return thing
    try:
        called = NOTES.get((mark, id(_frame(1))))
        if called is not None:
            called.add(name, thing)
    except RecursionError:
        pass
    except Exception as error:
        LOG.failed(error)
    return thing


def returned(mark: int, result: Any) -> Any:
    """Logs what a call returns, and quiets a call that has never taken or returned arrays."""
    if mark in _quiet:
        return peek(mark, result)
    try:
        called = NOTES.pop((mark, id(_frame(1))), None)
        kind = type(result)
        if called is not None and type(called) is CompiledCall:
            compiled(called, result)
            called = None
        if called is not None:
            if kind not in ARRAYS and called.callee.module in STATEFUL:
                returned_state(mark, called.callee.module, called.callee.name, result)
            if LOG.call(mark, called, result):
                _runs[mark] = _RUNS_TO_QUIET
            else:
                _settle(mark)
        elif kind in ARRAYS or (kind not in NUMBERS and is_array_type(kind)):
            _runs[mark] = _RUNS_TO_QUIET
            LOG.passed(mark, result)
        else:
            _settle(mark)
    except RecursionError:
        pass
    except Exception as error:
        LOG.failed(error)
    return result


def text(mark: int, code: Any) -> Any:
    """Counts code that exec or eval is about to run, unless it is observed."""
    kind = type(code)
    if kind is str or kind is bytes or (kind is CodeType and not is_observed(code)):
        LOG.texts[mark] = LOG.texts.get(mark, 0) + 1
    return code


def key(mark: int, part: str) -> tuple[int, str, int]:
    """The key of a part of an augmented assignment while it runs."""
    return mark, part, id(_frame(1))


def forget(mark: int) -> None:
    """Drops the parts of an augmented assignment."""
    for part in ("object", "index", "value"):
        _kept.pop((mark, part, id(_frame(1))), None)


def release(thing: Any) -> Any:
    """Drops all references to an array, for a method that refuses if there are any."""
    if type(thing) in ARRAYS:
        makers.drop(thing)
        alive.drop(thing)
    return thing


class _Index:
    """Makes `index[1:2, ...]` the index as an object."""

    def __getitem__(self, index: Any) -> Any:
        return index


OBSERVERS: dict[str, Any] = {
    rewrite.LEFT: left,
    rewrite.RIGHT: right,
    rewrite.POST: post,
    rewrite.SETTLE: settle,
    rewrite.PEEK: peek,
    rewrite.CALLEE: callee,
    rewrite.ARGUMENT: argument,
    rewrite.RETURNED: returned,
    rewrite.QUIET: _quiet,
    rewrite.KEPT: _kept,
    rewrite.KEY: key,
    rewrite.FORGET: forget,
    rewrite.INDEX: _Index(),
    rewrite.TEXT: text,
    RELEASE: release,
    **writes.of_the_audit(_quiet, _settle),
    **items.observers(_quiet, _settle),
}


def put(observers: dict[str, Any]) -> None:
    """Installs observers where rewritten modules find them, without changing the modules'
    namespaces."""
    for name, observer in observers.items():
        setattr(builtins, name, observer)
