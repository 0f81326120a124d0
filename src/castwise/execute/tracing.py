"""Tensors inside a trace: state has an array of the graph there, and its own array elsewhere."""

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
    """The array and kind of a tensor inside a trace."""

    array: Any
    kind: Kind


class Trace(Protocol):
    """A recorder of the ops of a function."""

    @property
    def backend(self) -> Backend:
        """The backend whose arrays belong to this trace."""

    def held(self, tensor: Tensor) -> TracedState:
        """The array and kind of a state tensor inside this trace."""

    def made(self, tensor: Tensor) -> None:
        """Called when a tensor is made inside this trace."""

    def writing(self, tensor: Tensor, values: Iterable[Any]) -> None:
        """Called before values are written to a tensor."""


_trace: ContextVar[Trace | None] = ContextVar("castwise trace", default=None)
_lock = threading.Lock()
running = 0  # the number of running traces in all threads; at 0, tensors skip the lookup


@contextmanager
def traced_by(trace: Trace) -> Iterator[None]:
    """Makes a trace the current one of this thread or asyncio task in the block."""
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
    """The array and kind of a tensor inside the current trace; None if there is no trace."""
    trace = _trace.get()
    return None if trace is None else trace.held(tensor)


def backend_here() -> Backend | None:
    """The backend of the current trace; None if there is no trace."""
    trace = _trace.get()
    return None if trace is None else trace.backend


def made(tensor: Tensor) -> None:
    """Notifies the current trace, if any, of a new tensor."""
    trace = _trace.get()
    if trace is not None:
        trace.made(tensor)


def writing(tensor: Tensor, *values: Any) -> None:
    """Notifies the current trace, if any, that a tensor is about to be written to."""
    trace = _trace.get()
    if trace is not None:
        trace.writing(tensor, values)
