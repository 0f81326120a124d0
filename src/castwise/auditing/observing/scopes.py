"""Who watches: the audit of the process, and the scopes of this thread or task."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from castwise.auditing.noting.log import LOG, Log, PendingOperation

if TYPE_CHECKING:
    from types import FrameType


class AuditScope(Protocol):
    """A scope that watches operations, or judges them before they run."""

    log: Log | None  # receives what is seen
    is_checking: bool

    def check(self, pending: PendingOperation, frame: FrameType) -> None:
        """Judges an operation that is about to run; the program sees the errors it raises."""


_here: ContextVar[tuple[AuditScope, ...]] = ContextVar("castwise scopes", default=())
_everywhere: list[AuditScope] = []  # of the whole process
_is_recording = False  # whether the process is audited


def scopes() -> tuple[AuditScope, ...]:
    """The scopes that watch this thread or task."""
    return (*_everywhere, *_here.get()) if _everywhere else _here.get()


def is_recording() -> bool:
    """Whether the process is audited."""
    return _is_recording


def is_watched() -> bool:
    """Whether anything watches this thread or task."""
    return _is_recording or bool(scopes())


def logs() -> list[Log]:
    """The logs for this thread or task."""
    found = [scope.log for scope in scopes() if scope.log is not None]
    return [LOG, *found] if _is_recording else found


def add(scope: AuditScope) -> None:
    """Adds a scope to those of this thread or task."""
    _here.set((*_here.get(), scope))


def remove(scope: AuditScope) -> None:
    """Removes the latest entry of this scope."""
    found = list(_here.get())
    for place in reversed(range(len(found))):
        if found[place] is scope:
            del found[place]
            break
    _here.set(tuple(found))


def add_everywhere(scope: AuditScope) -> None:
    """Adds a scope of the whole process, which does not end."""
    _everywhere.append(scope)


def set_recording() -> None:
    """Marks the process as audited."""
    global _is_recording
    _is_recording = True
