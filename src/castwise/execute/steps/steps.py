"""An op as plain data: what is cast, what is computed, what the result becomes.

It holds no dialect and no array, so it travels to another process and does the same there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

from castwise.engine.decision import Decision
from castwise.engine.plan import keeps_exponent
from castwise.execute.backend import Backend, TakesConstants
from castwise.execute.functions.lookup import Function, function_for
from castwise.execute.values.adapting import adapted
from castwise.execute.values.casting import cast_under, is_plain_cast
from castwise.execute.values.substitutes import function_named
from castwise.rules.values import Values
from castwise.vocab.dtypes import DType, dtype
from castwise.vocab.operands import UNDEFINED, Scalar

EntryCast = Callable[[Any], Any]
_BOOL = dtype("bool")
_EXPONENT = dtype("int32")
# Families whose results have not the shape of their operands, broadcast.
_NOT_ELEMENTWISE = frozenset({"reductions", "products", "joining", "losses", "declared"})


class Entry(NamedTuple):
    """How an operand enters: in which dtype, and from which; a Python number has none."""

    dtype: DType
    source: DType | None = None
    within: DType | None = None  # a number beyond this dtype enters as the nearest of `dtype`
    through: tuple[DType, ...] = ()  # what it is cast to before, one after another
    is_condition: bool = False  # it enters as what is true: what is not zero

    @property
    def is_number(self) -> bool:
        return self.source is None


@dataclass(frozen=True, slots=True)
class Steps:
    """What a decision comes to; an entry is None if an operand enters as it is."""

    op: str
    compute: DType
    result: DType
    entries: tuple[Entry | None, ...]
    is_elementwise: bool
    is_joining: bool = False
    values: Values | None = None  # the dialect's rules; None: those of the backend
    kernel: Function | None = None  # of a declared op: what computes it
    composed: ComposedOp | None = None  # the ops it is made of, where they show in the values

    @property
    def defaults(self) -> dict[str, Any]:
        """The options that the dialect gives where the caller gives none."""
        is_spread = self.op in ("std", "var", "std_of_integers")
        corrects = is_spread and self.values is not None and self.values.reducing.correction
        return {"correction": 1.0} if corrects else {}

    def entry_casts(self, backend: Backend) -> list[EntryCast | None]:
        """What casts each operand before the op; None if it enters as it is."""
        return [entry and _entry_cast(entry, backend, self.values) for entry in self.entries]

    def enter(self, operands: Sequence[Any], backend: Backend) -> list[Any]:
        """The operands as the op takes them."""
        return [c(o) if c else o for c, o in zip(self.entry_casts(backend), operands, strict=True)]

    def function(self, backend: Backend) -> Function:
        """What computes the op on operands that have entered."""
        if self.kernel and not isinstance(backend, TakesConstants):  # a graph names the op instead
            return self.kernel
        if self.composed:
            return self.composed.function(backend)
        found = function_named(self.op, backend, self.compute)
        found = adapted(found, backend, self.op, self.compute, self.values)
        return _joined(found) if self.is_joining else found

    def quieted(self, function: Function, backend: Backend) -> Function:
        """A function of the backend that warns only where the dialect's framework does."""
        return quieted(function, backend, self.op, self.values)

    def as_result(self, computed: Any, backend: Backend) -> Any:
        """What was computed, as an array of the result's dtype."""
        is_array = backend.owns(computed)
        array = computed if is_array else backend.make(computed, None, copy=None, device=None)
        is_right = backend.dtype_of(array) is self.result
        return array if is_right else cast_under(self.values, backend, array, self.result)


class Number(NamedTuple):
    """A number that a step takes."""

    value: Scalar


class Converted(NamedTuple):
    """Something else that a step takes, cast to a dtype."""

    part: Any
    dtype: DType


class ComposedStep(NamedTuple):
    """One step of an op that is made of others, and what it takes: operands by their places,
    numbers, what other steps give."""

    steps: Steps
    arguments: tuple[Any, ...]

    def run(self, operands: Sequence[Any], backend: Backend) -> Any:
        """What the step gives."""
        given = [_argument(part, operands, backend) for part in self.arguments]
        computed = self.steps.function(backend)(*self.steps.enter(given, backend))
        return self.steps.as_result(computed, backend)


def _argument(part: Any, operands: Sequence[Any], backend: Backend) -> Any:
    if isinstance(part, ComposedStep):
        return part.run(operands, backend)
    if isinstance(part, Converted):
        return backend.cast(_argument(part.part, operands, backend), part.dtype)
    return part.value if isinstance(part, Number) else operands[part]


class ComposedOp(NamedTuple):
    """The last step of such an op, and how it is computed with options that make it another."""

    last: ComposedStep
    otherwise: Steps

    def function(self, backend: Backend) -> Function:
        """What computes the op on operands as they are."""

        def computed(*operands: Any, reduction: str | None = None, **options: Any) -> Any:
            if options:
                function, enter = self.otherwise.function(backend), self.otherwise.enter
                options |= {"reduction": reduction} if reduction else {}
                return function(*enter(operands, backend), **options)
            found = self.last.run(operands, backend)
            if self.otherwise.is_elementwise or reduction == "none":
                return found
            name = "sum" if reduction == "sum" else "mean"
            # Integers have no mean of their own dtype.
            found = self.otherwise.as_result(found, backend)
            reduce = function_for(backend, name, self.otherwise.result)
            return quieted(reduce, backend, name, self.otherwise.values)(found)

        return computed


