"""Tensors within a trace: what it holds has an array of the graph there, and its own elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from castwise.execute.kinds import Kind

if TYPE_CHECKING:
    from castwise.execute.backend import Backend
    from castwise.execute.tensor import Tensor


@dataclass(slots=True)
class TracedState:
    """What a tensor has within a trace."""

    array: Any
    kind: Kind


class Trace(Protocol):
    """Whoever writes down what a function does."""

    @property
    def backend(self) -> Backend:
        """The backend whose arrays are of this trace."""

    def held(self, tensor: Tensor) -> TracedState:
        """What a tensor that is state has within this trace."""

    def made(self, tensor: Tensor) -> None:
        """A tensor was made within this trace."""

    def writing(self, tensor: Tensor, values: Iterable[Any]) -> None:
        """A tensor is about to be written to, with something of these."""


_trace: ContextVar[Trace | None] = ContextVar("castwise trace", default=None)
_lock = threading.Lock()
running = 0  # how many traces, in all threads: where none does, nobody pays for looking


@contextmanager
def traced_by(trace: Trace) -> Iterator[None]:
    """Makes a trace that of this thread or asyncio task within the block."""
    global running
    token = _trace.set(trace)
    with _lock:
        running += 1
    try:
        yield
    finally:
        _trace.reset(token)
        with _lock:
            running -= 1


def held(tensor: Tensor) -> TracedState | None:
    """What a tensor has here; None outside of a trace."""
    trace = _trace.get()
    return None if trace is None else trace.held(tensor)


def backend_here() -> Backend | None:
    """The backend of the trace of this thread or task; None outside of one."""
    trace = _trace.get()
    return None if trace is None else trace.backend


def made(tensor: Tensor) -> None:
    """Tells the trace of this thread or task, if there is one, of a new tensor."""
    trace = _trace.get()
    if trace is not None:
        trace.made(tensor)


def writing(tensor: Tensor, *values: Any) -> None:
    """Tells the trace of this thread or task, if there is one, that a tensor is written to."""
    trace = _trace.get()
    if trace is not None:
        trace.writing(tensor, values)
