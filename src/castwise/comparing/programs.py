"""Programs run until a count or a time is reached, and what they found, by cause."""

from __future__ import annotations

import math
import re
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from castwise.arrays.backends import backend_named
from castwise.arrays.tensor import Tensor
from castwise.comparing.verify import FoundDifference, listed_at, recorder_for
from castwise.conformance.programs import (
    ALIAS,
    CAST,
    MAKE,
    AxisWords,
    Framework,
    Operand,
    Program,
    Raised,
    Side,
    Speaker,
    Step,
    arguments,
    expression,
    made,
    numbers_text,
    program,
    signature,
    statement,
)
from castwise.conformance.recorders import find_speaker, program_frameworks
from castwise.conformance.values import CAST as ASTYPE
from castwise.conformance.values import Held, agrees, numpy_held
from castwise.errors import UsageError
from castwise.rules.dialect import Dialect

# A program run on both sides, step by step, and where the sides differ.

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
        held = self._framework.read(step.name) if self._framework.has(step.name) else None
        for value in (held, step.instead):
            if value is not None and not isinstance(self._bind(step.name, value), Raised):
                return

    def _bind(self, name: str, value: Held) -> StepOutcome:
        """Binds a name on both sides, and says what came of it in castwise."""
        found = self._framework.run(made(name, value))  # which may flush a number, or cut a dtype
        return self._castwise.run(made(name, found if isinstance(found, Held) else value))

    def _elsewhere(self, step: Step, shown: Step, so_far: Program) -> ProgramDifference | None:
        """Whether a write shows in other names as it does in the framework."""
        found = None
        for name in self._names:
            expected, computed = self._framework.read(name), self._castwise.read(name)
            if name == step.name or _is_same(expected, computed):
                continue
            if not found and _difference(shown, expected, computed):
                found = ProgramDifference(shown, ALIASING, expected, computed, so_far, name)
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


# Makes a difference small: few steps, small arrays, plain values.

Finds = Callable[[Program], ProgramDifference | None]

_ROUNDS = 40  # smaller programs that are accepted, one after the other


def shrunk(difference: ProgramDifference, finds: Finds) -> ProgramDifference:
    """The same difference from a smaller program; `finds` says what a program finds at its end."""
    of_step = None if difference.what == ALIASING else finds(_one_step(difference.step))
    found = of_step or finds(difference.program)  # sometimes it needs the steps before
    if found is None or _cause(found) != _cause(difference):
        return difference
    for _ in range(_ROUNDS):
        tried = filter(None, map(finds, _smaller(found)))
        smaller = next((one for one in tried if _cause(one) == _cause(difference)), None)
        if smaller is None:
            break
        found = smaller
    return found


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
    for operands in _smaller_operands(step.operands):
        yield step._replace(operands=tuple(operands))


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


# castwise in a framework's place: the steps of a program on tensors of a backend.

_MISSING = re.compile(r"the backend \w+ has (no|nothing)|not implemented for '")


class TensorSpeaker:
    """Tensors of a backend under a dialect."""

    def __init__(self, dialect: str, backend: str, framework: Framework) -> None:
        self._framework = framework
        self._home = f'dialect="{dialect}", backend="{backend}"'
        # A weak array is handed over by its framework.
        self.prelude = f"{framework.prelude}\nimport castwise as cw"

    @contextmanager
    def session(self) -> Iterator[None]:
        import numpy as np

        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            yield

    def array(self, held: Held) -> str:
        dtype, values = str(held.dtype), numbers_text(held)
        if dtype.endswith("*"):
            return f"cw.asarray({self._framework.weak_array(held)}, {self._home})"
        made = f'cw.asarray({values or "[]"}, dtype="{dtype}", {self._home})'
        return f"cw.array_api.reshape({made}, {held.shape})" if values is None else made

    def cast(self, array: str, dtype: str) -> str:
        return f'{array}.astype("{dtype}")'

    def called(self, step: Step, operands: Sequence[str]) -> str:
        more = ("1", "1") if step.op == "threshold" else ()
        if step.form == "inplace":
            given = arguments(step, operands[1:], AxisWords(), *more)
            return f"{operands[0]}.{step.op}_({given})"
        return f'cw.apply("{step.op}", {arguments(step, operands, AxisWords(), *more)})'

    def bound(self, result: Any) -> Any:
        return result

    def read(self, array: Any) -> Held | None:
        if not isinstance(array, Tensor):
            return None
        weak = "*" if array.weak_type else ""
        return numpy_held(array.numpy())._replace(dtype=f"{array.dtype.name}{weak}")

    def is_no_answer(self, error: Exception) -> bool:
        return _MISSING.search(str(error)) is not None


class Budget(NamedTuple):
    """When to stop: after so many programs, or so many seconds."""

    programs: int | None = None
    seconds: float | None = None

    @property
    def total(self) -> float:
        """What has to be done, in programs or seconds."""
        return self.seconds or self.programs or 0

    def done(self, programs: int, started: float) -> float:
        """How much of it is done, after so many programs."""
        return programs if self.seconds is None else time.monotonic() - started


class Cause(NamedTuple):
    """What differences have in common."""

    backend: str
    op: str
    form: str
    what: str


