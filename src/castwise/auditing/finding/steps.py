"""Every observed event with what it does to dtypes, in the order of the log."""

from __future__ import annotations

from typing import NamedTuple

from castwise.auditing.finding.observed import as_observed
from castwise.auditing.finding.operations import Harmless, NotUnderstood, understand
from castwise.auditing.finding.own_rules import by_own_rules
from castwise.auditing.finding.writes import with_unsafe_output, write_of
from castwise.auditing.records.events import Event
from castwise.auditing.records.findings import Operation
from castwise.auditing.records.places import LocatedSite
from castwise.auditing.records.seen import Seen


class Step(NamedTuple):
    """An event and how it is understood."""

    event: Event
    located: LocatedSite
    operation: Operation | None = None  # None: there is no rule for it, or it needs none
    passes_dtype: bool = False  # its result has the dtype of an operand, whatever that is
    unclear: str = ""  # why it is not understood
    observed: Operation | None = None  # its casts, if no rule but its dtypes show them
    is_seen: bool = False  # there is no rule, but all its dtypes were seen


def steps_of(events: tuple[Event, ...], seen: Seen) -> tuple[Step, ...]:
    """The steps of events."""
    autocast = {op.mark for op in seen.beyond.autocast_ops}
    return tuple([_step(event, seen, event.mark in autocast) for event in events])


def _step(event: Event, seen: Seen, is_autocast: bool) -> Step:
    located = seen.site(event)
    for decided in (write_of, by_own_rules):
        found = decided(event, located.site, seen.facts.dialects)
        if found is not None:
            return Step(event, located, found)
    try:
        found = understand(event, located.site, seen.facts.dialects)
        return Step(event, located, with_unsafe_output(found))
    except Harmless as harmless:
        return Step(event, located, passes_dtype=not harmless.is_explicit)
    except NotUnderstood as reason:
        found_by_dtypes = _by_dtypes(event, located, seen, str(reason))
        # The section about autocast has its casts, which the program asked for.
        return found_by_dtypes._replace(observed=None) if is_autocast else found_by_dtypes


def _by_dtypes(event: Event, located: LocatedSite, seen: Seen, why: str) -> Step:
    """The step of an event without a rule."""
    if event.inside is not None:
        return Step(event, located, unclear=why)
    try:
        observed = as_observed(event, seen.facts.dialects, why)
    except Harmless as harmless:
        return Step(event, located, passes_dtype=not harmless.is_explicit)
    except NotUnderstood:
        return Step(event, located, unclear=why)
    return Step(event, located, observed=observed, is_seen=True)
