"""What was seen of a program: its operations on arrays, each distinct one once, with a count."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from castwise.auditing.records.beyond import Beyond
from castwise.auditing.records.losses import SeenLoss
from castwise.auditing.records.places import CodeSpot, LocatedSite, UnobservedFunction

if TYPE_CHECKING:
    from castwise.auditing.records.crashes import Crash

Number: TypeAlias = "bool | int | float"


@dataclass(frozen=True, slots=True)
class SeenNumber:
    """A Python number as an operand."""

    kind: str  # "bool", "int", "float" or "complex"
    low: Number | None  # the lowest value of all runs, None if they have no order
    high: Number | None


@dataclass(frozen=True, slots=True)
class SeenArray:
    """An array as an operand or a result."""

    framework: str
    dtype: str | None  # castwise's name for it; None if unknown to castwise
    is_zero_d: bool
    is_scalar: bool  # a scalar object of the framework, such as a NumPy scalar
    is_traced: bool  # a placeholder while a function is traced
    is_weak: bool
    maker: int  # the mark of the site that made it, 0 if unknown
    shape: tuple[int, ...] | None  # in the first run
    low: Number | None = None  # of a 0-d array, if its value is free to read
    high: Number | None = None
    # The framework's own names of its dtypes, if castwise's name does not say it: of a column that
    # may miss values, or of columns of several dtypes.
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SeenList:
    """A list or tuple of arrays, or of numbers, as one argument."""

    elements: tuple[SeenOperand | None, ...]


# None stands for an operand that is neither an array nor a number.
SeenOperand: TypeAlias = "SeenArray | SeenNumber | SeenList"
Operands: TypeAlias = "tuple[SeenOperand | None, ...]"


@dataclass(frozen=True, slots=True)
class SeenCall:
    """What was called, and how its arguments were given."""

    module: str  # the top-level module of the callee
    name: str
    is_method: bool
    gives_dtype: bool  # dtype= was given
    dtype: str | None  # castwise's name for it; None if only the framework knows
    is_complete: bool  # False: some arguments could not be seen, or are functions
    positional: int  # how many of the operands are positional arguments
    keywords: tuple[str, ...]  # the names of the other operands
    hides: bool = False  # an object that takes part may hold arrays or name a dtype
    returns: str = ""  # the type of a result that is a number, a text, or a list of arrays


@dataclass(frozen=True, slots=True)
class SeenInside:
    """How the program reached an operation that the user's source does not name."""

    backward_of: str  # the operation whose gradient it computes, "" in forward
    autocast: str  # the autocast dtype, "" if autocast was off or does not matter
    spot: CodeSpot | None  # the innermost Python expression; None in backward


@dataclass(frozen=True, slots=True)
class Event:
    """An operation at a site with one signature, over all its runs."""

    mark: int  # of its site
    operands: Operands
    count: int
    elements: int  # of all results together
    result: SeenArray | None = None
    call: SeenCall | None = None  # None: an operator
    inside: SeenInside | None = None  # None: it is in the user's source
    allowed: tuple[str, ...] = ()  # hazards that a test's marker allows
    alive: int = 0  # the most bytes of its results at one time, if it casts to new arrays
    seconds: float = 0.0  # on the device, if measured

    @property
    def arrays(self) -> list[SeenArray]:
        """The input and output arrays."""
        return arrays_in((*self.operands, self.result))


def arrays_in(operands: Iterable[SeenOperand | None]) -> list[SeenArray]:
    """The arrays among operands, those in lists included."""
    found: list[SeenArray] = []
    for operand in operands:
        if isinstance(operand, SeenList):
            found += arrays_in(operand.elements)
        elif isinstance(operand, SeenArray):
            found.append(operand)
    return found


@dataclass(frozen=True, slots=True)
class Counts:
    """What is only counted."""

    plain: int = 0  # operations inside libraries whose arrays were all of one dtype
    quiet: int = 0  # sites no longer observed, because they only saw plain numbers
    late: int = 0  # results missed at such sites
    failures: dict[str, int] = field(default_factory=dict)  # the auditor's internal errors


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What ran: the frameworks, and the processes."""

    dialects: dict[str, str] = field(default_factory=dict)  # framework -> the dialect it follows
    versions: dict[str, str] = field(default_factory=dict)
    is_deep: bool = False  # whether what runs inside libraries was watched
    processes: int = 1
    peak_memory: int = 0  # bytes, of the largest process
    checks_values: bool = False  # whether values were looked at
    used_gpu: bool = False
    included: tuple[str, ...] = ()  # the packages asked for of which some source was audited


@dataclass(frozen=True, slots=True)
class Seen:
    """Everything seen of a program."""

    events: tuple[Event, ...] = ()
    inside: tuple[Event, ...] = ()  # those inside libraries and in backward
    attempts: tuple[Event, ...] = ()  # operations that were refused before they ran
    losses: tuple[SeenLoss, ...] = ()  # values that were lost, if they were checked
    sites: dict[int, LocatedSite] = field(default_factory=dict)  # by mark
    files: tuple[str, ...] = ()  # whose source was observed
    unobserved: tuple[UnobservedFunction, ...] = ()
    counts: Counts = field(default_factory=Counts)
    facts: RunFacts = field(default_factory=RunFacts)
    digests: dict[str, str] = field(default_factory=dict)  # of the files, as they were read
    crashes: tuple[Crash, ...] = ()  # errors that ended its processes
    beyond: Beyond = field(default_factory=Beyond)

    def site(self, event: Event) -> LocatedSite:
        """Where an event happened."""
        return self.sites[event.mark]
