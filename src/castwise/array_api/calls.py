"""How the functions of the namespace run: under the standard's dialect if no other is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from castwise.arrays.elements import check_tensor
from castwise.arrays.kinds import truncated_dtype
from castwise.arrays.tensor import Tensor, compute, compute_several
from castwise.catalog.dialects import STANDARD
from castwise.vocab.live import to_dtype

Number: TypeAlias = bool | int | float | complex
Operand: TypeAlias = Tensor | Number
Bound: TypeAlias = Tensor | int | float | None
Pairs: TypeAlias = int | tuple[Sequence[int], Sequence[int]]
Axes: TypeAlias = int | tuple[int, ...] | None


def op(name: str, *operands: Any, **options: Any) -> Tensor:
    """An op of the engine, under the standard's dialect if no other is chosen."""
    return compute(name, *operands, home=STANDARD, **options)


def several(name: str, *operands: Any, **options: Any) -> tuple[Tensor, ...]:
    """A function with several results, or with one whose dtype is not the compute dtype."""
    return compute_several(name, *operands, home=STANDARD, **options)


def first_result(name: str, *operands: Any, **options: Any) -> Tensor:
    """A function with one result whose dtype is not the compute dtype."""
    return several(name, *operands, **options)[0]


def reduced(name: str, x: Tensor, dtype: object, **options: Any) -> Tensor:
    """A sum or product, in the dialect's accumulator dtype or in the requested one."""
    if dtype is None:
        return op(name, x, **options)
    target = truncated_dtype(to_dtype(dtype), check_tensor(x, name)._kind.current_dialect)
    return op(name, x.astype(target, copy=False), **options).astype(target, copy=False)
