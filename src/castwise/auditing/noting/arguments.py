"""What is recorded about the arguments of a call, and what may be hidden in the others."""

from __future__ import annotations

import types
from typing import Any

from castwise.auditing.noting.arrays import NUMBERS, is_array_type, note, numbers_in

_MOST_ELEMENTS = 64  # longest list of arrays that is read, as for concatenate and stack
_DEEPEST = 3  # of lists in lists
_PLAIN = frozenset({type(None), str, bytes, slice, type(...), range, types.ModuleType, *NUMBERS})
# Objects of frameworks that hold no numbers: what a device or a random generator is called
# everywhere.
_PLAIN_NAMES = frozenset(
    {"device", "Device", "Size", "layout", "memory_format", "Generator", "RandomState",
     "TensorShape"}
)  # fmt: skip
_DTYPE_NAMES = frozenset({"dtype", "DType"})
# What an argument may do without a note: nothing, name a dtype, hold arrays, run code.
SHOWS, NAMES, HIDES, CALLS = range(4)
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
    """What an argument without a note may do: SHOWS, NAMES, HIDES or CALLS."""
    kind = type(thing)
    if kind in _PLAIN:
        return SHOWS
    kinds = set(map(type, thing[:_MOST_ELEMENTS])) if kind in _LISTS else (kind,)
    return max([_kind_shows(k) for k in kinds], default=SHOWS)


def _kind_shows(kind: type) -> int:
    known = _known.get(id(kind))
    if known is None:
        names = {base.__name__ for base in kind.__mro__}
        if kind in _PLAIN or names & _PLAIN_NAMES:
            known = SHOWS
        elif issubclass(kind, type) or names & _DTYPE_NAMES:
            known = NAMES
        else:
            known = CALLS if any("__call__" in vars(base) for base in kind.__mro__) else HIDES
        _known[id(kind)] = known
    return known


def arrays_of(result: Any) -> list[Any]:
    """The arrays that a call returned in a list or tuple, if not too many."""
    for kind in _LISTS:
        if issubclass(type(result), kind):  # read as such, because a subclass may run code
            parts = zip(range(_MOST_ELEMENTS), kind.__iter__(result), strict=False)
            return [part for _, part in parts if is_array_type(type(part))]
    return []
