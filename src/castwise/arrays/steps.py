"""An op as plain data: the casts, the computation, and the cast of the result.

It contains no dialect and no array, so it can be sent to another process and does the same there.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

from castwise.arrays.backend import Backend, TakesConstants
from castwise.arrays.casting import cast_under, is_plain_cast
from castwise.arrays.functions import Function, function_for
from castwise.arrays.substitutes import function_named, power_name
from castwise.arrays.values import adapted
from castwise.engine.ask import answer
from castwise.engine.computing import (
    COMPARISONS,
    WIDE,
    counts_as_number,
    first_converted,
    has_int_beyond,
    is_compared_exactly,
    is_named,
    wide_place,
)
from castwise.engine.decide import Term, composition, parse_program, step_question
from castwise.engine.decision import NOTHING, Decision, Question
from castwise.engine.plan import keeps_exponent, op_plan
from castwise.errors import UsageError
from castwise.rules.values import Values
from castwise.vocab.dtypes import EXACT, DType, dtype
from castwise.vocab.notation import parse_scalar
from castwise.vocab.operands import UNDEFINED, Operand, Role, Scalar, array_operand, scalar_operand
from castwise.vocab.ops import op

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
        is_spread = self.op in ("std", "var")
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
        if self.kernel and not isinstance(backend, TakesConstants):  # a graph records its name
            return self.kernel
        if self.composed:
            return self.composed.function(backend)
        found = function_named(self.op, backend, self.compute)
        found = adapted(found, backend, self.op, self.compute, self.values)
        if self.is_joining:  # concat and stack take their operands in one list
            return lambda *arrays, **options: found(arrays, **options)
        return found

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


class Count(NamedTuple):
    """How many elements of an operand a reduction goes over, as an argument of a step."""

    place: int


class Converted(NamedTuple):
    """Another argument of a step, cast to a dtype."""

    part: Any
    dtype: DType


class ComposedStep(NamedTuple):
    """One step of a composed op, and its arguments: operands by position, numbers, or the results
    of other steps."""

    steps: Steps
    arguments: tuple[Any, ...]

    is_reduction: bool

    def run(self, operands: Sequence[Any], backend: Backend, options: Mapping[str, Any]) -> Any:
        """The result of the step, in which reductions take the options of the op. What is reduced
        again keeps its dimensions."""
        inner = {**options, "keepdims": True} if self.is_reduction else options
        given = [_argument(part, operands, backend, inner) for part in self.arguments]
        taken = {
            name: value
            for name, value in options.items()
            if self.is_reduction and (name != "correction" or self.steps.op == "var")
        }
        computed = self.steps.function(backend)(*self.steps.enter(given, backend), **taken)
        return self.steps.as_result(computed, backend)

    @property
    def takes(self) -> set[str]:
        """The options that reductions among the steps take."""
        own = {"axis", "keepdims"} if self.is_reduction else set()
        of_var = {"correction"} if self.steps.op == "var" else set()
        parts = [part.takes for part in self.arguments if isinstance(part, ComposedStep)]
        return own.union(of_var, *parts)


def _argument(
    part: Any, operands: Sequence[Any], backend: Backend, options: Mapping[str, Any]
) -> Any:
    if isinstance(part, ComposedStep):
        return part.run(operands, backend, options)
    if isinstance(part, Converted):
        return backend.cast(_argument(part.part, operands, backend, options), part.dtype)
    if isinstance(part, Count):
        return _count(operands[part.place], options.get("axis"))
    return part.value if isinstance(part, Number) else operands[part]


def _count(array: Any, axis: Any) -> int:
    """How many elements a reduction over an axis, several or all goes over."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    is_whole = axis is None or not array.shape
    return math.prod(array.shape if is_whole else [array.shape[at] for at in axes])


# Options that change nothing, and so leave an op to its steps.
_DEFAULTS = {"rtol": 1e-5, "atol": 1e-8, "equal_nan": False}
_NOTHING = object()
_NEVER_WARNS = ("isclose",)  # though its steps alone would


