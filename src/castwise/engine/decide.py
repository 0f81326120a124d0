"""The one place that decides: an op, its operands and a dialect give a Decision or a refusal."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from castwise.engine import numpy_operands, scalars
from castwise.engine.decision import Cast, Decision, Question, Refusal, cast_between, cast_text
from castwise.engine.output import written_dtype
from castwise.engine.plan import Plan, plan_of
from castwise.engine.values import check_values, wraps
from castwise.errors import UsageError
from castwise.frameworks.catalog import dialect_named
from castwise.frameworks.dialect import Composed
from castwise.vocab.dtypes import DType, dtype, find_dtype
from castwise.vocab.operands import Operand, Role, array_operand, scalar_operand
from castwise.vocab.ops import op

Say = Callable[[str], None] | None
_BOOL = dtype("bool")


def decide(question: Question, say: Say = None) -> Decision:
    """The decision, uncached. With `say`, each step is told as it is taken.

    Raises Refusal where the dialect refuses, UsageError where the question makes no sense.
    """
    row = question.op
    low, high = row.arity
    if not low <= len(question.operands) <= high:
        raise UsageError(f"{row.name} takes {_count(low, high)}, not {len(question.operands)}.")
    form = "inplace" if question.inplace else "out" if question.out else question.form
    plan = plan_of(row, question.dialect, form)
    written = question.operands[1:] if row.is_condition_first else question.operands
    if say:
        for operand in written:
            say(f"{operand} is {_role_text(operand)}.")
    compute, result = _dtypes(plan, question, written, say)
    if question.inplace or question.out:
        destination = question.out or written[0].dtype
        if destination is None:
            raise UsageError("a Python scalar cannot be changed in place.")
        result = written_dtype(plan, result, destination)
        if say:
            say(f"The result is written into {destination}.")
    casts = tuple(_cast(operand, compute) for operand in written)
    if say:
        for cast in filter(None, casts):
            say(f"Cast: {cast_text(cast)}.")
        say(f"The result is {result}.")
    if row.is_condition_first:
        casts = (None, *casts)
    notes = (_no_kernel_note(plan, compute),) if compute in plan.no_kernel else ()
    return Decision(question, result, compute, casts, notes=notes)


def _dtypes(
    plan: Plan, question: Question, written: tuple[Operand, ...], say: Say
) -> tuple[DType, DType]:
    """The compute and the result dtype, before anything is written anywhere."""
    composed = next((c for c in plan.composes if _fits(plan, c, written)), None)
    if composed:
        result = _composed_dtype(plan, composed, written, say)
        return result, result
    if any(o.role.is_numpy for o in written):
        if plan.numpy == "numpy decides" and _is_numpy_array(written[-1]):
            return _decided_elsewhere("numpy", plan, question, written, say)
        if plan.numpy == "always bool" and any(_is_numpy_array(o) for o in written):
            return _BOOL, _BOOL
        written = tuple(numpy_operands.taken(plan, o) if o.role.is_numpy else o for o in written)
    for operand in written:
        if operand.dtype is not None and operand.dtype not in plan.reach.bits:
            raise Refusal(f"it has no dtype {operand.dtype}")
    _check_operands(plan, written)
    if plan.borrows:
        return _decided_elsewhere(plan.borrows, plan, question, written, say)
    compute = _compute_dtype(plan, written, say)
    check_values(plan, written, compute, question)
    return compute, _result_dtype(plan, written, compute, say)


def _is_numpy_array(operand: Operand) -> bool:
    return operand.role in (Role.NUMPY_ARRAY, Role.NUMPY_ZERO_D)


def _decided_elsewhere(
    name: str, plan: Plan, question: Question, written: tuple[Operand, ...], say: Say
) -> tuple[DType, DType]:
    """The dtypes another dialect decides on, given back in this one."""
    for operand in written:
        if operand.dtype in plan.numpy_refuses:
            raise Refusal(f"an array of {operand.dtype} does not meet NumPy arrays")
    other = dialect_named(name)
    if say:
        say(f"Here {other.name} decides.")
    decision = decide(replace(question, dialect=other, inplace=False, operands=written), say)
    return decision.compute, plan.numpy_result.get(decision.result, decision.result)


def _count(low: int, high: int) -> str:
    if low == high:
        return f"{low} operand{'s' if low > 1 else ''}"
    return f"{low} to {high} operands"


def _role_text(operand: Operand) -> str:
    if operand.is_scalar:
        return f"a Python {operand.kind}"
    article = "an" if operand.role.value[0] in "aeiou" else "a"
    return f"{article} {operand.role.value} of {operand.dtype}"


def _compute_dtype(plan: Plan, operands: tuple[Operand, ...], say: Say) -> DType:
    """The dtype the op computes in: the join, what the op makes of it, and whether it takes it."""
    common = _joined(plan, _raised(plan, operands), say)
    if say and len(operands) > 1:
        say(f"Together: {common}.")
    compute = plan.converts.get(common, common)
    if say and compute is not common:
        say(f"{plan.op.name} does not compute in {common}: it becomes {compute}.")
    if compute in plan.refuses_compute or (plan.is_refusing and compute not in plan.computes):
        raise Refusal(plan.because or f"{plan.op.name} is not defined for {compute}")
    return compute


def _fits(plan: Plan, composed: Composed, operands: tuple[Operand, ...]) -> bool:
    """Whether a composition is meant for these operands."""
    first, last = operands[0], operands[-1]
    if composed.exponents:
        value = 1 if last.value is None else last.value  # an array's value, where not shown, is 1
        if last.role is Role.ARRAY or value not in composed.exponents:
            return False
    return (
        _is_among(_kind(plan, first), composed.kinds)
        and _is_among(first.role.name, composed.roles)
        and _is_among(_kind(plan, last), composed.exponent_kinds)
        and _is_among(last.role.name, composed.exponent_roles)
    )


def _is_among(word: str, words: str) -> bool:
    return not words or word in words.split()


def _kind(plan: Plan, operand: Operand) -> str:
    return "foreign" if operand.dtype in plan.only_absorbed else operand.kind


def _composed_dtype(
    plan: Plan, composed: Composed, operands: tuple[Operand, ...], say: Say
) -> DType:
    """The dtype of an op that the framework makes of other ops, step by step."""
    if plan.zero_d_as_arrays:
        operands = tuple(replace(o, role=Role.ARRAY, shape=None, value=None) for o in operands)
    named = dict(zip("xyz", operands, strict=False))
    final = _composed(plan, ast.parse(composed.program, mode="eval").body, named, say)
    assert final.dtype is not None
    return final.dtype


def _composed(plan: Plan, call: ast.expr, named: dict[str, Operand], say: Say) -> Operand:
    if isinstance(call, ast.Name):
        return named[call.id]
    if isinstance(call, ast.Constant):
        return scalar_operand(call.value)  # type: ignore[arg-type]
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    operands = tuple(_composed(plan, arg, named, say) for arg in call.args)
    form = "operator" if any(o.role.is_numpy for o in operands) else "function"
    decision = decide(Question(op(call.func.id), operands, plan.dialect, form))
    if say:
        say(f"{plan.op.name} computes {decision}.")
    shape = None if any(o.role is Role.ARRAY for o in operands) else ()
    return array_operand(decision.result, shape)


def _common_dtype(plan: Plan, masks: list[int]) -> DType | None:
    """The first dtype of the dialect that every operand reaches."""
    common = plan.reach.common(masks)
    # The order is topological, so the lowest bit of a mask is the dtype the operand entered as.
    entered = {plan.reach.lowest(mask) for mask in masks}
    return common if common and scalars.is_allowed(plan, common, entered) else None


def _first_loop(plan: Plan, masks: list[int]) -> DType | None:
    """The first of the op's own dtypes that every operand reaches."""
    return plan.reach.common(masks, plan.loops)


