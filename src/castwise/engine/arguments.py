"""What a call passes by name: dtype=, casting=, where=, initial=, rounding_mode= and numbers."""

from __future__ import annotations

from dataclasses import replace

from castwise.engine.accepts import is_refused_compute
from castwise.engine.decision import (
    Named,
    Note,
    Question,
    Refusal,
    is_beyond,
    is_unconvertible,
    named_out_of_range,
)
from castwise.engine.joins import joined
from castwise.engine.operands import number_dtypes, own_dtype
from castwise.engine.plan import Plan, meaning, op_plan
from castwise.engine.scalars import reached, smallest_dtype
from castwise.engine.writes import can_write
from castwise.errors import UsageError, did_you_mean
from castwise.rules.rule import CASTINGS, DTYPE_ARGUMENTS, OUTPUTS, Writes
from castwise.vocab.dtypes import KINDS, DType, dtype
from castwise.vocab.operands import Operand, Role, Scalar, array_operand, scalar_text
from castwise.vocab.ops import op

_LONG, _UNSIGNED_LONG = dtype("int64"), dtype("uint64")


def plan_for(question: Question, form: str, note: Note) -> Plan:
    """The plan of a question that passes something by name.

    Raises Refusal where the dialect's op does not take it, UsageError for an unknown word.
    """
    named, forms = question.named, f"{form} dtype" if question.named.dtype else form
    plan = op_plan(question.op, question.dialect, forms)
    _check_arguments(plan, named)
    if named.rounding_mode:
        plan = _rounded(plan, named.rounding_mode, forms, note)
    if named.casting:
        rule = CASTINGS[named.casting]
        # Pairs that are also allowed, or never allowed, count only under the op's own rule.
        is_own = rule == plan.arguments.casting
        of_rule = meaning(Writes(into=rule), plan.dialect)
        writes = replace(plan.writes, into=rule) if is_own else of_rule
        plan = replace(plan, writes=writes, arguments=replace(plan.arguments, casting=rule))
    mask = named.where
    is_free = mask and mask.is_scalar and plan.arguments.where == "bool arrays"
    if mask and mask.kind != "bool" and not is_free:
        raise Refusal(f"where={mask} is not a bool", "Compare it: mask != 0.")
    # These do not change the dtype: a dialect without a rule for them leaves them to the op.
    if named.value is not None and plan.arguments.value:
        _check_number(plan.arguments.value, "value", named.value)
    if named.delta is not None and plan.arguments.delta:
        _check_number(plan.arguments.delta, "delta", named.delta)
    return plan


def _check_arguments(plan: Plan, named: Named) -> None:
    own = plan.arguments
    taken = {
        "dtype": own.dtype, "casting": own.takes_casting, "where": own.where,
        "initial": own.initial, "rounding_mode": own.rounded_as,
    }  # fmt: skip
    for name in named.given:
        if name in taken and not taken[name]:
            fix = "Cast its operand or its result." if name == "dtype" else "Leave it out."
            raise Refusal(f"its {plan.op.name} takes no {name}=", fix)
    if named.casting and named.casting not in CASTINGS:
        raise _unknown("casting", named.casting, CASTINGS)
    if named.dtype and named.dtype not in plan.reach.bits:
        raise Refusal(f"this dialect has no dtype {named.dtype}", "Give it one it has.")


def _unknown(name: str, word: str, known: dict[str, str]) -> UsageError:
    listed = ", ".join(known)
    hint = did_you_mean(word, known)
    return UsageError(f"{name}= is one of {listed}, not {word[:40]!r}.{hint}")


def _rounded(plan: Plan, mode: str, form: str, note: Note) -> Plan:
    """The plan of the op whose dtypes a rounded quotient has."""
    name = plan.arguments.rounded_as.get(mode)
    if name is None:
        raise _unknown("rounding_mode", mode, plan.arguments.rounded_as)
    if note:
        note(f"With rounding_mode={mode} the dtypes are those of {name}.")
    return op_plan(op(name), plan.dialect, form)


