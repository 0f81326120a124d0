"""The operands that layers are asked with: these have shapes of their own, and some operands are
indices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

Operands = tuple[str, ...]

# The shapes of the operands of each layer; a layer may be called without the last ones.
_SHAPES = {
    "einsum": ("[3,3]", "[3,3]"),
    "pad": ("[3]",),
    "one_hot": ("[3]",),
    "embedding": ("[3]", "[3,3]"),
    "topk": ("[3]",),
    "conv1d": ("[3,3,3]", "[3,3,3]", "[3]"),
    "conv2d": ("[3,3,3,3]", "[3,3,3,3]", "[3]"),
    "layer_norm": ("[3]", "[3]", "[3]"),
    "cross_entropy": ("[3,3]", "[3]"),
    "scaled_dot_product_attention": ("[3,3,3]", "[3,3,3]", "[3,3,3]"),
}
_LEAST = {"conv1d": 2, "conv2d": 2, "layer_norm": 1}  # of operands, where not all are needed
_OF_INDEX = ("embedding", "cross_entropy")  # no dtype alone makes a sensible call
_OF_INDICES = "int64"
_OF_FLOATS = "float32"


def layer_operands(
    op: str, dtypes: Sequence[str], rare: Sequence[str], some: Sequence[str]
) -> Iterator[Operands]:
    """Each dtype alone; where there are some to mix, pairs of dtypes in every place."""
    shapes, every = _SHAPES[op], (*dtypes, *rare)
    counts = () if op in _OF_INDEX else range(_LEAST.get(op, len(shapes)), len(shapes) + 1)
    for count in counts:
        yield from (_of(shapes[:count], [dtype] * count) for dtype in every)
    if len(shapes) == 1:
        yield from product([f"{dtype}[]" for dtype in every])
    elif some:
        yield from _MIXED.get(op, _mixed)(shapes, dtypes, some)


def _mixed(shapes: Operands, dtypes: Sequence[str], some: Sequence[str]) -> Iterator[Operands]:
    for a, b in product(some, repeat=2):
        yield from (_of(shapes, three) for three in ((a, b, b), (a, a, b), (a, b, a)))


def _mixed_with_less(
    shapes: Operands, dtypes: Sequence[str], some: Sequence[str]
) -> Iterator[Operands]:
    yield from (_of(shapes[:2], pair) for pair in product(some, repeat=2))
    yield from _mixed(shapes, dtypes, some)


def _matrices(shapes: Operands, dtypes: Sequence[str], some: Sequence[str]) -> Iterator[Operands]:
    yield from (_of(shapes, pair) for pair in product(dtypes, repeat=2))
    yield from (_of(shapes[:1] * 3, (a, b, b)) for a, b in product(some, repeat=2))
    yield from (_of(shapes[:1], (a,)) for a in dtypes)


def _indices_first(
    shapes: Operands, dtypes: Sequence[str], some: Sequence[str]
) -> Iterator[Operands]:
    yield from (_of(shapes, (dtype, _OF_FLOATS)) for dtype in dtypes)
    yield from (_of(shapes, (_OF_INDICES, dtype)) for dtype in dtypes)


def _classes(shapes: Operands, dtypes: Sequence[str], some: Sequence[str]) -> Iterator[Operands]:
    """Classes, which have a dimension less than the scores, and probabilities, which have not."""
    yield from (_of(shapes, (dtype, _OF_INDICES)) for dtype in dtypes)
    yield from (_of(shapes, (_OF_FLOATS, dtype)) for dtype in dtypes)
    yield from (_of(shapes[:1] * 2, (_OF_FLOATS, dtype)) for dtype in dtypes)
    floats = [dtype for dtype in some if "float" in dtype]
    yield from (_of(shapes[:1] * 2, pair) for pair in product(floats, repeat=2))


_MIXED: dict[str, Callable[..., Iterator[Operands]]] = {
    "einsum": _matrices,
    "embedding": _indices_first,
    "cross_entropy": _classes,
    "conv1d": _mixed_with_less,
    "conv2d": _mixed_with_less,
    "layer_norm": _mixed_with_less,
}


def _of(shapes: Sequence[str], dtypes: Sequence[str]) -> Operands:
    return tuple(f"{dtype}{shape}" for dtype, shape in zip(dtypes, shapes, strict=True))


def product_equation(operands: Sequence[object]) -> str:
    """The equation of a product of so many matrices; of one matrix, the sum of each row.

    >>> product_equation([1, 2, 3]), product_equation([1])
    ('ab,bc,cd->ad', 'ab->a')
    """
    letters = "abcdefghijklmnopqrstuvwxyz"
    terms = [letters[place : place + 2] for place in range(len(operands))]
    return f"{','.join(terms)}->{'a' if len(terms) == 1 else f'a{terms[-1][-1]}'}"
