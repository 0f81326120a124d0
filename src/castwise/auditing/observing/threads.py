"""Actions at the beginning and at the end of every thread."""

from __future__ import annotations

import functools
import threading
from _thread import _local
from collections.abc import Callable
from typing import Any


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
