"""The observers the rewritten source calls. Each returns what it is given.

They are the only code of castwise that runs between the user's operations, so the common case is
one look at a type; everything else happens once arrays are seen.
"""

from __future__ import annotations

import builtins
import sys
from typing import Any

from castwise.auditing.observing.arrays import ARRAYS, NUMBERS, Note, is_array_type, note
from castwise.auditing.observing.callees import pending_call
from castwise.auditing.observing.log import LOG, SITES
from castwise.auditing.rewriting import rewrite

_frame = sys._getframe

_RUNS_TO_QUIET = 1000  # evaluations about plain numbers after which a site is no longer observed
_MOST_NOTES = 1 << 16  # of operations that have begun; those that raised never end

_quiet: set[int] = set()
_runs: dict[int, int] = {}
# By mark and frame: no frame runs one operation twice at a time, and no two live frames have one
# id, in whatever threads, generators and coroutines they are.
NOTES: dict[tuple[int, int], Any] = {}
_kept: dict[tuple[int, str, int], Any] = {}


def left(mark: int, thing: Any) -> Any:
    """Notes the first operand of an operator."""
    if mark not in _quiet:
        note_operand(mark, thing, id(_frame(1)))
    return thing


def right(mark: int, thing: Any) -> Any:
    """Notes the second operand of an operator."""
    if mark not in _quiet:
        note_operand(~mark, thing, id(_frame(1)))
    return thing


def note_operand(mark: int, thing: Any, frame: int) -> None:
    """Notes an operand; the second one's mark is inverted."""
    try:
        if len(NOTES) > _MOST_NOTES:
            NOTES.clear()
        NOTES[mark, frame] = note(thing)
    except RecursionError:
        pass
    except Exception as error:
        LOG.failed(error)


def post(mark: int, result: Any, first: Any, second: Any = None) -> Any:
    """Logs an operator's result with its operands; `...` stands for one noted before."""
    kind = type(result)
    if kind in ARRAYS or (kind not in NUMBERS and is_array_type(kind)):
        _log(mark, result, first, second, id(_frame(1)))
    return result


def settle(mark: int, result: Any, first: Any, second: Any = None) -> Any:
    """As post, and quiets a site that has always been about plain numbers."""
    kind = type(result)
    if kind in ARRAYS or (kind not in NUMBERS and is_array_type(kind)):
        if mark in _quiet:
            return peek(mark, result)
        _runs[mark] = _RUNS_TO_QUIET  # never quiet
        _log(mark, result, first, second, id(_frame(1)))
    elif mark not in _quiet:
        _settle(mark)
    return result


def _settle(mark: int) -> None:
    """Counts a run without arrays; a site that has seen none for long is no longer observed."""
    runs = _runs[mark] = _runs.get(mark, 0) + 1
    if runs == _RUNS_TO_QUIET:
        _quiet.add(mark)
        LOG.quieted.add(mark)


def _log(mark: int, result: Any, first: Any, second: Any, frame: int) -> None:
    try:
        known = _known(mark, first, second, frame)
        if not LOG.again(mark, known, result):
            LOG.operator(mark, _noted(known), result)
    except RecursionError:
        pass
    except Exception as error:
        LOG.failed(error)


def operands(mark: int, first: Any, second: Any, frame: int) -> tuple[Any, ...]:
    """The notes of an operator's operands, taken back where they were noted before."""
    return _noted(_known(mark, first, second, frame))


def _known(mark: int, first: Any, second: Any, frame: int) -> tuple[Any, ...]:
    """An operator's operands, or their notes where they were noted before."""
    one = NOTES.pop((mark, frame), None) if first is ... else first
    if len(SITES[mark].literals) == 1:
        return (one,)
    return one, NOTES.pop((~mark, frame), None) if second is ... else second


def _noted(known: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([o if type(o) is Note else note(o) for o in known])


def peek(mark: int, result: Any) -> Any:
    """Looks at the result of a quiet site, and wakes it when arrays have come."""
    kind = type(result)
    if kind not in NUMBERS and is_array_type(kind):
        _quiet.discard(mark)
        _runs[mark] = _RUNS_TO_QUIET  # never quiet again
        LOG.woken(mark)
    return result


def callee(mark: int, function: Any) -> Any:
    """Notes what is called."""
    if mark in _quiet:
        return function
    try:
        NOTES[mark, id(_frame(1))] = pending_call(function)
    except RecursionError:  # the program is about to have its own; call nothing here
        pass
    except Exception as error:
        LOG.failed(error)
    return function


def argument(mark: int, name: int | str, thing: Any) -> Any:
    """Notes an argument of a call that matters."""
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
    """Logs what a call returns, and quiets a call that has never taken or made arrays."""
    if mark in _quiet:
        return peek(mark, result)
    try:
        called = NOTES.pop((mark, id(_frame(1))), None)
        kind = type(result)
        if called is not None:
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


def key(mark: int, part: str) -> tuple[int, str, int]:
    """Where a part of an augmented assignment is kept while it runs."""
    return mark, part, id(_frame(1))


def forget(mark: int) -> None:
    """Lets go of the parts of an augmented assignment."""
    for part in ("object", "index", "value"):
        _kept.pop((mark, part, id(_frame(1))), None)


class _Index:
    """`index[1:2, ...]` is the index as an object."""

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
}


def put(observers: dict[str, Any]) -> None:
    """Puts observers where rewritten modules find them: no namespace of theirs changes."""
    for name, observer in observers.items():
        setattr(builtins, name, observer)
