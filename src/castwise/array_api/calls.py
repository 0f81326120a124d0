"""How the functions of the namespace run, under the standard's dialect if no other is chosen; and
what makes those that are one call of an op."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar

from castwise.arrays.elements import check_tensor
from castwise.arrays.functions import standard_name
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


# Functions that are one call of an op.

_Made = TypeVar("_Made", bound=Callable[..., Tensor])


class Reduction(Protocol):
    """A function that reduces a tensor along some dimensions."""

    def __call__(self, x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor: ...


class IndexReduction(Protocol):
    """A function that reduces a tensor along one dimension, or all of them."""

    def __call__(
        self, x: Tensor, /, *, axis: int | None = None, keepdims: bool = False
    ) -> Tensor: ...


def one(name: str, about: str = "") -> Callable[[Tensor], Tensor]:
    """The function of an op with one operand."""

    def function(x: Tensor, /) -> Tensor:
        return op(name, x)

    return _named(function, name, about)


def two(name: str, about: str = "") -> Callable[[Operand, Operand], Tensor]:
    """The function of an op with two operands."""

    def function(x1: Operand, x2: Operand, /) -> Tensor:
        return op(name, x1, x2)

    return _named(function, name, about)


def reduction(name: str, about: str = "") -> Reduction:
    """The function of an op that reduces a tensor along some dimensions."""

    def function(x: Tensor, /, *, axis: Axes = None, keepdims: bool = False) -> Tensor:
        return op(name, x, axis=axis, keepdims=keepdims)

    return _named(function, name, about)


def index_reduction(name: str, about: str = "") -> IndexReduction:
    """The function of an op that reduces a tensor along one dimension, or all of them."""

    def function(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
        return op(name, x, axis=axis, keepdims=keepdims)

    return _named(function, name, about)


def _named(function: _Made, name: str, about: str) -> _Made:
    """A function as the namespace has it: its name is the standard's; without a sentence about it
    its docstring is that of the tensor's method."""
    function.__name__ = function.__qualname__ = standard_name(name)
    function.__module__ = "castwise.array_api"
    function.__doc__ = about or getattr(Tensor, name).__doc__
    return function
