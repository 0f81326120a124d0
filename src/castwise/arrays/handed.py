"""The functions behind a tensor's methods. They depend on tensors themselves, so they are set when
the package is imported, instead of imported here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from castwise.arrays.tensor import Tensor


@dataclass(frozen=True)
class Calls:
    """The functions that a tensor's methods call; an op is given by its name."""

    operator: Callable[[str, Any, Any], Any]  # the op and both operands; may be NotImplemented
    unary: Callable[[str, Any], Any]  # the op and its operand
    augmented: Callable[[str, Any, Any], Any]  # the op, the target of `+=` and the operand
    in_place: Callable[..., Any]  # the op, the target, the other operands and options
    divmod: Callable[[Any, Any], Any]
    round: Callable[[Any, int | None], Any]
    op: Callable[..., Tensor]  # the op, its operands and options
    function: Callable[..., Tensor]  # a function of the standard's namespace, its arguments
    rounded: Callable[[Any, int], Tensor]  # a tensor and the number of decimals
    tensor_like: Callable[[Any, Any], Tensor]  # data, and the tensor that it is used with
    library_function: Callable[[Any, Any, Any], Any]  # a function, its arguments and options
    library_ufunc: Callable[[Any, str, Any, Any], Any]  # a ufunc, its method, inputs and options


calls: Calls


def hand_over(given: Calls) -> None:
    """Sets the functions, once, when the package is imported."""
    global calls
    calls = given
