"""The observers the rewritten source calls. Each returns what it is given.

They are the only code of castwise that runs between the user's operations, so the common case is
one look at a type; everything else happens once arrays are seen.
"""

from __future__ import annotations

import builtins
import threading
from typing import Any, TypeAlias

from castwise.auditing import rewrite
from castwise.auditing.arrays import ARRAYS, NUMBERS, is_array_type, note
from castwise.auditing.callees import called_by
from castwise.auditing.log import LOG

Notes: TypeAlias = "dict[Any, Any]"

_RUNS_TO_QUIET = 1000  # evaluations about plain numbers after which a site is no longer observed

_quiet: set[int] = set()
_runs: dict[int, int] = {}
_thread = threading.local()


def left(notes: Notes, mark: int, thing: Any) -> Any:
    """Notes the first operand of an operator."""
    notes[mark] = thing if type(thing) in NUMBERS else note(thing)
    return thing


def right(notes: Notes, mark: int, thing: Any) -> Any:
    """Notes the second operand of an operator."""
    notes[~mark] = thing if type(thing) in NUMBERS else note(thing)
    return thing


def post(notes: Notes, mark: int, result: Any) -> Any:
    """Logs an operator's result with the operands noted before."""
    kind = type(result)
    if kind in ARRAYS or (kind not in NUMBERS and is_array_type(kind)):
        LOG.operator(mark, notes.pop(mark, None), notes.pop(~mark, None), result)
    return result


def settle(notes: Notes, mark: int, result: Any) -> Any:
    """As post, and quiets a site that has always been about plain numbers."""
    kind = type(result)
    if kind in NUMBERS:
        runs = _runs[mark] = _runs.get(mark, 0) + 1
        if runs == _RUNS_TO_QUIET:
            _quiet.add(mark)
            LOG.quieted.add(mark)
    elif kind in ARRAYS or is_array_type(kind):
        _runs[mark] = _RUNS_TO_QUIET  # never quiet
        LOG.operator(mark, notes.pop(mark, None), notes.pop(~mark, None), result)
    return result


def peek(mark: int, result: Any) -> Any:
    """Looks at the result of a quiet site, and wakes it when arrays have come."""
    kind = type(result)
    if kind not in NUMBERS and is_array_type(kind):
        _quiet.discard(mark)
        LOG.woken(mark)
    return result


def callee(notes: Notes, mark: int, function: Any) -> Any:
    """Notes what is called."""
    notes[mark] = called_by(function)
    return function


def argument(notes: Notes, mark: int, name: int | str, thing: Any) -> Any:
    """Notes an argument of a call that matters."""
    called = notes.get(mark)
    if called is not None:
        called.take(name, thing)
    return thing


def returned(notes: Notes, mark: int, result: Any) -> Any:
    """Logs what a call returns."""
    called = notes.pop(mark, None)
    kind = type(result)
    if called is not None:
        LOG.call(mark, called, result)
    elif kind in ARRAYS or (kind not in NUMBERS and is_array_type(kind)):
        LOG.passed(mark, result)
    return result


def thread_notes() -> Notes:
    """The notes of functions whose local variables must stay as they are."""
    try:
        return _thread.notes  # type: ignore[no-any-return]
    except AttributeError:
        _thread.notes = {}
        return _thread.notes  # type: ignore[no-any-return]


class _Index:
    """`index[1:2, ...]` is the index as an object."""

    def __getitem__(self, index: Any) -> Any:
        return index


def install() -> None:
    """Puts the observers where rewritten modules find them: no namespace of theirs changes."""
    names = {
        rewrite.LEFT: left,
        rewrite.RIGHT: right,
        rewrite.POST: post,
        rewrite.SETTLE: settle,
        rewrite.PEEK: peek,
        rewrite.CALLEE: callee,
        rewrite.ARGUMENT: argument,
        rewrite.RETURNED: returned,
        rewrite.QUIET: _quiet,
        rewrite.THREAD_NOTES: thread_notes,
        rewrite.TOP_NOTES: {},
        rewrite.INDEX: _Index(),
    }
    for name, observer in names.items():
        setattr(builtins, name, observer)
