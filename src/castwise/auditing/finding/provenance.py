"""Where dtypes come from: followed from an array back through the operations that made it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from castwise.auditing.hook import find_hook
from castwise.auditing.records.events import Event, SeenArray, arrays_in


class Provenance:
    """Which arrays the operations of a program made from which."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._made_by: dict[tuple[int, str | None], list[Event]] = {}
        for event in events:
            if event.result is not None:
                self._made_by.setdefault((event.mark, event.result.dtype), []).append(event)

    def origin(self, array: SeenArray) -> int:
        """The mark of the site where an array's dtype first appeared: the nearest one that made it
        from no array of that dtype. 0 if unknown."""
        return self._origin(array, set()) or array.maker

    def nearest(self, array: SeenArray, names: Collection[str]) -> int:
        """The mark of the nearest site, on the way back from an array, that calls one of these
        names; the site that made the array if there is none."""
        waiting, visited = [array], set[int]()
        while waiting:
            maker, dtype = (found := waiting.pop(0)).maker, found.dtype
            for event in self._made_by.get((maker, dtype), ()) if maker not in visited else ():
                if event.call is not None and event.call.name in names:
                    return maker
                waiting += arrays_in(event.operands)
            visited.add(maker)
        return array.maker

    def _origin(self, array: SeenArray, visited: set[int]) -> int:
        """As above; 0 if every path leads back to a site that was visited."""
        maker = array.maker
        if maker in visited:
            return 0
        visited.add(maker)
        events = self._made_by.get((maker, array.dtype))
        if events is None:
            return maker  # it made the array as a part, such as a column, or was not seen
        for event in events:
            taken = () if _gives_indices(event) else event.operands
            sources = [a for a in arrays_in(taken) if a.dtype == array.dtype and a.maker]
            if not sources:
                return maker
            for source in sources:
                origin = self._origin(source, visited)
                if origin:
                    return origin
        return 0


def _gives_indices(event: Event) -> bool:
    """Whether a call gives positions or counts: their dtype comes from no operand."""
    hook = find_hook(event.call.module) if event.call is not None else None
    return hook is not None and event.call.name in hook.calls.indices.split()  # type: ignore[union-attr]