def cast_first(
    plan: Plan, operands: tuple[Operand, ...], named: Named, note: Note
) -> tuple[Operand, ...]:
    """The operands as the op sees them: unchanged, or cast to dtype= first."""
    target = named.dtype
    word = plan.arguments.dtype
    if target is None or "casts" not in word:
        return operands
    if note:
        note(f"dtype={target}: {DTYPE_ARGUMENTS[word]}.")
    _check_casts(plan, operands, target)
    return tuple([array_operand(target, None if o.rank else ()) for o in operands])


def is_compute_asked(plan: Plan, named: Named) -> bool:
    """Whether dtype= is the dtype the op computes in."""
    return named.dtype is not None and plan.arguments.dtype in ("computes", "sums in it")


def loop_giving(plan: Plan, operands: tuple[Operand, ...], target: DType, note: Note) -> DType:
    """What the op computes in, where dtype= is the dtype of its result: that of the first loop that
    all operands reach and that gives it, or dtype= itself, to which they are cast.

    Raises Refusal where no loop gives it.
    """
    loops = [d for d in _loops_for(plan, operands, target) if _given_by(plan, d) is target]
    is_castable = plan.result == "same" or all(o.kind != "complex" for o in operands)
    if plan.joins.by == "exponent apart":  # only the first operand chooses a loop, and reaches it
        joined(plan, operands, None)
        operands, is_castable = operands[:1], False
    found = plan.reach.common(reached(plan, operands, None), plan.reach.mask(loops))
    if found is None and is_castable and target in loops and not _foreign(plan, operands, target):
        found = target
    if found is None or is_refused_compute(plan, found):
        raise Refusal(
            f"{plan.op.name} has no loop that gives {target}",
            "Give another dtype=, or cast the result.",
        )
    if note:
        note(f"dtype={target}: the loop that gives it computes in {found}.")
    return found


def _loops_for(plan: Plan, operands: tuple[Operand, ...], target: DType) -> list[DType]:
    """The dtypes of the loops that dtype= chooses from; only those of a foreign dtype where an
    operand has it and the result does not imply another."""
    loops = [d for d in plan.reach.order if d in plan.computes and d not in plan.converts]
    foreign = _foreign(plan, operands, target)
    if foreign and (target in foreign or plan.result not in ("same", "real")):
        return [d for d in loops if d in foreign]
    is_found = foreign or plan.arguments.finds_foreign or target not in plan.only_absorbed
    return loops if is_found else [d for d in loops if d not in plan.only_absorbed]


def _foreign(plan: Plan, operands: tuple[Operand, ...], target: DType) -> set[DType]:
    """The dtypes of foreign operands, if such loops may be meant."""
    own = {o.dtype for o in operands if o.dtype in plan.only_absorbed and o.dtype}
    is_meant = target in plan.only_absorbed or plan.result not in ("same", "real")
    return own if is_meant else set()


def _given_by(plan: Plan, compute: DType) -> DType:
    """What the op gives, where it computes in a dtype."""
    if plan.result in ("same", "first"):
        return compute
    if plan.result == "real":
        return compute.part
    return dtype(plan.dialect.becomes.index if plan.result == "index" else plan.result)


def _check_casts(
    plan: Plan, operands: tuple[Operand, ...], compute: DType, casting: str | None = None
) -> None:
    """Raises Refusal where an operand may not be cast to what the op computes in."""
    for operand in operands:
        sources = _cast_sources(plan, operand, compute, casting)
        if not any(
            can_write(plan, own, compute, by=plan.arguments.casting) for own in sources if own
        ):
            raise Refusal(
                f"{operand} cannot be cast to {compute} ({OUTPUTS[plan.arguments.casting]})",
                "Cast it yourself." + " Or give casting='unsafe'." * plan.arguments.takes_casting,
            )


