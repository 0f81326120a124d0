"""The one place that decides: an op, its operands and a dialect give a Decision or a refusal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from castwise.catalog.dialects import dialect_named
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
    is_unpromoted_mix,
    without,
)
from castwise.engine.arguments import (
    cast_first,
    check_named,
    computed_in,
    is_compute_asked,
    is_loop_asked,
    loop_giving,
    plan_for,
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
    result_text,
    step_text,
)
from castwise.engine.joins import check_conversion, check_joins, is_strong_power, joined
from castwise.engine.lists import has_lists, list_decision
from castwise.engine.operands import (
    as_joined,
    as_seen,
    check_width,
    given_back,
    is_native,
    is_weakly_typed,
    made_arrays,
    makes_strong,
    native_operands,
    numpy_decider,
    stays_weak,
    truncated_dtype,
    truncated_operands,
    unpromoted,
)
from castwise.engine.plan import Plan, op_plan
from castwise.engine.recorded import recorded_decision
from castwise.engine.refusals import check_guards
from castwise.engine.results import (
    Computed,
    cast_targets,
    cast_to,
    composed_dtypes,
    composition,
    converted,
)
from castwise.engine.writes import (
    becomes_result,
    deciding_form,
    is_numpy_writing,
    is_written,
    rebinds,
    takes_any,
    written_dtype,
)
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType, dtype, strong_twin, weak_nodes
from castwise.vocab.operands import UNDEFINED, Operand


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
        return replace(converted(question, note), tell=decision_steps)
    of_condition = None if place is None else check_apart(plan, question.operands[place], note)
    if note:
        for operand in given:
            note(f"{operand} is {role_text(operand)}.")
    operands = tuple([o for o in given if o is not UNDEFINED])
    is_in_place = is_written(question)
    is_kept_weak = is_in_place and _stays_weak(plan, operands[0])
    entered = (replace(operands[0], is_weak=False), *operands[1:]) if is_kept_weak else operands
    found = _dtypes(plan, question, entered, note)
    compute, computed, is_weak, is_own, _ = found
    result = computed
    if is_in_place or question.out:
        computed, result = _result_as_written(plan, question, operands, computed, note)
        is_weak = is_weak if takes_any(plan) else is_kept_weak
    targets = cast_targets(plan, operands, compute, is_own)
    casts = _casts(plan, given, targets, place)
    result_cast = None if result is computed else cast_between(computed, result)
    notes = _notes(plan, question, found, of_condition)
    decision = Decision(
        question, result, compute, casts, result_cast, is_weak, notes, not notes, decision_steps
    )
    if note:
        for cast in filter(None, (*casts, result_cast)):
            note(f"Cast: {cast_text(cast)}.")
    if question.dialect.joining.guards:
        check_guards(decision)
    if note:
        _note_result(decision, note)
    return decision


def _with_layers(question: Question, note: Note) -> Decision:
    """The decision of a dialect in which recorded answers count for more than the rules."""
    decision = replace(recorded_decision(question, decide, note), tell=decision_steps)
    if question.dialect.joining.guards:
        check_guards(decision)
    return decision


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
        return refusal, [*steps, f"Refused: {refusal.why}.", *filter(None, [refusal.fix])]
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


def _notes(
    plan: Plan, question: Question, found: Computed, of_condition: str | None
) -> tuple[str, ...]:
    """What there is no kernel for: the compute dtype of its own rules, those of the steps that it
    is composed of, or a condition's."""
    if found.lacking is not None:
        return (*found.lacking, *filter(None, (of_condition,)))
    own_compute = found.compute if found.is_own else None
    is_asked = own_compute is question.named.dtype and is_compute_asked(plan, question.named)
    is_lacking = own_compute in plan.no_kernel or not (is_asked or own_compute in plan.computes)
    of_compute = _no_kernel_note(plan, own_compute) if own_compute and is_lacking else None
    return tuple(filter(None, (of_compute, of_condition)))


def _note_result(decision: Decision, note: Callable[[str], None]) -> None:
    symbol = decision.question.op.symbol
    if rebinds(decision.question):
        note(f"`x {symbol}= y` is `x = x {symbol} y`: the name is bound to a new array.")
    note(result_text(decision))


def _casts(
    plan: Plan, given: tuple[Operand, ...], targets: list[DType], place: int | None
) -> tuple[Cast | None, ...]:
    """The cast of each operand; one that takes no part, or is undefined, gets none."""
    found = iter(targets)
    casts = [None if o is UNDEFINED else cast_to(plan, o, next(found)) for o in given]
    return tuple(casts if place is None else [*casts[:place], None, *casts[place:]])


def _result_as_written(
    plan: Plan, question: Question, operands: tuple[Operand, ...], computed: DType, note: Note
) -> tuple[DType, DType]:
    """The dtype of the op's result, and the one it has once written in place or into out=."""
    destination = _destination(plan, question, operands[0])
    if is_unpromoted_mix(plan, operands):
        if note:
            note(f"Nothing is cast: the result takes the destination's dtype, {destination}.")
        return destination, destination
    if note and becomes_result(plan):
        note(f"The array itself becomes the {computed} result.")
    elif note and not rebinds(question):
        note(f"The {computed} result must be written into {destination}.")
    return computed, written_dtype(plan, computed, destination)


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
    if takes_any(plan) or not stays_weak(plan, destination):
        return False
    check_known(plan, destination)
    return True


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
        return composed_dtypes(plan, composed, operands, decide, note)
    check_joins(plan, operands)
    if is_mixed:
        decider = numpy_decider(plan, operands)
        if decider:
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
    if named.dtype and is_loop_asked(plan, named):
        compute, is_weak = loop_giving(plan, operands, named.dtype, note), False
    else:
        compute, is_weak = _compute_dtype(plan, operands, note)
    if named.dtype and is_compute_asked(plan, named):
        compute, is_weak = computed_in(named.dtype, note), False
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
    result = given_back(plan, decision.result)
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
    compute = _converted(plan, common, is_weak)
    compute = plan.caps.get(compute, compute)
    if note and compute is not common:
        note(f"{plan.op.name} does not compute in {common}, which becomes {compute}.")
    check_compute(plan, operands, compute)
    if compute is not common and plan.weakness.converted_is_strong:
        is_weak = False
    check_width(plan, operands, compute)
    return compute, is_weak and plan.scalars == "as nodes" and plan.dialect.has_weak_arrays


def _converted(plan: Plan, common: DType, is_weak: bool) -> DType:
    """What the join becomes before the op computes; a weak one may have its own conversion."""
    names = (*weak_nodes(common), common) if is_weak else (common,)
    return next((plan.converts[name] for name in names if name in plan.converts), common)


def _result_dtype(plan: Plan, operands: tuple[Operand, ...], compute: DType, note: Note) -> DType:
    if compute in plan.result_of:
        result = plan.result_of[compute]
    elif plan.result == "same":
        return compute
    elif plan.result == "real":
        result = compute.part
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
    elif note and result is not compute:
        note(f"{plan.op.name} computes in {compute} and returns {result}.")
    return result


def role_text(operand: Operand) -> str:
    """What an operand is, in words."""
    if operand is UNDEFINED:
        return "an undefined operand, which is ignored"
    if operand.is_scalar:
        return f"a Python {operand.kind}"
    role = f"{'weakly typed ' if operand.is_weak else ''}{operand.role.value}"
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role} of {operand.dtype}"


def _no_kernel_note(plan: Plan, compute: DType) -> str:
    return f"{plan.op.name} has no CPU kernel for {compute}: it promotes, then fails to run."
