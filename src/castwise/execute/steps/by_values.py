"""Changes to steps by a dialect's value rules: other dtypes for operands, or another function.

These rules need only the decision, so they are applied once, before any array is seen.
"""

from __future__ import annotations

from dataclasses import replace

from castwise.engine.ask import answer
from castwise.engine.decision import NOTHING, Decision
from castwise.engine.plan import plan_of
from castwise.engine.steps.composed import composition
from castwise.errors import UsageError
from castwise.execute.steps.composed import stepwise
from castwise.execute.steps.steps import Entry, Steps
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import UNDEFINED, Operand, Role
from castwise.vocab.ops import op

_WIDE = {"float16": dtype("float32"), "bfloat16": dtype("float32")}
_FLOAT32 = dtype("float32")
_LOGICAL = frozenset({"logical_and", "logical_or", "logical_xor"})
_COMPARISONS = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})


def under_rules(steps: Steps, decision: Decision) -> Steps:
    """The steps, changed by the dialect's value rules."""
    if steps.op != decision.question.op.name:
        return steps  # a function that is only decided like this op
    changes = (
        _rounded, _scaled, _named_otherwise, _deviation, _divided_in_place, _true_number, _lifted,
        _reciprocal, _shifted,
        _inverse, _wide_scalar, _large_exponent, _exponent, _half_exponent, _bounded, _compared,
    )  # fmt: skip
    by_steps = stepwise(steps, decision, under_rules)
    if by_steps is not None:
        return by_steps
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
        return replace(
            steps,
            op="floor_divide",
            values=replace(values, dividing=replace(values.dividing, rounds="truncates")),
        )
    rounded = replace(question, op=op("floor_divide"), named=NOTHING)
    return under_rules(replace(steps, op="floor_divide"), replace(decision, question=rounded))


def _scaled(steps: Steps, decision: Decision) -> Steps | None:
    """A sum or difference with a factor for its second operand."""
    if decision.question.alpha is None:
        return None
    is_once = decision.question.dialect.values.arithmetic.scaled_sums == "float32 once"
    return replace(steps, op=f"{steps.op}_scaled{'_once' if is_once else ''}")


def _named_otherwise(steps: Steps, decision: Decision) -> Steps | None:
    """Ops with another meaning: the median of an even number, the approximation of gelu."""
    values = decision.question.dialect.values
    if steps.op == "median" and values.reducing.median == "lower":
        return replace(steps, op="lower_median")
    if steps.op == "gelu" and values.arithmetic.gelu == "tanh":
        return replace(steps, op="gelu_tanh")
    return None


def _deviation(steps: Steps, decision: Decision) -> Steps | None:
    """std of integers, if it is the root of a variance computed in integers."""
    is_whole = decision.question.dialect.values.reducing.integer_variance == "in integers"
    if steps.op != "std" or not is_whole or decision.question.operands[0].kind != "int":
        return None
    return replace(steps, op="std_of_integers", entries=(None,) * len(steps.entries))


def _shifted(steps: Steps, decision: Decision) -> Steps | None:
    """Raises UsageError for a bias in the place of a weight that is not given."""
    if steps.op != "layer_norm":
        return None
    given = [operand is not UNDEFINED for operand in decision.question.operands]
    if given[1:] == [False, True]:
        raise UsageError("layer_norm with a bias needs a weight too: give it ones.")
    return None


def _is_named(names: str, decision: Decision) -> bool:
    question = decision.question
    return not {question.op.name, f"{question.op.name}/{question.form}"}.isdisjoint(names.split())


