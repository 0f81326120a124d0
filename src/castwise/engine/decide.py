"""The one place that decides: an op, its operands and a dialect give a Decision or a refusal."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from castwise.catalog import dialect_named
from castwise.engine.accepts import (
    check_accepted,
    check_apart,
    check_compute,
    check_count,
    check_fit,
    check_known,
    check_operands,
    check_same_dtype,
    check_values,
    is_integer_power,
    is_unpromoted_mix,
    without,
)
from castwise.engine.arguments import (
    cast_first,
    check_named,
    is_compute_asked,
    loop_giving,
    plan_for,
)
from castwise.engine.computing import (
    Computation,
    computation,
    counts_as_number,
    is_named,
    number_cast,
)
from castwise.engine.decision import (
    NOTHING,
    Cast,
    Decision,
    Note,
    Question,
    Refusal,
    cast_between,
    cast_text,
    check_guards,
    result_text,
    step_text,
)
from castwise.engine.joins import check_conversion, check_joins, is_strong_power, joined
from castwise.engine.lists import has_lists, list_decision
from castwise.engine.operands import (
    as_joined,
    as_seen,
    check_width,
    is_native,
    is_weakly_typed,
    made_array,
    made_arrays,
    makes_strong,
    native_operands,
    numpy_decider,
    truncated_dtype,
    truncated_operands,
    unpromoted,
)
from castwise.engine.plan import Plan, op_plan
from castwise.engine.recorded import recorded_decision
from castwise.engine.writes import (
    assignment_refusal,
    deciding_form,
    is_numpy_writing,
    is_written,
    rebinds,
    takes_any,
    written_dtype,
)
from castwise.errors import UsageError
from castwise.rules.dialect import Dialect
from castwise.rules.rule import DESTINATIONS, DTYPE_ARGUMENTS, Composed
from castwise.vocab.dtypes import EXACT, DType, dtype, strong_twin, weak_nodes
from castwise.vocab.notation import parse_scalar, split_arguments
from castwise.vocab.operands import UNDEFINED, Operand, Role, array_operand, scalar_operand
from castwise.vocab.ops import op, op_of_symbol


def decide(question: Question, note: Note = None) -> Decision:
    """The decision, uncached. `note` is called with a sentence for each step.

    Raises Refusal where the dialect refuses, UsageError where the question makes no sense.
    """
    return (_with_layers if question.dialect.evidence.layers else _by_rules)(question, note)


def _by_rules(question: Question, note: Note) -> Decision:
    """The decision that a dialect's rules give."""
    row = question.op
    check_count(question)
    form = deciding_form(question)
    named = question.named
    plan = (
        op_plan(row, question.dialect, form) if named is NOTHING else plan_for(question, form, note)
    )
    if has_lists(question):
        return list_decision(plan, question, decide, note)
    place = row.apart(question.operands)
    given = question.operands if place is None else without(question.operands, place)
    if row.family == "conversion":
        return replace(_explicit_conversion(question, note), tell=decision_steps)
    of_condition = None if place is None else check_apart(plan, question.operands[place], note)
    if note:
        for operand in given:
            note(f"{operand} is {role_text(operand)}.")
    operands = tuple([o for o in given if o is not UNDEFINED])
    is_in_place = is_written(question)
    is_kept_weak = is_in_place and _stays_weak(plan, operands[0])
    entered = (replace(operands[0], is_weak=False), *operands[1:]) if is_kept_weak else operands
    found = _dtypes(plan, question, entered, note)
    compute, computed, is_weak, is_own = found[:4]
    result = computed
    if is_in_place or question.out:
        computed, result = _result_as_written(plan, question, operands, computed, note)
        compute = computed if plan.writes.counts else compute
        is_weak = is_weak if takes_any(plan) else is_kept_weak
    casts = _casts(plan, given, _cast_targets(plan, operands, compute, is_own), place)
    promoted = Computation(compute, casts)
    told = _told(plan, question, found, promoted, given, place)
    result_cast = None if result is computed else cast_between(computed, result)
    notes = _missing_kernels(plan, question, found, of_condition)
    decision = Decision(
        question,
        result,
        told.compute,
        told.casts,
        result_cast,
        is_weak,
        notes,
        not notes,
        told.program,
        told.inside,
        None if told is promoted else (compute, casts),
        decision_steps,
    )
    if note:
        _note_computation(decision, computed, note)
    if question.dialect.joining.guards:
        check_guards(decision)
    if note:
        _note_result(decision, note)
    return decision


