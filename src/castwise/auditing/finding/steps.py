"""Every observed event with what it does to dtypes, in the order of the log."""

from __future__ import annotations

from typing import NamedTuple

from castwise.auditing.finding.observed import observed_of
from castwise.auditing.finding.operations import Harmless, NotUnderstood, understand
from castwise.auditing.finding.writes import with_unsafe_output, write_of
from castwise.auditing.records.events import Event, Seen
from castwise.auditing.records.findings import Operation
from castwise.auditing.records.places import LocatedSite


class Step(NamedTuple):
    """An event and how it is understood."""

    event: Event
    located: LocatedSite
    operation: Operation | None = None  # None: there is no rule for it, or it needs none
    passes_dtype: bool = False  # its result has the dtype of an operand, whatever that is
    unclear: str = ""  # why it is not understood


def steps_of(events: tuple[Event, ...], seen: Seen) -> tuple[Step, ...]:
    """The steps of events."""
    return tuple([_step(event, seen) for event in events])


def _step(event: Event, seen: Seen) -> Step:
    located = seen.site(event)
    for decided in (write_of, observed_of):
        found = decided(event, located.site, seen.facts.dialects)
        if found is not None:
            return Step(event, located, found)
    try:
        found = understand(event, located.site, seen.facts.dialects)
        return Step(event, located, with_unsafe_output(found))
    except Harmless as harmless:
        return Step(event, located, passes_dtype=not harmless.is_explicit)
    except NotUnderstood as reason:
        return Step(event, located, unclear=str(reason))