class ComposedOp(NamedTuple):
    """The last step of a composed op, and how to compute it with options that change it."""

    last: ComposedStep
    otherwise: Steps
    is_loss: bool  # what the steps give is averaged, or reduced as the caller asks

    def function(self, backend: Backend) -> Function:
        """The function for the op on uncast operands."""

        def computed(*operands: Any, reduction: str | None = None, **options: Any) -> Any:
            changed = {k for k, value in options.items() if value != _DEFAULTS.get(k, _NOTHING)}
            if not changed <= self.last.takes:
                function, enter = self.otherwise.function(backend), self.otherwise.enter
                options |= {"reduction": reduction} if reduction else {}
                return function(*enter(operands, backend), **options)
            found = self.last.run(operands, backend, options)
            if not self.is_loss or reduction == "none":
                return found
            name = "sum" if reduction == "sum" else "mean"
            # Integers have no mean of their own dtype.
            found = self.otherwise.as_result(found, backend)
            reduce = function_for(backend, name, self.otherwise.result)
            return quieted(reduce, backend, name, self.otherwise.values)(found)

        if self.otherwise.op in _NEVER_WARNS and isinstance(backend, Warns):
            return backend.quiet(computed, self.otherwise.op)
        return computed


@runtime_checkable
class RunsWhole(Protocol):
    """A backend that runs all steps of an op at once, because its arrays are lazy or because it
    casts while it computes."""

    def whole(self, steps: Steps) -> Function | None:
        """A function of raw operands and options; None if the steps run one by one."""


Casting = tuple[Function, list[EntryCast | None]]  # a function, and the casts before it


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
    """A backend that also makes functions of whole ops for results that are checked later."""

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


def op_steps(decision: Decision, computes: str) -> Steps:
    """The steps of a decision, for its op or for a function that is decided like it."""
    row, asked = decision.question.op, decision.question.operands
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
    if operand.is_scalar and decision.compute is EXACT:
        return None
    if operand.is_scalar:
        target = cast.target if cast else _number_dtype(decision, place)
        # Beyond int32 an exponent overflows any float, as the limit does.
        is_exponent = row.name == "ldexp" and target is _EXPONENT
        return Entry(target, within=target if is_exponent else None)
    assert operand.dtype is not None  # a number has none
    truncated = decision.question.dialect.truncations.get(operand.dtype)
    goal = cast.target if cast else truncated
    return Entry(goal, operand.dtype) if goal else None


def _number_dtype(decision: Decision, place: int) -> DType:
    """The dtype of a Python number that no cast defines."""
    asked = decision.question
    is_exponent = place > 0 and keeps_exponent(asked.dialect, asked.op, asked.form)
    return _EXPONENT if is_exponent else decision.compute


def entry_cast(entry: Entry, backend: Backend, values: Values | None) -> EntryCast:
    """The function that casts an operand as its entry says."""
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
    by_pair: CastsByPair | None = able(backend, CastsByPair)
    if by_pair is not None:
        return by_pair.caster(entry.source, target)
    return lambda array: backend.cast(array, target)


# A protocol check takes longer than everything else that is done for an entry.
@functools.lru_cache(maxsize=256)
def able(backend: Backend, ability: Any) -> Any:
    """The backend itself, if it has what a protocol says."""
    return backend if isinstance(backend, ability) else None


@functools.lru_cache(maxsize=64)
def running_unchecked(backend: Backend) -> Callable[[Steps], Function | None] | None:
    """How a backend makes functions that cast while they compute, for results that are checked
    later; None if it makes none."""
    if isinstance(backend, RunsUnchecked):
        return backend.unchecked
    return backend.whole if isinstance(backend, RunsWhole) else None


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


# Ops that a framework composes of others in a way that affects the values. They are computed step
# by step, each step in the dtype that the engine decides for it.


def _stepwise(steps: Steps, decision: Decision) -> Steps | None:
    """The steps of an op by its composition, if the dialect computes it that way."""
    question = decision.question
    if question.op.name not in question.dialect.values.arithmetic.stepwise.split():
        return None
    plan = op_plan(question.op, question.dialect, question.form)
    composed = composition(plan, question.operands)
    if composed is None:
        return None
    program = parse_program(composed.program)
    if isinstance(program, str) or program[0] == "result_type":  # it only gives a dtype
        return None
    is_loss = question.op.family == "losses"
    if is_loss and program[0] == "mean":
        program = program[1][0]  # the mean comes last, or the reduction that the caller requests
    _, step = _part_of(program, question)
    if isinstance(step, Converted):
        step = step.part  # the result gets the decided dtype anyway
    entries = (None,) * len(steps.entries)
    return replace(steps, entries=entries, composed=ComposedOp(step, steps, is_loss))


