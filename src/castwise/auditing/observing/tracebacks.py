"""Keeps castwise out of the program's tracebacks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

Wrapped = TypeVar("Wrapped", bound=Callable[..., Any])


def hide_own_frames(error: BaseException, *others: CodeType | None) -> None:
    """Removes castwise's frames from the start of an error's traceback, and those of other code
    that only castwise calls. A bare `raise` then adds no frame, from Python 3.11 on."""
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        is_own = str(frame.f_globals.get("__name__", "")).startswith("castwise.")
        if not is_own and frame.f_code not in others:
            break
        trace = trace.tb_next
    error.__traceback__ = trace


def standing_in(plain: Callable[..., Any]) -> Callable[[Wrapped], Wrapped]:
    """Makes a function look like the one it stands in for, in tracebacks too."""

    def decorate(function: Wrapped) -> Wrapped:
        @functools.wraps(plain)
        def stand_in(*arguments: Any, **named: Any) -> Any:
            try:
                return function(*arguments, **named)
            except BaseException as error:
                hide_own_frames(error)
                raise

        return stand_in  # type: ignore[return-value]

    return decorate
