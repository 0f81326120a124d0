"""Ops that a framework composes of others in a way that affects the values. They are computed step
by step, each step in the dtype that the engine decides for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

from castwise.engine.ask import answer
from castwise.engine.decision import Decision, Question
from castwise.engine.plan import plan_of
from castwise.engine.steps.composed import Term, composition, parse_program, step_question
from castwise.execute.steps.steps import (
    ComposedOp,
    ComposedStep,
    Converted,
    Entry,
    Number,
    Steps,
    steps_of,
)
from castwise.vocab.dtypes import dtype
from castwise.vocab.notation import parse_scalar
from castwise.vocab.operands import Operand, Role, array_operand, scalar_operand

Change: TypeAlias = Callable[[Steps, Decision], Steps]


def stepwise(steps: Steps, decision: Decision, change: Change) -> Steps | None:
    """The steps of an op by its composition, if the dialect computes it that way.

    `change` applies the value rules to each step.
    """
    question = decision.question
    if question.op.name not in question.dialect.values.arithmetic.stepwise.split():
        return None
    plan = plan_of(question.op, question.dialect, question.form)
    composed = composition(plan, question.operands)
    if composed is None:
        return None
    program = parse_program(composed.program)
    if isinstance(program, str) or program[0] == "result_type":  # it only gives a dtype
        return None
    if question.op.family == "losses" and program[0] == "mean":
        program = program[1][0]  # the mean comes last, or the reduction that the caller requests
    _, step = _part_of(program, question, change)
    if isinstance(step, Converted):
        step = step.part  # the result gets the decided dtype anyway
    entries = tuple([None] * len(steps.entries))
    return replace(steps, entries=entries, composed=ComposedOp(step, steps))


def _part_of(term: Term, question: Question, change: Change) -> tuple[Operand, Any]:
    """A term as the engine sees it, and its argument when the op runs."""
    if isinstance(term, str):
        place = "xyz".find(term)
        if place >= 0:
            return question.operands[place], place
        number = parse_scalar(term)
        return scalar_operand(number), Number(number)
    name, arguments = term
    if name == "cast":
        operand, part = _part_of(arguments[0], question, change)
        target = dtype(str(arguments[1]))
        if isinstance(part, Number):  # it stays a number: every float can hold it
            return array_operand(target, ()), part
        return replace(operand, dtype=target, value=None), Converted(part, target)
    found = [_part_of(argument, question, change) for argument in arguments]
    operands = tuple([operand for operand, _ in found])
    decision = answer(step_question(question.dialect, name, operands))
    steps = change(steps_of(decision, decision.question.op.name), decision)
    entries = [
        Entry(decision.compute) if isinstance(given, Number) and not operand.is_scalar else entry
        for entry, (operand, given) in zip(steps.entries, found, strict=True)
    ]
    steps = replace(steps, entries=tuple(entries))
    shape = None if any(o.role is Role.ARRAY for o in operands) else ()
    given = tuple([part for _, part in found])
    return array_operand(decision.result, shape), ComposedStep(steps, given)