def _told(
    plan: Plan, question: Question, found: Computed, promoted: Computation,
    given: tuple[Operand, ...], place: int | None,
) -> Computation:  # fmt: skip
    """What happens instead of the casts that promotion gives; those where nothing else does."""
    if found.steps:
        return found.steps._replace(casts=_placed(given, found.steps.casts, place))
    return computation(plan, question, promoted) if found.is_own else promoted


def _with_layers(question: Question, note: Note) -> Decision:
    """The decision of a dialect in which recorded answers count for more than the rules."""
    decision = replace(recorded_decision(question, decide, note), tell=decision_steps)
    if question.dialect.joining.guards:
        check_guards(decision)
    return decision


# The dtypes that an op computes in and gives.


class Computed(NamedTuple):
    """What an op computes in and gives, before anything is written anywhere."""

    compute: DType
    result: DType
    is_weak: bool = False
    is_own: bool = True  # False: another dialect decided, and its framework computes
    steps: Computation | None = None  # what happens, where it is computed by other ops
    lacking: tuple[str, ...] | None = None  # what its steps have no kernel for; None: it has none


def _dtypes(plan: Plan, question: Question, operands: tuple[Operand, ...], note: Note) -> Computed:
    """The compute and the result dtype, before anything is written anywhere."""
    is_mixed = any([o.is_numpy for o in operands])
    if is_mixed and is_native(plan):
        operands = native_operands(plan, operands, note)
        is_mixed = False
    operands = made_arrays(plan, operands, note)
    operands = cast_first(plan, operands, question.named, note)
    composed = composition(plan, operands) if plan.composes else None
    if composed:
        for operand in operands:
            check_known(plan, operand)
        check_accepted(plan, operands)
        return _composed_dtypes(plan, question, composed, operands, note)
    check_joins(plan, operands)
    if is_mixed:
        if decider := numpy_decider(plan, operands):
            return _decided_elsewhere(decider, plan, question, operands, note)
        operands = native_operands(plan, operands, note)
    operands = truncated_operands(plan, operands, note)
    check_operands(plan, operands)
    check_same_dtype(plan, operands, question.out)
    if plan.borrows:
        return _decided_elsewhere(plan.borrows, plan, question, operands, note)
    return _own_dtypes(plan, question, operands, note)


def _own_dtypes(
    plan: Plan, question: Question, operands: tuple[Operand, ...], note: Note
) -> Computed:
    """The dtypes that the dialect's own rules for an op decide on."""
    named = question.named
    if named.dtype and plan.arguments.dtype == "result":  # a loop that gives it
        compute, is_weak = loop_giving(plan, operands, named.dtype, note), False
    else:
        compute, is_weak = _compute_dtype(plan, operands, note)
    if named.dtype and is_compute_asked(plan, named):
        compute, is_weak = named.dtype, False
        if note:
            note(f"dtype={compute}: {DTYPE_ARGUMENTS[plan.arguments.dtype]}.")
    check_values(plan, operands, compute, question)
    if named is not NOTHING:
        check_named(plan, operands, named, compute)
    is_result = named.dtype is compute and is_compute_asked(plan, named)
    result = compute if is_result else _result_dtype(plan, operands, compute, note)
    return Computed(
        compute, result, is_weak and result.kind != "bool" and not makes_strong(plan, operands)
    )


def _decided_elsewhere(
    name: str, plan: Plan, question: Question, operands: tuple[Operand, ...], note: Note
) -> Computed:
    """The dtypes another dialect decides on, converted to those of this one."""
    other = dialect_named(name)
    operands = as_seen(plan, operands)
    is_operator = question.form == "augmented" and not is_numpy_writing(question)
    form = "operator" if is_operator else question.form
    decision = decide(replace(question, dialect=other, form=form, inplace=False, operands=operands))
    if note:
        note(f"Here {other.name} decides: {step_text(decision)}.")
    result = plan.numpy.result.get(decision.result, decision.result)
    return Computed(decision.compute, result, decision.is_weak, is_own=False)


