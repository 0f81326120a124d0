"""Acts in the program without showing in it: after an import, in every thread, in place of
a library's function."""

from __future__ import annotations

import functools
import sys
import threading
import types
from _thread import _local
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from types import CodeType
from typing import Any, TypeVar

# Actions that wait for a module to be imported.

_waiting: dict[str, Callable[[], None]] = {}


def when_imported(name: str, action: Callable[[], None]) -> None:
    """Runs an action once a module is imported, or now if it already is."""
    if name in sys.modules:
        action()
    else:
        _waiting[name] = action


def notice(spec: ModuleSpec) -> None:
    """Schedules the action waiting for a module to run after its loader."""
    loader: Any = spec.loader
    if spec.name not in _waiting or loader is None:
        return
    run = loader.exec_module

    def run_and_act(module: types.ModuleType) -> None:
        del loader.exec_module  # restore the program's loader
        run(module)
        action = _waiting.pop(spec.name, None)  # not earlier: a spec may be looked up and not used
        if action is not None:
            action()

    loader.exec_module = run_and_act


# Actions at the beginning and at the end of every thread.


def in_every_thread(enter: Callable[[], Callable[[], object]]) -> None:
    """Enters something in every thread that `threading` starts from now on; what `enter` returns
    ends it."""
    threads: Any = threading.Thread
    begin, end = threads._set_ident, threads._delete
    entered = _local()

    # Not around the thread's own function: the program would see another frame in its stack.
    @functools.wraps(begin)
    def begin_inside(thread: threading.Thread) -> None:
        begin(thread)
        if not isinstance(thread, threading._DummyThread):
            entered.leave = enter()

    @functools.wraps(end)
    def end_inside(thread: threading.Thread) -> None:
        leave = entered.__dict__.pop("leave", None)
        if leave is not None:
            leave()
        end(thread)

    threads._set_ident, threads._delete = begin_inside, end_inside


# Keeps castwise out of the program's tracebacks.

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


def stand_in_for(plain: Callable[..., Any]) -> Callable[[Wrapped], Wrapped]:
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
