"""Keeps what one thread does for a while out of the log."""

from __future__ import annotations

import contextlib
from _thread import allocate_lock, get_ident
from collections.abc import ItemsView, Iterator
from typing import Any

from castwise.auditing.noting.log import LOG, EventKey, Tally

_one_at_a_time = allocate_lock()


class _OfOneThread:
    """A dictionary that has another one in its place for one thread."""

    def __init__(self, everyones: dict[Any, Any], own: dict[Any, Any]) -> None:
        self._everyones, self._own, self._thread = everyones, own, get_ident()

    def _mine(self) -> dict[Any, Any]:
        return self._own if get_ident() == self._thread else self._everyones

    def get(self, key: Any, default: Any = None) -> Any:
        return self._mine().get(key, default)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._mine()[key] = value

    def __len__(self) -> int:
        return len(self._mine())

    def items(self) -> ItemsView[Any, Any]:
        """What a report has: that of all other threads."""
        return self._everyones.items()


@contextlib.contextmanager
def aside() -> Iterator[dict[EventKey, Tally] | None]:
    """Gives this thread a log of its own, in the order in which things happen; None if another
    thread has one now."""
    if not _one_at_a_time.acquire(blocking=False):
        yield None
        return
    events: dict[EventKey, Tally] = {}
    log: Any = LOG  # whose dictionaries are exchanged for something like them
    kept = log.events, log.losses
    log.events, log.losses = _OfOneThread(kept[0], events), _OfOneThread(kept[1], {})
    try:
        yield events
    finally:
        log.events, log.losses = kept
        _one_at_a_time.release()