def _compute_dtype(plan: Plan, operands: tuple[Operand, ...], note: Note) -> tuple[DType, bool]:
    """The dtype the op computes in, which is the join as the op converts it, and whether that is
    weak.

    Raises Refusal where there is no join, or the op does not compute in it.
    """
    if plan.arrays.promotes:
        node = joined(plan, as_joined(plan, operands, note), note)
    else:
        node = unpromoted(plan, operands)[0]
    is_weak = node.is_weak or all([is_weakly_typed(o) for o in operands])
    is_weak = is_weak and not is_strong_power(plan, operands, node)
    common = (strong_twin(node) or plan.python[node.kind]) if node.is_weak else node
    if note and node.is_weak:
        note(f"{node} is stored as {common}.")
    check_fit(plan, operands, common)
    check_conversion(plan, operands, common)
    compute = common
    if plan.converts:
        # A weak one may have its own conversion.
        names = (*weak_nodes(common), common) if is_weak else (common,)
        compute = next((plan.converts[name] for name in names if name in plan.converts), common)
    if plan.caps:
        compute = plan.caps.get(compute, compute)
    if note and compute is not common:
        note(f"{plan.op.name} does not compute in {common}, which becomes {compute}.")
    check_compute(plan, operands, compute)
    if compute is not common and plan.weakness.converted_is_strong:
        is_weak = False
    check_width(plan, operands, compute)
    return compute, is_weak and plan.scalars == "as nodes" and plan.dialect.has_weak_arrays


def _result_dtype(plan: Plan, operands: tuple[Operand, ...], compute: DType, note: Note) -> DType:
    if plan.result_of and compute in plan.result_of:
        result = plan.result_of[compute]
    elif plan.result == "same":
        return compute
    elif plan.result == "real":
        result = compute.part
    elif plan.result == "complex":
        result = compute.of_parts
    elif plan.result == "first":
        first = operands[0].dtype or compute
        result = first if takes_any(plan) else written_dtype(plan, compute, first)
    elif plan.result == "default float":
        result = plan.python["float"]
    else:
        named = dtype(plan.dialect.becomes.index if plan.result == "index" else plan.result)
        result = truncated_dtype(plan, named)
    if note and not plan.arrays.promotes:
        note(f"{plan.op.name} casts nothing: its first operand is {compute}, its result {result}.")
    return result


def _missing_kernels(
    plan: Plan, question: Question, found: Computed, of_condition: str | None
) -> tuple[str, ...]:
    """A sentence for each kernel that there is not: of the dtype its own rules compute in, of the
    steps that it is composed of, or of a condition."""
    if found.lacking is not None:
        return (*found.lacking, *filter(None, (of_condition,)))
    own_compute = found.compute if found.is_own else None
    is_asked = own_compute is question.named.dtype and is_compute_asked(plan, question.named)
    is_lacking = _lacks_kernel(plan, question, own_compute)
    is_lacking = is_lacking or not (is_asked or own_compute in plan.computes)
    of_compute = None
    if own_compute and is_lacking:
        what = f"{plan.op.name} has no CPU kernel for {own_compute}"
        of_compute = f"{what}: it promotes, then fails to run."
    return tuple(filter(None, (of_compute, of_condition)))


def _lacks_kernel(plan: Plan, question: Question, compute: DType | None) -> bool:
    """Whether there is no kernel for a dtype, or none for these operands."""
    words = [word for word, dtypes in plan.no_kernel_by_number.items() if compute in dtypes]
    if compute in plan.no_kernel or not words:
        return compute in plan.no_kernel
    counts = [plan.numpy.scalars_left, *[plan.numpy.scalars] * (len(question.operands) - 1)]
    are_numbers = [_is_number(*pair) for pair in zip(question.operands, counts, strict=True)]
    holds = {
        "no-number": not any(are_numbers),
        "no-last-number": not are_numbers[-1],
        "last-number": are_numbers[-1],
    }
    return any(holds[word] for word in words)


def _is_number(operand: Operand, counts: dict[DType, str]) -> bool:
    """Whether an operand is a real number where kernels for one differ."""
    is_foreign_int = operand.role is Role.NUMPY_SCALAR and operand.kind == "int"
    is_one = is_foreign_int or counts_as_number(operand, counts)
    return is_one and operand.kind in ("int", "float")


