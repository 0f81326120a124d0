"""Who watches here and now: the process's own audit, and the scopes of this thread or task."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

from castwise.auditing.observing.log import LOG, Log, PendingOperation

if TYPE_CHECKING:
    from types import FrameType


class AuditScope(Protocol):
    """Something that watches operations, or judges them before they run."""

    log: Log | None  # where what is seen goes
    is_checking: bool

    def check(self, pending: PendingOperation, frame: FrameType) -> None:
        """Judges an operation that is about to run; an error it raises is the program's."""


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
    """Whether anybody looks at what this thread or task does."""
    return _is_recording or bool(scopes())


def logs() -> list[Log]:
    """Where to log what this thread or task does."""
    found = [scope.log for scope in scopes() if scope.log is not None]
    return [LOG, *found] if _is_recording else found


def add(scope: AuditScope) -> None:
    """Adds a scope to those of this thread or task."""
    _here.set((*_here.get(), scope))


def remove(scope: AuditScope) -> None:
    """Removes the scope that was added last of those that are this one."""
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
    """Says that the process is audited."""
    global _is_recording
    _is_recording = True
