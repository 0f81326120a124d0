"""The arrays of the recording backend, which are nodes of a graph, and the memory that they share.

An array is first; then the views, which read their values from another array and write them there;
and how arrays lie in memory, on which it depends whether a reshape is a view.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from castwise.arrays import fast_path
from castwise.errors import UsageError
from castwise.graph import shapes
from castwise.graph.program import CONSTANT, Node, Shape, user_line, user_place
from castwise.graph.sizes import as_sizes
from castwise.vocab.dtypes import DType
from castwise.vocab.live import to_dtype


class Memory:
    """What arrays of the recording backend share that are views of each other: the value, as a
    node, that it has at this point of the trace."""

    __slots__ = ("is_reshaped", "lost", "node", "unsure", "writes")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.writes = 0
        self.is_reshaped = False  # some of them would be copies if the others lay otherwise
        # Memory that may be this one: libraries differ, or it depends on the layout of arrays.
        self.unsure: list[tuple[Memory, str]] = []
        self.lost = ""  # by what a value is unknown that such memory had before it was written

    def write(self, node: Node) -> None:
        """Makes a node the value."""
        for other, what in self.unsure_of().items():
            other.lost = other.lost or what
        self.node = node
        self.writes += 1

    def unsure_of(self) -> dict[Memory, str]:
        """All memory that may be this one, and why that is not known."""
        found: dict[Memory, str] = {}
        waiting = [*self.unsure]
        while waiting:
            other, what = waiting.pop()
            if other is not self and other not in found:
                found[other] = what
                waiting += other.unsure
        return found


class Traced:
    """An array of the recording backend: a node without values, in memory of its own or in that of
    another array.

    `layout` is an array without elements of its own that lies in memory as this one does when the
    graph runs; None if that is not known.
    """

    __slots__ = ("_node", "_parent", "_step", "_writes", "layout", "memory")

    def __init__(self, node: Node, layout: Any = None) -> None:
        self.memory, self.layout = Memory(node), layout
        self._parent: Traced | None = None  # the array whose memory it shares, if it is a view
        self._step: _Step | None = None
        self._node, self._writes = node, 0  # of a view: its value, and after how many writes

    @classmethod
    def view(cls, parent: Traced, step: _Step, layout: Any) -> Traced:
        """An array that shares the memory of another one."""
        view = object.__new__(cls)
        view.memory, view.layout = parent.memory, layout
        view._parent, view._step = parent, step
        view._node, view._writes = step.read(parent.node), parent.memory.writes
        return view

    @property
    def node(self) -> Node:
        """The value at this point of the trace.

        Raises UnsureMemoryError if it is not known whether a write changed it.
        """
        if self.memory.lost:
            raise UnsureMemoryError(self.memory.lost)
        if self._parent is None or self._step is None:
            return self.memory.node
        if self._writes != self.memory.writes:
            fast_path.sharing(in_rows=self.memory.is_reshaped)
            self._node, self._writes = self._step.read(self._parent.node), self.memory.writes
        return self._node

    def write(self, node: Node) -> None:
        """Makes a node the value, also of what shares this memory."""
        if self._parent is None or self._step is None:
            self.memory.write(node)
        else:
            fast_path.sharing(in_rows=self.memory.is_reshaped)
            self._parent.write(self._step.written(self._parent.node, node))

    @property
    def shape(self) -> Any:
        """The sizes, which may be names."""
        return as_sizes(self.node.shape)

    @property
    def dtype(self) -> DType:
        """castwise's own dtype object."""
        return self.node.dtype

    @property
    def device(self) -> None:
        """None: a graph runs on the device of its arrays."""

    def to_device(self, device: Any, /, *, stream: Any = None) -> Traced:
        """The array itself; only None is accepted."""
        if device is None:
            return self
        raise UntraceableError(
            f"{user_place()}: a graph runs on the device of its arrays: move those."
        )

    def __dlpack__(self, **options: Any) -> NoReturn:
        raise needs_value(self)

    __dlpack_device__ = __dlpack__

    def __getitem__(self, key: Any) -> Traced:
        node = self.node
        plain, arrays = shapes.split_key(key, 1, index_node)
        shape = shapes.indexed(node.shape, plain, [(), *[array.shape for array in arrays]])
        if arrays:
            return may_raise(added("getitem", (node, *arrays), shape, {"key": plain}))
        parts = plain if isinstance(plain, tuple) else (plain,)
        if not shape and Ellipsis not in parts:
            return added("getitem", (node,), shape, {"key": plain})  # a copy of one element
        layout = None if self.layout is None or _has_sizes(parts) else self.layout[plain]
        found = Traced.view(self, _Part(plain), layout)
        return may_raise(found) if goes_back(parts) else found


class UntraceableError(UsageError):
    """Raised for what no graph can contain."""


