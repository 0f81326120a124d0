"""What was seen of a program: its operations on arrays, each distinct one once, with a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from castwise.showing import InNotebooks, quantity, repr_line
from castwise.vocab.operands import Role

if TYPE_CHECKING:  # a program under audit loads no rules
    from castwise.engine.decision import Cast, Decision, Question
    from castwise.vocab.dtypes import DType
    from castwise.vocab.operands import Operand

# Places in the user's source, and the operations there.

# These names of types are types, not texts: records are read from JSON by their types.
Literal: TypeAlias = bool | int | float | complex | None


@dataclass(frozen=True, order=True, slots=True)
class SourcePlace:
    """A piece of source. Lines count from 1, columns too."""

    file: str
    line: int
    column: int
    end_line: int = field(compare=False)
    end_column: int = field(compare=False)

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def brief(self) -> str:
        """The place without the folders of its file."""
        return f"{PurePath(self.file).name}:{self.line}"


class CodeSpot(NamedTuple):
    """A piece of source with columns from 0, as in Python's code objects."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def place(self) -> SourcePlace:
        """The piece of source it is."""
        ends = self.end_line, self.end_column + 1
        return SourcePlace(self.file, self.line, self.column + 1, *ends)


class Site(NamedTuple):
    """One operation in a source file. A tuple of plain values, because caches store it as one."""

    line: int
    column: int  # from 0, in characters of UTF-8, as the syntax tree counts
    end_line: int
    end_column: int
    kind: str  # "operator", "augmented", "write", "item", "call", or "line": only its line is known
    name: str  # the operator's symbol, or the callee's source text
    literals: tuple[Literal, ...]  # the literal numbers among the operands, None for the others
    arguments: int = 0  # how many arguments of a call are observed


class Unobserved(NamedTuple):
    """A function that is left unchanged, because another compiler reads it."""

    line: int
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class LocatedSite:
    """A site and its file."""

    file: str
    site: Site

    @property
    def line(self) -> int:
        """The line it starts on."""
        return self.site.line

    @property
    def place(self) -> SourcePlace:
        """The piece of source it is."""
        return CodeSpot(self.file, *self.site[:4]).place


class UnobservedFunction(NamedTuple):
    """A function that is not observed, and its file."""

    file: str
    line: int
    name: str
    why: str


class SourceEdit(NamedTuple):
    """New text for a piece of a source file. Lines and columns count from 1."""

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


Number: TypeAlias = bool | int | float


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
SeenOperand: TypeAlias = SeenArray | SeenNumber | SeenList
Operands: TypeAlias = tuple[SeenOperand | None, ...]


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

    @property
    def named(self) -> dict[str, SeenOperand | None]:
        """The operands that a call was given by name."""
        if self.call is None:
            return {}
        return dict(zip(self.call.keywords, self.operands[self.call.positional :], strict=True))


def arrays_in(operands: Iterable[SeenOperand | None]) -> list[SeenArray]:
    """The arrays among operands, those in lists included."""
    found: list[SeenArray] = []
    for operand in operands:
        if isinstance(operand, SeenList):
            found += arrays_in(operand.elements)
        elif isinstance(operand, SeenArray):
            found.append(operand)
    return found


# Values that a program lost: wrapped integers, overflowed floats, numbers out of range.

LOST = "lost-values"  # accepted by --fail-on and comments, next to the hazards


@dataclass(frozen=True, slots=True)
class SeenLoss:
    """An operation or cast at a site that lost values in some of its runs."""

    mark: int  # of its site
    what: str  # the operation and its dtypes
    how: str  # what happened to the values, such as "wrapped"
    count: int  # runs that lost values
    lost: int  # elements, over these runs
    elements: int  # all elements of these runs
    example: str  # one of them


# What was seen of a program besides its operations.

DIFFERS = "compiled-differs"  # accepted by --fail-on and comments, next to the hazards


@dataclass(frozen=True, slots=True)
class HeldState:
    """Arrays of one name and dtype that an optimizer keeps from step to step."""

    mark: int  # of the line of its step
    owner: str  # the optimizer's type
    name: str
    dtype: str
    arrays: int
    elements: int


@dataclass(frozen=True, slots=True)
class AutocastOp:
    """An op that ran while autocast was on, and that is on one of its lists."""

    mark: int
    module: str  # the path of the module that ran it, "" outside modules
    op: str
    rule: str  # the list it is on
    autocast: str  # the dtype of lower precision
    device: str
    changes: tuple[str, ...]  # the casts of its operands, such as "float32 -> bfloat16"
    result: str  # its dtype
    count: int
    casts: int
    bytes: int  # of the copies


@dataclass(frozen=True, slots=True)
class RepeatedCast:
    """An array that autocast cast more than once."""

    mark: int
    name: str  # its path, if a module holds it
    source: str
    target: str
    shape: tuple[int, ...]
    casts: int
    blocks: int  # in how many autocast blocks
    is_cached: bool  # the framework keeps its copy until the block ends


