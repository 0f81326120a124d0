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
    Question,
    Refusal,
    Say,
    cast_between,
    cast_text,
    result_text,
    step_text,
)
from castwise.engine.joins import check_conversion, check_joins, is_strong_power, joined
from castwise.engine.lists import has_lists, of_lists
from castwise.engine.operands import (
    all_held,
    all_own,
    as_seen,
    check_width,
    counted,
    decider_of,
    given_back,
    held_dtype,
    is_converted_strong,
    is_native,
    is_weakly_typed,
    makes_strong,
    own_arrays,
    promotes,
    stays_weak,
    unpromoted,
)
from castwise.engine.plan import Plan, plan_of
from castwise.engine.recorded import of_layers
from castwise.engine.refusals import check_guards
from castwise.engine.results import (
    Computed,
    cast_to,
    composed_dtypes,
    composition,
    converted,
    targets_of,
)
from castwise.engine.writes import (
    becomes_result,
    form_of,
    is_numpy_writing,
    is_written,
    rebinds,
    takes_any,
    written_dtype,
)
from castwise.errors import UsageError
from castwise.vocab.dtypes import DType, dtype, strong_twin, weak_nodes
from castwise.vocab.operands import UNDEFINED, Operand


def decide(question: Question, say: Say = None) -> Decision:
    """The decision, uncached. `say` is called with a sentence for each step.

    Raises Refusal where the dialect refuses, UsageError where the question makes no sense.
    """
    return (_with_layers if question.dialect.evidence.layers else _by_rules)(question, say)


def _by_rules(question: Question, say: Say) -> Decision:
    """The decision that a dialect's rules give."""
    row = question.op
    check_count(question)
    form = form_of(question)
    named = question.named
    plan = (
        plan_of(row, question.dialect, form) if named is NOTHING else plan_for(question, form, say)
    )
    if has_lists(question):
        return of_lists(plan, question, decide, say)
    place = row.apart(question.operands)
    given = question.operands if place is None else without(question.operands, place)
    if row.family == "conversion":
        return replace(converted(question, say), tell=steps_of)
    of_condition = None if place is None else check_apart(plan, question.operands[place], say)
    if say:
        for operand in given:
            say(f"{operand} is {role_text(operand)}.")
    operands = tuple([o for o in given if o is not UNDEFINED])
    is_in_place = is_written(question)
    is_kept_weak = is_in_place and _stays_weak(plan, operands[0])
    entered = (replace(operands[0], is_weak=False), *operands[1:]) if is_kept_weak else operands
    found = _dtypes(plan, question, entered, say)
    compute, computed, is_weak, is_own, _ = found
    result = computed
    if is_in_place or question.out:
        computed, result = _result_as_written(plan, question, operands, computed, say)
        is_weak = is_weak if takes_any(plan) else is_kept_weak
    targets = targets_of(plan, operands, compute, is_own)
    casts = _casts(plan, given, targets, place)
    result_cast = None if result is computed else cast_between(computed, result)
    notes = _notes(plan, question, found, of_condition)
    decision = Decision(
        question, result, compute, casts, result_cast, is_weak, notes, not notes, steps_of
    )
    if say:
        for cast in filter(None, (*casts, result_cast)):
            say(f"Cast: {cast_text(cast)}.")
    if question.dialect.joining.guards:
        check_guards(decision)
    if say:
        _say_result(decision, say)
    return decision


def _with_layers(question: Question, say: Say) -> Decision:
    """The decision of a dialect in which recorded answers count for more than the rules."""
    decision = replace(of_layers(question, decide, say), tell=steps_of)
    if question.dialect.joining.guards:
        check_guards(decision)
    return decision


def steps_of(question: Question) -> list[str]:
    """How a decision comes about, one sentence per step; the last one gives the result, or why
    there is none."""
    return told(question)[1]


def told(question: Question) -> tuple[Decision | Refusal, list[str]]:
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


def _say_result(decision: Decision, say: Callable[[str], None]) -> None:
    symbol = decision.question.op.symbol
    if rebinds(decision.question):
        say(f"`x {symbol}= y` is `x = x {symbol} y`: the name is bound to a new array.")
    say(result_text(decision))


def _casts(
    plan: Plan, given: tuple[Operand, ...], targets: list[DType], place: int | None
) -> tuple[Cast | None, ...]:
    """The cast of each operand; one that takes no part, or is undefined, gets none."""
    found = iter(targets)
    casts = [None if o is UNDEFINED else cast_to(plan, o, next(found)) for o in given]
    return tuple(casts if place is None else [*casts[:place], None, *casts[place:]])


def _result_as_written(
    plan: Plan, question: Question, operands: tuple[Operand, ...], computed: DType, say: Say
) -> tuple[DType, DType]:
    """The dtype of the op's result, and the one it has once written in place or into out=."""
    destination = _destination(plan, question, operands[0])
    if is_unpromoted_mix(plan, operands):
        if say:
            say(f"Nothing is cast: the result takes the destination's dtype, {destination}.")
        return destination, destination
    if say and becomes_result(plan):
        say(f"The array itself becomes the {computed} result.")
    elif say and not rebinds(question):
        say(f"The {computed} result must be written into {destination}.")
    return computed, written_dtype(plan, computed, destination)


