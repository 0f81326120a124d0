"""An op as plain data: the casts, the computation, and the cast of the result.

It contains no dialect and no array, so it can be sent to another process and does the same there.
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


class Entry(NamedTuple):
    """How an operand is cast: to which dtype, and from which; a Python number has none."""

    dtype: DType
    source: DType | None = None
    within: DType | None = None  # a number outside this dtype becomes the nearest value of `dtype`
    through: tuple[DType, ...] = ()  # the intermediate casts, in order
    is_condition: bool = False  # it is converted to whether it is nonzero

    @property
    def is_number(self) -> bool:
        return self.source is None


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a decision; an entry is None if an operand is not cast."""

    op: str
    compute: DType
    result: DType
    entries: tuple[Entry | None, ...]
    is_elementwise: bool
    is_joining: bool = False
    values: Values | None = None  # the dialect's value rules; None: the backend's own
    kernel: Function | None = None  # the function of a declared op
    composed: ComposedOp | None = None  # the ops it consists of, if they affect the values

    @property
    def defaults(self) -> dict[str, Any]:
        """The dialect's options for those that the caller does not give."""
        is_spread = self.op in ("std", "var", "std_of_integers")
        corrects = is_spread and self.values is not None and self.values.reducing.correction
        return {"correction": 1.0} if corrects else {}

    def entry_casts(self, backend: Backend) -> list[EntryCast | None]:
        """The cast function for each operand; None if it is not cast."""
        return [entry and entry_cast(entry, backend, self.values) for entry in self.entries]

    def enter(self, operands: Sequence[Any], backend: Backend) -> list[Any]:
        """The operands, cast for the op."""
        return [c(o) if c else o for c, o in zip(self.entry_casts(backend), operands, strict=True)]

    def function(self, backend: Backend) -> Function:
        """The function for the op on cast operands."""
        if self.kernel and not isinstance(
            backend, TakesConstants
        ):  # a graph records the op's name instead
            return self.kernel
        if self.composed:
            return self.composed.function(backend)
        found = function_named(self.op, backend, self.compute)
        found = adapted(found, backend, self.op, self.compute, self.values)
        return _joined(found) if self.is_joining else found

    def quieted(self, function: Function, backend: Backend) -> Function:
        """A function of the backend that warns only if the dialect's framework does."""
        return quieted(function, backend, self.op, self.values)

    def as_result(self, computed: Any, backend: Backend) -> Any:
        """The computed values, as an array of the result's dtype."""
        is_array = backend.owns(computed)
        array = computed if is_array else backend.make(computed, None, copy=None, device=None)
        is_right = backend.dtype_of(array) is self.result
        return array if is_right else cast_under(self.values, backend, array, self.result)


class Number(NamedTuple):
    """A number as an argument of a step."""

    value: Scalar


class Converted(NamedTuple):
    """Another argument of a step, cast to a dtype."""

    part: Any
    dtype: DType


class ComposedStep(NamedTuple):
    """One step of a composed op, and its arguments: operands by position, numbers, or the results
    of other steps."""

    steps: Steps
    arguments: tuple[Any, ...]

    def run(self, operands: Sequence[Any], backend: Backend) -> Any:
        """The result of the step."""
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
    """The last step of a composed op, and how to compute it with options that change it."""

    last: ComposedStep
    otherwise: Steps

    def function(self, backend: Backend) -> Function:
        """The function for the op on uncast operands."""

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
    """A backend that runs all steps of an op at once, because its arrays are lazy or because it
    casts while it computes."""

    def whole(self, steps: Steps) -> Callable[..., Any] | None:
        """A function of raw operands and options; None if the steps run one by one."""


Casting = tuple[Function, list["EntryCast | None"]]  # a function, and the casts before it


@runtime_checkable
class CastsInside(Protocol):
    """A backend some of whose functions cast operands while they compute."""

    def casting(self, steps: Steps) -> Casting | None:
        """The function of an op and the casts that are left to do before it; None if all are."""


Writer = Callable[[Any, Sequence[Any]], bool]


@runtime_checkable
class WritesInto(Protocol):
    """A backend that computes some ops straight into an array."""

    def into(self, steps: Steps, run: Function, has_kernel: bool) -> Writer | None:
        """A function of a target and raw operands, which tells whether it has written the result
        there. If not, it has changed nothing. None if it never could. `run` computes the result of
        operands, by a generated kernel if they are large and it has one."""


@runtime_checkable
class RunsUnchecked(Protocol):
    """A backend whose functions for whole ops are also there for results that are checked later."""

    def unchecked(self, steps: Steps) -> Function | None:
        """A function like that of `whole`, which may give scalars of the library."""


@runtime_checkable
class Warns(Protocol):
    """A backend that warns about floats that overflow or are undefined."""

    def quiet(self, function: Function, op: str) -> Function:
        """A function for an op, without its warnings."""


