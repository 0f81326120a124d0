"""The operators of a tensor: each is an op of the engine, in its operator form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from castwise.execute.apply import apply, apply_operator, operator_of
from castwise.execute.inplace import OPERATORS
from castwise.execute.tensor import Tensor

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_UNARY = {"neg": "neg", "pos": "positive", "abs": "abs", "invert": "bitwise_not"}


def _reflected(op: str) -> Callable[[Tensor, Any], Any]:
    def operator(self: Tensor, other: Any) -> Any:
        return apply_operator(op, other, self)

    return operator


def _unary(op: str) -> Callable[[Tensor], Any]:
    def operator(self: Tensor) -> Any:
        return apply(op, self, form="operator")

    return operator


def install() -> None:
    """Gives Tensor its operators."""
    for name, op in {**OPERATORS, **{name: name for name in _COMPARISONS}}.items():
        setattr(Tensor, f"__{name}__", operator_of(op))
    for name, op in OPERATORS.items():
        setattr(Tensor, f"__r{name}__", _reflected(op))
    for name, op in _UNARY.items():
        setattr(Tensor, f"__{name}__", _unary(op))


install()
