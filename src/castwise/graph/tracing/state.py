"""State during tracing: the outside tensors that a function reads or writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from castwise.execute.backend import Backend
from castwise.execute.tensor import Tensor, made_constant
from castwise.execute.tracing import TracedState
from castwise.execute.variable import Stateful, outside
from castwise.graph.program import INPUT, Node, State
from castwise.graph.recording.arrays import Traced


@dataclass(slots=True)
class _Entry:
    """A tensor in the trace and its value before; a variable made by the function has none."""

    tensor: Tensor
    held: TracedState
    before: Node | None = None
    is_argument: bool = False


class States:
    """The state of one trace.

    Variables from outside are always state. Other tensors are constants, which may be computed with
    immediately, unless they are written to. A function that writes to some is traced again with all
    of them as state from the beginning.
    """

    def __init__(self, backend: Backend, name_of: Callable[[Tensor], str]) -> None:
        self.backend, self._name_of = backend, name_of
        self._entries: dict[int, _Entry] = {}
        self._made: dict[int, Tensor] = {}  # made inside the trace, with values
        self._stack = ExitStack()
        self.found: list[Tensor] = []  # tensors that turned out to be written to

    @contextmanager
    def holding(self, written: Sequence[Tensor]) -> Iterator[None]:
        """A block in which some tensors are state."""
        with self._stack:
            for tensor in written:
                self._stack.enter_context(_stateful(tensor))
            yield

    def result(self) -> tuple[State, ...]:
        """The state of the graph, in the order of first use."""
        return tuple([
            State(e.before, e.held.array.node, None if e.is_argument else e.tensor)
            for e in self._entries.values() if e.before
        ])  # fmt: skip

    def add_argument(self, variable: Tensor, array: Traced) -> None:
        """Adds a variable that represents an argument of each run."""
        held = TracedState(array, outside(variable).kind)
        self._entries[id(variable)] = _Entry(variable, held, array.node, is_argument=True)

    def held(self, tensor: Tensor) -> TracedState:
        """The array and kind of a state tensor inside this trace."""
        entry = self._entries.get(id(tensor))
        if entry is None:
            kind, shape = outside(tensor).kind, tuple(outside(tensor).array.shape)
            name = self._name_of(tensor)
            node = Node(INPUT, (), kind.dtype, shape, name=name, is_weak=kind.is_weak)
            held = TracedState(Traced(node), kind.with_(backend=self.backend))
            entry = self._entries[id(tensor)] = _Entry(tensor, held, node)
        return entry.held

    def made(self, tensor: Tensor) -> None:
        """Records a tensor that was made inside this trace."""
        if isinstance(tensor, Stateful):
            self._entries[id(tensor)] = _Entry(tensor, outside(tensor))
        if not isinstance(outside(tensor).array, Traced):
            self._made[id(tensor)] = tensor

    def writing(self, tensor: Tensor, values: Iterable[Any]) -> None:
        """Makes an outside tensor state. A tensor with values becomes part of the graph if values
        of the graph are written to it."""
        if isinstance(tensor._array, Traced):
            return
        if id(tensor) not in self._made:
            self.found.append(tensor)
            self._stack.enter_context(_stateful(tensor))
        elif any(isinstance(v, Tensor) and isinstance(v._array, Traced) for v in values):
            array = made_constant(tensor, self.backend)
            tensor._array, tensor._kind = array, tensor._kind.with_(backend=self.backend)


# The class of a tensor while a trace writes to it, with the name that its repr shows.
_Written = type(Tensor.__name__, (Stateful,), {"__slots__": ()})
_lock = threading.Lock()
_holders: dict[int, int] = {}  # how many traces use a tensor, in all threads


@contextmanager
def _stateful(tensor: Tensor) -> Iterator[None]:
    """A block in which a tensor is state of this thread's or task's trace, and unchanged for all
    others."""
    with _lock:
        _holders[id(tensor)] = _holders.get(id(tensor), 0) + 1
        tensor.__class__ = _Written
    try:
        yield
    finally:
        with _lock:
            _holders[id(tensor)] -= 1
            if not _holders[id(tensor)]:
                del _holders[id(tensor)]
                tensor.__class__ = Tensor