@runtime_checkable
class RunsWhole(Protocol):
    """A backend that carries out all the steps of an op at once: its arrays are lazy, or it casts
    while it computes."""

    def whole(self, steps: Steps) -> Callable[..., Any] | None:
        """What to call with raw operands and options; None if the steps run one by one."""


@runtime_checkable
class Warns(Protocol):
    """A backend that warns of floats that overflow or are undefined."""

    def quiet(self, function: Function, op: str) -> Function:
        """What computes an op, without its warnings."""


@runtime_checkable
class CastsByPair(Protocol):
    """A backend that casts faster where both dtypes are known beforehand."""

    def caster(self, source: DType, target: DType) -> EntryCast:
        """What casts arrays of one dtype to another."""


def quieted(function: Function, backend: Backend, op: str, values: Values | None) -> Function:
    """A function of a backend that warns only where the framework with these rules does."""
    is_silent = values is not None and values.arithmetic.float_errors == "silent"
    return backend.quiet(function, op) if is_silent and isinstance(backend, Warns) else function


def steps_of(decision: Decision, computes: str) -> Steps:
    """The steps a decision comes to, for what computes: the op, or a function decided as it is."""
    row = decision.question.op
    asked = decision.question.operands
    there = [place for place, operand in enumerate(asked) if operand is not UNDEFINED]
    entries = tuple([_entry(decision, place) for place in there])
    is_plain = (
        "." not in computes and computes != "allclose"
    )  # linalg.inv is like an elementwise op
    is_elementwise = is_plain and row.family not in _NOT_ELEMENTWISE
    is_joining = row.family == "joining"
    return Steps(
        computes, decision.compute, decision.result, entries, is_elementwise, is_joining,
        decision.question.dialect.values, row.compute,
    )  # fmt: skip


def _entry(decision: Decision, place: int) -> Entry | None:
    operand, cast = decision.question.operands[place], decision.casts[place]
    if place == 0 and decision.question.op.is_condition_first:
        is_taken = operand.dtype is _BOOL
        return None if is_taken else Entry(_BOOL, operand.dtype, is_condition=True)
    if operand.is_scalar:
        return Entry(cast.target if cast else _number_dtype(decision, place))
    goal = cast.target if cast else _truncated(decision, operand.dtype)
    return Entry(goal, operand.dtype) if goal else None


def _number_dtype(decision: Decision, place: int) -> DType:
    """What a Python number enters as, where no cast says so."""
    asked = decision.question
    is_exponent = place > 0 and keeps_exponent(asked.dialect, asked.op, asked.form)
    return _EXPONENT if is_exponent else decision.compute


def _truncated(decision: Decision, held: DType | None) -> DType | None:
    """The dtype that the dialect takes arrays of a dtype for, where that is another."""
    dialect = decision.question.dialect
    if held is None or not dialect.becomes.truncates:
        return None
    return dialect.truncations.get(held)


def _entry_cast(entry: Entry, backend: Backend, values: Values | None) -> EntryCast:
    target, within = entry.dtype, entry.within
    if entry.is_condition:
        return _condition_cast(entry, backend)
    if entry.through:
        return _chain_of_casts(entry, backend, values)
    if within is not None:
        return lambda value: backend.number(_nearest(value, within, target), target)
    if entry.source is None:
        return lambda value: backend.number(value, target)
    if not is_plain_cast(values, entry.source, target):
        return lambda array: cast_under(values, backend, array, target)
    by_pair = _casting_by_pair(backend)
    if by_pair is not None:
        return by_pair.caster(entry.source, target)
    return lambda array: backend.cast(array, target)


# A look for a protocol takes longer than all else that is done for an entry.
@functools.lru_cache(maxsize=64)
def _casting_by_pair(backend: Backend) -> CastsByPair | None:
    return backend if isinstance(backend, CastsByPair) else None


@functools.lru_cache(maxsize=64)
def running_whole(backend: Backend) -> RunsWhole | None:
    """The backend itself, if it carries out all the steps of an op at once."""
    return backend if isinstance(backend, RunsWhole) else None


def _condition_cast(entry: Entry, backend: Backend) -> EntryCast:
    """A comparison with zero: a cast to bool may look at the real part alone."""
    source = entry.source
    if source is None:
        return lambda value: backend.number(bool(value), entry.dtype)
    is_unequal = function_for(backend, "ne", source)
    return lambda array: is_unequal(array, backend.number(0, source))


def _chain_of_casts(entry: Entry, backend: Backend, values: Values | None) -> EntryCast:
    """Several casts, of which each may lose what the next one would have held."""
    first, *others = (*entry.through, entry.dtype)
    begin = _entry_cast(Entry(first, entry.source), backend, values)

    def cast(operand: Any) -> Any:
        array = begin(operand)
        for target in others:
            if backend.dtype_of(array) is not target:
                array = cast_under(values, backend, array, target)
        return array

    return cast


def _nearest(value: Any, within: DType, target: DType) -> Any:
    """A number as it is, or the end of a dtype beyond whose range it lies."""
    if within.min <= value <= within.max:
        return value
    end = target.max if value > within.max else target.min
    return end if target.kind == "int" else math.copysign(math.inf, end)


def _joined(function: Function) -> Function:
    """A function that takes its operands in one list, as concat and stack do."""
    return lambda *arrays, **options: function(arrays, **options)
