"""A bar on the terminal while something takes long."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

_EVERY = 100  # questions between two updates, so that the bar costs almost nothing
_PATIENCE = 2.0  # seconds before the bar appears


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[object], None] | None]:
    """A callback for each question, or None if stderr is not a terminal."""
    with progress_to(title, total) as on_progress:
        if on_progress is None:
            yield None
            return
        asked = 0

        def on_question(question: object) -> None:
            nonlocal asked
            asked += 1
            if asked % _EVERY == 0:
                on_progress(asked)

        yield on_question


@contextmanager
def progress_to(title: str, total: float) -> Iterator[Callable[[float], None] | None]:
    """A callback that takes how much is done, or None if stderr is not a terminal.

    The bar appears only if the work takes longer than a few seconds, and goes at its end.
    """
    if sys.stderr is None or is_plain(sys.stderr):  # None: a program without a console
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    task, started, is_shown = bar.add_task(title, total=total), time.monotonic(), False

    def on_progress(done: float) -> None:
        nonlocal is_shown
        bar.update(task, completed=done)
        if not is_shown and time.monotonic() - started > _PATIENCE:
            bar.start()
            is_shown = True

    try:
        yield on_progress
    finally:
        bar.stop()


def is_plain(stream: TextIO) -> bool:
    """Whether a stream is not a terminal, or is one without colours or cursor control."""
    return os.environ.get("TERM") == "dumb" or not stream.isatty()
