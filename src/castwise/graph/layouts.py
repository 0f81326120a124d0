"""Functions that move elements or return indices, and compute nothing, as nodes.

This is the recording backend's namespace, which castwise.array_api calls on its arrays.
"""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any, NoReturn

from castwise.errors import UsageError
from castwise.graph import sizes as shapes
from castwise.graph.program import CONSTANT, Given, Node, user_line, user_place
from castwise.graph.shapes import diagonal as diagonal_shape
from castwise.graph.sizes import as_sizes, checked_sizes
from castwise.graph.traced import Traced, added, constant, index_node, unknown_size
from castwise.vocab.dtypes import DType, dtype

_INDEX = dtype("int64")
# The nodes that these functions make.
LAYOUT_OPS = (
    "arange", "argsort", "broadcast_to", "fft.fftshift", "fft.ifftshift", "flip", "getitem",
    "linalg.diagonal", "permute_dims", "reshape", "roll", "searchsorted", "setitem", "sort", "take",
    "take_along_axis", "tril", "triu",
)  # fmt: skip


def _node(x: Any) -> Node:
    return x.node if isinstance(x, Traced) else constant(x)


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Traced:
    wanted = shape if isinstance(shape, (tuple, list)) else (shape,)
    found = shapes.reshaped(x.shape, tuple(wanted))
    return added("reshape", (x.node,), found, {"shape": as_sizes(found)})


def permute_dims(x: Any, /, axes: tuple[int, ...]) -> Traced:
    order = shapes.places(tuple(axes), len(x.shape))
    if sorted(order) != list(range(len(x.shape))):
        raise UsageError(f"{tuple(axes)} must name each of {len(x.shape)} dimension(s) once.")
    return added("permute_dims", (x.node,), tuple(x.shape[n] for n in order), {"axes": order})


def matrix_transpose(x: Any, /) -> Traced:
    rank = len(x.shape)
    return permute_dims(x, (*range(rank - 2), rank - 1, rank - 2))


def moveaxis(x: Any, source: Any, destination: Any, /) -> Traced:
    rank = len(x.shape)
    moved = shapes.places(source, rank)
    goals = shapes.places(destination, rank)
    order = [n for n in range(rank) if n not in moved]
    for goal, n in sorted(zip(goals, moved, strict=True)):
        order.insert(goal, n)
    return permute_dims(x, tuple(order))


def expand_dims(x: Any, /, *, axis: int = 0) -> Traced:
    place = shapes.places(axis, len(x.shape) + 1)[0]
    return reshape(x, (*x.shape[:place], 1, *x.shape[place:]))


def squeeze(x: Any, /, axis: Any) -> Traced:
    gone = shapes.places(axis, len(x.shape))
    for place in gone:
        if x.shape[place] != 1:
            raise UsageError(f"squeeze removes dimensions of size 1, but dimension {place} has "
                             f"size {x.shape[place]}.")  # fmt: skip
    return reshape(x, tuple(size for n, size in enumerate(x.shape) if n not in gone))


def broadcast_to(x: Any, /, shape: Any) -> Traced:
    wanted = shapes.broadcast([x.shape, tuple(shape)])
    if wanted != tuple(shape):
        raise UsageError(f"{list(x.shape)} does not broadcast to {list(shape)}.")
    return added("broadcast_to", (x.node,), wanted, {"shape": as_sizes(wanted)})


def broadcast_arrays(*arrays: Any) -> list[Any]:
    shape = shapes.broadcast([array.shape for array in arrays])
    return [x if x.shape == shape else broadcast_to(x, shape) for x in arrays]


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    order = list(range(len(arrays)))
    if indexing == "xy":
        order[:2] = reversed(order[:2])
    sizes = tuple([size for array in arrays for size in array.shape])
    whole = tuple([sizes[n] for n in order])
    spread = []
    for n, array in enumerate(arrays):
        place = order.index(n)
        alone = [1] * place + [sizes[n]] + [1] * (len(order) - place - 1)
        spread.append(broadcast_to(reshape(array, alone), whole))
    return spread


def flip(x: Any, /, *, axis: Any = None) -> Traced:
    return added("flip", (x.node,), x.shape, {"axis": shapes.places(axis, len(x.shape))})


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Traced:
    return added("roll", (x.node,), x.shape, {"shift": shift, "axis": axis})


def tile(x: Any, repetitions: tuple[int, ...], /) -> Traced:
    rank = max(len(x.shape), len(repetitions))
    counts = (1,) * (rank - len(repetitions)) + tuple(repetitions)
    sizes = (1,) * (rank - len(x.shape)) + tuple(x.shape)
    between = reshape(x, tuple(itertools.chain(*[(1, size) for size in sizes])))
    pairs = list(zip(counts, sizes, strict=True))
    spread = broadcast_to(between, tuple(itertools.chain(*pairs)))
    return reshape(spread, tuple(shapes.size_of(pair) for pair in pairs))


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Traced:
    if isinstance(repeats, Traced) or hasattr(repeats, "shape"):
        raise unknown_size("repeat by an array", "a number of repeats")
    flat = reshape(x, (-1,)) if axis is None else x
    place = shapes.places(0 if axis is None else axis, len(flat.shape))[0]
    before, size, after = flat.shape[:place], flat.shape[place], flat.shape[place + 1 :]
    spread = broadcast_to(reshape(flat, (*before, size, 1, *after)),
                          (*before, size, repeats, *after))  # fmt: skip
    return reshape(spread, (*before, shapes.size_of((size, repeats)), *after))


