"""Arrays of the recording backend: nodes of a graph, without values."""

from __future__ import annotations

from typing import Any, NoReturn

from castwise.errors import UsageError
from castwise.graph.program import CONSTANT, Node, Shape, user_line, user_place
from castwise.graph.shapes import indexed, split_key
from castwise.graph.sizes import as_sizes
from castwise.vocab.dtypes import DType
from castwise.vocab.live import to_dtype


class Traced:
    """An array of the recording backend: a node without values."""

    __slots__ = ("node",)

    def __init__(self, node: Node) -> None:
        self.node = node

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
        raise UsageError(f"{user_place()}: a graph runs on the device of its arrays: move those.")

    def __dlpack__(self, **options: Any) -> NoReturn:
        raise needs_value(self)

    __dlpack_device__ = __dlpack__

    def __getitem__(self, key: Any) -> Traced:
        plain, arrays = split_key(key, 1, index_node)
        shape = indexed(self.node.shape, plain, [(), *[node.shape for node in arrays]])
        return added("getitem", (self.node, *arrays), shape, {"key": plain})


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
    return UsageError(
        f"{user_place()} needs the value of a {array.node.type}, but a graph is traced without "
        "values: write it with where, or leave this part out of the traced function."
    )


def unknown_size(what: str, instead: str) -> UsageError:
    """The error for a function whose number of elements depends on values."""
    return UsageError(
        f"{user_place()}: how many elements {what} gives depends on values, but a graph is traced "
        f"without them: use {instead}, or leave this part out of the traced function."
    )


def added(
    name: str,
    inputs: tuple[Node, ...],
    shape: Shape,
    options: dict[str, Any],
    held: DType | None = None,
) -> Traced:
    """The result of a function as a node, with the dtype of its first input unless given."""
    held = held or inputs[0].dtype
    return Traced(Node(name, inputs, held, shape, options, origin=user_line()))
