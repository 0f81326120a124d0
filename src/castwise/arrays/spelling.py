"""The arguments of methods, in the spellings of several frameworks."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from castwise.errors import UsageError
from castwise.rules.values import ArrayMethods
from castwise.vocab.dtypes import DType
from castwise.vocab.live import to_dtype

if TYPE_CHECKING:
    from castwise.arrays.tensor import Tensor

Number: TypeAlias = bool | int | float | complex
Operand: TypeAlias = "Tensor | Number"
Axes: TypeAlias = int | Sequence[int] | None
Sizes: TypeAlias = int | Sequence[int]


def axis_or_dim(axis: Any, dim: Any, default: Any = None) -> Any:
    """The axis or axes of a call, which may also be called dim.

    >>> axis_or_dim(None, [0, 1])
    (0, 1)
    """
    if axis is not None and dim is not None:
        raise UsageError("axis and dim are the same: give one of them.")
    found = dim if axis is None else axis
    if found is None:
        return default
    return operator.index(found) if hasattr(found, "__index__") else tuple(found)


def reduced(axis: Any, keepdims: bool, dim: Any, keepdim: bool | None) -> dict[str, Any]:
    """The axis of a reduction, and whether its result keeps that dimension."""
    keeps = keepdims if keepdim is None else keepdim
    if not isinstance(keeps, bool):
        raise UsageError(f"keepdims is True or False, not {keeps!r}: give others by name, dtype=.")
    return {"axis": axis_or_dim(axis, dim), "keepdims": keeps}


def corrected(
    correction: float | None, ddof: float | None, unbiased: bool | None
) -> dict[str, Any]:
    """What the count is reduced by in a variance; empty: by what the dialect says.

    >>> corrected(None, None, True)
    {'correction': 1}
    """
    given = [n for n in (correction, ddof, None if unbiased is None else int(unbiased))
             if n is not None]  # fmt: skip
    if len(given) > 1:
        raise UsageError("correction, ddof and unbiased are the same: give one of them.")
    return {"correction": given[0]} if given else {}


def given(**options: Any) -> dict[str, Any]:
    """The options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def numbers(parts: Sequence[Any]) -> tuple[int, ...]:
    """Sizes or axes, given one by one or as one sequence.

    >>> numbers((2, 3)), numbers(((2, 3),))
    ((2, 3), (2, 3))
    """
    if len(parts) == 1 and isinstance(parts[0], (tuple, list)):
        return tuple(parts[0])
    return tuple(parts)


def place(axis: int, ndim: int) -> int:
    """An axis counted from the front.

    Raises UsageError if there is none.
    """
    found = operator.index(axis)
    if not -ndim <= found < ndim:
        raise UsageError(f"axis {axis} is out of range for {ndim} dimension(s).")
    return found % ndim


def dtype_in(thing: Any) -> DType | None:
    """The dtype that an argument names, if any."""
    try:
        return to_dtype(thing)
    except UsageError:
        return None


def method_rules(tensor: Any) -> ArrayMethods:
    """What methods give in the framework of a tensor's dialect."""
    found: ArrayMethods = tensor._kind.current_dialect.values.methods
    return found