# Ops that a framework composes of other ops, decided step by step.


def composition(plan: Plan, operands: tuple[Operand, ...]) -> Composed | None:
    """The first composition of the op that is meant for these operands."""
    return next((c for c in plan.composes if _is_meant(plan, c, operands)), None)


def _composed_dtypes(
    plan: Plan, question: Question, composed: Composed, operands: tuple[Operand, ...], note: Note
) -> Computed:
    """The highest dtype a step computes in, and the one it ends in."""
    if plan.arrays.zero_d_as_arrays:
        operands = tuple([array_operand(o.dtype) if o.dtype else o for o in operands])
    if note and composed.program in _NAMES:
        note(f"{plan.op.name} returns {operands[_NAMES.index(composed.program)]} unchanged.")
    program = _Program(plan, question, operands, note)
    final = program.evaluated(parse_program(composed.program))
    result = final.operand.dtype
    assert result is not None
    highest = max(program.promoted, key=lambda d: (d.rank, d.bits), default=result)
    is_stepwise = is_named(plan.dialect.values.arithmetic.stepwise, question)
    steps = program.computation(final.text) if is_stepwise else None
    lacking = tuple(program.lacking[:1])
    return Computed(highest, result, final.operand.is_weak, steps=steps, lacking=lacking)


_NAMES = "xyz"  # of the operands in a program


class _Part(NamedTuple):
    """A part of a program: an operand of the op, a number or what a step gives."""

    operand: Operand
    text: str
    place: int | None = None  # of an operand of the op
    cast: Cast | None = None  # which the program asks for, before it is used
    is_wide: bool = False  # a step that, of operands that are cast before, would give a wider dtype


class _Program:
    """The steps of a composition as they are decided, and how to write them with every cast."""

    def __init__(
        self, plan: Plan, question: Question, operands: tuple[Operand, ...], note: Note
    ) -> None:
        self._plan, self._operands, self._note = plan, operands, note
        # To which the operands are cast first.
        self._first = question.named.dtype if "casts" in plan.arguments.dtype else None
        self.promoted: list[DType] = []  # what the steps promote to
        self.lacking: list[str] = []  # the kernels that there are not
        self._computes: list[DType] = []
        self._uses: list[tuple[int, Cast | None]] = []  # of the op's operands, and how each is cast
        self._inside: list[Cast] = []

    def evaluated(self, term: Term) -> _Part:
        """What a term gives."""
        if isinstance(term, str):
            place = _NAMES.find(term)
            if place >= 0:
                operand = self._operands[place]
                if self._first:
                    return _Part(operand, f"cast({term}, {self._first})")
                return _Part(operand, term, place)
            return _Part(scalar_operand(parse_scalar(term)), term)
        name, arguments = term
        if name == "count":
            return _Part(scalar_operand(1), f"count({arguments[0]})")
        if name == "cast":
            return self._cast(self.evaluated(arguments[0]), dtype(str(arguments[1])))
        parts = [self.evaluated(argument) for argument in arguments]
        given = tuple([part.operand for part in parts])
        if name == "array":
            made = replace(made_array(self._plan, given[0]), role=Role.ARRAY, shape=None)
            return parts[0]._replace(operand=made)
        decision = decide(step_question(self._plan.dialect, name, given))
        self.promoted.append(decision.as_promoted().compute)
        self.lacking.extend(decision.notes)
        if self._note:
            self._note(f"{self._plan.op.name} computes {step_text(decision)}.")
        shape = None if any(o.role is Role.ARRAY for o in given) else ()
        made = array_operand(decision.result, shape, is_weak=decision.is_weak)
        is_wide = any(cast and cast.is_read for cast in decision.casts)
        return _Part(made, self._text(decision, parts), is_wide=is_wide)

    def _cast(self, source: _Part, target: DType) -> _Part:
        array = made_array(self._plan, source.operand)
        assert array.dtype is not None
        if self._note:
            self._note(f"{self._plan.op.name} casts {array} to {target}.")
        made = replace(array, dtype=target, value=None)
        if source.place is None:  # a number or what a step gives
            return _Part(made, f"cast({source.text}, {target})")
        return source._replace(operand=made, cast=cast_between(array.dtype, target))

    def _text(self, decision: Decision, parts: list[_Part]) -> str:
        """The text of a step."""
        self._computes.append(decision.compute)
        self._inside.extend(decision.inside)
        texts = [self._used(*pair) for pair in zip(parts, decision.casts, strict=True)]
        if decision.program:
            return re.sub(r"\b[xyz]\b", lambda m: texts[_NAMES.index(m[0])], decision.program)
        asked = decision.question
        name = asked.op.symbol if asked.form == "operator" else asked.op.name
        return f"{name}({', '.join(texts)})"

    def _used(self, part: _Part, cast: Cast | None) -> str:
        """The text of a part as an argument. How an operand is cast is filled in at the end."""
        text = f"cast({part.text}, {part.operand.dtype})" if part.is_wide else part.text
        if part.place is not None:
            text = f"{{{len(self._uses)}}}"
            self._uses.append((part.place, part.cast or cast))
            cast = cast if part.cast else None
        if cast is None or cast.is_read:
            return text
        self._inside.append(cast)
        return f"cast({text}, {cast.target})"

    def computation(self, text: str) -> Computation | None:
        """What the steps compute in, and their casts. An operand that each step casts alike is cast
        before them."""
        if not self._computes:
            return None
        casts = [self._cast_before(place) for place in range(len(self._operands))]
        names = []
        for place, cast in self._uses:
            name = _NAMES[place]
            if cast is not None and casts[place] is None and not cast.is_read:
                name = f"cast({name}, {cast.target})"
                self._inside.append(cast)
            names.append(name)
        compute = max(self._computes, key=lambda d: (d.rank, d.bits))
        found = text.format(*names)
        own = f"{self._plan.op.name}({', '.join(_NAMES[: len(self._operands)])})"
        return Computation(
            compute, tuple(casts), "" if found == own else found, tuple(dict.fromkeys(self._inside))
        )

    def _cast_before(self, place: int) -> Cast | None:
        """The cast of an operand before all steps. What one of several steps only reads in another
        dtype is rounded by that step."""
        found = [cast for used, cast in self._uses if used == place]
        is_alike = bool(found) and all(cast == found[0] for cast in found)
        cast = found[0] if is_alike else None
        return None if cast and cast.is_read and len(self._computes) > 1 else cast


