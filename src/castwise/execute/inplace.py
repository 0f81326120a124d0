"""In place: the dtype is kept, changed or refused as the dialect's framework does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from castwise.errors import UsageError
from castwise.execute.apply import planned, run
from castwise.execute.operands import is_operand
from castwise.execute.tensor import Tensor

# The operators that may stand before `=`, and the ops they are.
OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}  # fmt: skip


def updated(name: str, target: Tensor, other: Any, form: str) -> Tensor:
    """The target with the result written into it, or a new tensor where the dtype changes.

    Raises PromotionError where the dialect refuses, UsageError where the shape would change.
    """
    plan = planned(name, (target, other), form, inplace=True)
    values = run(plan, (target, other), {})
    if tuple(values.shape) != target.shape:
        raise UsageError(
            f"{name} in place gives the shape {tuple(values.shape)}, the tensor has "
            f"{target.shape}: use the op out of place, or reshape."
        )
    if plan.decision.result is not target.dtype:
        return Tensor._of(values, plan.kind.shaped(values.shape))
    target._array = plan.backend.write(target._array, ..., values)
    return target


def _operator(op: str) -> Callable[[Tensor, Any], Any]:
    def operator(self: Tensor, other: Any) -> Any:
        return updated(op, self, other, "operator") if is_operand(other) else NotImplemented

    return operator


def _method(op: str) -> Callable[[Tensor, Any], Tensor]:
    def method(self: Tensor, other: Any) -> Tensor:
        new = updated(op, self, other, "function")
        self._array, self._kind = new._array, new._kind
        return self

    method.__name__ = f"{op}_"
    method.__doc__ = f"`{op}` in place, as the function form; returns the tensor itself."
    return method


def install() -> None:
    """Gives Tensor its in-place operators and methods."""
    for name, op in OPERATORS.items():
        setattr(Tensor, f"__i{name}__", _operator(op))
        setattr(Tensor, f"{op}_", _method(op))


install()