@runtime_checkable
class CastsByPair(Protocol):
    """A backend that casts faster if both dtypes are known beforehand."""

    def caster(self, source: DType, target: DType) -> EntryCast:
        """A function that casts arrays of one dtype to another."""


def quieted(function: Function, backend: Backend, op: str, values: Values | None) -> Function:
    """A function of a backend that warns only if the framework with these rules does."""
    is_silent = values is not None and values.arithmetic.float_errors == "silent"
    return backend.quiet(function, op) if is_silent and isinstance(backend, Warns) else function


def steps_of(decision: Decision, computes: str) -> Steps:
    """The steps of a decision, for its op or for a function that is decided like it."""
    row = decision.question.op
    asked = decision.question.operands
    there = [place for place, operand in enumerate(asked) if operand is not UNDEFINED]
    entries = tuple([_entry(decision, place) for place in there])
    is_plain = "." not in computes  # linalg.inv is decided as an elementwise op is
    is_elementwise = is_plain and row.keeps_shape and row.family != "declared"
    is_joining = row.family == "joining"
    return Steps(
        computes, decision.compute, decision.result, entries, is_elementwise, is_joining,
        decision.question.dialect.values, row.compute,
    )  # fmt: skip


def _entry(decision: Decision, place: int) -> Entry | None:
    operand, cast = decision.question.operands[place], decision.casts[place]
    row = decision.question.op
    if place == row.index and row.apart(decision.question.operands) == place:
        return None
    if place == 0 and row.is_condition_first:
        is_taken = operand.dtype is _BOOL
        return None if is_taken else Entry(_BOOL, operand.dtype, is_condition=True)
    if operand.is_scalar:
        return Entry(cast.target if cast else _number_dtype(decision, place))
    goal = cast.target if cast else _truncated(decision, operand.dtype)
    return Entry(goal, operand.dtype) if goal else None


def _number_dtype(decision: Decision, place: int) -> DType:
    """The dtype of a Python number that no cast defines."""
    asked = decision.question
    is_exponent = place > 0 and keeps_exponent(asked.dialect, asked.op, asked.form)
    return _EXPONENT if is_exponent else decision.compute


def _truncated(decision: Decision, held: DType | None) -> DType | None:
    """The dtype that the dialect truncates a dtype to; None if it does not."""
    dialect = decision.question.dialect
    if held is None or not dialect.becomes.truncates:
        return None
    return dialect.truncations.get(held)


def entry_cast(entry: Entry, backend: Backend, values: Values | None) -> EntryCast:
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


# A protocol check takes longer than everything else that is done for an entry.
@functools.lru_cache(maxsize=64)
def _casting_by_pair(backend: Backend) -> CastsByPair | None:
    return backend if isinstance(backend, CastsByPair) else None


@functools.lru_cache(maxsize=64)
def running_whole(backend: Backend) -> RunsWhole | None:
    """The backend itself, if it runs all steps of an op at once."""
    return backend if isinstance(backend, RunsWhole) else None


@functools.lru_cache(maxsize=64)
def casting_inside(backend: Backend) -> CastsInside | None:
    """The backend itself, if some of its functions cast operands while they compute."""
    return backend if isinstance(backend, CastsInside) else None


@functools.lru_cache(maxsize=64)
def running_unchecked(backend: Backend) -> Callable[[Steps], Function | None] | None:
    """What makes functions that cast while they compute, for results that are checked later; None
    if nothing does."""
    if isinstance(backend, RunsUnchecked):
        return backend.unchecked
    return backend.whole if isinstance(backend, RunsWhole) else None


@functools.lru_cache(maxsize=64)
def writing_into(backend: Backend) -> WritesInto | None:
    """The backend itself, if it computes straight into arrays."""
    return backend if isinstance(backend, WritesInto) else None


def _condition_cast(entry: Entry, backend: Backend) -> EntryCast:
    """A comparison with zero, because a cast to bool may look only at the real part."""
    source = entry.source
    if source is None:
        return lambda value: backend.number(bool(value), entry.dtype)
    is_unequal = function_for(backend, "ne", source)
    return lambda array: is_unequal(array, backend.number(0, source))


def _chain_of_casts(entry: Entry, backend: Backend, values: Values | None) -> EntryCast:
    """Several casts in a row, each of which may lose values that the next could hold."""
    first, *others = (*entry.through, entry.dtype)
    begin = entry_cast(Entry(first, entry.source), backend, values)

    def cast(operand: Any) -> Any:
        array = begin(operand)
        for target in others:
            if backend.dtype_of(array) is not target:
                array = cast_under(values, backend, array, target)
        return array

    return cast


def _nearest(value: Any, within: DType, target: DType) -> Any:
    """The number unchanged, or the limit of a dtype if it is out of range."""
    if within.min <= value <= within.max:
        return value
    end = target.max if value > within.max else target.min
    return end if target.kind == "int" else math.copysign(math.inf, end)


def _joined(function: Function) -> Function:
    """A function that takes its operands in one list, as concat and stack do."""
    return lambda *arrays, **options: function(arrays, **options)