def _reciprocal(steps: Steps, decision: Decision) -> Steps | None:
    """A number / an array, if that is computed as the number times the array's reciprocal."""
    values = decision.question.dialect.values
    if not _is_named(values.dividing.reciprocal_first, decision):
        return None
    number, array = decision.question.operands
    plan = plan_of(decision.question.op, decision.question.dialect, decision.question.form)
    is_number = _counts_as_number(number, plan.numpy.scalars_left)
    is_composed = number.is_numpy and composition(plan, decision.question.operands) is not None
    if not (is_number or is_composed) or not array.dtype:
        return None
    is_wide = is_number and values.arithmetic.wide_scalars
    wide = _WIDE.get(steps.compute.name, steps.compute) if is_wide else steps.compute
    # The reciprocal of floats has their dtype, that of integers the dtype they are lifted to.
    dialect = decision.question.dialect
    lifted = dialect.mapping(dialect.becomes.lifts).get(array.dtype)
    keeps = array.dtype.kind in ("float", "complex")
    second = None if keeps else Entry(lifted or steps.compute, array.dtype)
    return replace(steps, op="reciprocal_times", entries=(_entry(wide, number), second))


def _counts_as_number(operand: Operand, counts: dict[DType, str]) -> bool:
    """Whether an operand is a Python number, or a NumPy scalar that counts as one."""
    if operand.role is not Role.NUMPY_SCALAR or operand.dtype is None:
        return operand.is_scalar
    return counts.get(operand.dtype, "") in KINDS


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
        _entry(decision.result, second)._replace(through=(product.compute, held)),
    )
    return replace(steps, op="div_of_arrays", compute=decision.result, entries=entries)


def _lifted(steps: Steps, decision: Decision) -> Steps | None:
    """An op of integers that computes in floats, if a Python int is first converted to their dtype,
    where it wraps if out of range."""
    question = decision.question
    plan = plan_of(question.op, question.dialect, question.form)
    held = next((o.dtype for o in question.operands if o.dtype and o.dtype.kind == "int"), None)
    is_read = plan.scalars == "converted" and held in plan.loops.converts
    if plan.range.limit == "array dtype" and _are_integers(question.operands):
        held, is_read = held or dtype(question.dialect.python["int"]), True
    if held is None or not is_read or steps.compute.kind != "float":
        return None
    entries = [
        entry._replace(through=(held,)) if entry and entry.is_number else entry
        for entry in steps.entries
    ]
    return replace(steps, entries=tuple(entries))


def _are_integers(operands: tuple[Operand, ...]) -> bool:
    numbers = [o.value for o in operands if o.is_scalar]
    kinds = {o.dtype.kind for o in operands if o.dtype}
    return kinds <= {"bool", "int"} and all(type(number) is int for number in numbers)


def _true_number(steps: Steps, decision: Decision) -> Steps | None:
    """A Python number in a logical op, if it is converted to bool before it is combined with the
    array: an int is true even if it would wrap to 0, and a float counts as the default float."""
    question = decision.question
    plan = plan_of(question.op, question.dialect, question.form)
    if question.op.name not in _LOGICAL or plan.range.limit != "int64":
        return None
    default = dtype(question.dialect.python["float"])
    entries = list(steps.entries)
    for place, operand in enumerate(question.operands):
        entry = entries[place]
        if entry is not None and entry.is_number:
            is_float = operand.kind == "float"
            entries[place] = entry._replace(
                is_condition=not is_float, through=(default,) if is_float else ()
            )
    return replace(steps, entries=tuple(entries))


def _inverse(steps: Steps, decision: Decision) -> Steps | None:
    """An array / a number, if that is computed as the array times the number's reciprocal."""
    if not _is_named(decision.question.dialect.values.dividing.reciprocal_second, decision):
        return None
    array, number = decision.question.operands
    is_single = number.is_scalar or number.rank == 0
    if not is_single or array.is_scalar or array.rank == 0 or steps.compute.kind != "float":
        return None
    if decision.question.inplace or steps.compute.name == "bfloat16":  # bfloat16 divides in float32
        return None
    return replace(steps, op="times_reciprocal")