Term: TypeAlias = "str | tuple[str, tuple[Term, ...]]"  # an operand or number, or a call


@functools.lru_cache(maxsize=256)
def parse_program(text: str) -> Term:
    """The calls of a composition's program.

    >>> parse_program("sub(exp(x), mul(y, x))")
    ('sub', (('exp', ('x',)), ('mul', ('y', 'x'))))
    """
    name, is_call, rest = text.strip().partition("(")
    if not is_call:
        return name
    return name, tuple([parse_program(part) for part in split_arguments(rest[:-1])])


def step_question(dialect: Dialect, name: str, given: tuple[Operand, ...]) -> Question:
    """The question of a step: about an operator for a symbol, in place for a name with a `_`."""
    if name.isidentifier():
        return Question(op(name.rstrip("_")), given, dialect, inplace=name.endswith("_"))
    return Question(op_of_symbol(name, len(given)), given, dialect, "operator")


def _is_meant(plan: Plan, composed: Composed, operands: tuple[Operand, ...]) -> bool:
    first, last = operands[0], operands[-1]
    if composed.count not in (None, len(operands)) or not _is_of_kind(plan, first, composed.kinds):
        return False
    if composed.rank is not None and any(o.rank != composed.rank for o in operands):
        return False
    if composed.exponents:
        value = 1 if last.value is None else last.value  # an array's value, where not shown, is 1
        if last.role is Role.ARRAY or value not in composed.exponents:
            return False
    if composed.second_kinds and not _is_of_kind(plan, operands[1], composed.second_kinds):
        return False
    if not _is_among(first.role.name, composed.roles):
        return False
    if not _is_of_kind(plan, last, composed.exponent_kinds):
        return False
    if not _is_among(last.role.name, composed.exponent_roles):
        return False
    not_given = "xyz"[len(operands) :]
    return not (not_given and re.search(rf"\b[{not_given}]\b", composed.program))


