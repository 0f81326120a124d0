"""Which shapes layers take, and what follows from what they are given besides their operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from castwise.errors import UsageError


def needed(op: str, name: str, given: Any) -> Any:
    """What an op cannot do without.

    Raises UsageError if it is not given.
    """
    if given is None:
        raise UsageError(
            f"{op} needs {name}=, which was not given: cw.apply({op!r}, ..., {name}=)."
        )
    return given


def check_count(count: int, size: Any) -> None:
    """Raises UsageError if topk is asked for more elements than there are."""
    if not 0 <= count <= (size if isinstance(size, int) else count):
        raise UsageError(f"topk of {size} elements cannot give {count}: choose a smaller k.")


def check_attention(query: Sequence[Any], key: Sequence[Any], value: Sequence[Any]) -> None:
    """Raises UsageError if queries, keys and values do not fit."""
    is_fit = min(map(len, (query, key, value))) > 1
    if not is_fit or query[-1] != key[-1] or key[-2] != value[-2]:
        raise UsageError(
            "attention takes queries (..., n, e), keys (..., m, e) and values (..., m, v), not"
            f" {list(query)}, {list(key)} and {list(value)}."
        )


class Convolution(NamedTuple):
    """A convolution whose sizes fit, per dimension of its kernel."""

    stride: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]  # before and after
    dilation: tuple[int, ...]
    groups: int
    sizes: tuple[int, ...]  # of the result


def convolution(
    op: str,
    x: Sequence[Any],
    weight: Sequence[Any],
    *,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Convolution:
    """How a convolution of these shapes is computed.

    >>> convolution("conv1d", (1, 2, 9), (4, 2, 3), stride=2, padding=1).sizes
    (5,)

    Raises UsageError if they do not fit.
    """
    rank = 2 + (1 if op == "conv1d" else 2)
    if len(x) != rank or len(weight) != rank or not _are_known((*x[1:], *weight)):
        raise UsageError(
            f"{op} takes an array and a kernel of {rank} dimensions, of which only the batch may"
            f" have an unknown size, not {list(x)} and {list(weight)}."
        )
    if x[1] != weight[1] * groups or weight[0] % groups:
        raise UsageError(
            f"{op} of {x[1]} channels with a kernel of shape {list(weight)} in {groups} group(s):"
            " the kernel's second size is the channels of a group."
        )
    strides, dilations = _each(stride, rank - 2), _each(dilation, rank - 2)
    reach = [d * (n - 1) for d, n in zip(dilations, weight[2:], strict=True)]
    widths = _paddings(padding, reach)
    sizes = tuple(
        [
            (n + before + after - r - 1) // s + 1
            for n, (before, after), r, s in zip(x[2:], widths, reach, strides, strict=True)
        ]
    )
    if any(size < 1 for size in sizes):
        raise UsageError(f"{op}: the kernel {list(weight)} does not fit into {list(x)}.")
    return Convolution(strides, widths, dilations, groups, sizes)


def _are_known(sizes: Sequence[Any]) -> bool:
    """Whether all sizes are numbers; those of a graph may be names."""
    return all(isinstance(size, int) for size in sizes)


def _paddings(padding: Any, reach: list[int]) -> tuple[tuple[int, int], ...]:
    if padding == "same":
        return tuple([(n // 2, n - n // 2) for n in reach])
    sizes = _each(0 if padding == "valid" else padding, len(reach))
    return tuple([(size, size) for size in sizes])


def _each(number: Any, count: int) -> tuple[int, ...]:
    """A number for each of so many dimensions."""
    return (number,) * count if isinstance(number, int) else tuple(number)


def normalized_axes(shape: Sequence[Any], normalized: Any) -> tuple[int, ...]:
    """The dimensions that layer_norm works over; the last, where none are named.

    Raises UsageError if they are not the last ones.
    """
    sizes = shape[-1:] if normalized is None else _each(normalized, 1)
    if not sizes or tuple(shape[-len(sizes) :]) != tuple(sizes):
        raise UsageError(
            f"layer_norm of an array of shape {tuple(shape)} is over its last dimensions, which are"
            f" not {tuple(sizes)}."
        )
    return tuple(range(-len(sizes), 0))


def class_axis(scores: Sequence[Any], target: Sequence[Any]) -> int:
    """The dimension of the scores that has a place for each class.

    Raises UsageError if the shapes do not fit.
    """
    axis = min(1, len(scores) - 1)
    rest = (*scores[:axis], *scores[axis + 1 :])
    if not scores or tuple(target) not in (tuple(scores), rest):
        raise UsageError(
            f"cross_entropy of scores of shape {tuple(scores)} takes a target of shape"
            f" {rest} (classes) or {tuple(scores)} (probabilities), not {tuple(target)}."
        )
    return axis


def pad_widths(given: Any, rank: int) -> list[tuple[int, int]]:
    """How much is added before and after each dimension.

    >>> pad_widths(1, 2), pad_widths((1, 0), 1), pad_widths([(0, 0), (1, 2)], 2)
    ([(1, 1), (1, 1)], [(1, 0)], [(0, 0), (1, 2)])

    Raises UsageError for another number of dimensions, or for a negative width.
    """
    if isinstance(given, int):
        given = (given, given)
    pairs = [given] * rank if len(given) == 2 and isinstance(given[0], int) else list(given)
    if len(pairs) != rank or any(size < 0 for pair in pairs for size in pair):
        raise UsageError(
            f"pad_width is a number, a pair, or a pair for each of {rank} dimensions, none of them"
            f" negative, not {given!r}."
        )
    return [(before, after) for before, after in pairs]
