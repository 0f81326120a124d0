"""Functions that move elements and keep their dtype, as nodes.

The recording backend's namespace: what castwise.array_api calls on its arrays.
"""

from __future__ import annotations

from typing import Any

from castwise.errors import UsageError
from castwise.graph import shapes
from castwise.graph.ir import Node, Shape


def added(array: Any, name: str, shape: Shape, options: dict[str, Any]) -> Any:
    """The array that a layout function gives, as a node."""
    from castwise.graph.recording import Traced, user_origin  # whose namespace this is

    node = array.node
    return Traced(Node(name, (node,), node.dtype, shape, options, origin=user_origin()))


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    wanted = shape if isinstance(shape, (tuple, list)) else (shape,)
    found = shapes.reshaped(x.shape, tuple(wanted))
    return added(x, "reshape", found, {"shape": found})


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Any:
    order = shapes.places(tuple(axes), len(x.shape))
    return added(x, "permute_dims", tuple(x.shape[n] for n in order), {"axes": order})


def matrix_transpose(x: Any, /) -> Any:
    rank = len(x.shape)
    return permute_dims(x, (*range(rank - 2), rank - 1, rank - 2))


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    rank = len(x.shape)
    moved = shapes.places(source, rank)
    goals = shapes.places(destination, rank)
    order = [n for n in range(rank) if n not in moved]
    for goal, n in sorted(zip(goals, moved, strict=True)):
        order.insert(goal, n)
    return permute_dims(x, tuple(order))


def expand_dims(x: Any, /, *, axis: int = 0) -> Any:
    place = shapes.places(axis, len(x.shape) + 1)[0]
    shape = (*x.shape[:place], 1, *x.shape[place:])
    return added(x, "reshape", shape, {"shape": shape})


def squeeze(x: Any, /, axis: Any) -> Any:
    gone = shapes.places(axis, len(x.shape))
    shape = tuple(size for n, size in enumerate(x.shape) if n not in gone)
    return reshape(x, shape)


def broadcast_to(x: Any, /, shape: Any) -> Any:
    wanted = shapes.broadcast([x.shape, tuple(shape)])
    return added(x, "broadcast_to", wanted, {"shape": wanted})


def flip(x: Any, /, *, axis: Any = None) -> Any:
    return added(x, "flip", x.shape, {"axis": shapes.places(axis, len(x.shape))})


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    return added(x, "roll", x.shape, {"shift": shift, "axis": axis})


def is_standard(name: str) -> bool:
    """Whether a namespace of the Array API standard has such a function."""
    if name.startswith("_"):  # what Python itself asks a module for
        return False
    import array_api_compat.numpy

    return hasattr(array_api_compat.numpy, name)


def __getattr__(name: str) -> Any:
    if not is_standard(name):
        raise AttributeError(name)
    raise UsageError(
        f"{name} has no node in a graph: leave it out of the traced function, or write it with "
        "reshape, permute_dims, broadcast_to, flip, roll, concat, stack and indexing."
    )
