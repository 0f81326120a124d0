"""The one place that decides: an op, its operands and a dialect give a Decision or a refusal."""

from __future__ import annotations

from dataclasses import replace

from castwise.engine import numpy_operands
from castwise.engine.accepts import check_accepted
from castwise.engine.composed import Computed, composed_dtypes, composition
from castwise.engine.conversion import check_conversion, check_joins, own_arrays
from castwise.engine.decision import (
    Cast,
    Decision,
    Question,
    Refusal,
    cast_between,
    cast_text,
    step_text,
)
from castwise.engine.guards import check_guards
from castwise.engine.joining import is_integer_power, not_computed, own_dtype
from castwise.engine.joins import is_strong_power, joined
from castwise.engine.output import written_dtype
from castwise.engine.plan import Plan, plan_of
from castwise.engine.scalars import Say
from castwise.engine.values import check_fit, check_values, scalar_hazard
from castwise.engine.weak import is_weakly_typed
from castwise.errors import UsageError
from castwise.frameworks.catalog import dialect_named
from castwise.vocab.dtypes import DType, dtype, strong_twin
from castwise.vocab.operands import Operand, Role, Scalar


def decide(question: Question, say: Say = None) -> Decision:
    """The decision, uncached. With `say`, each step is told as it is taken.

    Raises Refusal where the dialect refuses, UsageError where the question makes no sense.
    """
    row = question.op
    if not row.arity[0] <= len(question.operands) <= row.arity[1]:
        raise _wrong_count(question)
    form = "inplace" if question.inplace else "out" if question.out else question.form
    plan = plan_of(row, question.dialect, form)
    written = question.operands[1:] if row.is_condition_first else question.operands
    if say:
        for operand in written:
            say(f"{operand} is {_role_text(operand)}.")
    # What is written into counts as strong, and stays as weak as it was.
    is_kept = question.inplace and plan.output != "rebinds" and not plan.makes_strong
    stays_weak = is_kept and written[0].is_weak
    entered = (replace(written[0], is_weak=False), *written[1:]) if stays_weak else written
    compute, computed, is_weak, is_own = _dtypes(plan, question, entered, say)
    result = computed
    if question.inplace or question.out:
        result = _written(plan, question, written[0], computed, say)
        is_weak = is_weak if plan.output == "rebinds" else stays_weak
    targets = _targets(plan, written, compute, is_own)
    casts = tuple([_cast(plan, o, target) for o, target in zip(written, targets, strict=True)])
    result_cast = None if result is computed else cast_between(computed, result)
    if row.is_condition_first:
        casts = (None, *casts)
    is_lacking = compute in plan.no_kernel or compute not in plan.computes
    notes = (_no_kernel_note(plan, compute),) if is_lacking and is_own else ()
    decision = Decision(question, result, compute, casts, result_cast, is_weak, notes)
    if say:
        for cast in filter(None, (*casts, result_cast)):
            say(f"Cast: {cast_text(cast)}.")
    if question.dialect.guards:
        check_guards(decision)
    if say:
        say(f"The result is {'a weak ' if is_weak else ''}{result}.")
    return decision


def _written(plan: Plan, question: Question, first: Operand, computed: DType, say: Say) -> DType:
    """The dtype of what is written in place or into out=."""
    if question.inplace and question.out:
        raise UsageError("in place and out= are two places for one result: choose one.")
    destination = question.out or first.dtype
    if destination is None:
        raise UsageError("a Python scalar cannot be changed in place.")
    destination = plan.truncates.get(destination, destination)
    if say:
        say(f"The {computed} result is to be written into {destination}.")
    return written_dtype(plan, computed, destination)


def _dtypes(plan: Plan, question: Question, written: tuple[Operand, ...], say: Say) -> Computed:
    """The compute and the result dtype, before anything is written anywhere."""
    is_mixed = any([o.is_numpy for o in written])
    if is_mixed and plan.numpy == "native":
        written = numpy_operands.all_taken(plan, written, say)
        is_mixed = False
    if plan.makes_arrays:
        written = own_arrays(plan, written, say)
    composed = composition(plan, written) if plan.composes else None
    if composed:
        for operand in written:
            _check_known(plan, operand)
        check_accepted(plan, written)
        return composed_dtypes(plan, composed, written, decide, say)
    check_joins(plan, written)
    if is_mixed:
        if plan.numpy_decider and written[-1].role.native is not written[-1].role:
            return _decided_elsewhere(plan.numpy_decider, plan, question, written, say)
        if plan.numpy_left_decider and written[0].is_numpy:
            return _decided_elsewhere(plan.numpy_left_decider, plan, question, written, say)
        written = numpy_operands.all_taken(plan, written, say)
    if plan.truncates:
        written = tuple([_truncated(plan, o, say) for o in written])
    _check_operands(plan, written)
    if plan.borrows:
        return _decided_elsewhere(plan.borrows, plan, question, written, say)
    compute, is_weak = _compute_dtype(plan, written, say)
    check_values(plan, written, compute, question)
    result = _result_dtype(plan, written, compute, say)
    return Computed(compute, result, is_weak and result.kind != "bool" and not plan.makes_strong)