def _part_of(term: Term, question: Question) -> tuple[Operand, Any]:
    """A term as the engine sees it, and its argument when the op runs."""
    if isinstance(term, str):
        place = "xyz".find(term)
        if place >= 0:
            return question.operands[place], place
        number = parse_scalar(term)
        return scalar_operand(number), Number(number)
    name, arguments = term
    if name == "count":
        return scalar_operand(1), Count("xyz".find(str(arguments[0])))
    if name == "cast":
        operand, part = _part_of(arguments[0], question)
        target = dtype(str(arguments[1]))
        if isinstance(part, Number | Count):  # it stays a number: every float can hold it
            return array_operand(target, ()), part
        return replace(operand, dtype=target, value=None), Converted(part, target)
    found = [_part_of(argument, question) for argument in arguments]
    operands = tuple([operand for operand, _ in found])
    decision = answer(step_question(question.dialect, name, operands))
    promoted = decision.as_promoted()
    steps = under_rules(op_steps(promoted, promoted.question.op.name), promoted)
    entries = [
        Entry(promoted.compute)
        if isinstance(given, Number | Count) and not operand.is_scalar
        else entry
        for entry, (operand, given) in zip(steps.entries, found, strict=True)
    ]
    steps = replace(steps, entries=tuple(entries))
    shape = None if any(o.role is Role.ARRAY for o in operands) else ()
    given = tuple([part for _, part in found])
    is_reduction = decision.question.op.family == "reductions"
    return array_operand(decision.result, shape), ComposedStep(steps, given, is_reduction)


# Changes to steps by a dialect's value rules: other dtypes for operands, or another function.
#
# These rules need only the decision, so they are applied once, before any array is seen.

_FLOAT32 = dtype("float32")
_LOGICAL = frozenset({"logical_and", "logical_or", "logical_xor"})


def under_rules(steps: Steps, decision: Decision) -> Steps:
    """The steps, changed by the dialect's value rules."""
    if steps.op != decision.question.op.name:
        return steps  # a function that is only decided like this op
    changes = (
        _stepwise, _rounded, _scaled, _named_otherwise, _divided_in_place, _true_number, _lifted,
        _reciprocal, _checked_bias, _inverse, _wide_scalar, _large_exponent, _exponent,
        _whole_exponent, _half_exponent, _bounded, _compared,
    )  # fmt: skip
    for change in changes:
        changed = change(steps, decision)
        if changed is not None:
            return changed
    return steps


def _rounded(steps: Steps, decision: Decision) -> Steps | None:
    """A rounded quotient: the integer quotient, rounded down or towards zero."""
    question = decision.question
    mode, values = question.named.rounding_mode, question.dialect.values
    if mode is None:
        return None
    if mode == "trunc":
        if steps.compute.kind == "float":
            return replace(steps, op="truncated_quotient")
        truncating = replace(values, dividing=replace(values.dividing, rounds="truncates"))
        return replace(steps, op="floor_divide", values=truncating)
    rounded = replace(question, op=op("floor_divide"), named=NOTHING)
    return under_rules(replace(steps, op="floor_divide"), replace(decision, question=rounded))


def _scaled(steps: Steps, decision: Decision) -> Steps | None:
    """A sum or difference with a factor for its second operand."""
    if decision.question.alpha is None:
        return None
    is_once = decision.question.dialect.values.arithmetic.scaled_sums == "float32 once"
    return replace(steps, op=f"{steps.op}_scaled{'_once' if is_once else ''}")


def _named_otherwise(steps: Steps, decision: Decision) -> Steps | None:
    """Ops with another meaning: the median of an even number, the approximation of gelu, and `&`
    where it is the logical op."""
    values = decision.question.dialect.values
    if steps.op == "median" and values.reducing.median == "lower":
        return replace(steps, op="lower_median")
    if steps.op == "gelu" and values.arithmetic.gelu == "tanh":
        return replace(steps, op="gelu_tanh")
    is_of_bits = steps.op in ("bitwise_and", "bitwise_or", "bitwise_xor")
    if is_of_bits and decision.result is _BOOL is not steps.compute:
        return replace(steps, op=steps.op.replace("bitwise", "logical"))
    return None


def _entry_to(target: DType, operand: Operand) -> Entry:
    """How an operand is cast to a dtype."""
    return Entry(target, None if operand.is_scalar else operand.dtype)


