"""Chooses the observers that rewritten modules call.

Rewritten modules call observers by name. Which ones they find depends on who watches: nobody, only
the audit of the process, or scopes too; what is off costs nothing.
"""

from __future__ import annotations

from _thread import allocate_lock
from typing import Any

from castwise.auditing.observing import observe, scopes
from castwise.auditing.observing.scopes import AuditScope
from castwise.auditing.rewriting import rewrite
from castwise.auditing.rewriting.items import BASE, TOOK
from castwise.auditing.rewriting.writes import INTO, PART, WRITE

_lock = allocate_lock()
_entered = 0  # number of scopes in all threads and tasks


def enter(scope: AuditScope) -> None:
    """Starts a scope, for this thread or task."""
    scopes.add(scope)
    _switch(1)


def leave(scope: AuditScope) -> None:
    """Ends the latest entry of this scope."""
    scopes.remove(scope)
    _switch(-1)


def enter_everywhere(scope: AuditScope) -> None:
    """Starts a scope of the whole process, which does not end."""
    scopes.add_everywhere(scope)
    _switch(1)


def record() -> None:
    """Starts the audit of the process."""
    scopes.set_recording()
    _switch(0)


def prepare() -> None:
    """Makes sure that rewritten functions find observers."""
    _switch(0)


def _switch(change: int) -> None:
    """Counts scopes that start or end, and installs the observers they need."""
    global _entered
    with _lock:
        _entered += change
        if _entered:
            from castwise.auditing.observing.watching import WATCHING  # few programs need it

            observe.put(observe.OBSERVERS | WATCHING)
        elif scopes.is_recording():
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
         rewrite.RETURNED, rewrite.TEXT, WRITE, INTO, PART, BASE, TOOK),
        _pass,
    ),
    rewrite.ARGUMENT: _pass_argument,
    rewrite.QUIET: frozenset(),
}  # fmt: skip