def _destination(plan: Plan, question: Question, first: Operand) -> DType:
    """The dtype of what the result is written into."""
    if question.inplace and question.out:
        raise UsageError("inplace and out= both say where the result is written: choose one.")
    destination = question.out or first.dtype
    if destination is None:
        raise UsageError("a Python scalar cannot be changed in place.")
    return held_dtype(plan, destination)


def _stays_weak(plan: Plan, destination: Operand) -> bool:
    """Whether a weak destination counts as strong during the op and stays weak afterwards."""
    if takes_any(plan) or not stays_weak(plan, destination):
        return False
    check_known(plan, destination)
    return True


def _dtypes(plan: Plan, question: Question, operands: tuple[Operand, ...], say: Say) -> Computed:
    """The compute and the result dtype, before anything is written anywhere."""
    is_mixed = any([o.is_numpy for o in operands])
    if is_mixed and is_native(plan):
        operands = all_own(plan, operands, say)
        is_mixed = False
    operands = own_arrays(plan, operands, say)
    operands = cast_first(plan, operands, question.named, say)
    composed = composition(plan, operands) if plan.composes else None
    if composed:
        for operand in operands:
            check_known(plan, operand)
        check_accepted(plan, operands)
        return composed_dtypes(plan, composed, operands, decide, say)
    check_joins(plan, operands)
    if is_mixed:
        decider = decider_of(plan, operands)
        if decider:
            return _decided_elsewhere(decider, plan, question, operands, say)
        operands = all_own(plan, operands, say)
    operands = all_held(plan, operands, say)
    check_operands(plan, operands)
    check_same_dtype(plan, operands, question.out)
    if plan.borrows:
        return _decided_elsewhere(plan.borrows, plan, question, operands, say)
    return _own_dtypes(plan, question, operands, say)


def _own_dtypes(
    plan: Plan, question: Question, operands: tuple[Operand, ...], say: Say
) -> Computed:
    """The dtypes that the dialect's own rules for an op decide on."""
    named = question.named
    if named.dtype and is_loop_asked(plan, named):
        compute, is_weak = loop_giving(plan, operands, named.dtype, say), False
    else:
        compute, is_weak = _compute_dtype(plan, operands, say)
    if named.dtype and is_compute_asked(plan, named):
        compute, is_weak = computed_in(named.dtype, say), False
    check_values(plan, operands, compute, question)
    if named is not NOTHING:
        check_named(plan, operands, named, compute)
    is_result = named.dtype is compute and is_compute_asked(plan, named)
    result = compute if is_result else _result_dtype(plan, operands, compute, say)
    return Computed(
        compute, result, is_weak and result.kind != "bool" and not makes_strong(plan, operands)
    )


def _decided_elsewhere(
    name: str, plan: Plan, question: Question, operands: tuple[Operand, ...], say: Say
) -> Computed:
    """The dtypes another dialect decides on, converted to those of this one."""
    other = dialect_named(name)
    operands = as_seen(plan, operands)
    is_operator = question.form == "augmented" and not is_numpy_writing(question)
    form = "operator" if is_operator else question.form
    decision = decide(replace(question, dialect=other, form=form, inplace=False, operands=operands))
    if say:
        say(f"Here {other.name} decides: {step_text(decision)}.")
    result = given_back(plan, decision.result)
    return Computed(decision.compute, result, decision.is_weak, is_own=False)


def _compute_dtype(plan: Plan, operands: tuple[Operand, ...], say: Say) -> tuple[DType, bool]:
    """The dtype the op computes in, which is the join as the op converts it, and whether that is
    weak.

    Raises Refusal where there is no join, or the op does not compute in it.
    """
    if promotes(plan):
        node = joined(plan, counted(plan, operands, say), say)
    else:
        node = unpromoted(plan, operands)[0]
    is_weak = node.is_weak or all([is_weakly_typed(o) for o in operands])
    is_weak = is_weak and not is_strong_power(plan, operands, node)
    common = (strong_twin(node) or plan.python[node.kind]) if node.is_weak else node
    if say and node.is_weak:
        say(f"{node} is stored as {common}.")
    check_fit(plan, operands, common)
    check_conversion(plan, operands, common)
    compute = _converted(plan, common, is_weak)
    compute = plan.caps.get(compute, compute)
    if say and compute is not common:
        say(f"{plan.op.name} does not compute in {common}, which becomes {compute}.")
    check_compute(plan, operands, compute)
    if compute is not common and is_converted_strong(plan):
        is_weak = False
    check_width(plan, operands, compute)
    return compute, is_weak and plan.scalars == "as nodes" and plan.dialect.has_weak_arrays


def _converted(plan: Plan, common: DType, is_weak: bool) -> DType:
    """What the join becomes before the op computes; a weak one may have its own conversion."""
    names = (*weak_nodes(common), common) if is_weak else (common,)
    return next((plan.converts[name] for name in names if name in plan.converts), common)


def _result_dtype(plan: Plan, operands: tuple[Operand, ...], compute: DType, say: Say) -> DType:
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
        result = held_dtype(plan, named)
    if say and not promotes(plan):
        say(f"{plan.op.name} casts nothing: its first operand is {compute}, its result {result}.")
    elif say and result is not compute:
        say(f"{plan.op.name} computes in {compute} and returns {result}.")
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
