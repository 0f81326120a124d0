"""Where each live array was created, without keeping it alive."""

from __future__ import annotations

import weakref
from typing import Any

_SCALARS_KEPT = 4096
_LEAST_SWEEP = 4096

# By id. The entry of a dead array stays until the next sweep: for small arrays, a weak reference
# with a callback costs more than the array operation itself.
MADE: dict[int, tuple[weakref.ref[Any], int]] = {}
_sweep_at = _LEAST_SWEEP
# NumPy scalars support no weak references: the last few are kept alive so that their ids stay
# unique.
_scalars: dict[int, tuple[Any, int]] = {}

_ref = weakref.ref


def remember(thing: Any, mark: int) -> None:
    """Records the site that created an array."""
    try:
        MADE[id(thing)] = (_ref(thing), mark)
    except TypeError:
        if len(_scalars) >= _SCALARS_KEPT:
            _scalars.clear()
        _scalars[id(thing)] = (thing, mark)
        return
    if len(MADE) > _sweep_at:
        _sweep()


def drop(thing: Any) -> None:
    """Forgets the site that created an array."""
    MADE.pop(id(thing), None)


def _sweep() -> None:
    """Drops the entries of dead arrays; the next sweep comes when the number has doubled."""
    global _sweep_at
    for place, (ref, _) in list(MADE.items()):
        if ref() is None:
            MADE.pop(place, None)
    _sweep_at = max(_LEAST_SWEEP, 2 * len(MADE))


def maker_of(thing: Any, owner: str = "") -> int:
    """The mark of the site that created an array or its base; 0 if unknown."""
    place = id(thing)
    found = MADE.get(place)
    if found is not None and found[0]() is thing:
        return found[1]
    scalar = _scalars.get(place)
    if scalar is not None:
        return scalar[1]
    owned = getattr(thing, owner, None) if owner else None
    return 0 if owned is None or owned is thing else maker_of(owned)
