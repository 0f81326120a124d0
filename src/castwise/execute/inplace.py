"""In place: the dtype is kept, changed or refused as the dialect's framework does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from castwise.engine.plan import plan_of
from castwise.errors import PromotionError, UsageError
from castwise.execute import tracing
from castwise.execute.apply import arranged, planned, run
from castwise.execute.operands import is_operand
from castwise.execute.plans import Plan
from castwise.execute.tensor import Tensor
from castwise.vocab.ops import OPS

# The operators that may stand before `=`, and the ops they are.
OPERATORS = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "matmul": "matmul", "and": "bitwise_and",
    "or": "bitwise_or", "xor": "bitwise_xor", "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
}  # fmt: skip
_OTHER_SHAPES = ("reductions", "products", "joining", "losses", "questions")
# The ops that have a method: those whose result may have the shape of their first operand.
METHODS = (
    *[row.name for row in OPS.values() if row.family not in _OTHER_SHAPES
      and not row.is_condition_first and row.name != "allclose"],
    "cumsum", "cumprod", "matmul",
)  # fmt: skip


def updated(name: str, target: Tensor, *others: Any, **options: Any) -> Tensor:
    """The target with the result written into it, or a new tensor where the dialect rebinds.

    Raises PromotionError where the dialect refuses, or would change what must keep its dtype;
    UsageError where the shape would change.
    """
    if tracing.running:
        tracing.writing(target, *others)
    call = arranged(name, (target, *others), options)
    plan = planned(name, call.operands, "operator", inplace=True, alpha=call.alpha)
    if target._keeps_dtype and plan.decision.result is not target.dtype:
        raise would_change(str(plan.decision.question), target, plan.decision.result)
    values = run(plan, call.operands, call.options)
    is_fitting = tuple(values.shape) == target.shape
    if not is_fitting and (target._keeps_dtype or not _rebinds(plan)):
        raise UsageError(
            f"{name} in place gives the shape {tuple(values.shape)}, the tensor has "
            f"{target.shape}: use the op out of place, or reshape."
        )
    if not is_fitting or plan.decision.result is not target.dtype:
        return Tensor._of(values, plan.kind.shaped(values.shape))
    target._array = plan.backend.write(target._array, ..., values)
    if plan.kind.is_weak is not target._kind.is_weak:
        target._kind = target._kind.with_(is_weak=plan.kind.is_weak)
    return target


def update(name: str, target: Tensor, *others: Any, **options: Any) -> Tensor:
    """The target itself, with the result of an op in it."""
    new = updated(name, target, *others, **options)
    target._array, target._kind = new._array, new._kind
    return target


def fills(given: tuple[int, ...], held: tuple[int, ...]) -> bool:
    """Whether values of a shape fill an array of another, which keeps its own."""
    pairs = zip(reversed(given), reversed(held), strict=False)
    return len(given) <= len(held) and all(n in (1, wanted) for n, wanted in pairs)


def would_change(what: str, target: Tensor, joined: object) -> PromotionError:
    """The error for what would change a dtype that stays."""
    return PromotionError(
        f"{what} is refused in {target.dialect.name}: it would make the {target.dtype} "
        f"variable {joined}, and a variable keeps its dtype. Cast the value: "
        f"x.astype({str(target.dtype)!r})."
    )


def _rebinds(plan: Plan) -> bool:
    """Whether `a += b` gives the name another tensor, in the dialect, rather than writing."""
    question = plan.decision.question
    return plan_of(question.op, question.dialect, "inplace").output == "rebinds"


def _operator(op: str) -> Callable[[Tensor, Any], Any]:
    def operator(self: Tensor, other: Any) -> Any:
        return updated(op, self, other) if is_operand(other) else NotImplemented

    return operator


def _method(op: str) -> Callable[..., Tensor]:
    def method(self: Tensor, *others: Any, **options: Any) -> Tensor:
        return update(op, self, *others, **options)

    method.__name__ = f"{op}_"
    method.__doc__ = f"`{op}` in place; returns the tensor itself."
    return method


def install() -> None:
    """Gives Tensor its in-place operators and methods."""
    for name, op in OPERATORS.items():
        setattr(Tensor, f"__i{name}__", _operator(op))
    for op in METHODS:
        setattr(Tensor, f"{op}_", _method(op))


install()