def _wide_scalar(steps: Steps, decision: Decision) -> Steps | None:
    """A number or 0-d array as the second operand with small floats, if it is not rounded to
    them."""
    question = decision.question
    wide = _WIDE.get(steps.compute.name)
    if wide is None or not _is_named(question.dialect.values.arithmetic.wide_scalars, decision):
        return None
    first, last = question.operands[0], question.operands[-1]
    counts = plan_of(question.op, question.dialect, question.form).numpy.scalars_left
    is_number = _counts_as_number(first, counts)
    is_reflected = question.form == "operator" and is_number and question.op.name == "mul"
    if not (is_reflected or last.is_scalar or last.rank == 0):
        return None
    place = 0 if is_reflected else len(question.operands) - 1
    if question.operands[place].dtype is steps.compute:
        return None  # nothing to round
    entries = list(steps.entries)
    entries[place] = _entry(wide, question.operands[place])
    return replace(steps, op=f"{steps.op}_with_wide", entries=tuple(entries))


def _half_exponent(steps: Steps, decision: Decision) -> Steps | None:
    """Floats to the power of a number or a 0-d array, if the power of 0.5 is the square root."""
    question = decision.question
    if question.op.name != "pow" or steps.compute.kind != "float":
        return None
    rule, exponent = question.dialect.values.powers.by_one_exponent, question.operands[1]
    is_single = exponent.is_scalar or exponent.rank == 0
    if is_single and _takes_root(rule, question.form, steps.compute):
        return replace(steps, op="pow_or_root")
    return None


def _takes_root(rule: str, form: str, compute: DType) -> bool:
    if rule == "square root" and compute.name != "float16":
        return True
    return rule in ("square root", "square root by operator") and form == "operator"


def _entry(target: DType, operand: Operand) -> Entry:
    return Entry(target, None if operand.is_scalar else operand.dtype)


def _large_exponent(steps: Steps, decision: Decision) -> Steps | None:
    """An integer to the power of a number that its dtype cannot, and need not, hold."""
    question = decision.question
    if question.op.name != "pow" or steps.compute.kind != "int":
        return None
    number = question.operands[1].value if question.operands[1].is_scalar else None
    is_free = plan_of(question.op, question.dialect, question.form).exponent.is_free
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
    is_short = question.dialect.values.powers.by_one_exponent == "short cuts"
    name = "pow_by_short_cuts" if is_short else "pow_of_number"
    return replace(steps, op=name, entries=(steps.entries[0], None))


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
    beyond = plan_of(question.op, question.dialect, question.form).range.beyond
    if beyond != "raises if no value is left" or steps.compute.kind != "int":
        return steps
    entries = [_within(entry, steps.compute) for entry in steps.entries]
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


def _within(entry: Entry | None, held: DType) -> Entry | None:
    return entry._replace(within=held) if entry and entry.is_number else entry


def _compared(steps: Steps, decision: Decision) -> Steps | None:
    """Integers that are compared by their exact values."""
    question = decision.question
    if question.op.name not in _COMPARISONS:
        return None
    first, second = question.operands
    if _has_int_beyond(steps, decision):
        entries = [
            Entry(_FLOAT32, within=steps.compute) if o.is_scalar else _entry(_FLOAT32, o)
            for o in question.operands
        ]
        return replace(steps, compute=_FLOAT32, entries=tuple(entries))
    kinds = {operand.dtype.kind for operand in question.operands if operand.dtype}
    is_mixed = kinds == {"int"} and not (first.is_scalar or second.is_scalar)
    is_exact = question.dialect.values.arithmetic.mixed_signs == "exact"
    if is_mixed and is_exact and steps.compute.kind == "float":
        return replace(steps, op=f"{steps.op}_of_mixed_signs", entries=(None, None))
    return None


def _has_int_beyond(steps: Steps, decision: Decision) -> bool:
    """Whether an integer array is compared with a Python int outside its range."""
    question = decision.question
    rule = plan_of(question.op, question.dialect, question.form).range
    is_exact = rule.beyond == "compares" and rule.limit in ("dtype", "none")
    if steps.compute.kind != "int" or not is_exact:
        return False
    numbers = [o.value for o in question.operands if o.is_scalar and isinstance(o.value, int)]
    return any(not steps.compute.min <= number <= steps.compute.max for number in numbers)
