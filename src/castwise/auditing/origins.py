"""Where each live array was made, without keeping it alive."""

from __future__ import annotations

import weakref
from typing import Any

_SCALARS_KEPT = 4096


class _Ref(weakref.ref):  # type: ignore[type-arg]
    """A weak reference that knows where it is filed."""

    __slots__ = ("mark", "place")
    mark: int
    place: int


_made: dict[int, _Ref] = {}
# NumPy scalars take no weak references: the last few are kept, so that their ids stay theirs.
_scalars: dict[int, tuple[Any, int]] = {}


def remember(thing: Any, mark: int) -> None:
    """Files an array under the site that made it."""
    try:
        ref = _Ref(thing, forget)
    except TypeError:
        if len(_scalars) >= _SCALARS_KEPT:
            _scalars.clear()
        _scalars[id(thing)] = (thing, mark)
        return
    ref.mark, ref.place = mark, id(thing)
    _made[ref.place] = ref


def forget(ref: _Ref) -> None:
    """Called when an array is gone."""
    if _made.get(ref.place) is ref:
        del _made[ref.place]


def origin_of(thing: Any, owner: str = "") -> int:
    """The mark of the site that made an array, or the array it is a view of; 0 where none did."""
    place = id(thing)
    found = _made.get(place)
    if found is not None:
        return found.mark
    scalar = _scalars.get(place)
    if scalar is not None:
        return scalar[1]
    owned = getattr(thing, owner, None) if owner else None
    return 0 if owned is None or owned is thing else origin_of(owned)


def forget_all() -> None:
    """Forgets every array."""
    _made.clear()
    _scalars.clear()
