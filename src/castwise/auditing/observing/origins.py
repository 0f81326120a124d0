"""Where each live array was made, without keeping it alive."""

from __future__ import annotations

import weakref
from typing import Any

_SCALARS_KEPT = 4096
_LEAST_SWEEP = 4096

# By id. An array that is gone leaves its entry behind until the next sweep: a weak reference that
# tells of its end costs more than the array operation itself where arrays are small.
MADE: dict[int, tuple[weakref.ref[Any], int]] = {}
_sweep_at = _LEAST_SWEEP
# NumPy scalars take no weak references: the last few are kept, so that their ids stay theirs.
_scalars: dict[int, tuple[Any, int]] = {}

_ref = weakref.ref


def remember(thing: Any, mark: int) -> None:
    """Files an array under the site that made it."""
    try:
        MADE[id(thing)] = (_ref(thing), mark)
    except TypeError:
        if len(_scalars) >= _SCALARS_KEPT:
            _scalars.clear()
        _scalars[id(thing)] = (thing, mark)
        return
    if len(MADE) > _sweep_at:
        _sweep()


def _sweep() -> None:
    """Lets go of the entries of arrays that are gone; as many again may come before the next."""
    global _sweep_at
    for place, (ref, _) in list(MADE.items()):
        if ref() is None:
            MADE.pop(place, None)
    _sweep_at = max(_LEAST_SWEEP, 2 * len(MADE))


def origin_of(thing: Any, owner: str = "") -> int:
    """The mark of the site that made an array, or the array it is a view of; 0 where none did."""
    place = id(thing)
    found = MADE.get(place)
    if found is not None and found[0]() is thing:
        return found[1]
    scalar = _scalars.get(place)
    if scalar is not None:
        return scalar[1]
    owned = getattr(thing, owner, None) if owner else None
    return 0 if owned is None or owned is thing else origin_of(owned)
