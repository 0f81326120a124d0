"""The operators of a tensor: each is an op of the engine, in its operator form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from castwise.execute.apply import apply_op, apply_operator, operator_of
from castwise.execute.inplace import OPERATORS
from castwise.execute.tensor import Tensor
from castwise.vocab.ops import OPS

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_UNARY = {"neg": "neg", "pos": "positive", "abs": "abs", "invert": "bitwise_not"}


def _reflected(op: str) -> Callable[[Tensor, Any], Any]:
    def operator(self: Tensor, other: Any) -> Any:
        return apply_operator(op, other, self)

    return operator


def _unary(op: str) -> Callable[[Tensor], Any]:
    def operator(self: Tensor) -> Any:
        return apply_op(op, self, form="operator")

    return operator


def _power(operator: Callable[[Tensor, Any], Any]) -> Callable[..., Any]:
    def power(self: Tensor, other: Any, modulo: Any = None) -> Any:
        if modulo is not None:
            raise TypeError("pow(x, y, z) is for Python's ints: write x**y % z.")
        return operator(self, other)

    return power


class _Applied:
    """Stands where a tensor has no method: the error names the way to the op.

    One of these for each op, since `__getattr__` would slow down every attribute there is.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, tensor: Tensor | None, owner: type) -> Any:
        raise AttributeError(
            f"a {owner.__name__} has no attribute {self._name!r}: ops are applied, "
            f"cw.apply({self._name!r}, x), and castwise.array_api has functions."
        )


def install() -> None:
    """Gives Tensor its operators."""
    for row in OPS:
        if row not in Tensor.__dict__:
            setattr(Tensor, row, _Applied(row))
    for name, op in {**OPERATORS, **{name: name for name in _COMPARISONS}}.items():
        setattr(Tensor, f"__{name}__", operator_of(op))
    Tensor.__pow__ = _power(operator_of("pow"))
    for name, op in OPERATORS.items():
        setattr(Tensor, f"__r{name}__", _reflected(op))
    for name, op in _UNARY.items():
        setattr(Tensor, f"__{name}__", _unary(op))


def operators() -> list[Callable[..., Any]]:
    """The operators of a tensor that give a new one."""
    names = [*OPERATORS, *[f"r{name}" for name in OPERATORS], *_COMPARISONS, *_UNARY]
    return [getattr(Tensor, f"__{name}__") for name in names]


install()
