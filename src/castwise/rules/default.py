"""The dialect of a question that names none: what `use`, `set_default` or the environment chose."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import ContextDecorator
from contextvars import ContextVar, Token

from castwise.errors import UsageError
from castwise.rules.catalog import checked, dialect_named
from castwise.rules.dialect import Dialect

DEFAULT = "numpy"
STANDARD = "array-api"  # the dialect of castwise.array_api outside of `use`
VARIABLE = "CASTWISE_DIALECT"  # the environment variable that names the default of a process
# What `use` chose; None outside every block.
chosen_dialect: ContextVar[Dialect | None] = ContextVar("castwise dialect", default=None)
# What `set_default` or the environment chose: one entry, or none before the first use.
of_process: list[Dialect | None] = []
_forgetting: list[Callable[[], None]] = []


def to_dialect(chosen: str | Dialect | None) -> Dialect:
    """The dialect itself, the one of a name, or the current one for None."""
    if chosen is None:
        chosen = chosen_here() or DEFAULT
    if isinstance(chosen, str):
        return dialect_named(chosen)
    if isinstance(chosen, Dialect):
        return checked(chosen)
    raise UsageError(f"a dialect is a name or a Dialect, not a {type(chosen).__name__}.")


class use(ContextDecorator):  # noqa: N801 -- written like the function it reads as
    """Makes a dialect the default within the block, only for this thread or asyncio task.

    >>> with use("torch"):
    ...     current().name
    'torch'

    It also decorates a function. `set_default` is for the whole process.
    """

    def __init__(self, dialect: str | Dialect) -> None:
        self._dialect = to_dialect(dialect)
        self._tokens: list[Token[Dialect | None]] = []
        self._is_used = False

    def __enter__(self) -> Dialect:
        self._is_used = True
        self._tokens.append(chosen_dialect.set(self._dialect))
        return self._dialect

    def __exit__(self, *error: object) -> None:
        chosen_dialect.reset(self._tokens.pop())

    def _recreate_cm(self) -> use:  # ContextDecorator calls it once for each call
        self._is_used = True
        return use(self._dialect)

    def __del__(self) -> None:
        if not getattr(self, "_is_used", True):
            name = self._dialect.name
            warnings.warn(
                f"cw.use({name!r}) does nothing on its own: write `with cw.use({name!r}):`, or "
                f"cw.set_default({name!r}) for the whole process.",
                UserWarning,
                stacklevel=2,
            )


def set_default(dialect: str | Dialect | None) -> None:
    """Makes a dialect the default of the process, in every thread; None restores the first default.

    `use` takes precedence, and so does a tensor's own dialect. The environment variable
    CASTWISE_DIALECT sets the first default, which is `numpy` without it.

    >>> set_default("tensorflow:safe")
    >>> current().name
    'tensorflow:safe'
    >>> set_default(None)

    Raises UsageError for an unknown name.
    """
    of_process[:] = [] if dialect is None else [to_dialect(dialect)]
    for forget in _forgetting:
        forget()


def when_default_changes(forget: Callable[[], None]) -> None:
    """Registers a function that clears what was cached under the old default."""
    _forgetting.append(forget)


def chosen_here() -> Dialect | None:
    """The dialect that `use`, `set_default` or the environment chose; None where none did."""
    chosen = chosen_dialect.get()
    if chosen is not None:
        return chosen
    if not of_process:
        of_process.append(_from_environment())
    return of_process[0]


def _from_environment() -> Dialect | None:
    name = os.environ.get(VARIABLE)
    try:
        return to_dialect(name) if name else None
    except UsageError as error:
        raise UsageError(f"the environment variable {VARIABLE}: {error}") from None


def current() -> Dialect:
    """The current default dialect."""
    return to_dialect(None)
