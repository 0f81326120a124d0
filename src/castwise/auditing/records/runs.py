"""How a program is run under audit, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from castwise.auditing.records.events import Seen
from castwise.auditing.records.places import SourceEdit


@dataclass(frozen=True, slots=True)
class EnforcedDialect:
    """What a whole program is held to: the arguments of cw.enforce."""

    dialect: str | None
    strict: bool
    differs: str
    allow: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """How a program is audited."""

    include: tuple[str, ...] = ()  # packages beyond the user's own modules
    is_deep: bool = False  # what runs inside libraries too
    edits: Mapping[str, Sequence[SourceEdit]] | None = None  # changes in memory, by full path
    keeps_outcome: bool = False  # what it prints and leaves is kept, to be compared
    is_shown: bool = True  # what it prints is passed on
    checks: bool = False  # operations can be judged before they run
    notes_attempts: bool = False  # what the framework itself is about to refuse is noted
    enforce: EnforcedDialect | None = None  # for the whole program


@dataclass(frozen=True, slots=True)
class Outcome:
    """The arrays a program leaves in its main module, by name, and the numbers it printed."""

    arrays: dict[str, list[float]]
    printed: list[float]


@dataclass(frozen=True, order=True, slots=True)
class ValueChange:
    """How far a value moved between two runs, relative to the largest next to it."""

    size: float
    where: str


@dataclass(frozen=True, slots=True)
class Run:
    """How a program ended, and what was seen of it."""

    status: int
    seen: Seen
    seconds: float
    outcome: Outcome | None = None
