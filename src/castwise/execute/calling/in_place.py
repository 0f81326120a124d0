"""`x += y` and in-place ops: the dtype is kept, changed or refused as in the dialect's
framework."""

from __future__ import annotations

from typing import Any

from castwise.engine.decision import Question
from castwise.engine.steps.forms import rebinds, takes_result
from castwise.errors import PromotionError, UsageError
from castwise.execute import tracing
from castwise.execute.calling.arguments import arranged
from castwise.execute.calling.operands import NoOperandError
from castwise.execute.calling.ops import apply_op, prepare, prepare_for, run
from castwise.execute.calling.prepared import Prepared
from castwise.execute.calling.questions import asked, without_lists
from castwise.execute.tensor import Tensor


def update(name: str, target: Tensor, *others: Any, **options: Any) -> Tensor:
    """The target itself, with the result of an op written into it: `target.add_(other)`.

    Raises PromotionError if the dialect refuses, or would change a dtype that must stay the same.
    Raises UsageError if the shape would change.
    """
    if tracing.running:
        tracing.writing(target, *others)
    call = arranged(name, (target, *others), options, form="operator", inplace=True)
    prepared = prepare(
        name, call.operands, "operator", inplace=True, alpha=call.alpha, named=call.named
    )
    return _stored(prepared, target, call.operands, call.options)


def augmented(name: str, target: Tensor, other: Any) -> Any:
    """The result of `target += other`; NotImplemented if the other is not an operand."""
    if other is None:
        return NotImplemented
    try:
        return augment(name, target, other)
    except NoOperandError:
        return NotImplemented


def augment(name: str, target: Tensor, other: Any) -> Tensor:
    """The value of the name after `target += other`: a new tensor if the dialect rebinds the name,
    otherwise the target itself with the result in it. A variable is always written to.

    Raises what `update` raises.
    """
    if target._keeps_dtype:
        return update(name, target, other)
    operands = without_lists(name, (target, other), "augmented")
    question = asked(name, operands, "augmented")
    if rebinds(question):
        return apply_op(name, *operands, form="augmented")
    if tracing.running:
        tracing.writing(target, other)
    return _stored(prepare_for(question, name, operands), target, operands, {})


def _stored(
    prepared: Prepared, target: Tensor, operands: tuple[Any, ...], options: dict[str, Any]
) -> Tensor:
    """The target with the result of an op, which is written into its array, or becomes its new
    array if the dialect allows another dtype or shape."""
    question, result = prepared.decision.question, prepared.decision.result
    if target._keeps_dtype and result is not target.dtype:
        raise would_change(str(question), target, result)
    if result is not target.dtype and any(other is target for other in operands[1:]):
        _check_itself(question, target)
    values = run(prepared, operands, options, target._array if result is target.dtype else None)
    is_fitting = tuple(values.shape) == target.shape
    if not is_fitting and (target._keeps_dtype or not _takes_shape(question)):
        raise UsageError(
            f"{question.op.name} in place gives the shape {tuple(values.shape)}, but the tensor "
            f"has {target.shape}: use the op out of place, or reshape."
        )
    if not is_fitting or result is not target.dtype:
        target._array, target._kind = values, prepared.kind.shaped(values.shape)
        return target
    if values is not target._array:
        target._array = prepared.backend.write(target._array, ..., values)
    if prepared.kind.is_weak is not target._kind.is_weak:
        target._kind = target._kind.with_(is_weak=prepared.kind.is_weak)
    return target


def _takes_shape(question: Question) -> bool:
    return takes_result(question) and question.dialect.values.memory.retyped_shapes == "taken"


def _check_itself(question: Question, target: Tensor) -> None:
    """Raises PromotionError if an array that changes dtype in place is its own operand, and the
    dialect changes it before it is read."""
    is_retyped = question.op.name in question.dialect.values.memory.retyped_first.split()
    if is_retyped and 0 not in target.shape:
        raise PromotionError(
            f"{question} is refused in {question.dialect.name} if the array is its own operand, "
            "because its dtype changes before it is read: use the op out of place."
        )


def fills(given: tuple[int, ...], held: tuple[int, ...]) -> bool:
    """Whether values of a shape broadcast to the shape of an array, which keeps its own."""
    pairs = zip(reversed(given), reversed(held), strict=False)
    return len(given) <= len(held) and all(n in (1, wanted) for n, wanted in pairs)


def would_change(what: str, target: Tensor, joined: object) -> PromotionError:
    """The error for a write that would change the dtype of a variable."""
    return PromotionError(
        f"{what} is refused in {target.dialect.name}: it would make the {target.dtype} "
        f"variable {joined}, and a variable keeps its dtype. Cast the value: "
        f"x.astype({str(target.dtype)!r})."
    )
