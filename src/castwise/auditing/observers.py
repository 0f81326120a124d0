"""The observers that rewritten source calls. Each returns its argument.

They are the only code of castwise that runs between the user's operations, so the common case is
one check of a type; everything else happens only for arrays.
"""

from __future__ import annotations

import builtins
import functools
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from types import CodeType, FunctionType
from typing import Any

from castwise.auditing import arrays, rewriting
from castwise.auditing.arrays import (
    ARRAYS,
    NUMBERS,
    Note,
    Numbers,
    find_maker,
    is_array_type,
    note,
    remember,
)
from castwise.auditing.calls import is_observed, pending_call
from castwise.auditing.compiled_calls import CompiledCall, compiled_call, log_compilation
from castwise.auditing.hooks import all_hooks
from castwise.auditing.log import LOG, SITES, Log
from castwise.auditing.records import HeldState
from castwise.auditing.saved import dtype_name
from castwise.errors import UsageError
from castwise.vocab.dtypes import dtype
from castwise.vocab.live import to_dtype

# The observers of operators and calls.

_frame = sys._getframe
_RUNS_TO_QUIET = 1000  # evaluations with plain numbers after which a site is no longer observed
_MOST_OPERATIONS = 1 << 16  # of unfinished operations; those that raised never finish

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
        if len(NOTES) > _MOST_OPERATIONS:
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
            log_compilation(called, result)
            called = None
        if called is not None:
            if kind not in ARRAYS and called.callee.module in STATEFUL:
                log_returned_state(mark, called.callee.module, called.callee.name, result)
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
        arrays.drop(thing)
    return thing


class _Index:
    """Makes `index[1:2, ...]` the index as an object."""

    def __getitem__(self, index: Any) -> Any:
        return index


# The observers of `x[i]`: what an index takes from an array has the array's origin.

_MOST_KEPT = 1 << 12  # of unfinished items and writes; those that raised never finish
_NOTHING = object()
_makers: dict[tuple[int, int], int] = {}  # of the array of an index, by mark and frame


def base(mark: int, thing: Any) -> Any:
    """Keeps the maker of an array until something is taken from it."""
    kind = type(thing)
    if mark not in _quiet and (kind in ARRAYS or (kind not in NUMBERS and is_array_type(kind))):
        maker = _maker(thing)
        if maker:
            if len(_makers) > _MOST_KEPT:
                _makers.clear()
            _makers[mark, id(_frame(1))] = maker
    return thing


def took(mark: int, result: Any, thing: Any = _NOTHING) -> Any:
    """Records where an array that was taken from another one comes from; a site that takes none
    is quieted."""
    if mark in _quiet:
        return result
    kind = type(result)
    if kind in NUMBERS or not is_array_type(kind) or ARRAYS[kind].is_scalar:
        _settle(mark)
        return result
    is_known = thing is not _NOTHING
    maker = _maker(thing) if is_known else _makers.pop((mark, id(_frame(1))), 0)
    try:
        if maker and not _maker(result):
            remember(result, maker)
    except RecursionError:
        pass
    except Exception as error:
        LOG.failed(error)
    return result


def _maker(thing: Any) -> int:
    kind = type(thing)
    return find_maker(thing, ARRAYS[kind].owner) if is_array_type(kind) else 0


# The observers of `x[i] = value`. Only a write that may cast is logged; every other one costs a
# check of a type.

_MOST_ELEMENTS = 64  # longest list of numbers that is read
_notes: dict[tuple[int, int], Any] = {}  # the notes of values, by mark and frame


def write_observers(
    find_logs: Callable[[], list[Log]], quiet: Collection[int], settle: Callable[[int], None]
) -> dict[str, Any]:
    """The observers of writes, which log to the logs that are found; `settle` counts a run that
    writes to no array."""

    def write(mark: int, value: Any, target: Any = _NOTHING) -> Any:
        """Logs a write into a target, or keeps its value until the target is known."""
        if mark in quiet:
            return value
        if target is _NOTHING:
            keep(mark, id(_frame(1)), value)
        elif type(target) in ARRAYS or is_array_type(type(target)):
            _log(mark, target, _written_note(value), find_logs)
        else:
            settle(mark)
        return value

    def into(mark: int, target: Any) -> Any:
        """Logs a write of the value kept before."""
        if mark in quiet:
            return target
        log_kept(mark, id(_frame(1)), target, find_logs)
        if not is_array_type(type(target)):
            settle(mark)
        return target

    def part(mark: int, values: Any, number: int, count: int) -> Any:
        """Keeps one of several values that are about to be unpacked."""
        if mark not in quiet:
            keep(mark, id(_frame(1)), unpacked_value(values, number, count))
        return values

    return {rewriting.WRITE: write, rewriting.INTO: into, rewriting.PART: part}


def unpacked_value(values: Any, number: int, count: int) -> Any:
    """One of some values that are unpacked to so many targets; None if reading it would run code of
    the program."""
    is_list = type(values) in (list, tuple) and len(values) == count
    return values[number] if is_list else None


