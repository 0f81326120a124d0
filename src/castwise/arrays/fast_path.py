"""The fast path of operators: computations looked up by the kinds of two tensors, or of a tensor
and a number; and what makes operators leave it: watchers, such as `count_casts`, and traces. While
anything watches, nothing is found, so that watching costs nothing when it is off."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from castwise.arrays.kinds import Kind
from castwise.catalog import chosen_dialect, when_default_changes
from castwise.engine.decision import Cast, Decision
from castwise.showing import InNotebooks, quantity, repr_line
from castwise.vocab.operands import UNDEFINED

if TYPE_CHECKING:
    from castwise.arrays.backend import Backend
    from castwise.arrays.kinds import TensorData


class KnownResult(Protocol):
    """How a result is computed from raw arrays, and the kind it has."""

    @property
    def run(self) -> Callable[..., Any]:
        """The function that computes the raw result."""

    @property
    def kind(self) -> Kind:
        """The kind of the result."""


_MOST_KNOWN = 1 << 14
_MOST_NUMBERS = 1 << 12
_by_kinds: dict[tuple[object, ...], KnownResult] = {}
# With a number that is already converted. They have a table of their own, which they cannot fill
# at the cost of anything else, because a program may compute with a new number each time.
# None: the number came once.
_by_number: dict[tuple[object, ...], KnownResult | None] = {}
_NONE: dict[tuple[object, ...], Any] = {}
known: dict[tuple[object, ...], KnownResult] = _by_kinds  # _NONE while anything watches
numbers: dict[tuple[object, ...], KnownResult | None] = _by_number  # the same
context = chosen_dialect.get


def remember(key: tuple[object, ...], computation: KnownResult) -> None:
    """Caches a computation for the next operands of these kinds."""
    if len(_by_kinds) >= _MOST_KNOWN:
        _by_kinds.clear()
    _by_kinds[key] = computation


def remember_number(key: tuple[object, ...], computation: KnownResult | None) -> None:
    """Caches a computation with a number for the next time that the same number comes, or only that
    it came."""
    if len(_by_number) >= _MOST_NUMBERS:
        _by_number.clear()
    _by_number[key] = computation


def forget_all() -> None:
    """Drops every computation."""
    _by_kinds.clear()
    _by_number.clear()


when_default_changes(forget_all)


class Watcher(Protocol):
    """An observer that is notified of each op."""

    def note(self, decision: Decision, operands: Sequence[Any], result: Any) -> None:
        """Called for each op, with the decision, the raw operands and the raw result."""


_watchers: ContextVar[tuple[Watcher, ...]] = ContextVar("castwise watchers", default=())
_lock = threading.Lock()
blocks = 0  # how many blocks watch, in all threads


def watchers() -> tuple[Watcher, ...]:
    """The watchers of this thread or asyncio task."""
    return _watchers.get()


@contextmanager
def watched_by(watcher: Watcher, *, alone: bool = False) -> Iterator[None]:
    """Notifies a watcher of every op of this thread or asyncio task in the block; outer watchers
    are notified too, unless `alone`."""
    global known, numbers, blocks
    token = _watchers.set((watcher,) if alone else (*_watchers.get(), watcher))
    with _lock:
        blocks += 1
        known = numbers = _NONE
    try:
        yield
    finally:
        _watchers.reset(token)
        with _lock:
            blocks -= 1
            if not blocks:
                known, numbers = _by_kinds, _by_number


# A watcher: it counts the implicit casts of a block, by op, dtypes and hazard.


@dataclass(slots=True)
class Counted:
    """The number of casts of one kind, of their elements and of the bytes they wrote."""

    casts: int = 0
    elements: int = 0
    bytes: int = 0

    def add(self, elements: int, itemsize: int) -> None:
        """Adds one cast."""
        self.casts += 1
        self.elements += elements
        self.bytes += elements * itemsize


@dataclass(slots=True, repr=False)
class CastCounts(InNotebooks):
    """The implicit casts of a block.

    `by` has an entry for each (op, from, to, hazard); the hazard is "" for a cast without one. A
    cast with two hazards counts in two entries, and once in the total.
    """

    total: Counted = field(default_factory=Counted)
    by: dict[tuple[str, str, str, str], Counted] = field(default_factory=dict)

    def note(self, decision: Decision, operands: Sequence[Any], result: Any) -> None:
        """Counts the casts of one op."""
        sizes = [math.prod(getattr(operand, "shape", ())) for operand in operands]
        name, asked = decision.question.op.name, decision.question.operands
        casts = [c for c, o in zip(decision.casts, asked, strict=True) if o is not UNDEFINED]
        for cast, size in zip(casts, sizes, strict=True):
            self._add(name, cast, size)
        self._add(name, decision.result_cast, math.prod(result.shape))

    def _add(self, name: str, cast: Cast | None, elements: int) -> None:
        if cast is None or cast.is_read:
            return
        source = cast.source.name if cast.source else "Python scalar"
        self.total.add(elements, cast.target.itemsize)
        for hazard in cast.hazards or ("",):
            key = (name, source, cast.target.name, hazard)
            self.by.setdefault(key, Counted()).add(elements, cast.target.itemsize)

    def __repr__(self) -> str:
        total = self.total
        size = f"{quantity(total.elements, 'element')}, {total.bytes:,} bytes"
        return repr_line("CastCounts", quantity(total.casts, "cast"), size if total.casts else "")

    def __str__(self) -> str:
        lines = [
            f"{op}: {source} -> {target}{f' ({hazard})' if hazard else ''}: "
            f"{c.casts} casts, {c.elements} elements, {c.bytes} bytes"
            for (op, source, target, hazard), c in sorted(self.by.items())
        ]
        return "\n".join(lines) or "no implicit casts"


@contextmanager
def count_casts() -> Iterator[CastCounts]:
    """Counts the implicit casts that tensors make in this thread or asyncio task.

    >>> from castwise.arrays.tensor import asarray
    >>> with count_casts() as counts:
    ...     _ = asarray([1, 2, 3], dtype="int32") + asarray([0.5], dtype="float32")
    >>> print(counts)
    add: float32 -> float64 (not-on-device): 1 casts, 1 elements, 8 bytes
    add: float32 -> float64 (widens): 1 casts, 1 elements, 8 bytes
    add: int32 -> float64 (not-on-device): 1 casts, 3 elements, 24 bytes
    add: int32 -> float64 (widens): 1 casts, 3 elements, 24 bytes
    """
    counts = CastCounts()
    with watched_by(counts):
        yield counts


# Tensors inside a trace: state has an array of the graph there, and its own array elsewhere.


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

    def held(self, tensor: TensorData) -> TracedState:
        """The array and kind of a state tensor inside this trace."""

    def made(self, tensor: TensorData) -> None:
        """Called when a tensor is made inside this trace."""

    def writing(self, tensor: TensorData, values: Iterable[Any]) -> None:
        """Called before values are written to a tensor."""

    def checking(self, node: Any) -> None:
        """Called when a node is made that may raise for some values."""

    def sharing(self, in_rows: bool) -> None:
        """Called when an array is written through a view, or a view is read of one that was
        written; `in_rows`: they would share no memory if the arrays did not lie in rows."""


_trace: ContextVar[Trace | None] = ContextVar("castwise trace", default=None)
_tracing_lock = threading.Lock()
running = 0  # the number of running traces in all threads; at 0, tensors skip the lookup


@contextmanager
def traced_by(trace: Trace | None) -> Iterator[None]:
    """Makes a trace the current one of this thread or asyncio task in the block; None: there is
    none in it."""
    global running
    token = _trace.set(trace)
    with _tracing_lock:
        running += 1
    try:
        yield
    finally:
        _trace.reset(token)
        with _tracing_lock:
            running -= 1


def held(tensor: TensorData) -> TracedState | None:
    """The array and kind of a tensor inside the current trace; None if there is no trace."""
    trace = _trace.get()
    return None if trace is None else trace.held(tensor)


def backend_here() -> Backend | None:
    """The backend of the current trace; None if there is no trace."""
    trace = _trace.get()
    return None if trace is None else trace.backend


def made(tensor: TensorData) -> None:
    """Notifies the current trace, if any, of a new tensor."""
    if (trace := _trace.get()) is not None:
        trace.made(tensor)


def writing(tensor: TensorData, *values: Any) -> None:
    """Notifies the current trace, if any, that a tensor is about to be written to."""
    if (trace := _trace.get()) is not None:
        trace.writing(tensor, values)


def checking(node: Any) -> None:
    """Notifies the current trace, if any, of a node that may raise for some values."""
    if (trace := _trace.get()) is not None:
        trace.checking(node)


def sharing(*, in_rows: bool) -> None:
    """Notifies the current trace, if any, of a write that another array sees."""
    if (trace := _trace.get()) is not None:
        trace.sharing(in_rows)
