"""The observers of `x[i] = value`. Only a write that may cast is logged; every other one costs a
check of a type."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from castwise.auditing.observing.arrays import ARRAYS, NUMBERS, is_array_type, note
from castwise.auditing.observing.log import LOG, Log
from castwise.auditing.observing.observe import NOTES
from castwise.auditing.observing.scopes import logs
from castwise.auditing.rewriting.writes import INTO, WRITE
from castwise.errors import UsageError
from castwise.vocab.live import to_dtype

_MOST_ELEMENTS = 64  # longest list of numbers that is read
_NOTHING = object()
_frame = sys._getframe


def _audit_logs() -> list[Log]:
    return [LOG]


def observers(find_logs: Callable[[], list[Log]]) -> dict[str, Any]:
    """The observers of writes, which log to the logs that are found."""

    def write(mark: int, value: Any, target: Any = _NOTHING) -> Any:
        """Logs a write into a target, or keeps its value until the target is known."""
        if target is _NOTHING:
            NOTES[mark, id(_frame(1))] = value
        elif type(target) in ARRAYS or is_array_type(type(target)):
            _log(mark, target, value, find_logs)
        return value

    def into(mark: int, target: Any) -> Any:
        """Logs a write of the value kept before."""
        value = NOTES.pop((mark, id(_frame(1))), None)
        if type(target) in ARRAYS or is_array_type(type(target)):
            _log(mark, target, value, find_logs)
        return target

    return {WRITE: write, INTO: into}


def _log(mark: int, target: Any, value: Any, find_logs: Callable[[], list[Log]]) -> None:
    try:
        noted = _told(value)
        if noted is None or not _may_cast(target, value, noted):
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
    kind = type(value)
    if kind not in (list, tuple):
        return note(value)
    if not 0 < len(value) <= _MOST_ELEMENTS or not all([type(v) in NUMBERS for v in value]):
        return None
    return next((v for v in value if type(v) is complex or _has_fraction(v)), value[0])


def _may_cast(target: Any, value: Any, noted: Any) -> bool:
    """Whether a write may lose something: arrays of two dtypes, or a fraction among integers."""
    held = ARRAYS[type(target)].read(target)[0]
    if type(value) in ARRAYS:
        return bool(noted.signature.dtype != held)
    return _has_fraction(noted) and _kind(held) == "int"


def _has_fraction(number: Any) -> bool:
    return type(number) is float and not number.is_integer()


@functools.lru_cache(maxsize=256, typed=True)
def _kind(dtype: Any) -> str:
    try:
        return to_dtype(dtype).kind
    except UsageError:
        return ""


OF_THE_AUDIT = observers(_audit_logs)
OF_SCOPES = observers(logs)