def _truncated(plan: Plan, operand: Operand, say: Say) -> Operand:
    """An operand as the array it really is."""
    target = plan.truncates.get(operand.dtype) if operand.dtype else None
    if say and target:
        say(f"There are no {operand.dtype} arrays here: it is truncated to {target}.")
    return replace(operand, dtype=target, value=None) if target else operand


def _decided_elsewhere(
    name: str, plan: Plan, question: Question, written: tuple[Operand, ...], say: Say
) -> Computed:
    """The dtypes another dialect decides on, given back in this one."""
    for operand in written:
        if operand.dtype in plan.numpy_refuses:
            raise Refusal(
                f"an array of {operand.dtype} does not meet NumPy arrays",
                "Make the NumPy array an array of this framework first.",
            )
    other = dialect_named(name)
    written = numpy_operands.as_seen(plan, written)
    decision = decide(replace(question, dialect=other, inplace=False, operands=written))
    if say:
        say(f"Here {other.name} decides: {step_text(decision)}.")
    result = plan.numpy_result.get(decision.result, decision.result)
    return Computed(decision.compute, result, decision.is_weak, is_own=False)


def _compute_dtype(plan: Plan, operands: tuple[Operand, ...], say: Say) -> tuple[DType, bool]:
    """The dtype the op computes in: the join, what the op makes of it, and whether it takes it;
    and whether all that came together there is weak."""
    if plan.promotes:
        lifted = _raised(plan, _lifted(plan, operands, say))
        node = joined(plan, _adapted(plan, lifted), say)
    else:
        node = _unpromoted(plan, operands)[0]
    is_weak = node.is_weak or all([is_weakly_typed(o) for o in operands])
    is_weak = is_weak and not is_strong_power(plan, operands, node)
    common = (strong_twin(node) or plan.python[node.kind]) if node.is_weak else node
    if say and node.is_weak:
        say(f"What stands at {node} is stored as {common}.")
    check_fit(plan, operands, common)
    if plan.conversion:
        check_conversion(plan.conversion, operands, common)
    compute = plan.converts.get(common, common)
    compute = plan.caps.get(compute, compute)
    if say and compute is not common:
        say(f"{plan.op.name} does not compute in {common}, which becomes {compute}.")
    # A base that decides alone was not joined with anything.
    is_refused = compute in plan.refuses_compute and not is_integer_power(plan, operands)
    if is_refused or (plan.is_refusing and compute not in plan.computes):
        raise not_computed(plan, compute)
    if compute is not common and plan.converted_is_strong:
        is_weak = False
    if plan.keeps_width:
        _check_width(plan, operands, compute)
    return compute, is_weak and plan.scalars == "as nodes" and plan.dialect.has_weak_arrays


def _check_width(plan: Plan, operands: tuple[Operand, ...], compute: DType) -> None:
    """Raises Refusal where the widest operand of the highest kind would be narrowed."""
    owns = [o.dtype or plan.python[o.kind] for o in operands]
    widest = max(owns, key=lambda d: (d.rank, d.bits))
    if widest in plan.keeps_width and widest.bits > compute.bits:
        raise Refusal(f"{plan.op.name} does not narrow {widest} to {compute}", "Cast it yourself.")


def _result_dtype(plan: Plan, operands: tuple[Operand, ...], compute: DType, say: Say) -> DType:
    if compute in plan.result_of:
        result = plan.result_of[compute]
    elif plan.result == "same":
        return compute
    elif plan.result == "real":
        result = compute.part
    elif plan.result == "first":
        first = operands[0].dtype or compute
        result = first if plan.output == "rebinds" else written_dtype(plan, compute, first)
    else:
        result = dtype(plan.dialect.index if plan.result == "index" else plan.result)
    if say and not plan.promotes:
        say(f"{plan.op.name} casts nothing: it takes {compute} first and returns {result}.")
    elif say and result is not compute:
        say(f"{plan.op.name} computes in {compute} and returns {result}.")
    return result


def _wrong_count(question: Question) -> UsageError:
    low, high = question.op.arity
    takes = str(low) if low == high else f"{low} to {high}"
    plural = "s" if high > 1 else ""
    given = len(question.operands)
    return UsageError(f"{question.op.name} takes {takes} operand{plural}, not {given}.")


