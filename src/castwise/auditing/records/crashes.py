"""The error that ended a program, and the operation that raised it."""

from __future__ import annotations

from dataclasses import dataclass

from castwise.auditing.records.events import Event
from castwise.auditing.records.places import CodeSpot, LocatedSite


@dataclass(frozen=True, slots=True)
class CrashedOperation:
    """An operation that may have raised an error, with its operands."""

    event: Event
    located: LocatedSite


@dataclass(frozen=True, slots=True)
class Crash:
    """The error that ended a process."""

    error: str  # its type and its message
    spot: CodeSpot  # the innermost expression of the user
    operations: tuple[CrashedOperation, ...]  # those that may have raised it, likely ones first
    inside: CodeSpot | None = None  # where a library raised it
    is_about_dtypes: bool = False  # a framework says so in its message
