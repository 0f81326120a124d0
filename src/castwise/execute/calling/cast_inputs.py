"""Casts the inputs of an op as decided, for kernels that castwise does not call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from castwise.engine.decision import Decision
from castwise.errors import UsageError
from castwise.execute.calling.operands import common_backend, described, raw
from castwise.execute.steps.steps import steps_of
from castwise.execute.tensor import Tensor, wrapped
from castwise.vocab.operands import Operand


def cast_inputs(decision: Decision, operands: Sequence[Any]) -> tuple[Any, ...]:
    """The operands, cast for the op: arrays stay arrays and tensors stay tensors. A Python number
    becomes a 0-d array or tensor, and None stays None.

    Raises UsageError if they are not the operands of the decision.
    """
    question = decision.question
    if len(operands) != len(question.operands):
        raise UsageError(f"{question} has {len(question.operands)} operands, not {len(operands)}.")
    seen = [described(operand, question.dialect, sees_values=False) for operand in operands]
    for given, asked in zip(seen, question.operands, strict=True):
        _check(given, asked, decision)
    backend = common_backend(operands, seen)
    steps = steps_of(decision, question.op.name)
    there = [(o, d) for o, d in zip(operands, seen, strict=True) if o is not None]
    entering = [entry and entry.dtype for entry in steps.entries]
    arrays = [raw(o, backend, d, dtype) for (o, d), dtype in zip(there, entering, strict=True)]
    kinds = [o._kind for o in operands if isinstance(o, Tensor)]
    entered = iter(steps.enter(arrays, backend))
    cast = [None if o is None else _array(next(entered), decision, backend) for o in operands]
    return tuple([wrapped(a, kinds[0]) if kinds and a is not None else a for a in cast])


def _array(entered: Any, decision: Decision, backend: Any) -> Any:
    """The operand as an array: some backends compute with plain numbers."""
    if backend.owns(entered):
        return entered
    return backend.make(entered, decision.compute, copy=None, device=None)


def _check(given: Operand, asked: Operand, decision: Decision) -> None:
    if given.dtype is not asked.dtype or given.kind != asked.kind:
        raise UsageError(
            f"the decision is about {decision.question}, but {given} is not {asked}: get a "
            "decision for these operands, cw.resolve(...)."
        )