@dataclass(slots=True)
class Example:
    """A difference as it can be pasted on both sides."""

    framework: str
    castwise: str
    expected: str
    computed: str


@dataclass(slots=True)
class CauseGroup:
    """The differences of one cause, with the smallest program that shows it."""

    cause: Cause
    count: int
    example: Example
    reason: str = ""  # why it is so, where it is listed


@dataclass(slots=True)
class Checked:
    """The result of running programs."""

    dialect: Dialect
    framework: str
    versions: dict[str, str]
    seed: int
    backends: tuple[str, ...]
    programs: int = 0
    steps: dict[str, int] = field(default_factory=dict)  # compared, by backend
    preludes: dict[str, str] = field(default_factory=dict)
    groups: dict[tuple[Cause, str], CauseGroup] = field(default_factory=dict)

    def differing(self, backend: str) -> int:
        """How many steps differ on a backend, listed or not."""
        return sum(g.count for g in self.groups.values() if g.cause.backend == backend)

    @property
    def unlisted(self) -> list[CauseGroup]:
        """The causes without a listed reason, the most frequent first."""
        return [group for group in self.by_count() if not group.reason]

    def by_count(self) -> list[CauseGroup]:
        """All causes, the most frequent first."""
        return sorted(self.groups.values(), key=lambda group: -group.count)


def check_programs(
    dialect: Dialect,
    framework: Framework,
    backends: Sequence[str],
    budget: Budget,
    seed: int = 0,
    on_progress: Callable[[float], object] | None = None,
) -> Checked:
    """Runs programs in the framework and as tensors of each backend, and compares every step."""
    checked = Checked(dialect, framework.name, framework.versions(), seed, tuple(backends))
    sides = {name: _Backend(dialect, framework, name, checked) for name in backends}
    started = time.monotonic()
    with framework.session(), sides[backends[0]].castwise.session():
        while (done := budget.done(checked.programs, started)) < budget.total:
            if on_progress is not None:
                on_progress(done)
            for side in sides.values():
                side.check(seed, checked.programs)
            checked.programs += 1
    return checked


def speaker_for(dialect: Dialect) -> Framework:
    """The framework of a dialect, to run programs in.

    Raises UsageError where it is not installed, or none has the dialect.
    """
    recorder_for(dialect)  # which says what is missing
    known = program_frameworks()
    if dialect.framework not in known:
        raise UsageError(
            f"no programs run in {dialect.framework}, only in {', '.join(known)}: "
            f"castwise verify {dialect.name} asks it op by op."
        )
    return find_speaker(dialect.framework, dialect.mode)


class _Backend:
    """A backend's share of the programs."""

    def __init__(self, dialect: Dialect, framework: Framework, name: str, into: Checked) -> None:
        self._framework, self._into, self._name = framework, into, name
        self.castwise: Speaker = TensorSpeaker(dialect.name, name, framework)
        held = {dtype.name for dtype in backend_named(name).dtypes}
        own = tuple(dtype for dtype in framework.menu.dtypes if dtype in held)
        self._menu = framework.menu._replace(dtypes=own)
        into.steps[name] = 0
        into.preludes[name] = self.castwise.prelude

    def check(self, seed: int, place: int) -> None:
        for judged in run(program(self._menu, seed, place), self._framework, self.castwise):
            self._into.steps[self._name] += judged.is_comparable
            if judged.difference:
                self._add(judged.difference)

    def _add(self, difference: ProgramDifference) -> None:
        if difference.what == ALIASING:
            # Only then does it show what made the alias.
            difference = shrunk(difference, self._finds)
        maker = _maker(difference)
        cause = Cause(self._name, maker.op, maker.form, difference.what)
        reason = self._reason(cause, difference)
        group = self._into.groups.get((cause, reason))
        if group:
            group.count += 1
            return
        example = self._example(shrunk(difference, self._finds))
        self._into.groups[cause, reason] = CauseGroup(cause, 1, example, reason)

    def _finds(self, smaller: Program) -> ProgramDifference | None:
        return difference_of(smaller, self._framework, self.castwise)

    def _reason(self, cause: Cause, difference: ProgramDifference) -> str:
        """Why it is known to differ, where it is."""
        raised = [o for o in (difference.expected, difference.computed) if isinstance(o, Raised)]
        error = str(raised[0].error) if raised else ""
        dialect = self._into.dialect.name
        listed = listed_at(FoundDifference(dialect, *cause, signature(difference.step), error))
        return listed.reason if listed else ""

    def _example(self, difference: ProgramDifference) -> Example:
        return Example(
            framework=_pasted(difference, self._framework),
            castwise=_pasted(difference, self.castwise),
            expected=str(difference.expected),
            computed=str(difference.computed),
        )


def _maker(difference: ProgramDifference) -> Step:
    """The step that a difference is about: of two names for one array, what made the second."""
    made = [step for step in difference.program if step.op != MAKE]
    return made[0] if difference.what == ALIASING and made else difference.step


def _pasted(difference: ProgramDifference, speaker: Speaker) -> str:
    """A difference's program as one line of Python."""
    *before, last = difference.program
    if not before and not last.is_writing:
        return expression(speaker, last)
    shown = difference.seen_in or last.name
    return "; ".join([*(statement(speaker, step) for step in difference.program), shown])