def _is_among(word: str, words: str) -> bool:
    return not words or word in words.split()


def _is_of_kind(plan: Plan, operand: Operand, words: str) -> bool:
    if not words:
        return True
    kind = "foreign" if operand.dtype in plan.only_absorbed else operand.kind
    named = words.split()
    return kind in named or str(operand.dtype) in named


# What is written in place, by `x += y` or into out=.


def _result_as_written(
    plan: Plan, question: Question, operands: tuple[Operand, ...], computed: DType, note: Note
) -> tuple[DType, DType]:
    """The dtype of the op's result, and the one it has once written in place or into out=."""
    destination = _destination(plan, question, operands[0])
    if is_unpromoted_mix(plan, operands):
        if note:
            note(f"Nothing is cast: the result takes the destination's dtype, {destination}.")
        return destination, destination
    written = written_dtype(plan, computed, destination)
    if plan.writes.counts:
        if plan.writes.counts == "joined if kept" and _is_converted(plan, operands[0], computed):
            return computed, written
        counting = [written, *[o.dtype for o in operands if plan.writes.counts != "alone"]]
        masks = [plan.reach.masks[dtype] for dtype in counting if dtype]
        found = plan.reach.common(masks) or computed
        if note:
            note(f"{plan.op.name} {DESTINATIONS[plan.writes.counts]}: {found}.")
        return found, written
    if note and plan.writes.into == "becomes":
        note(f"The array itself becomes the {computed} result.")
    elif note and not rebinds(question):
        note(f"The {computed} result must be written into {destination}.")
    return computed, written


def _is_converted(plan: Plan, operand: Operand, computed: DType) -> bool:
    return computed is not operand.dtype or computed in plan.reads


def _destination(plan: Plan, question: Question, first: Operand) -> DType:
    """The dtype of what the result is written into."""
    if question.inplace and question.out:
        raise UsageError("inplace and out= both say where the result is written: choose one.")
    destination = question.out or first.dtype
    if destination is None:
        raise UsageError("a Python scalar cannot be changed in place.")
    return truncated_dtype(plan, destination)


def _stays_weak(plan: Plan, destination: Operand) -> bool:
    """Whether a weak destination counts as strong during the op and stays weak afterwards."""
    if takes_any(plan) or not destination.is_weak or plan.weakness.makes_strong:
        return False
    check_known(plan, destination)
    return True


# The cast that each operand gets, once the dtype the op computes in is known.


def _casts(
    plan: Plan, given: tuple[Operand, ...], targets: list[DType], place: int | None
) -> tuple[Cast | None, ...]:
    """The cast of each operand; one that takes no part, or is undefined, gets none."""
    found = iter(targets)
    casts = [None if o is UNDEFINED else _cast_to(plan, o, next(found)) for o in given]
    return tuple(casts if place is None else [*casts[:place], None, *casts[place:]])


def _placed(
    given: tuple[Operand, ...], casts: tuple[Cast | None, ...], place: int | None
) -> tuple[Cast | None, ...]:
    """The casts of the operands that take part, at the places of all."""
    found = iter(casts)
    placed = [None if o is UNDEFINED else next(found) for o in given]
    return tuple(placed if place is None else [*placed[:place], None, *placed[place:]])


def _cast_targets(
    plan: Plan, operands: tuple[Operand, ...], compute: DType, is_own: bool
) -> list[DType]:
    """The dtype each operand is cast to."""
    if not plan.arrays.promotes and is_own:
        return [plan.converts.get(own, own) for own in unpromoted(plan, operands)]
    targets = [compute] * len(operands)
    is_apart = plan.joins.by == "exponent apart" and composition(plan, operands) is None
    if is_apart or is_integer_power(plan, operands):  # the exponent takes no part
        own = plan.python["int"] if is_apart else compute  # of a number
        targets[-1] = operands[-1].dtype or own
    return targets


def _cast_to(plan: Plan, operand: Operand, target: DType) -> Cast | None:
    """The cast of an operand from the dtype it was given with, or None where there is none."""
    if operand.dtype is None:
        return number_cast(plan, operand, target)
    if operand.dtype is target:
        return None
    cast, value = cast_between(operand.dtype, target), operand.value
    if cast and value is not None:
        is_in_range = all(target.min <= part <= target.max for part in (value.real, value.imag))
        if is_in_range:
            cast = replace(cast, hazards=tuple([h for h in cast.hazards if h != "loses-range"]))
    return cast


