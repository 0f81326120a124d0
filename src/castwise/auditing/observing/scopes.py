"""Who watches here and now: the process's own audit, and the scopes of this thread or task.

Rewritten modules call observers by name. Which ones they find depends on who watches: nobody,
the audit of the process alone, or scopes too; so that what is off costs nothing.
"""

from __future__ import annotations

from _thread import allocate_lock
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol

from castwise.auditing.observing import observe
from castwise.auditing.observing.log import LOG, Begun, Log
from castwise.auditing.rewriting import rewrite

if TYPE_CHECKING:
    from types import FrameType


class Scope(Protocol):
    """Something that watches operations, or judges them before they run."""

    log: Log | None  # where what is seen goes
    is_checking: bool

    def check(self, begun: Begun, frame: FrameType) -> None:
        """Judges an operation that is about to run; an error it raises is the program's."""


_here: ContextVar[tuple[Scope, ...]] = ContextVar("castwise scopes", default=())
_everywhere: list[Scope] = []  # of the whole process
_lock = allocate_lock()
_entered = 0  # scopes of all threads and tasks
_is_recording = False  # whether the process is audited


def scopes() -> tuple[Scope, ...]:
    """The scopes that watch this thread or task."""
    return (*_everywhere, *_here.get()) if _everywhere else _here.get()


def is_watched() -> bool:
    """Whether anybody looks at what this thread or task does."""
    return _is_recording or bool(scopes())


def logs() -> list[Log]:
    """Where to log what this thread or task does."""
    found = [scope.log for scope in scopes() if scope.log is not None]
    return [LOG, *found] if _is_recording else found


def enter(scope: Scope) -> None:
    """Begins a scope, for this thread or task."""
    _here.set((*_here.get(), scope))
    _count(1)


def leave(scope: Scope) -> None:
    """Ends the scope that was entered last of those that are this one."""
    found = list(_here.get())
    for place in reversed(range(len(found))):
        if found[place] is scope:
            del found[place]
            break
    _here.set(tuple(found))
    _count(-1)


def enter_everywhere(scope: Scope) -> None:
    """Begins a scope of the whole process, which does not end."""
    _everywhere.append(scope)
    _count(1)


def record() -> None:
    """Says that the process is audited."""
    global _is_recording
    _is_recording = True
    _count(0)


def prepare() -> None:
    """Makes sure that rewritten functions find observers, whoever watches."""
    _count(0)


def _count(change: int) -> None:
    global _entered
    with _lock:
        _entered += change
        if _entered:
            from castwise.auditing.observing.watching import WATCHING  # which needs the scopes

            observe.put(observe.OBSERVERS | WATCHING)
        elif _is_recording:
            observe.put(observe.OBSERVERS)
        else:
            observe.put(observe.OBSERVERS | _IDLE)


def _pass(mark: int, thing: Any, *others: Any) -> Any:
    return thing


def _pass_argument(mark: int, name: int | str, thing: Any) -> Any:
    return thing


_IDLE: dict[str, Any] = {
    **dict.fromkeys(
        (rewrite.LEFT, rewrite.RIGHT, rewrite.POST, rewrite.SETTLE, rewrite.PEEK, rewrite.CALLEE,
         rewrite.RETURNED),
        _pass,
    ),
    rewrite.ARGUMENT: _pass_argument,
    rewrite.QUIET: frozenset(),
}  # fmt: skip