@dataclass(frozen=True, slots=True)
class SeenArgument:
    """An argument of a compiled function, or a part of one, as its compiler sees it."""

    place: str  # of the argument: its position or keyword
    label: str  # its parameter, and the path within it
    dtype: str  # "static": a part of the program
    is_weak: bool
    shape: tuple[int, ...]
    number: str = ""  # the value of a Python number
    is_scalar: bool = False  # a scalar object, such as a NumPy scalar
    maker: int = 0  # the mark of the site that made it, 0 if unknown


@dataclass(frozen=True, slots=True)
class Compilation:
    """A call for which a function was compiled."""

    mark: int
    function: str
    file: str  # where it is defined, "" if unknown
    line: int
    arguments: tuple[SeenArgument, ...]


@dataclass(frozen=True, slots=True)
class CompiledDifference:
    """What a compiled function gives otherwise than the function itself."""

    what: str  # which of its results, or the operation that one of the two refuses
    plain: str  # the dtype without the compiler; "" if it raises an error
    compiled: str  # the dtype of the compiled function; "" if it raises an error
    file: str = ""  # the line from which on they differ, "" if unknown
    line: int = 0
    error: str = ""  # the first line of what one of them raised


@dataclass(frozen=True, slots=True)
class ComparedCompilation:
    """A compiled function that also ran without its compiler, on the same arguments."""

    compiler: str
    function: str
    file: str  # where it is defined, "" if unknown
    line: int
    differences: tuple[CompiledDifference, ...] = ()
    skipped: str = ""  # why it did not run without its compiler


@dataclass(frozen=True, slots=True)
class Beyond:
    """What was seen besides operations."""

    states: tuple[HeldState, ...] = ()
    autocast_ops: tuple[AutocastOp, ...] = ()
    repeats: tuple[RepeatedCast, ...] = ()
    compilations: tuple[Compilation, ...] = ()
    compared: tuple[ComparedCompilation, ...] = ()

    @property
    def marks(self) -> set[int]:
        """The marks of its sites."""
        of_autocast = {o.mark for o in self.autocast_ops} | {r.mark for r in self.repeats}
        compiled = {c.mark for c in self.compilations}
        compiled |= {a.maker for c in self.compilations for a in c.arguments if a.maker}
        return of_autocast | compiled | {state.mark for state in self.states}


# The error that ended a program, and the operation that raised it.


@dataclass(frozen=True, slots=True)
class CrashedOperation:
    """An operation that may have raised an error, with its operands."""

    event: Event
    located: LocatedSite


@dataclass(frozen=True, slots=True)
class Crash:
    """The error that ended a process."""

    error: str  # its type and its message
    spot: CodeSpot  # the innermost expression of the user
    operations: tuple[CrashedOperation, ...]  # those that may have raised it, likely ones first
    inside: CodeSpot | None = None  # where a library raised it
    is_about_dtypes: bool = False  # a framework says so in its message


# What an audit reports: operations that cast implicitly, and what to write instead.


@dataclass(frozen=True, slots=True, repr=False)
class Operation:
    """An operation that was seen, with the decision of its dialect."""

    event: Event
    operands: tuple[SeenOperand, ...]  # as seen; only those that take part
    question: Question
    decision: Decision | None  # None: the dialect refuses what the framework did
    result: DType | None  # as seen
    is_observed: bool = False  # there is no rule: the decision is what was seen
    text: str = ""  # how it reads, if its framework's own names of dtypes are not castwise's
    result_name: str = ""  # likewise
    called: str = ""  # what the program calls, if the rule is that of another op

    def __str__(self) -> str:
        text = self.text or str(self.question)
        own_name = f"{self.question.op.name}("
        return f"{self.called}({text.removeprefix(own_name)}" if self.called else text

    def __repr__(self) -> str:
        return repr_line("Operation", str(self))

    @property
    def casts(self) -> tuple[Cast, ...]:
        """The casts of arrays, and of a result into its output array. A weak array adapts to the
        other operand, as a Python number does, and what is only read in another dtype is no
        cast."""
        if self.decision is None:
            return ()
        pairs = zip(self.decision.casts, self.question.operands, strict=True)
        strong = [
            (cast, operand) for cast, operand in pairs if operand.dtype and not operand.is_weak
        ]
        of_arrays = [cast for cast, operand in strong if operand.role is not Role.NUMPY_SCALAR]
        casts = (*of_arrays, *self.decision.inside, self.decision.result_cast)
        return tuple([cast for cast in casts if cast and not cast.is_read])

    @property
    def is_asked(self) -> bool:
        """Whether the call names the dtype, so that its casts are requested."""
        return self.question.named.dtype is not None

    @property
    def is_expected(self) -> bool:
        """Whether the framework answered as its dialect does."""
        return self.decision is not None and self.result in (None, self.decision.result)


