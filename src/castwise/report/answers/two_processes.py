"""JSON lines answered by two processes, when many arrive at a time."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import warnings
from multiprocessing.connection import Connection

from castwise.errors import NearestVersionWarning
from castwise.report.answers.json_lines import Reply, answer_lines

MANY = 256  # available lines; for fewer, sending half away costs more than it saves
_READY = "ready"


class TwoProcesses:
    """Answers lines here, and half of many lines in a second process.

    The second process starts with the first large batch. Nothing waits for it: until it is ready,
    this process answers every line. It ends when this one does, for whatever reason.
    """

    def __init__(self, dialect: str | None) -> None:
        _collect_seldom()
        self._dialect = dialect
        self._second: Connection | None = None
        self._is_alone = (os.cpu_count() or 1) < 2
        self._is_ready = False

    def answer_lines(self, lines: list[bytes]) -> Reply:
        """The answers in the order of the lines."""
        if len(lines) < MANY or not self._has_second():
            return answer_lines(lines, self._dialect)
        half = len(lines) // 2
        try:
            return self._shared(lines[:half], lines[half:])
        except (EOFError, OSError):  # something else ended the second process
            self._is_alone = True
            return answer_lines(lines, self._dialect)

    def _shared(self, here: list[bytes], there: list[bytes]) -> Reply:
        assert self._second is not None
        self._second.send(there)
        first = answer_lines(here, self._dialect)
        second: Reply = self._second.recv()
        return Reply(first.text + second.text, first.is_well_formed and second.is_well_formed)

    def _has_second(self) -> bool:
        """Whether the second process can take work now; starts it if there is none."""
        if self._is_alone:
            return False
        if self._second is None:
            self._second = _started(self._dialect)
        if not self._is_ready and self._second.poll():
            self._is_ready = self._second.recv() == _READY
        return self._is_ready


def _collect_seldom() -> None:
    """Makes the garbage collector run less often: it took half the time, only to scan the cached
    answers, which are not garbage."""
    gc.set_threshold(100_000, 20, 20)


def _started(dialect: str | None) -> Connection:
    """This process's end of a pipe to a new process that answers lines."""
    # A forked process would keep this one's end of the pipe open and never see it closed.
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    context.Process(target=_serve, args=(far, dialect), daemon=True).start()
    far.close()
    return near


def _serve(requests: Connection, dialect: str | None) -> None:
    """Answers requests until the other end is closed."""
    _collect_seldom()
    warnings.simplefilter("ignore", NearestVersionWarning)  # the answers have it as a note
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides when to stop
    requests.send(_READY)
    try:
        while True:
            requests.send(answer_lines(requests.recv(), dialect))
    except (EOFError, OSError):
        return
