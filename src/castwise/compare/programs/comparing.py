"""A program run on both sides, step by step, and where the sides differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from castwise.conformance.programs.program import CAST, Operand, Program, Step, made
from castwise.conformance.programs.speaker import Raised, Side, Speaker
from castwise.conformance.values.agreement import agrees
from castwise.conformance.values.grid import CAST as ASTYPE
from castwise.conformance.values.notation import Held

# What can differ, in the words of the report.
RAISES, COMPUTES = "the framework raises", "castwise raises"
DTYPE, WEAK, SHAPE, VALUES, ALIASING = "dtype", "weak type", "shape", "values", "aliasing"

StepOutcome = Held | Raised | None


class ProgramDifference(NamedTuple):
    """A step at which castwise differs from the framework."""

    step: Step  # with the numbers and arrays its operands were
    what: str
    expected: StepOutcome  # the framework's
    computed: StepOutcome
    program: Program  # what led there, the step included
    seen_in: str = ""  # the other name in which a write shows, or should


class Judged(NamedTuple):
    """A step that ran on both sides."""

    step: Step
    difference: ProgramDifference | None
    is_comparable: bool = True  # not where one side has nothing to compute with


def run(program: Program, framework: Speaker, castwise: Speaker) -> Iterator[Judged]:
    """Each step on both sides. After one that differs both go on from the framework's value."""
    return _Pair(framework, castwise).run(program)


class _Pair:
    """Both sides of one program."""

    def __init__(self, framework: Speaker, castwise: Speaker) -> None:
        self._framework, self._castwise = Side(framework), Side(castwise)
        self._names: list[str] = []

    def run(self, program: Program) -> Iterator[Judged]:
        for place, step in enumerate(program):
            yield self._judged(step, program[: place + 1])
            if step.name not in self._names:
                self._names.append(step.name)

    def _judged(self, step: Step, so_far: Program) -> Judged:
        shown = self._shown(step)
        expected = self._framework.run(step)
        if not _is_answer(expected):
            self._go_on(step)
            return Judged(step, None, is_comparable=False)
        computed = self._castwise.run(step)
        what = _difference(shown, expected, computed)
        if what or isinstance(expected, Raised) or not _is_same(expected, computed):
            self._go_on(step)
        elsewhere = self._elsewhere(step, shown, so_far) if step.is_writing else None
        if not _is_answer(computed):
            return Judged(step, None, is_comparable=False)
        if what:
            return Judged(step, ProgramDifference(shown, what, expected, computed, so_far))
        # A refused write may be partly done: no framework promises what it leaves behind.
        return Judged(step, None if isinstance(expected, Raised) else elsewhere)

    def _shown(self, step: Step) -> Step:
        """The step with what its operands hold in the framework."""
        held = {name: self._framework.read(name) for name in step.names}
        operands: list[Operand] = [held.get(str(o)) or o for o in step.operands]
        return step._replace(operands=tuple(operands))

    def _go_on(self, step: Step) -> None:
        """Binds the name on both sides to a new array with the framework's value.

        Where the framework gave none, or one that castwise's backend cannot hold, that is what the
        program has in its place.
        """
        for value in (self._held_after(step), step.instead):
            if value is not None and not isinstance(self._bind(step.name, value), Raised):
                return

    def _bind(self, name: str, value: Held) -> StepOutcome:
        """Binds a name on both sides, and says what came of it in castwise."""
        found = self._framework.run(made(name, value))  # which may flush a number, or cut a dtype
        return self._castwise.run(made(name, found if isinstance(found, Held) else value))

    def _held_after(self, step: Step) -> Held | None:
        return self._framework.read(step.name) if self._framework.has(step.name) else None

    def _elsewhere(self, step: Step, shown: Step, so_far: Program) -> ProgramDifference | None:
        """Whether a write shows in other names as it does in the framework."""
        found = None
        for name in self._names:
            expected, computed = self._framework.read(name), self._castwise.read(name)
            if name == step.name or _is_same(expected, computed):
                continue
            if _difference(shown, expected, computed):
                found = found or ProgramDifference(
                    shown, ALIASING, expected, computed, so_far, name
                )
            self._go_on(made(name, expected))  # type: ignore[arg-type]
        return found


def _is_same(expected: StepOutcome, computed: StepOutcome) -> bool:
    """Whether two arrays are the same to the last bit, so that they stay so."""
    return str(expected) == str(computed)


def _is_answer(outcome: StepOutcome) -> bool:
    """Whether a side computed something or refused to."""
    return not outcome.is_no_answer if isinstance(outcome, Raised) else outcome is not None


def _difference(step: Step, expected: StepOutcome, computed: StepOutcome) -> str | None:
    """What differs, the first of it, or None."""
    if isinstance(expected, Raised) or isinstance(computed, Raised):
        if isinstance(expected, Raised) and isinstance(computed, Raised):
            return None
        return RAISES if isinstance(expected, Raised) else COMPUTES
    if expected is None or computed is None:
        return None if expected is computed else DTYPE
    ours, theirs = str(computed.dtype), str(expected.dtype)
    if ours.rstrip("*") != theirs.rstrip("*"):
        return DTYPE
    if ours != theirs:
        return WEAK
    if expected.shape != computed.shape:
        return SHAPE
    op = ASTYPE if step.op == CAST else step.op
    operands = [_strong(operand) for operand in step.operands if isinstance(operand, Held)]
    is_equal = agrees(op, operands, _strong(expected), _strong(computed))
    return None if is_equal else VALUES


def _strong(held: Held) -> Held:
    return held if held.dtype is None else held._replace(dtype=held.dtype.rstrip("*"))


def difference_of(
    program: Sequence[Step], framework: Speaker, castwise: Speaker
) -> ProgramDifference | None:
    """What the last step of a program finds, where no step before it finds anything."""
    judged = list(run(tuple(program), framework, castwise))
    if any(one.difference for one in judged[:-1]):
        return None
    return judged[-1].difference if judged else None