# Explicit conversions: a cast to a named dtype, an array filled with a value.


def _explicit_conversion(question: Question, note: Note) -> Decision:
    """The decision about `cast` or `fill`, in which nothing is promoted."""
    array, other = question.operands
    if array.dtype is None or array.role is Role.NUMPY_SCALAR:
        raise UsageError(f"the first operand of {question.op.name} must be an array, not {array}.")
    if question.op.name == "fill":
        return _filled(question, array.dtype, other, note)
    if other.dtype is None or other.shape is not None:
        raise UsageError(f"cast takes a dtype, such as 'float32', not {other}.")
    plan = op_plan(question.op, question.dialect, question.form)
    target = truncated_dtype(plan, other.dtype)
    if target not in plan.reach.bits:
        raise UsageError(f"{question.dialect.name} has no dtype {target}.")
    if note:
        note(f"The cast to {target} is explicit.")
        note(f"The result is {target}.")
    return Decision(question, target, target, (None, None))


def _filled(question: Question, held: DType, value: Operand, note: Note) -> Decision:
    """The array keeps its dtype, and the value is converted as in `x[...] = value`."""
    if refusal := assignment_refusal(value, held, question.dialect, is_filling=True):
        raise refusal
    plan = op_plan(question.op, question.dialect, question.form)
    if note:
        note(f"Filling an array keeps its dtype, {held}.")
        note(f"The result is {held}.")
    return Decision(question, held, held, (None, _cast_to(plan, value, held)))


# A decision in words.


def decision_steps(question: Question) -> list[str]:
    """How a decision comes about, one sentence per step; the last one gives the result, or why
    there is none."""
    return outcome_and_steps(question)[1]


def outcome_and_steps(question: Question) -> tuple[Decision | Refusal, list[str]]:
    """The decision or the refusal, with the steps that led there."""
    steps = list(filter(None, [question.because, unasked(question)]))
    try:
        decision = decide(question, steps.append)
    except Refusal as refusal:
        fix = refusal.what_to_do(question)
        return refusal, [*steps, f"Refused: {refusal.why}.", *filter(None, [fix])]
    return decision, [*steps[:-1], *decision.notes, steps[-1]]


def unasked(question: Question) -> str | None:
    """A sentence where the framework was not asked about an op, or lacks it in a release, so that
    nothing recorded says what it does."""
    dialect, name = question.dialect, question.op.name
    if name not in dialect.unrecorded:
        return None
    if name in dialect.evidence.lacks.split():
        return f"{dialect.name} has no {name}: this follows from the rules of other releases."
    return f"{dialect.framework} was not asked about {name}: this follows from its general rules."


def role_text(operand: Operand) -> str:
    """What an operand is, in words."""
    if operand is UNDEFINED:
        return "an undefined operand, which is ignored"
    if operand.is_scalar:
        return f"a Python {operand.kind}"
    role = f"{'weakly typed ' if operand.is_weak else ''}{operand.role.value}"
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role} of {operand.dtype}"


def _note_computation(decision: Decision, computed: DType, note: Callable[[str], None]) -> None:
    """Says what the op computes in, and which casts happen."""
    op, compute = decision.question.op, decision.compute
    if decision.program:
        note(f"{op.name} is computed as {decision.program}.")
    elif compute is EXACT:
        note(f"{op.name} compares the exact values, without a cast, and returns {computed}.")
    elif compute is not computed and op.switches.promotes:
        note(f"{op.name} computes in {compute} and returns {computed}.")
    for cast in filter(None, (*decision.casts, *decision.inside, decision.result_cast)):
        if cast.is_read:
            note(f"{cast.source} is read as {cast.target}, which copies nothing.")
        else:
            note(f"Cast: {cast_text(cast)}.")


def _note_result(decision: Decision, note: Callable[[str], None]) -> None:
    symbol = decision.question.op.symbol
    if rebinds(decision.question):
        note(f"`x {symbol}= y` is `x = x {symbol} y`: the name is bound to a new array.")
    note(result_text(decision))
