"""What an audit reports: operations that cast implicitly, and what to write instead."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from castwise.auditing.records.events import Event, SeenArray, SeenOperand
from castwise.auditing.records.places import SourcePlace, UnobservedFunction
from castwise.engine.decision import Cast, Decision, Question
from castwise.showing import counted, html_of, line_of
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand, Role


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
        return line_of("Operation", str(self))

    @property
    def casts(self) -> tuple[Cast, ...]:
        """The casts of arrays, and of a result into its output array. A weak array adapts to the
        other operand, as a Python number does."""
        if self.decision is None:
            return ()
        of_arrays = [
            cast
            for cast, operand in zip(self.decision.casts, self.question.operands, strict=True)
            if cast and operand.dtype and _has_chosen_dtype(operand)
        ]
        result_cast = self.decision.result_cast
        return (*of_arrays, result_cast) if result_cast else tuple(of_arrays)

    @property
    def is_asked(self) -> bool:
        """Whether the call names the dtype, so that its casts are requested."""
        return self.question.named.dtype is not None

    @property
    def is_expected(self) -> bool:
        """Whether the framework answered as its dialect does."""
        return self.decision is not None and self.result in (None, self.decision.result)


def _has_chosen_dtype(operand: Operand) -> bool:
    """Whether an operand is an array with a chosen dtype."""
    return operand.role is not Role.NUMPY_SCALAR and not operand.is_weak


@dataclass(frozen=True, repr=False, slots=True)
class Finding:
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
        return line_of("Finding", f"{self.place.brief}: {self}", *self.hazards)

    def _repr_html_(self) -> str:
        return html_of(self)

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
        seen = f"{counted(self.seen, 'operation')} seen in {counted(self.files, 'file')}"
        return line_of("Coverage", seen, unclear)


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
        return line_of("Fix", f"{self.place.brief}: write {self.text}", self.does)


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Fixes that were tried and did harm."""

    fixes: tuple[Fix, ...]
    why: str