def _common_dtype_or_first_loop(plan: Plan, masks: list[int]) -> DType | None:
    common = _common_dtype(plan, masks)
    return common if common in plan.computes else _first_loop(plan, masks)


_JOINS = {
    "common dtype": _common_dtype,
    "first loop": _first_loop,
    "common dtype or first loop": _common_dtype_or_first_loop,
}


def _highest_kind(plan: Plan, operands: tuple[Operand, ...]) -> DType:
    """The first of the op's own dtypes whose kind is as high as the operands' highest."""
    rank = max((o.dtype or scalars.scalar_dtype(plan, o)).rank for o in operands)
    return next(d for d in plan.reach.order if d in plan.computes and d.rank >= rank)


def _joined(plan: Plan, operands: tuple[Operand, ...], say: Say) -> DType:
    """The dtype the operands have together, before the op looks at it."""
    if plan.joins == "highest kind":
        return _highest_kind(plan, operands)
    if plan.joins == "first operand":
        return scalars.first_operand(plan, operands)
    masks = scalars.POLICIES[plan.scalars](plan, operands, say)
    common = _JOINS[plan.joins](plan, masks)
    if common is None:
        raise _no_join(plan, operands)
    return common


def _no_join(plan: Plan, operands: tuple[Operand, ...]) -> Refusal:
    dtypes = [o.dtype or scalars.scalar_dtype(plan, o) for o in operands]
    if len(set(dtypes)) == 1:
        return Refusal(plan.because or f"{plan.op.name} is not defined for {dtypes[0]}")
    return scalars.no_common_dtype(plan, dtypes)