def unstack(x: Any, /, *, axis: int = 0) -> list[Traced]:
    place = shapes.places(axis, len(x.shape))[0]
    if not isinstance(x.shape[place], int):
        raise UsageError(f"unstack gives {x.shape[place]} arrays, which is unknown: fix that size.")
    before = (slice(None),) * place
    return [x[before + (n,)] for n in range(x.shape[place])]  # noqa: RUF005 -- Python 3.10


def sort(x: Any, /, **options: Any) -> Traced:
    return added("sort", (x.node,), x.shape, options)


def argsort(x: Any, /, **options: Any) -> Traced:
    return added("argsort", (x.node,), x.shape, options, _INDEX)


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Traced:
    inputs = [_node(x1), _node(x2)]
    options: dict[str, Any] = {"side": side, "sorter": None}
    if sorter is not None:
        inputs.append(_node(sorter))
        options["sorter"] = Given(2)
    return added("searchsorted", tuple(inputs), x2.shape, options, _INDEX)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Traced:
    node, places = _node(x), index_node(indices)
    if axis is None and len(node.shape) != 1:
        raise UsageError(f"take needs an axis for {len(node.shape)} dimension(s).")
    place = shapes.places(0 if axis is None else axis, len(node.shape))[0]
    shape = (*node.shape[:place], *places.shape, *node.shape[place + 1 :])
    return added("take", (node, places), shape, {"axis": place})


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Traced:
    node, chosen = _node(x), index_node(indices)
    place = shapes.places(axis, len(node.shape))[0]
    others = [(*s[:place], 1, *s[place + 1 :]) for s in (node.shape, chosen.shape)]
    whole = shapes.broadcast(others)
    shape = (*whole[:place], chosen.shape[place], *whole[place + 1 :])
    return added("take_along_axis", (node, chosen), shape, {"axis": place})


def tril(x: Any, /, *, k: int = 0) -> Traced:
    return added("tril", (x.node,), x.shape, {"k": k})


def triu(x: Any, /, *, k: int = 0) -> Traced:
    return added("triu", (x.node,), x.shape, {"k": k})


def full(shape: Any, fill_value: Any, *, dtype: DType, device: Any = None) -> Traced:
    number = Traced(Node(CONSTANT, (), dtype, (), value=fill_value, origin=user_line()))
    sizes = checked_sizes(shape)
    return broadcast_to(number, sizes) if sizes else number


def zeros(shape: Any, *, dtype: DType, device: Any = None) -> Traced:
    return full(shape, 0, dtype=dtype)


def ones(shape: Any, *, dtype: DType, device: Any = None) -> Traced:
    return full(shape, 1, dtype=dtype)


def full_like(x: Any, /, fill_value: Any, *, dtype: DType, device: Any = None) -> Traced:
    return full(x.shape, fill_value, dtype=dtype)


def zeros_like(x: Any, /, *, dtype: DType, device: Any = None) -> Traced:
    return zeros(x.shape, dtype=dtype)


def ones_like(x: Any, /, *, dtype: DType, device: Any = None) -> Traced:
    return ones(x.shape, dtype=dtype)


empty, empty_like = zeros, zeros_like


def arange(start: Any, stop: Any, step: Any, *, dtype: DType, device: Any = None) -> Traced:
    """Evenly spaced numbers up to a size, which must never be below the start."""
    first, last = checked_sizes((start, stop))
    length = shapes.difference(last, first)
    if length is None or not isinstance(step, int) or step < 1:
        raise unknown_size(f"arange({start}, {stop}, {step})", "steps up, from 0 or a smaller size")
    count = shapes.quotient(shapes.total([length, step - 1]), step)
    options = {"start": start, "stop": stop, "step": step}
    return Traced(Node("arange", (), dtype, (count,), options, origin=user_line()))


def eye(
    rows: Any, columns: Any = None, /, *, k: int = 0, dtype: DType, device: Any = None
) -> Traced:
    height, width = checked_sizes((rows, rows if columns is None else columns))
    whole = full((height, width), 1, dtype=dtype)
    return tril(triu(whole, k=k), k=k)


def _diagonal(x: Any, /, *, offset: int = 0) -> Traced:
    shape = diagonal_shape(x.shape, offset)
    return added("linalg.diagonal", (x.node,), shape, {"offset": offset})


def _shifted(name: str) -> Any:
    return lambda x, /, *, axes=None: added(name, (x.node,), x.shape, {"axes": axes})


linalg = SimpleNamespace(diagonal=_diagonal)
fft = SimpleNamespace(fftshift=_shifted("fft.fftshift"), ifftshift=_shifted("fft.ifftshift"))


def nonzero(x: Any, /) -> NoReturn:
    raise unknown_size("nonzero", "xp.where(condition, ...), or a sum over the condition")


def unique_values(x: Any, /) -> NoReturn:
    raise unknown_size("the different values of an array", "xp.sort")


unique_all = unique_counts = unique_inverse = unique_values


def is_standard(name: str) -> bool:
    """Whether a namespace of the Array API standard has such a function."""
    if name.startswith("_"):  # attributes that Python itself looks up in a module
        return False
    import array_api_compat.numpy

    return hasattr(array_api_compat.numpy, name)


def __getattr__(name: str) -> Any:
    if not is_standard(name):
        raise AttributeError(name)
    raise UsageError(
        f"{user_place()}: a graph cannot contain {name}: leave it out of the traced function, or "
        "write it with other functions of castwise.array_api."
    )
