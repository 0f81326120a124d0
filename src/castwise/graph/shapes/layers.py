"""The shapes of the results of layers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from castwise.errors import UsageError
from castwise.execute.functions.layer_shapes import (
    check_attention,
    check_count,
    class_axis,
    convolution,
    needed,
    normalized_axes,
    pad_widths,
)
from castwise.graph.program import Shape
from castwise.graph.shapes.arithmetic import broadcast, multiplied, places, total

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _einsum(*given: Shape, equation: str = "") -> Shape:
    terms, result = labels(needed("einsum", "equation", equation or None), given)
    sizes: dict[str, int | str] = {}
    for term, shape in zip(terms, given, strict=True):
        for label, size in zip(term, shape, strict=True):
            sizes[label] = broadcast([(sizes.get(label, 1),), (size,)])[0]
    return tuple([sizes[label] for label in result])


def labels(equation: str, given: tuple[Shape, ...]) -> tuple[list[str], str]:
    """A label for each dimension of each operand, and those of the result.

    >>> labels("...ij,...jk", ((5, 2, 3), (5, 3, 4)))
    (['0ij', '0jk'], '0ik')

    Raises UsageError for an equation that does not fit the operands.
    """
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    named = [re.sub(r"\.\.\.", "", term) for term in terms]
    more = [len(shape) - len(name) for shape, name in zip(given, named, strict=False)]
    is_fit = len(terms) == len(given) and all(
        n >= 0 and (n == 0 or "..." in term) for n, term in zip(more, terms, strict=True)
    )
    if not is_fit:
        ranks = " and ".join(str(len(shape)) for shape in given)
        raise UsageError(f"the equation {equation!r} does not fit operands of {ranks} dimensions.")
    dots = "".join(map(str, range(max(more, default=0))))
    spread = [
        term.replace("...", dots[len(dots) - n :]) for term, n in zip(terms, more, strict=True)
    ]
    if arrow:
        return spread, right.replace("...", dots)
    once = sorted({c for c in "".join(named) if "".join(named).count(c) == 1})
    return spread, dots + "".join(once)


def _pad(x: Shape, *, pad_width: Any = None, constant_values: Any = 0) -> Shape:
    widths = pad_widths(needed("pad", "pad_width", pad_width), len(x))
    return tuple([total([size, sum(pair)]) for size, pair in zip(x, widths, strict=True)])


def _one_hot(x: Shape, *, num_classes: int | None = None) -> Shape:
    return (*x, needed("one_hot", "num_classes", num_classes))


def _embedding(indices: Shape, weight: Shape) -> Shape:
    return (*indices, *weight[1:])


def topk_shapes(x: Shape, *, k: int | None = None, axis: int = -1) -> list[Shape]:
    """The shape of the values and that of their places."""
    count = needed("topk", "k", k)
    if not x:
        return [(), ()]
    place = places(axis, len(x))[0]
    check_count(count, x[place])
    return [(*x[:place], count, *x[place + 1 :])] * 2


def _conv(op: str) -> Callable[..., Shape]:
    return lambda x, weight, *bias, **options: (
        *x[:1],
        *weight[:1],
        *convolution(op, x, weight, **options).sizes,
    )


def _layer_norm(x: Shape, *others: Shape, normalized_shape: Any = None, eps: float = 1e-5) -> Shape:
    normalized_axes(x, normalized_shape)
    return x


def _attention(query: Shape, key: Shape, value: Shape, **options: Any) -> Shape:
    check_attention(query, key, value)
    scores = multiplied(query, (*key[:-2], key[-1], key[-2]))
    return multiplied(scores, value)


def _cross_entropy(x: Shape, target: Shape, *, reduction: str = "mean") -> Shape:
    axis = class_axis(x, target)
    return (*x[:axis], *x[axis + 1 :]) if reduction == "none" else ()


# By the names of the ops.
SHAPES: dict[str, Callable[..., Shape]] = {
    "einsum": _einsum,
    "pad": _pad,
    "one_hot": _one_hot,
    "embedding": _embedding,
    "conv1d": _conv("conv1d"),
    "conv2d": _conv("conv2d"),
    "layer_norm": _layer_norm,
    "scaled_dot_product_attention": _attention,
    "cross_entropy": _cross_entropy,
}