def _check_operands(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for what the dialect or the op does not take, each alone or together."""
    check_accepted(plan, operands)
    for operand in operands:
        found = operand.dtype or plan.python[operand.kind]
        if found not in plan.reach.bits or operand.is_weak:
            _check_known(plan, operand)
        if found in plan.refuses or operand.dtype in plan.refuses_arrays:
            raise not_computed(plan, found)
        if operand.is_zero_d and plan.refuses_zero_d:
            raise Refusal(
                f"{plan.op.name} goes along an axis, and a 0-d array has none",
                "Give it a dimension.",
            )
    if plan.same_dtype and len({o.dtype for o in _compared(plan, operands)}) > 1:
        why = plan.because or f"{plan.op.name} needs operands of one dtype"
        raise Refusal(why, "Cast one to the other.")


def _check_known(plan: Plan, operand: Operand) -> None:
    """Raises where the dialect has no such array."""
    if operand.dtype and operand.dtype not in plan.reach.bits and not operand.is_numpy:
        raise Refusal(f"it has no dtype {operand.dtype}", "Cast it to one it has.")
    if operand.is_weak and not plan.dialect.has_weak_arrays:
        raise UsageError(f"{operand}: {plan.dialect.name} has no weakly typed arrays.")


def _compared(plan: Plan, operands: tuple[Operand, ...]) -> list[Operand]:
    """The operands that must be of one dtype."""
    last_adapts = plan.scalars == "last adapts" and operands[-1].role is not Role.ARRAY
    compared = operands[:-1] if last_adapts else operands[: plan.compared]
    return [o for o in compared if o.dtype]


def _lifted(plan: Plan, operands: tuple[Operand, ...], say: Say) -> tuple[Operand, ...]:
    """The operands with integers made floats, where a Python float stands beside them."""
    lifts = plan.floats_lift
    if not lifts or not any([o.is_scalar and o.kind == "float" for o in operands]):
        return operands
    lifted = tuple(
        [replace(o, dtype=lifts.get(o.dtype, o.dtype)) if o.dtype else o for o in operands]
    )
    if say:
        for given, counted in zip(operands, lifted, strict=True):
            if counted.dtype is not given.dtype:
                say(f"Beside a Python float {given} counts as {counted}.")
    return lifted


def _raised(plan: Plan, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands at the op's lowest dtypes, where their own stand before them in the order."""
    if not any(plan.lowest):
        return operands
    bits = plan.reach.bits
    return tuple(
        replace(o, dtype=low) if low and o.dtype and bits[o.dtype] < bits.get(low, 0) else o
        for o, low in zip(operands, plan.lowest, strict=False)
    )


def _adapted(plan: Plan, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands, Python scalars as arrays of the dtype they are cast to where they adapt."""
    array = next((o for o in operands if o.dtype), None) if plan.adapts else None
    return tuple([array if array and o.is_scalar else o for o in operands])


def _targets(
    plan: Plan, operands: tuple[Operand, ...], compute: DType, is_own: bool
) -> list[DType]:
    """The dtype each operand is cast to."""
    if not plan.promotes and is_own:
        return [plan.converts.get(own, own) for own in _unpromoted(plan, operands)]
    targets = [compute] * len(operands)
    if is_integer_power(plan, operands):  # the exponent takes no part
        targets[-1] = operands[-1].dtype or compute
    return targets


def _unpromoted(plan: Plan, operands: tuple[Operand, ...]) -> list[DType]:
    """The dtype each operand has where nothing is promoted."""
    return [own_dtype(plan, o) for o in _raised(plan, operands)]


def _cast(plan: Plan, written: Operand, target: DType) -> Cast | None:
    if written.dtype is None:
        hazard = scalar_hazard(plan, written, target)
        return Cast(None, target, (hazard,)) if hazard else None
    cast = cast_between(written.dtype, target)
    if cast and written.value is not None and _is_within(target, written.value):
        cast = replace(cast, hazards=tuple([h for h in cast.hazards if h != "loses-range"]))
    return cast


def _is_within(target: DType, value: Scalar) -> bool:
    """Whether a value lies in the range of a dtype."""
    return all(target.min <= part <= target.max for part in (value.real, value.imag))


def _role_text(operand: Operand) -> str:
    if operand.is_scalar:
        return f"a Python {operand.kind}"
    role = f"{'weakly typed ' if operand.is_weak else ''}{operand.role.value}"
    return f"{'an' if role[0] in 'aeiou' else 'a'} {role} of {operand.dtype}"


def _no_kernel_note(plan: Plan, compute: DType) -> str:
    return f"{plan.op.name} has no CPU kernel for {compute}: it promotes, then fails to run."