def _divided_in_place(steps: Steps, decision: Decision) -> Steps | None:
    """`x /= y`, if y is cast to the dtype of x before it divides, as in an in-place product."""
    question = decision.question
    if not question.inplace or question.op.name != "div":
        return None
    if question.dialect.values.dividing.divisor_in_place != "cast":
        return None
    first, second = question.operands
    assert first.dtype is not None  # a number cannot be written to
    held = question.dialect.truncations.get(first.dtype, first.dtype)
    product = answer(replace(question, op=op("mul")))
    entries = (
        None if first.dtype is decision.result else Entry(decision.result, first.dtype),
        _entry_to(decision.result, second)._replace(through=(product.compute, held)),
    )
    return replace(steps, op="div_of_arrays", compute=decision.result, entries=entries)


def _true_number(steps: Steps, decision: Decision) -> Steps | None:
    """A Python number in a logical op, if it is converted to bool before it is combined with the
    array: an int is true even if it would wrap to 0, and a float counts as the default float."""
    question = decision.question
    plan = op_plan(question.op, question.dialect, question.form)
    if question.op.name not in _LOGICAL or plan.range.limit != "int64":
        return None
    default = dtype(question.dialect.python["float"])
    entries = list(steps.entries)
    for place, operand in enumerate(question.operands):
        entry = entries[place]
        if entry is not None and entry.is_number:
            is_float = operand.kind == "float"
            through = (default,) if is_float else ()
            entries[place] = entry._replace(is_condition=not is_float, through=through)
    return replace(steps, entries=tuple(entries))


def _lifted(steps: Steps, decision: Decision) -> Steps | None:
    """An op of integers that computes in floats, if a Python int is first converted to their dtype,
    where it wraps if out of range."""
    question = decision.question
    plan = op_plan(question.op, question.dialect, question.form)
    held = first_converted(plan, question, steps.compute)
    if held is None:
        return None
    entries = [
        entry._replace(through=(held,)) if entry and entry.is_number else entry
        for entry in steps.entries
    ]
    return replace(steps, entries=tuple(entries))


def _reciprocal(steps: Steps, decision: Decision) -> Steps | None:
    """A number / an array, if that is computed as the number times the array's reciprocal."""
    question = decision.question
    values = question.dialect.values
    if not is_named(values.dividing.reciprocal_first, question):
        return None
    number, array = question.operands
    plan = op_plan(question.op, question.dialect, question.form)
    is_number = counts_as_number(number, plan.numpy.scalars_left)
    is_composed = number.is_numpy and composition(plan, question.operands) is not None
    if not (is_number or is_composed) or not array.dtype:
        return None
    is_wide = is_number and values.arithmetic.wide_scalars
    wide = WIDE.get(steps.compute.name, steps.compute) if is_wide else steps.compute
    # The reciprocal of floats has their dtype, that of integers the dtype they are lifted to.
    lifted = question.dialect.mapping(question.dialect.becomes.lifts).get(array.dtype)
    keeps = array.dtype.kind in ("float", "complex")
    second = None if keeps else Entry(lifted or steps.compute, array.dtype)
    return replace(steps, op="reciprocal_times", entries=(_entry_to(wide, number), second))


def _checked_bias(steps: Steps, decision: Decision) -> Steps | None:
    """No change, but raises UsageError for a bias in the place of a weight that is not given."""
    if steps.op != "layer_norm":
        return None
    given = [operand is not UNDEFINED for operand in decision.question.operands]
    if given[1:] == [False, True]:
        raise UsageError("layer_norm with a bias needs a weight too: give it ones.")
    return None


def _inverse(steps: Steps, decision: Decision) -> Steps | None:
    """An array / a number, if that is computed as the array times the number's reciprocal."""
    if not is_named(decision.question.dialect.values.dividing.reciprocal_second, decision.question):
        return None
    array, number = decision.question.operands
    is_single = number.is_scalar or number.rank == 0
    if not is_single or array.is_scalar or array.rank == 0 or steps.compute.kind != "float":
        return None
    if decision.question.inplace or steps.compute.name == "bfloat16":  # bfloat16 divides in float32
        return None
    return replace(steps, op="times_reciprocal")


def _wide_scalar(steps: Steps, decision: Decision) -> Steps | None:
    """A number or 0-d array with small floats, if it is not rounded to them."""
    question = decision.question
    plan = op_plan(question.op, question.dialect, question.form)
    place = wide_place(plan, question, steps.compute)
    if place is None:
        return None
    entries = list(steps.entries)
    entries[place] = _entry_to(WIDE[steps.compute.name], question.operands[place])
    return replace(steps, op=f"{steps.op}_with_wide", entries=tuple(entries))