def _cast_sources(
    plan: Plan, operand: Operand, compute: DType, casting: str | None
) -> tuple[DType | None, ...]:
    """The dtypes a cast may take an operand for. A Python number has a kind and no width, unless
    casting= gives it one."""
    own = own_dtype(plan, operand)
    if plan.scalars == "by value" and operand.role is not Role.ARRAY:
        return own, *smallest_dtype(own, 1 if operand.value is None else operand.value)
    are_integers = operand.kind == compute.kind == "int"
    compares_exactly = (plan.range.limit, plan.range.beyond) == ("dtype", "compares")
    is_compared = are_integers and compares_exactly
    is_typed = casting in plan.arguments.typed_castings and not is_compared
    is_higher = KINDS.index(operand.kind) > compute.rank
    if operand.dtype or operand.kind == "bool" or is_typed or is_higher:
        return (own,)
    as_joined = (number_dtypes(plan, [compute]) or {}).get(operand.kind)
    return (compute if as_joined is None or plan.reach.reaches(as_joined, compute) else as_joined,)


def check_named(plan: Plan, operands: tuple[Operand, ...], named: Named, compute: DType) -> None:
    """Raises Refusal where an operand, initial= or value= cannot become the dtype that the op
    computes in."""
    if plan.arguments.takes_casting and (named.dtype or named.casting):
        _check_casts(plan, operands, compute, named.casting)
    if named.initial:
        _check_initial(plan, named.initial, compute)
    value = named.value
    # Without a kernel nothing looks at it.
    if value is None or "fits" not in plan.arguments.value or compute in plan.no_kernel:
        return
    is_dropped = isinstance(value, complex) and bool(value.imag) and compute.kind != "complex"
    if is_dropped or is_unconvertible(value, compute):
        raise named_out_of_range(f"value={scalar_text(value)}", compute)


def _check_number(taken: frozenset[str], name: str, number: Scalar) -> None:
    """Raises Refusal where a number does not have a kind or sign that the op takes."""
    kind = type(number).__name__
    if kind not in taken:
        raise Refusal(f"{name} cannot be a Python {kind}", f"Give {name} another kind of number.")
    if "positive" in taken and not isinstance(number, complex) and number <= 0:
        raise Refusal(f"{name} is not positive", f"Give a {name} above 0.")


def _check_initial(plan: Plan, initial: Operand, compute: DType) -> None:
    """Raises Refusal where initial= cannot become a number of the compute dtype."""
    value = initial.value
    if plan.arguments.initial == "cast":
        if type(value) is int and initial.is_scalar and is_beyond(value, plan.python["int"]):
            raise named_out_of_range(f"initial={value}", plan.python["int"])
        return
    if compute.kind == "bool" or value is None:
        return
    if isinstance(value, complex):
        if compute.kind != "complex" and initial.is_scalar:
            raise Refusal(
                f"initial={initial} cannot be converted to {compute}", "Give a real number."
            )
        return
    holder = _holder(plan, compute, is_negative=value < 0)
    if compute.kind == "int" or (holder is not compute and type(value) is int):
        _check_integer(initial, holder)


def _holder(plan: Plan, compute: DType, *, is_negative: bool) -> DType:
    """The dtype whose range an integer that starts a reduction must fit."""
    if compute in plan.only_absorbed:  # which reads integers as C does
        return _LONG
    if plan.arguments.initial == "must fit" or compute.kind != "int":
        return compute
    # As C does, too: only the wider unsigned ones are read as unsigned.
    is_unsigned = not compute.is_signed and compute.bits >= 32 and not is_negative
    return _UNSIGNED_LONG if is_unsigned else _LONG


def _check_integer(initial: Operand, holder: DType) -> None:
    value = initial.value
    assert isinstance(value, (int, float))
    is_finite = isinstance(value, int) or abs(value) < float("inf")
    if not is_finite or is_beyond(int(value), holder):
        raise named_out_of_range(f"initial={initial}", holder)