def log_kept(
    mark: int, frame: int, target: Any, find_logs: Callable[[], list[Log]] = lambda: [LOG]
) -> None:
    """Logs the write of a value that was kept."""
    noted = _notes.pop((mark, frame), None)
    if noted is not None and is_array_type(type(target)):
        _log(mark, target, noted, find_logs)


def keep(mark: int, frame: int, value: Any) -> None:
    """Keeps the note of a value until its target is known."""
    noted = _written_note(value)
    if noted is None:
        _notes.pop((mark, frame), None)  # of a write that raised, in a frame with the same id
        return
    if len(_notes) > _MOST_KEPT:
        _notes.clear()
    _notes[mark, frame] = noted


def _log(mark: int, target: Any, noted: Any, find_logs: Callable[[], list[Log]]) -> None:
    try:
        if noted is None or not _may_cast(target, noted):
            return
        operands = (note(target), noted)
        for log in find_logs():
            log.write(mark, operands)
    except RecursionError:
        pass
    except Exception as error:
        LOG.failed(error)


def _written_note(value: Any) -> Any:
    """The note of a value; of a list of numbers, the one that tells most about what is lost."""
    try:
        if type(value) not in (list, tuple):
            return note(value)
        if not 0 < len(value) <= _MOST_ELEMENTS or not all([type(v) in NUMBERS for v in value]):
            return None
        return next(filter(_has_fraction, value), value[0])
    except RecursionError:
        return None
    except Exception as error:
        LOG.failed(error)
        return None


def _may_cast(target: Any, noted: Any) -> bool:
    """Whether a write may lose something: arrays of two dtypes, or a fraction among integers. An
    array of the same floats would, if a fix made the target narrower."""
    held = ARRAYS[type(target)].read(target)[0]
    if type(noted) is Note:
        return bool(noted.signature.dtype != held or (noted.shape and _kind(held) == "float"))
    return _has_fraction(noted) and _kind(held) == "int"


def _has_fraction(number: Any) -> bool:
    return type(number) is float and not number.is_integer()


@functools.lru_cache(maxsize=256, typed=True)
def _kind(dtype: Any) -> str:
    try:
        return to_dtype(dtype).kind
    except UsageError:
        return ""


# The arrays that optimizers keep from step to step.

_MOST_ARRAYS = 100_000
_NARROW = 16  # bits
STATEFUL = frozenset(hook.framework for hook in all_hooks() if hook.inside.states)


def log_states(mark: int, owner: str, named: Iterable[tuple[str, Any]]) -> None:
    """Records the arrays of 16 bits that an optimizer keeps."""
    sizes: dict[tuple[str, str], list[int]] = {}
    for name, thing in named:
        noted = note(thing)
        if type(noted) is not Note:
            continue
        known = dtype_name(noted.signature.dtype)
        if known and dtype(known).kind == "float" and dtype(known).bits == _NARROW:
            sizes.setdefault((name, known), []).append(math.prod(map(int, noted.shape)))
    for (name, known), elements in sizes.items():
        state = HeldState(mark, owner, name, known, len(elements), sum(elements))
        LOG.states[mark, owner, name, known] = state


def log_returned_state(mark: int, module: str, name: str, result: Any) -> None:
    """Records the state that a call returns."""
    if any(name in hook.inside.states.split() for hook in all_hooks() if hook.framework == module):
        log_states(mark, f"{module}'s state", _arrays_in(result))


def _arrays_in(tree: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of nested tuples, lists and dicts, with the name of the field of a named tuple
    that they are in."""
    waiting = [("", tree)]
    for _ in range(_MOST_ARRAYS):
        if not waiting:
            return
        name, thing = waiting.pop()
        fields = getattr(type(thing), "_fields", None)
        if isinstance(thing, tuple) and fields:
            waiting += [(str(field), part) for field, part in zip(fields, thing, strict=True)]
        elif type(thing) in (tuple, list):
            waiting += [(name, part) for part in thing]
        elif type(thing) is dict:
            waiting += [(name, part) for part in thing.values()]
        else:
            yield name, thing


OBSERVERS: dict[str, Any] = {
    rewriting.LEFT: left,
    rewriting.RIGHT: right,
    rewriting.POST: post,
    rewriting.SETTLE: settle,
    rewriting.PEEK: peek,
    rewriting.CALLEE: callee,
    rewriting.ARGUMENT: argument,
    rewriting.RETURNED: returned,
    rewriting.QUIET: _quiet,
    rewriting.KEPT: _kept,
    rewriting.KEY: key,
    rewriting.FORGET: forget,
    rewriting.INDEX: _Index(),
    rewriting.TEXT: text,
    rewriting.RELEASE: release,
    **write_observers(lambda: [LOG], _quiet, _settle),
    rewriting.BASE: base,
    rewriting.TOOK: took,
}


def put(observers: dict[str, Any]) -> None:
    """Installs observers where rewritten modules find them, without changing the modules'
    namespaces."""
    for name, observer in observers.items():
        setattr(builtins, name, observer)
