"""The observers of `x[i] = value`. Only a write that may cast is logged; every other one costs a
check of a type."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Collection
from typing import Any

from castwise.auditing.noting.arrays import ARRAYS, NUMBERS, Note, is_array_type, note
from castwise.auditing.noting.log import LOG, Log
from castwise.auditing.observing.scopes import logs
from castwise.auditing.rewriting.writes import INTO, PART, WRITE
from castwise.errors import UsageError
from castwise.vocab.live import to_dtype

_MOST_ELEMENTS = 64  # longest list of numbers that is read
_MOST_NOTES = 1 << 12  # of unfinished writes; those that raised never finish
_NOTHING = object()
_frame = sys._getframe
_notes: dict[tuple[int, int], Any] = {}  # the notes of values, by mark and frame


def _audit_logs() -> list[Log]:
    return [LOG]


def observers(
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
            _log(mark, target, _told(value), find_logs)
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
            keep(mark, id(_frame(1)), one_of(values, number, count))
        return values

    return {WRITE: write, INTO: into, PART: part}


def one_of(values: Any, number: int, count: int) -> Any:
    """One of some values that are unpacked to so many targets; None if reading it would run code of
    the program."""
    is_list = type(values) in (list, tuple) and len(values) == count
    return values[number] if is_list else None


def log_kept(
    mark: int, frame: int, target: Any, find_logs: Callable[[], list[Log]] = _audit_logs
) -> None:
    """Logs the write of a value that was kept."""
    noted = _notes.pop((mark, frame), None)
    if noted is not None and is_array_type(type(target)):
        _log(mark, target, noted, find_logs)


def keep(mark: int, frame: int, value: Any) -> None:
    """Keeps the note of a value until its target is known."""
    noted = _told(value)
    if noted is None:
        _notes.pop((mark, frame), None)  # of a write that raised, in a frame with the same id
        return
    if len(_notes) > _MOST_NOTES:
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


def _told(value: Any) -> Any:
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


def of_the_audit(quiet: set[int], settle: Callable[[int], None]) -> dict[str, Any]:
    """The observers of the audit of a process."""
    return observers(_audit_logs, quiet, settle)


OF_SCOPES = observers(logs, (), lambda mark: None)
