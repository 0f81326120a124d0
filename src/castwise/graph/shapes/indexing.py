"""Indices of traced arrays: x[key] and x[key] = values, as nodes whose shapes are known."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from castwise.errors import UsageError
from castwise.graph.program import Given, Node, Shape
from castwise.graph.shapes.arithmetic import broadcast, difference
from castwise.graph.shapes.sizes import Size

_TAKEN = "index a graph by integers, slices, None, ... and arrays of integers"


def split_key(key: Any, first: int, node_of: Callable[[Any], Node]) -> tuple[Any, tuple[Node, ...]]:
    """A key with its arrays as inputs of a node, numbered from `first`."""
    nodes: list[Node] = []

    def plain(part: Any) -> Any:
        if part is None or part is Ellipsis:
            return part
        if isinstance(part, slice):
            return slice(_bound(part.start), _bound(part.stop), _number(part.step))
        if isinstance(part, (bool, str, float, complex)):
            raise UsageError(f"{_TAKEN}, not by {part!r}.")
        if hasattr(part, "shape") or isinstance(part, (list, tuple)):
            nodes.append(node_of(part))
            return Given(first + len(nodes) - 1)
        return operator.index(part)

    parts = [plain(one) for part in _parts(key) for one in _unmasked(part)]
    return (parts[0] if len(parts) == 1 else tuple(parts)), tuple(nodes)


def _number(part: Any) -> int | None:
    return None if part is None else operator.index(part)


def _bound(part: Any) -> int | Size | None:
    return part if isinstance(part, Size) else _number(part)


def _parts(key: Any) -> tuple[Any, ...]:
    return key if isinstance(key, tuple) else (key,)


def _unmasked(part: Any) -> tuple[Any, ...]:
    """A mask from outside the graph, whose values are known, as the indices it selects."""
    import numpy as np

    if isinstance(part, (np.ndarray, list)):
        array = np.asarray(part)
        if array.dtype == bool and array.ndim:
            return np.nonzero(array)
    return (part,)


def full_key(key: Any, rank: int) -> list[Any]:
    """A key with an entry for each dimension and each new one, with `...` expanded.

    Raises UsageError if it has too many entries.
    """
    keys = list(key) if isinstance(key, tuple) else [key]
    used = sum(1 for part in keys if part is not None and part is not Ellipsis)
    if used > rank:
        raise UsageError(f"too many indices for {rank} dimension(s).")
    place = next((n for n, part in enumerate(keys) if part is Ellipsis), len(keys))
    return [*keys[:place], *[slice(None)] * (rank - used), *keys[place + 1 :]]


def indexed(shape: Shape, key: Any, arrays: Sequence[Shape] = ()) -> Shape:
    """The shape of x[key]; `arrays` are the shapes of the node's inputs.

    If index arrays are adjacent, their dimensions replace them in place. Otherwise their dimensions
    come first. Integers mixed with arrays count as 0-d arrays.
    """
    keys = full_key(key, len(shape))
    has_arrays = any(isinstance(part, Given) for part in keys)
    sizes: list[int | str] = []
    spread: list[int] = []  # the positions of arrays in the key
    at = 0  # the position of their dimensions in the shape
    place = 0
    for n, part in enumerate(keys):
        if part is None:
            sizes.append(1)
            continue
        if has_arrays and not isinstance(part, slice):
            at = at if spread else len(sizes)
            spread.append(n)
        sizes.extend(_indexed_dimension(shape[place], part))
        place += 1
    given = [arrays[part.number] for part in keys if isinstance(part, Given)]
    if spread and spread[-1] - spread[0] >= len(spread):
        at = 0
    return (*sizes[:at], *broadcast(given), *sizes[at:])


def _indexed_dimension(size: int | str, part: Any) -> tuple[int | str, ...]:
    """The remaining sizes of an indexed dimension."""
    if isinstance(part, slice):
        is_known = not any(isinstance(n, str) for n in (size, part.start, part.stop))
        return (len(range(*part.indices(int(size)))) if is_known else _slice_length(size, part),)
    if isinstance(part, int) and isinstance(size, int) and not -size <= part < size:
        raise UsageError(f"index {part} is out of range for a size of {size}.")
    return ()


def _slice_length(size: int | str, part: slice) -> int | str:
    """The length of a slice with symbolic sizes that is certainly within the dimension.

    Raises UsageError if it may reach beyond it.
    """
    start = 0 if part.start is None else part.start
    stop = size if part.stop is None else part.stop
    is_forward = part.step in (None, 1) and not (isinstance(start, int) and start < 0)
    length = difference(stop, start) if is_forward else None
    if length is None or difference(size, stop) is None:
        raise UsageError(
            f"a slice {key_text(part)} of size {size} has no known length: fix the size, or take a "
            "part that is never longer, such as [:n//2]."
        )
    return length


def key_text(key: Any) -> str:
    """An index as text between brackets."""
    if isinstance(key, tuple):
        return ", ".join(map(key_text, key))
    if isinstance(key, slice):
        start, stop, step = ["" if n is None else str(n) for n in (key.start, key.stop, key.step)]
        return f"{start}:{stop}{':' if step else ''}{step}"
    return "..." if key is Ellipsis else str(key)