def _large_exponent(steps: Steps, decision: Decision) -> Steps | None:
    """An integer to the power of a number that its dtype cannot, and need not, hold."""
    question = decision.question
    if question.op.name != "pow" or steps.compute.kind != "int":
        return None
    number = question.operands[1].value if question.operands[1].is_scalar else None
    is_free = op_plan(question.op, question.dialect, question.form).exponent.is_free
    if not is_free or type(number) is not int or number <= steps.compute.max:
        return None
    return replace(steps, op="pow_of_large", entries=(steps.entries[0], None))


def _exponent(steps: Steps, decision: Decision) -> Steps | None:
    """A Python number as an exponent, if it is not rounded to float32."""
    question = decision.question
    if question.op.name != "pow" or question.dialect.values.powers.exponents != "kept":
        return None
    if not question.operands[1].is_scalar or steps.compute.kind not in ("float", "complex"):
        return None
    name = power_name(question.dialect.values)
    return replace(steps, op=name, entries=(steps.entries[0], None))


def _whole_exponent(steps: Steps, decision: Decision) -> Steps | None:
    """A Python int as the exponent of floats, if the power is a product of squares."""
    question = decision.question
    if question.op.name != "pow" or question.dialect.values.powers.by_whole_number != "products":
        return None
    is_whole = question.operands[1].is_scalar and question.operands[1].kind in ("bool", "int")
    if not is_whole or steps.compute.kind not in ("float", "complex"):
        return None
    return replace(steps, op="pow_by_products", entries=(steps.entries[0], None))


def _half_exponent(steps: Steps, decision: Decision) -> Steps | None:
    """Floats to the power of a number or a 0-d array, if the power of 0.5 is the square root."""
    question = decision.question
    if question.op.name != "pow" or steps.compute.kind != "float":
        return None
    rule, exponent = question.dialect.values.powers.by_one_exponent, question.operands[1]
    is_single = exponent.is_scalar or exponent.rank == 0
    takes_root = rule == "square root" and steps.compute.name != "float16"
    if rule in ("square root", "square root by operator") and question.form == "operator":
        takes_root = True
    return replace(steps, op="pow_or_root") if is_single and takes_root else None


def _bounded(steps: Steps, decision: Decision) -> Steps | None:
    """The bounds of clamp: no lower bound, or numbers out of range that have no effect."""
    question = decision.question
    if question.op.name != "clamp":
        return None
    if question.operands[1:2] == (UNDEFINED,) and len(steps.entries) == 2:
        steps = replace(steps, op="clip_above")
    first = question.operands[0].dtype
    is_of_one = question.dialect.values.clamping.bound_shapes == "one" and steps.op == "clamp"
    is_long = first is not None and first.name in ("int32", "int64")
    if is_of_one and (is_long or question.inplace):
        steps = replace(steps, op="clamp_by_first")
    steps = _bounded_first(steps, decision)
    beyond = op_plan(question.op, question.dialect, question.form).range.beyond
    if beyond != "raises if no value is left" or steps.compute.kind != "int":
        return steps
    entries = [e._replace(within=steps.compute) if e and e.is_number else e for e in steps.entries]
    return replace(steps, entries=tuple(entries))


def _bounded_first(steps: Steps, decision: Decision) -> Steps:
    """A lower bound that applies to integers before they are cast to the dtype of the upper one."""
    question = decision.question
    first, lower = question.operands[0].dtype, question.operands[1:2]
    if question.dialect.values.clamping.lower_bound != "first" or steps.compute is first:
        return steps
    is_int = bool(lower) and lower[0].is_scalar and type(lower[0].value) is int
    entry = steps.entries[1] if is_int else None
    if entry is None or first is None or first.kind != "int":
        return steps
    entries = (steps.entries[0], entry._replace(through=(first,)), *steps.entries[2:])
    return replace(steps, entries=entries)


def _compared(steps: Steps, decision: Decision) -> Steps | None:
    """Integers that are compared by their exact values."""
    question = decision.question
    if question.op.name not in COMPARISONS:
        return None
    plan = op_plan(question.op, question.dialect, question.form)
    if has_int_beyond(plan, question, steps.compute):
        entries = [
            Entry(_FLOAT32, within=steps.compute) if o.is_scalar else _entry_to(_FLOAT32, o)
            for o in question.operands
        ]
        return replace(steps, compute=_FLOAT32, entries=tuple(entries))
    if is_compared_exactly(plan, question, steps.compute):
        return replace(steps, op=f"{steps.op}_of_mixed_signs", entries=(None, None))
    return None