class UnsureMemoryError(UsageError):
    """Raised if a write may show in another array, or not, and the trace cannot tell."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{user_place()} reads an array that may have been written to: {what}. Copy the array "
            "before one of the two is written to, x.copy()."
        )


# Views: how each reads its value from that of the array whose memory it shares, and writes it
# there.


class _Step(Protocol):
    def read(self, whole: Node) -> Node:
        """The value of the view."""

    def written(self, whole: Node, part: Node) -> Node:
        """The value of the array in which the view has another value."""


@dataclass(frozen=True, slots=True)
class _Part:
    """x[key]."""

    key: Any

    def read(self, whole: Node) -> Node:
        shape = shapes.indexed(whole.shape, self.key, [()])
        return added("getitem", (whole,), shape, {"key": self.key}).node

    def written(self, whole: Node, part: Node) -> Node:
        return Node("setitem", (whole, part), whole.dtype, whole.shape, {"key": self.key},
                    origin=user_line())  # fmt: skip


@dataclass(frozen=True, slots=True)
class Permuted:
    """The dimensions in another order."""

    axes: tuple[int, ...]

    def read(self, whole: Node) -> Node:
        shape = tuple([whole.shape[n] for n in self.axes])
        return added("permute_dims", (whole,), shape, {"axes": self.axes}).node

    def written(self, whole: Node, part: Node) -> Node:
        back = tuple(sorted(range(len(self.axes)), key=self.axes.__getitem__))
        return Permuted(back).read(part)


@dataclass(frozen=True, slots=True)
class Reshaped:
    """The elements in another shape."""

    shape: Shape

    def read(self, whole: Node) -> Node:
        return added("reshape", (whole,), self.shape, {"shape": as_sizes(self.shape)}).node

    def written(self, whole: Node, part: Node) -> Node:
        return Reshaped(whole.shape).read(part)


@dataclass(frozen=True, slots=True)
class Spread:
    """The elements, repeated to a larger shape."""

    shape: Shape

    def read(self, whole: Node) -> Node:
        return added("broadcast_to", (whole,), self.shape, {"shape": as_sizes(self.shape)}).node

    def written(self, whole: Node, part: Node) -> Node:
        raise UnsureMemoryError("libraries differ in writes to an array that broadcast_to gave")


@dataclass(frozen=True, slots=True)
class Computed:
    """The result of an op that shares its operand's memory: all of it, or parts of its numbers."""

    function: Callable[[Any], Any]
    is_itself: bool

    def read(self, whole: Node) -> Node:
        found: Node = self.function(Traced(whole)).node
        return found

    def written(self, whole: Node, part: Node) -> Node:
        if self.is_itself:
            return part
        raise UnsureMemoryError("libraries differ in writes to a part of complex numbers")


# How arrays lie in memory.


def rows(shape: Shape) -> Any:
    """The layout of an array in rows, as new arrays lie in memory; None for unknown sizes."""
    import numpy as np

    sizes = [size for size in shape if isinstance(size, int)]
    if len(sizes) < len(shape) or math.prod(sizes) >= 1 << 60:
        return None
    steps = [math.prod(sizes[n + 1 :]) or 1 for n in range(len(sizes))]
    return np.lib.stride_tricks.as_strided(_byte(), sizes, steps)


@functools.cache
def _byte() -> Any:
    import numpy as np

    return np.zeros(1, "uint8")


def are_in_rows(layout: Any) -> bool:
    """Whether arrays of a layout lie in rows, as far as is known."""
    return layout is not None and bool(layout.flags.c_contiguous)


def lies_in_rows(value: Any) -> bool:
    """Whether the value of a constant, a number or a NumPy array, lies in rows."""
    return not hasattr(value, "flags") or bool(value.flags.c_contiguous)


def relaid(layout: Any, shape: Shape) -> Any:
    """The layout of an array in another shape; None if it must be copied, or is not known."""
    if layout is None or not all(isinstance(size, int) for size in shape):
        return None
    found = layout.view()
    try:
        found.shape = shape
    except AttributeError:
        return None
    return found


def apart(x: Traced, like: Traced, what: str) -> Traced:
    """An array that may share the memory of another one, or not."""
    x.memory.unsure.append((like.memory, what))
    like.memory.unsure.append((x.memory, what))
    return x


def own(x: Traced) -> Traced:
    """The same values in memory of their own."""
    return Traced(x.node, rows(x.node.shape))


def _has_sizes(parts: Sequence[Any]) -> bool:
    """Whether a key has sizes that are names."""
    ends = [end for p in parts if isinstance(p, slice) for end in (p.start, p.stop)]
    return any(not (end is None or isinstance(end, int)) for end in ends)


def goes_back(parts: Sequence[Any]) -> bool:
    """Whether a slice in a key goes backwards, which some libraries refuse."""
    return any(isinstance(p, slice) and p.step is not None and p.step < 0 for p in parts)


def may_raise(x: Traced) -> Traced:
    """The array, whose computation may raise for some values."""
    fast_path.checking(x.node)
    return x


def constant(data: Any) -> Node:
    """A constant with the current values of an array or nested lists."""
    import numpy as np

    array = np.array(data)
    return Node(
        CONSTANT, (), to_dtype(array.dtype), tuple(array.shape), value=array, origin=user_line()
    )


def index_node(array: Any) -> Node:
    """An array in an index as a node.

    Raises UsageError for a mask, because the number of elements it selects depends on values.
    """
    node = array.node if isinstance(array, Traced) else constant(array)
    if node.dtype.kind == "bool":
        raise unknown_size("x[mask]", "xp.where(mask, x, 0), or x[mask] = number")
    if node.dtype.kind != "int":
        raise UsageError(f"an index must consist of integers, not {node.dtype}: cast it.")
    return node


def needs_value(array: Traced) -> UsageError:
    """The error for code that reads values, because there are none."""
    return UntraceableError(
        f"{user_place()} needs the value of a {array.node.type}, but a graph is traced without "
        "values: write it with where, or leave this part out of the traced function."
    )


def unknown_size(what: str, instead: str) -> UsageError:
    """The error for a function whose number of elements depends on values."""
    return UntraceableError(
        f"{user_place()}: how many elements {what} gives depends on values, but a graph is traced "
        f"without them: use {instead}, or leave this part out of the traced function."
    )


def added(
    name: str,
    inputs: tuple[Node, ...],
    shape: Shape,
    options: dict[str, Any],
    result: DType | None = None,
) -> Traced:
    """The result of a function as a new array, with the dtype of its first input unless given."""
    result = result or inputs[0].dtype
    return Traced(Node(name, inputs, result, shape, options, origin=user_line()))