@dataclass(frozen=True, repr=False, slots=True)
class Finding(InNotebooks):
    """An operation at a place that casts an array implicitly."""

    place: SourcePlace
    op: str
    operation: Operation  # an example of it
    culprit: int | None  # the operand whose dtype caused it; None: the op itself
    origin: int  # the mark of the site where that dtype comes from
    hazards: tuple[str, ...]
    count: int
    elements: int
    temporaries: int = 0  # bytes of temporaries for cast operands
    inside: str = ""  # where it ran, if not in the user's own source
    alive: int = 0  # the most bytes of its results at one time
    is_expected: bool = False  # numbers become the float dtype that the program computes in

    def __str__(self) -> str:
        return f"{self.operation} -> {self.operation.result_name or self.result}"

    def __repr__(self) -> str:
        return repr_line("Finding", f"{self.place.brief}: {self}", *self.hazards)

    @property
    def operands(self) -> tuple[Operand, ...]:
        """The operands as castwise sees them."""
        return self.operation.question.operands

    @property
    def is_traced(self) -> bool:
        """Whether it was seen while a function was traced, so that it happens in every run of
        it."""
        return any(isinstance(o, SeenArray) and o.is_traced for o in self.operation.operands)

    @property
    def result(self) -> DType:
        """The result dtype."""
        decision = self.operation.decision
        assert decision is not None  # every finding has a decision
        return self.operation.result or decision.result

    @property
    def size(self) -> int:
        """The bytes of its results in all runs."""
        return self.elements * self.result.itemsize


@dataclass(frozen=True, slots=True, repr=False)
class Coverage:
    """How much of the program the findings are about."""

    seen: int = 0  # operations on arrays that castwise knows
    not_understood: Counter[str] = field(default_factory=Counter)
    not_observed: tuple[UnobservedFunction, ...] = ()
    unexpected: Counter[str] = field(default_factory=Counter)  # answers that no dialect expects
    quiet: int = 0  # sites no longer observed, because they only saw plain numbers
    late: int = 0  # results missed at such sites
    failures: Counter[str] = field(default_factory=Counter)  # internal errors of the auditor
    processes: int = 1
    files: int = 0  # whose source was observed
    asked: Counter[str] = field(default_factory=Counter)  # cast because of the call's dtype=
    by_dtypes: Counter[str] = field(default_factory=Counter)  # seen, and judged without a rule
    unclear_at: tuple[tuple[SourcePlace, str, int], ...] = ()  # not understood: where, what, runs

    def __repr__(self) -> str:
        unclear = f"{sum(self.not_understood.values()):,} not understood"
        seen = f"{quantity(self.seen, 'operation')} seen in {quantity(self.files, 'file')}"
        return repr_line("Coverage", seen, unclear)


@dataclass(frozen=True, slots=True)
class InsideCast:
    """A cast that no source requests, at the user's line that led to it."""

    place: SourcePlace
    source: DType
    target: DType
    why: str
    count: int
    elements: int
    seconds: float = 0.0  # on the device, if measured

    @property
    def bytes(self) -> int:
        """The memory of the copies it made."""
        return self.elements * self.target.itemsize


@dataclass(frozen=True, slots=True)
class InsideCoverage:
    """How much of what ran inside libraries and in backward is understood."""

    seen: int = 0
    not_understood: Counter[str] = field(default_factory=Counter)
    casts: tuple[InsideCast, ...] = ()
    cannot_show: tuple[str, ...] = ()  # frameworks that cannot be observed inside


@dataclass(frozen=True, slots=True, repr=False)
class Fix:
    """New text for a piece of source, and what it does."""

    place: SourcePlace
    text: str
    does: str
    target: DType | None  # the dtype after the fix; None: a Python number
    mark: int  # of the site it changes
    is_after: bool = False  # the operation stays; its result is cast
    operand: int | None = None  # it changes this operand, not the result
    like: int | None = None  # the operand gets the dtype of this one

    def __repr__(self) -> str:
        return repr_line("Fix", f"{self.place.brief}: write {self.text}", self.does)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Fixes that were tried and did harm."""

    fixes: tuple[Fix, ...]
    why: str


# Everything seen of a program, as its processes leave it.


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

    # framework -> its version and mode, as a dialect is named: torch@2.13.0
    running: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    is_deep: bool = False  # whether what runs inside libraries was watched
    processes: int = 1
    peak_memory: int = 0  # bytes, of the largest process
    checks_values: bool = False  # whether values were looked at
    used_gpu: bool = False
    included: tuple[str, ...] = ()  # the packages asked for of which some source was audited
    compares: bool = False  # whether compiled functions also ran without their compilers

    @property
    def dialects(self) -> dict[str, str]:
        """Framework -> the recorded dialect that answers for it."""
        # Imported here: a program under audit loads no rules.
        from castwise.catalog import nearest_on_gpu, nearest_recorded

        nearest = nearest_on_gpu if self.used_gpu else nearest_recorded
        return {name: nearest(found).dialect.name for name, found in self.running.items()}


@dataclass(frozen=True, slots=True, repr=False)
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

    def __repr__(self) -> str:
        events, files = quantity(len(self.events), "event"), quantity(len(self.files), "file")
        return repr_line("Seen", events, files)

    def site(self, event: Event) -> LocatedSite:
        """Where an event happened."""
        return self.sites[event.mark]


# How a program is run under audit, and how it ended.


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