def _check_operands(plan: Plan, operands: tuple[Operand, ...]) -> None:
    for operand in operands:
        found = operand.dtype or plan.python[operand.kind]
        if found in plan.refuses or operand.dtype in plan.refuses_arrays:
            raise Refusal(plan.because or f"{plan.op.name} does not take {found}")
    if plan.same_dtype and len({o.dtype for o in _compared(plan, operands)}) > 1:
        raise Refusal(
            plan.because or f"{plan.op.name} needs operands of one dtype", "Cast one to the other."
        )


def _compared(plan: Plan, operands: tuple[Operand, ...]) -> list[Operand]:
    """The operands that must be of one dtype."""
    last_adapts = plan.scalars == "last adapts" and operands[-1].role is not Role.ARRAY
    return [o for o in (operands[:-1] if last_adapts else operands) if o.dtype]


def _raised(plan: Plan, operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands at the op's lowest dtypes, where their own stand before them in the order."""
    if not any(plan.lowest):
        return operands
    bits = plan.reach.bits
    return tuple(
        replace(o, dtype=low) if low and o.dtype and bits[o.dtype] < bits.get(low, 0) else o
        for o, low in zip(operands, plan.lowest, strict=False)
    )


def _result_dtype(plan: Plan, operands: tuple[Operand, ...], compute: DType, say: Say) -> DType:
    exception = plan.result_of.get(compute)
    if exception:
        result = exception
    elif plan.result == "same":
        result = compute
    elif plan.result == "real":
        result = compute.part
    elif plan.result == "first":
        result = written_dtype(plan, compute, operands[0].dtype or compute)
    else:
        name = plan.dialect.index if plan.result == "index" else plan.result
        found = find_dtype(name)
        assert found is not None
        result = found
    if say and result is not compute:
        say(f"{plan.op.name} computes in {compute} and returns {result}.")
    return result


def _cast(written: Operand, compute: DType) -> Cast | None:
    if written.dtype is None:
        return Cast(None, compute, ("wraps",)) if wraps(written, compute) else None
    return cast_between(written.dtype, compute)


def _no_kernel_note(plan: Plan, compute: DType) -> str:
    return f"{plan.op.name} has no CPU kernel for {compute}: it promotes, then fails to run."
