"""Operations that run inside libraries and in backward, outside the user's source."""

from __future__ import annotations

from typing import Any

from castwise.auditing.noting.arrays import NUMBERS, is_array_type, note
from castwise.auditing.noting.callees import InsideCallee, given_dtype
from castwise.auditing.noting.log import LOG, Tally

_MOST_ELEMENTS = 64  # of a list of arrays


PLAIN: dict[int, int] = {}  # thread -> operations whose arrays were all of one dtype


def log_inside(
    mark: int, callee: InsideCallee, args: Any, keywords: Any, result: Any
) -> Tally | None:
    """Counts an operation on arrays, at a site in the user's source, and returns its tally."""
    try:
        made = _first_array(result)
        if made is None:
            return None
        operands = tuple([_noted(thing) for thing in args])
        given = given_dtype(keywords.get("dtype"))
        return LOG.call_inside(mark, callee, operands, (given, True, False, len(operands)), made)
    except Exception as error:
        LOG.failed(error)
        return None


def _first_array(result: Any) -> Any:
    if is_array_type(type(result)):
        return result
    if type(result) in (list, tuple):
        return next((part for part in result if is_array_type(type(part))), None)
    return None


def _noted(thing: Any) -> Any:
    kind = type(thing)
    if kind in NUMBERS:
        return thing
    if kind in (list, tuple):
        if 0 < len(thing) <= _MOST_ELEMENTS and is_array_type(type(thing[0])):
            return tuple([note(element) for element in thing])
        return None
    return note(thing)
