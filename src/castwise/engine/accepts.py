"""Whether an op takes these operands: their number, dtypes and values, and what takes no part."""

from __future__ import annotations

import math
import sys

from castwise.engine.decision import (
    Note,
    Question,
    Refusal,
    is_beyond,
    is_unconvertible,
    named_out_of_range,
    not_computed,
    scalar_out_of_range,
)
from castwise.engine.operands import (
    check_numbers,
    is_native,
    number_dtypes,
    own_dtype,
    truncated_dtype,
    unpromoted,
)
from castwise.engine.plan import Plan
from castwise.engine.writes import takes_any
from castwise.errors import UsageError
from castwise.vocab.dtypes import KINDS, DType, dtype, weak_nodes
from castwise.vocab.operands import UNDEFINED, Operand, Role, Scalar, scalar_text

# The operands: how many there are, and their kinds and dtypes.

_DIMENSIONS = {1: "one dimension", 2: "two dimensions"}


def check_count(question: Question) -> None:
    """Raises UsageError for too many operands, too few, or none where the first should be."""
    (low, high), given = question.op.arity, question.operands
    count = sum([operand is not UNDEFINED for operand in given])
    if count < low or len(given) > high:
        takes = str(low) if low == high else f"{low} to {high}"
        plural = "s" if high > 1 else ""
        number = count if count < low else len(given)
        raise UsageError(f"{question.op.name} takes {takes} operand{plural}, not {number}.")
    if given[0] is UNDEFINED and question.op.family != "questions":
        raise UsageError(f"{question.op.name} needs its first operand, which is None here.")


