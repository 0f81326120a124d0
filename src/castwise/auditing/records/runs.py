"""How a program is run under audit, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from castwise.auditing.records.places import SourceEdit
from castwise.auditing.records.seen import Seen


@dataclass(frozen=True, slots=True)
class EnforcedDialect:
    """The arguments of cw.enforce for a whole program."""

    dialect: str | None
    strict: bool
    differs: str
    allow: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Options:
    """How a program is audited."""

    include: tuple[str, ...] = ()  # packages beyond the user's own modules
    is_deep: bool = False  # also observe inside libraries
    edits: Mapping[str, Sequence[SourceEdit]] | None = None  # edits in memory, by full path
    keeps_outcome: bool = False  # keep its output and final arrays for comparison
    is_shown: bool = True  # pass its output on
    checks: bool = False  # judge operations before they run
    notes_attempts: bool = False  # log operations the framework itself is about to refuse
    checks_values: bool = False  # look at the values of arrays, to see which are lost
    compares: bool = False  # also run compiled functions without their compilers
    enforce: EnforcedDialect | None = None  # hold the whole program to a dialect


@dataclass(frozen=True, slots=True)
class FinalValues:
    """The values of an array at the end of a program."""

    values: list[float]
    is_exact: bool = False  # integers or bools, which precision does not change
    is_number: bool = False  # a Python number


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a program left behind: the final arrays of its main module, by name, and its output."""

    arrays: dict[str, FinalValues]
    printed: str
    said: str = ""  # the end of what it wrote to stderr, if that was not shown


@dataclass(frozen=True, order=True, slots=True)
class ValueChange:
    """How much a value changed between two runs, relative to the largest in its array."""

    size: float
    where: str


@dataclass(frozen=True, slots=True)
class Run:
    """How a program ended, and what was seen of it."""

    status: int
    seen: Seen
    seconds: float
    outcome: Outcome | None = None
