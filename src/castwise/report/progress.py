"""A bar on the terminal while questions are asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_EVERY = 500  # questions between two updates, so that the bar costs nothing


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[object], None] | None]:
    """What to call once a question, or None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    asked = 0

    def on_question(question: object) -> None:
        nonlocal asked
        asked += 1
        if asked % _EVERY == 0:
            bar.update(task, completed=asked)

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield on_question
