"""What is recorded about the arguments of a call, and what may be hidden in the others."""

from __future__ import annotations

import types
from typing import Any

from castwise.auditing.observing.arrays import NUMBERS, is_array_type, note, numbers_in

_MOST_ELEMENTS = 64  # longest list of arrays that is read, as for concatenate and stack
_DEEPEST = 3  # of lists in lists
_PLAIN = frozenset(
    {type(None), str, bytes, slice, type(...), range, type, types.ModuleType, *NUMBERS}
)
# Objects of frameworks that hold no numbers: what a dtype, a device or a random generator is called
# everywhere.
_PLAIN_NAMES = frozenset(
    {"dtype", "DType", "device", "Device", "Size", "layout", "memory_format", "Generator",
     "RandomState", "TensorShape"}
)  # fmt: skip
CALLS, HIDES, SHOWS = 2, 1, 0
_known: dict[int, int] = {}  # by the id of a type, so that no class of the user is kept alive


def noted(thing: Any) -> Any:
    """The note of an argument; a list or tuple with arrays becomes the tuple of their notes."""
    kind = type(thing)
    if kind is list or kind is tuple:
        return _listed(thing, 1)
    return note(thing)


def _listed(things: Any, depth: int) -> Any:
    if not things or len(things) > _MOST_ELEMENTS:
        return None
    kinds = set(map(type, things))
    if any([is_array_type(kind) for kind in kinds]):
        return tuple([noted(thing) if depth < _DEEPEST else note(thing) for thing in things])
    if list not in kinds and tuple not in kinds:
        return numbers_in(things)
    rows = [_listed(t, depth + 1) if type(t) in _LISTS else note(t) for t in things]
    if depth < _DEEPEST and any([type(row) is tuple for row in rows]):
        return tuple(rows)
    return numbers_in(things)


_LISTS = (list, tuple)


def shows(thing: Any) -> int:
    """Whether an argument without a note may hold arrays (HIDES) or run code (CALLS)."""
    kind = type(thing)
    if kind in _PLAIN:
        return SHOWS
    if kind in _LISTS:
        return max([shows(part) for part in thing[:_MOST_ELEMENTS]], default=SHOWS)
    known = _known.get(id(kind))
    if known is None:
        known = _known[id(kind)] = _kind_shows(kind)
    return known


def _kind_shows(kind: type) -> int:
    names = {base.__name__ for base in kind.__mro__}
    if issubclass(kind, type) or names & _PLAIN_NAMES:
        return SHOWS
    return CALLS if any("__call__" in vars(base) for base in kind.__mro__) else HIDES


def arrays_of(result: Any) -> list[Any]:
    """The arrays that a call returned in a list or tuple, if not too many."""
    for kind in _LISTS:
        if issubclass(type(result), kind):  # read as such, because a subclass may run code
            parts = zip(range(_MOST_ELEMENTS), kind.__iter__(result), strict=False)
            return [part for _, part in parts if is_array_type(type(part))]
    return []
