"""The shapes of products of vectors and matrices."""

from __future__ import annotations

from collections.abc import Callable

from castwise.errors import UsageError
from castwise.execute.functions.products import spread
from castwise.graph.program import Shape
from castwise.graph.shapes.arithmetic import broadcast, multiplied, places, reduced, size_of


def check_equal(name: str, one: int | str, other: int | str) -> None:
    """Raises UsageError if a product would sum over two different sizes."""
    if one != other:
        raise UsageError(f"{name} needs equal sizes to sum over, not {one} and {other}.")


def _dot(x: Shape, y: Shape) -> Shape:
    return multiplied(x, y) if x and y else broadcast([x, y])


def _outer(x: Shape, y: Shape) -> Shape:
    return size_of(x), size_of(y)


def _inner(x: Shape, y: Shape) -> Shape:
    if not x or not y:
        return broadcast([x, y])
    check_equal("inner", x[-1], y[-1])
    return (*x[:-1], *y[:-1])


def _vecdot(x: Shape, y: Shape, *, axis: int = -1) -> Shape:
    if not x or not y:
        return reduced(x or y, axis) if x or y else ()
    one, other = places(axis, len(x))[0] - len(x), places(axis, len(y))[0] - len(y)
    check_equal("vecdot", x[one], y[other])
    return broadcast([_without(x, one), _without(y, other)])


def _without(shape: Shape, place: int) -> Shape:
    return tuple(size for n, size in enumerate(shape) if n != place % len(shape))


def _cross(x: Shape, y: Shape, *, axis: int = -1) -> Shape:
    for shape in (x, y):
        check_equal("cross", shape[places(axis, len(shape))[0]], 3)
    return broadcast([x, y])


def _kron(x: Shape, y: Shape) -> Shape:
    left, right = spread(x, y)
    pairs = zip(left[::2], right[1::2], strict=True)
    return tuple([size_of(pair) for pair in pairs])


# By the names of the ops.
PRODUCTS: dict[str, Callable[..., Shape]] = {
    "matmul": multiplied,
    "dot": _dot,
    "outer": _outer,
    "inner": _inner,
    "vecdot": _vecdot,
    "cross": _cross,
    "kron": _kron,
}