def check_operands(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for operands that the dialect or the op does not take, one by one or
    together."""
    check_accepted(plan, operands)
    refuses_some = plan.accepts.refuses or plan.accepts.refuses_arrays
    for operand in operands:
        found = operand.dtype or plan.python[operand.kind]
        if found not in plan.reach.bits or operand.is_weak:
            check_known(plan, operand)
        if refuses_some and (
            found in plan.accepts.refuses or operand.dtype in plan.accepts.refuses_arrays
        ):
            raise not_computed(plan, found)
        if operand.is_zero_d and plan.accepts.refuses_zero_d:
            raise Refusal(
                f"{plan.op.name} works along an axis, and a 0-d array has none",
                "Give it a dimension.",
            )
    _check_end(plan, operands)
    if plan.accepts.same_dtype:
        _check_same(plan, operands)


def _check_same(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for operands of several dtypes."""
    last_adapts = plan.scalars == "last adapts" and operands[-1].role is not Role.ARRAY
    count = -1 if last_adapts else plan.accepts.compared
    compared = {o.dtype for o in operands[:count] if o.dtype}
    first, others = operands[0].dtype, {o.dtype for o in operands[1:]}
    has_wider_others = first is not None and others == {plan.accepts.wider_others.get(first)}
    if len(compared) > 1 and not has_wider_others:
        why = plan.because or f"{plan.op.name} needs operands of the same dtype"
        raise Refusal(why, "Cast one to the other.")


def _check_end(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for what the last operands may not be."""
    if len(operands) < 2:
        return
    last = operands[-1].dtype or plan.python[operands[-1].kind]
    if plan.accepts.refuses_last and last in plan.accepts.refuses_last:
        taken = [d for d in plan.reach.order if d not in plan.accepts.refuses_last]
        target = _INT32 if _INT32 in taken else _FLOAT32
        advised = "Make it an array of" if operands[-1].is_scalar else "Cast it to"
        why = f"the last operand of {plan.op.name} cannot be {last}"
        raise Refusal(why, f"{advised} {target}.")
    together = operands[len(operands) - plan.accepts.inexact_among_last :]
    if together and all([o.kind in ("bool", "int") for o in together]):
        why = plan.because or f"the last operands of {plan.op.name} cannot all be integers"
        raise Refusal(why, "Make one a float.")


def check_known(plan: Plan, operand: Operand) -> None:
    """Raises where the dialect has no such array."""
    # The policy by category gives a NumPy operand a new dtype; elsewhere it counts as an array.
    is_retyped = operand.is_numpy and plan.scalars == "by category"
    if operand.dtype and operand.dtype not in plan.reach.bits and not is_retyped:
        raise Refusal(f"this dialect has no dtype {operand.dtype}", "Cast it to one it has.")
    if operand.is_weak and not plan.dialect.has_weak_arrays:
        raise UsageError(f"{operand}: {plan.dialect.name} has no weakly typed arrays.")
    nodes = weak_nodes(operand.dtype) if operand.dtype and operand.is_weak else None
    if nodes is not None and plan.reach.bits.keys().isdisjoint(nodes):
        why = f"{plan.dialect.name} has no weakly typed {operand.dtype} arrays"
        raise UsageError(f"{operand}: {why}.")


def check_accepted(plan: Plan, operands: tuple[Operand, ...]) -> None:
    """Raises Refusal for Python numbers that the op does not take, and where no operand has as
    many dimensions as it needs."""
    check_numbers(plan, operands)
    if plan.op.family == "layers" and any([operand.is_scalar for operand in operands]):
        raise Refusal(f"{plan.op.name} takes no Python numbers", "Make the number an array.")
    needed = plan.accepts.needs_rank
    if needed and all(operand.rank < needed for operand in operands):
        raise Refusal(
            f"{plan.op.name} needs an array of {_DIMENSIONS[needed]}", "Give one more dimensions."
        )


def check_compute(plan: Plan, operands: tuple[Operand, ...], compute: DType) -> None:
    """Raises Refusal for a compute dtype that the op refuses, or does not compute in."""
    # A base that decides on its own was not joined with anything.
    is_refused = is_refused_compute(plan, compute) and not is_integer_power(plan, operands)
    if is_refused or (plan.otherwise != "no kernel" and compute not in plan.computes):
        raise not_computed(plan, compute)


def is_refused_compute(plan: Plan, compute: DType) -> bool:
    """Whether the op refuses a dtype that its operands have reached."""
    return compute in plan.accepts.refuses_compute


# The last operand of a power: whether it is accepted, and where only the base decides.


def is_integer_power(plan: Plan, operands: tuple[Operand, ...]) -> bool:
    """Whether the exponent is one integer, and the dialect then lets the base decide.

    One integer is what Python takes as an index (PEP 357): a Python bool too, but no array of
    bool or of a dtype below a byte.
    """
    exponent = operands[-1]
    if plan.joins.by != "integer power":
        return False
    if exponent.is_scalar:
        return exponent.kind in ("bool", "int")
    dtype = exponent.dtype
    is_index = dtype is not None and dtype.kind == "int" and dtype.bits >= 8
    return is_index and exponent.role.native is not Role.ARRAY


def check_exponent(plan: Plan, base: Operand, exponent: Operand) -> None:
    """Raises Refusal where a number does not fit what the dialect takes for an exponent."""
    holder = plan.exponent.fits
    if base.is_scalar or base.kind == "bool":
        holder = plan.exponent.fits_with_numbers or holder
    if holder and exponent.is_scalar and is_beyond(exponent.value, holder):
        raise scalar_out_of_range(exponent, holder)


def _check_power(plan: Plan, operands: tuple[Operand, ...], compute: DType) -> None:
    """Raises Refusal where an integer power has a negative exponent, or a base that is treated the
    same."""
    if not plan.exponent.negative or compute.kind != "int":
        return
    base, exponent = operands
    if plan.exponent.negative == "elements raise" and (base.is_empty or exponent.is_empty):
        return
    why = ""
    looks = exponent.is_scalar or plan.exponent.negative != "number raises"
    if looks and isinstance(exponent.value, int) and exponent.value < 0:
        why = "an integer to a negative integer power is not an integer"
    elif plan.exponent.negative == "raises on either side" and base.is_scalar:
        is_negative = isinstance(base.value, int) and base.value < 0
        why = "a negative Python int has no integer powers" if is_negative else ""
    if why:
        raise Refusal(why, "Make the base a float.", by_value=True)


# Python numbers that are out of range: refused, wrapped or compared exactly.

_HIGHEST = {"int64": 2**63, "64 bits": 2**64}
_DEFAULT_INT = ("default int", "dtype or default int")
# An int that passes one of these may still not fit the compute dtype: then it wraps.
_LET_IN = ("int64", "64 bits", "array dtype", *_DEFAULT_INT)
# The rules under which a number is never made a float before it is looked at.
_NEVER_MADE_FLOAT = (("magnitude", "raises"), ("none", "compares"))
_INT64 = dtype("int64")
_INT32 = dtype("int32")
_FLOAT32 = dtype("float32")


def check_values(
    plan: Plan, operands: tuple[Operand, ...], compute: DType, question: Question
) -> None:
    """Raises Refusal where the dialect refuses the op for the value of a scalar."""
    # Where the exponent must fit a dtype of its own, only its value is checked.
    checked = operands[-1:] if plan.exponent.fits is not None else operands
    for operand in checked if compute in plan.range.looks_at else ():
        if operand.is_scalar and _is_out(plan, operand, operands, compute, question):
            raise scalar_out_of_range(operand, _holder(plan, operands, compute))
    _check_power(plan, operands, compute)
    if question.alpha is not None:
        _check_alpha(question.alpha, compute)


def check_fit(plan: Plan, operands: tuple[Operand, ...], common: DType) -> None:
    """Raises Refusal where scalars must fit into the operands' common dtype and one does not."""
    if plan.range.limit != "common dtype" or plan.range.beyond == "wraps":
        return
    for operand in operands:
        if operand.is_scalar and is_beyond(operand.value, common):
            raise scalar_out_of_range(operand, common)


def must_fit_default_int(plan: Plan) -> bool:
    """Whether an int is refused that the dtype of Python's ints does not hold."""
    return plan.range.limit in _DEFAULT_INT


def is_out_of_range(operand: Operand, compute: DType) -> bool:
    """Whether an integer compute dtype cannot hold a Python int."""
    value = operand.value
    if type(value) is not int or compute.kind != "int" or not operand.is_scalar:
        return False
    return not compute.min <= value <= compute.max


def scalar_hazard(plan: Plan, scalar: Operand, compute: DType) -> str | None:
    """What becomes of a Python scalar beyond the compute dtype that the dialect lets in."""
    limit, beyond = plan.range.limit, plan.range.beyond
    is_let_in = beyond == "wraps" or (beyond == "raises" and limit in _LET_IN)
    if is_let_in and is_out_of_range(scalar, compute):
        return "wraps"
    return "loses-range" if overflows(scalar, compute) else None


def overflows(scalar: Operand, compute: DType) -> bool:
    """Whether a Python number is infinite as a float, and was not before."""
    value = scalar.value
    if compute.rank < 2 or value is None or scalar.kind == "bool":
        return False
    return any([compute.max < abs(p) < math.inf for p in (value.real, value.imag)])


def _is_out(
    plan: Plan, scalar: Operand, operands: tuple[Operand, ...], compute: DType, question: Question
) -> bool:
    limit, beyond, value = plan.range.limit, plan.range.beyond, scalar.value
    if limit == "common dtype":  # looked at before, see check_fit
        return False
    if beyond == "wraps" and limit not in ("64 bits", "none"):
        return False
    if limit in _DEFAULT_INT:
        return type(value) is int and _is_beyond_default_int(plan, scalar, operands, compute)
    if type(value) is int and compute.rank > 1 and abs(value) > sys.float_info.max:
        return (limit, beyond) not in _NEVER_MADE_FLOAT
    if limit == "array dtype":
        return is_out_of_range(scalar, _holder(plan, operands, compute))
    if limit == "magnitude":
        # An exponent of integers must also fit its own dtype.
        holders = (compute, plan.exponent.fits if compute.kind == "int" else None)
        return any(is_unconvertible(value, d) for d in holders if d)
    is_counted = number_dtypes(plan, [compute]) is not None
    is_looked_at = compute.kind == "int" or is_counted or beyond != "wraps"
    if limit in _HIGHEST and is_looked_at:
        return isinstance(value, int) and not -(2**63) <= value < _HIGHEST[limit]
    return limit == "dtype" and _is_beyond_dtype(plan, scalar, operands, compute, question)


def _is_beyond_dtype(
    plan: Plan, scalar: Operand, operands: tuple[Operand, ...], compute: DType, question: Question
) -> bool:
    """Whether a Python int is refused because the compute dtype does not hold it."""
    is_bounded = question.operands[0].kind == "int"  # other arrays leave out no bound
    if plan.range.beyond == "raises if no value is left" and is_bounded:
        return compute.kind == "int" and _is_empty_bound(scalar, question.operands, compute)
    if not is_out_of_range(scalar, compute):
        return False
    if plan.range.beyond == "compares":  # a bool array has no exact comparison with an int
        return all(o.is_scalar or o.kind == "bool" for o in operands)
    return True


def _is_beyond_default_int(
    plan: Plan, scalar: Operand, operands: tuple[Operand, ...], compute: DType
) -> bool:
    """Whether a Python int is refused because it is too wide for the dtype of Python ints."""
    value = scalar.value
    assert isinstance(value, int)
    if plan.exponent.is_free and is_integer_power(plan, operands):
        return scalar is operands[0] and not -(2**63) <= value < 2**64
    is_held = plan.range.limit == "dtype or default int" and compute.kind == "int"
    own = plan.python["int"]
    return not any(d.min <= value <= d.max for d in ((own, compute) if is_held else (own,)))


def _holder(plan: Plan, operands: tuple[Operand, ...], compute: DType) -> DType:
    """The dtype whose range a scalar must fit: that of the computation, that of Python's ints, or
    the first array's own where the scalar is converted before anything is computed."""
    if plan.range.limit in _DEFAULT_INT:
        return plan.python["int"]
    if plan.range.limit != "array dtype":
        return compute
    array = next((o.dtype for o in operands if o.dtype), None)
    is_narrow = array is not None and array.kind == "int" and array.bits < _INT64.bits
    return array if array and is_narrow else _INT64


def _is_empty_bound(scalar: Operand, operands: tuple[Operand, ...], compute: DType) -> bool:
    """Whether a bound of clamp leaves no value of the dtype."""
    if type(scalar.value) is not int:
        return False
    is_too_high = scalar in operands[1:2] and scalar.value > compute.max
    return is_too_high or (scalar in operands[2:] and scalar.value < compute.min)


def _check_alpha(alpha: Scalar, compute: DType) -> None:
    """torch's alpha_check: no higher kind than the result, and no bool for a number."""
    kind = type(alpha).__name__
    is_too_high = KINDS.index(kind) > max(compute.rank, 1)
    if is_too_high or (kind == "bool" and compute.kind != "bool"):
        raise Refusal(
            f"alpha is a {kind} and the result is {compute}", "Give alpha the kind of the result."
        )
    if is_unconvertible(alpha, compute):
        raise named_out_of_range(f"alpha {scalar_text(alpha)}", compute)


# The switches of a declared op that check everything passed to it: operands, numbers and outputs.
#
# They are those of torch's TensorIterator, in every dialect.


def check_same_dtype(plan: Plan, operands: tuple[Operand, ...], out: DType | None) -> None:
    """Raises Refusal where the op needs one dtype, and a Python number or out= has another.

    A number counts as the dtype it is wrapped in, before anything is promoted.
    """
    if not plan.op.switches.same_dtype:
        return
    dtypes = [
        (plan.python.get(f"wrapped {o.kind}") if o.is_scalar else None) or own_dtype(plan, o)
        for o in operands
    ]
    # The first array determines which one.
    wanted = next((o.dtype for o in operands if o.dtype), dtypes[0])
    what = f"{plan.op.name} needs operands and out= of the same dtype"
    for operand, found in zip(operands, dtypes, strict=True):
        if found is not wanted:
            fix = f"Make it an array of {wanted}."
            raise Refusal(f"{what}: {operand} counts as {found}, not {wanted}", fix)
    if out and truncated_dtype(plan, out) is not wanted:
        raise Refusal(f"{what}: out is {out}, not {wanted}", f"Give it an out= of {wanted}.")


def is_unpromoted_mix(plan: Plan, operands: tuple[Operand, ...]) -> bool:
    """Whether an op that promotes nothing writes the result of operands of two dtypes: then nothing
    is cast, and the destination determines the result's dtype.

    Raises Refusal where the op would cast the result to the destination, or check that cast: the
    result has no single dtype.
    """
    switches = plan.op.switches
    if switches.promotes or takes_any(plan):
        return False
    dtypes = dict.fromkeys(unpromoted(plan, operands))
    if len(dtypes) == 1:
        return False
    if switches.casts_to_output or switches.safe_output:
        listed = " and ".join(d.name for d in dtypes)
        raise Refusal(
            f"{plan.op.name} does not promote {listed}, so there is no single dtype to cast to the"
            " output",
            "Cast them to one dtype, or declare it with casts_to_output=False and"
            " safe_output=False.",
        )
    return True


# An operand that chooses, and takes no part in promotion: the condition of `where`, an index of
# embedding or cross_entropy.


def without(operands: tuple[Operand, ...], place: int) -> tuple[Operand, ...]:
    """The operands without the one at a place."""
    return (*operands[:place], *operands[place + 1 :])


def check_apart(plan: Plan, operand: Operand, note: Note) -> str | None:
    """A note where the framework has no kernel for such an operand.

    Raises Refusal for one that it does not take.
    """
    if plan.op.is_condition_first:
        return _check_condition(plan, operand, note)
    _check_index(plan, operand, note)
    return None


def _check_condition(plan: Plan, condition: Operand, note: Note) -> str | None:
    accepted = plan.accepts.condition
    assert accepted is not None  # a plan has the default
    is_foreign = condition.is_numpy and not is_native(plan)
    if not is_foreign:
        check_known(plan, condition)
    if condition.is_scalar:
        if condition.kind not in accepted.numbers:
            raise _refusal(plan, f"a Python {condition.kind}", "Make it a bool array.")
    elif is_foreign and condition.dtype not in accepted.numpy:
        raise _refusal(plan, str(condition), "Make it a bool array of the framework.")
    elif not is_foreign and condition.dtype not in accepted.arrays:
        if accepted.otherwise == "refused":
            raise _refusal(plan, str(condition.dtype), "Compare it with zero: x != 0.")
        return f"{plan.op.name} has no CPU kernel for a condition of {condition.dtype}."
    if note and condition.kind != "bool":
        note(f"{condition} is the condition: any value except zero is true.")
    return None


def _refusal(plan: Plan, what: str, fix: str) -> Refusal:
    return Refusal(f"{plan.op.name} does not accept {what} as a condition", fix)


def _check_index(plan: Plan, index: Operand, note: Note) -> None:
    check_known(plan, index)
    if index.dtype not in plan.accepts.index:
        taken = [d.name for d in plan.reach.order if d in plan.accepts.index]
        wanted = " or ".join(taken) if len(taken) < 3 else "an integer dtype"
        fix = f"Make it an array of {wanted}." if index.is_scalar else f"Cast it to {wanted}."
        raise Refusal(f"{plan.op.name} does not accept {index} as an index", fix)
    if note:
        note(f"{index} is the index, and has no say in the dtype.")
