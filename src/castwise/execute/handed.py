"""What computes for a tensor's methods: it stands on tensors itself, so that it is handed over
instead of imported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Calls:
    """The functions that a tensor's methods call; an op is told by its name."""

    operator: Callable[[str, Any, Any], Any]  # the op and both operands; may be NotImplemented
    unary: Callable[[str, Any], Any]  # the op and its operand
    augmented: Callable[[str, Any, Any], Any]  # the op, the target of `+=` and the operand
    in_place: Callable[..., Any]  # the op, the target, the other operands and options
    divmod: Callable[[Any, Any], Any]
    round: Callable[[Any, int | None], Any]
    library_function: Callable[[Any, Any, Any], Any]  # a function, its arguments and options
    library_ufunc: Callable[[Any, str, Any, Any], Any]  # a ufunc, its method, inputs and options


calls: Calls


def hand_over(given: Calls) -> None:
    """Sets what computes, once, when the package is imported."""
    global calls
    calls = given
