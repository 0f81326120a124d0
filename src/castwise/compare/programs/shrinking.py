"""Makes a difference small: few steps, small arrays, plain values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from castwise.compare.programs.comparing import ALIASING, ProgramDifference
from castwise.conformance.programs.program import ALIAS, MAKE, Operand, Program, Step, made
from castwise.conformance.values.notation import Held

Finds = Callable[[Program], ProgramDifference | None]

_ROUNDS = 40  # smaller programs that are accepted, one after the other


def shrunk(difference: ProgramDifference, finds: Finds) -> ProgramDifference:
    """The same difference from a smaller program; `finds` says what a program finds at its end."""
    of_step = None if difference.what == ALIASING else finds(_one_step(difference.step))
    found = of_step or finds(difference.program)  # sometimes it needs the steps before
    if found is None or _cause(found) != _cause(difference):
        return difference
    for _ in range(_ROUNDS):
        smaller = next(_smaller_with_same_cause(found, finds), None)
        if smaller is None:
            break
        found = smaller
    return found


def _smaller_with_same_cause(
    difference: ProgramDifference, finds: Finds
) -> Iterator[ProgramDifference]:
    for program in _smaller(difference):
        found = finds(program)
        if found is not None and _cause(found) == _cause(difference):
            yield found


def _cause(difference: ProgramDifference) -> tuple[str, str, str]:
    return difference.step.op, difference.step.form, difference.what


def _one_step(step: Step) -> Program:
    """A program of one step, and of the arrays it needs under a name."""
    if not step.is_writing:
        return (step,)
    target, *others = step.operands
    if not isinstance(target, Held):
        return (step,)
    return made(step.name, target), step._replace(operands=(step.name, *others))


def _smaller(difference: ProgramDifference) -> Iterator[Program]:
    program = difference.program
    for place in range(len(program) - 1):
        yield from _without(program, place)
    for place, step in enumerate(program):
        for smaller in _smaller_steps(step):
            yield (*program[:place], smaller, *program[place + 1 :])


def _without(program: Program, place: int) -> Iterator[Program]:
    """The program without a step, or with an array in its place where others need that."""
    step, others = program[place], (*program[:place], *program[place + 1 :])
    is_needed = any(step.name in other.names for other in program[place + 1 :])
    if step.is_writing or not is_needed:
        yield others
    elif step.op != MAKE and step.instead is not None:
        yield (*program[:place], made(step.name, step.instead), *program[place + 1 :])


def _smaller_steps(step: Step) -> Iterator[Step]:
    if step.op == ALIAS:
        return
    if step.keeps_axis:
        yield step._replace(keeps_axis=False)
    if step.axis is not None and step.op != MAKE:
        yield step._replace(axis=None, keeps_axis=False)
    yield from (_with(step, operands) for operands in _smaller_operands(step.operands))


def _with(step: Step, operands: Sequence[Operand]) -> Step:
    return step._replace(operands=tuple(operands))


def _smaller_operands(operands: Sequence[Operand]) -> Iterator[list[Operand]]:
    """One element of every array, at the same place; fewer dimensions; plainer values."""
    sizes = {len(o.values) for o in operands if isinstance(o, Held) and o.shape}
    if len(sizes) == 1 and max(sizes) > 1:
        for place in range(max(sizes)):
            yield [_element(o, place) for o in operands]
    for at, operand in enumerate(operands):
        for smaller in _smaller_arrays(operand):
            yield [*operands[:at], smaller, *operands[at + 1 :]]


def _element(operand: Operand, place: int) -> Operand:
    if isinstance(operand, str) or not operand.shape:
        return operand
    return Held(operand.dtype, (1,), (operand.values[place],))


def _smaller_arrays(operand: Operand) -> Iterator[Held]:
    if isinstance(operand, str) or operand.dtype is None:
        return
    if len(operand.shape) > 1:
        yield Held(operand.dtype, (math.prod(operand.shape),), operand.values)
    if len(operand.values) > 1:
        half = len(operand.values) // 2
        yield Held(operand.dtype, (half,), operand.values[:half])
        yield Held(operand.dtype, (half,), operand.values[-half:])
    kind = type(operand.values[0]) if operand.values else None
    if kind in (int, float, complex):
        plain = kind(1)
        for place, value in enumerate(operand.values):
            if value != plain:
                values = (*operand.values[:place], plain, *operand.values[place + 1 :])
                yield operand._replace(values=values)
