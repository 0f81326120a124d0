"""Programs run until a count or a time is reached, and what they found, by cause."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from castwise.compare.programs.comparing import ALIASING, ProgramDifference, difference_of, run
from castwise.compare.programs.shrinking import shrunk
from castwise.compare.programs.tensors import TensorSpeaker
from castwise.compare.verify import recorder_for
from castwise.conformance.programs.generate import program
from castwise.conformance.programs.listed import FoundDifference, listed_at
from castwise.conformance.programs.program import MAKE, Program, Step, signature
from castwise.conformance.programs.speaker import (
    Framework,
    Raised,
    Speaker,
    find_speaker,
    spoken_frameworks,
)
from castwise.conformance.programs.spelling import expression, statement
from castwise.errors import UsageError
from castwise.execute.backend import backend_named
from castwise.rules.dialect import Dialect


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
    known = spoken_frameworks()
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
        found = FoundDifference(dialect, *cause, signature(difference.step), error)
        listed = listed_at(found)
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
