"""Why an op is refused, and what to cast: to a dtype that loses nothing, if there is one.

A hint names a dtype that holds every value of the operands, or says what is lost in it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence

from castwise.engine.decision import Cast, Decision, Refusal, cast_between, cast_text
from castwise.engine.plan import Plan
from castwise.vocab.dtypes import KINDS, DType, strong_twin
from castwise.vocab.operands import Operand, Scalar, scalar_text


def no_common_dtype(plan: Plan, dtypes: Iterable[DType]) -> Refusal:
    """The refusal for dtypes that have no common dtype."""
    given = sorted(set(dtypes), key=lambda d: (d.rank, d.bits, d.name))
    listed = " and ".join([", ".join(d.name for d in given[:-1]), given[-1].name])
    reason = plan.because or plan.dialect.joining.refusal
    why = f"{listed} have no common dtype" + (f": {reason}" if reason else "")
    return Refusal(why, _cast_to(plan, given))


def _cast_to(plan: Plan, given: list[DType]) -> str:
    """What to cast. Weakly typed operands count only where there are no arrays."""
    computed = [
        d for d in plan.dialect.dtypes if d in plan.computes and d not in plan.accepts.refuses
    ]
    arrays = [d for d in given if not d.is_weak]
    rank = max([d.rank for d in given])
    if all(d.rank < rank for d in computed):
        return not_computed(plan, given[-1]).fix
    strong = [strong_twin(node) or plan.python[node.kind] for node in given]
    return way_out(arrays or strong, computed, rank)


def not_computed(plan: Plan, found: DType) -> Refusal:
    """The refusal for a dtype the op does not compute in."""
    accepted = [d for d in plan.reach.order if d in plan.computes and d not in plan.accepts.refuses]
    kinds = list(dict.fromkeys(d.kind for d in accepted if d not in plan.accepts.refuses_compute))
    listed = " or ".join([*filter(None, [", ".join(kinds[:-1])]), *kinds[-1:]]) or "no"
    taken = f"It takes {listed} dtypes: cast to one of them."
    if len(accepted) == 1:
        taken = f"It takes only {accepted[0]}: cast to it."
    return Refusal(plan.because or f"{plan.op.name} is not defined for {found}", taken)


def way_out(given: Sequence[DType], known: Iterable[DType], rank: int = 0) -> str:
    """What to do with arrays of some dtypes, so that they have the same one.

    `known` are the dtypes to choose from, `rank` is the rank of the lowest kind that will do.

    >>> from castwise.vocab.dtypes import dtypes_named
    >>> print(way_out(dtypes_named("int32 float32"), dtypes_named("float")))
    Cast both: x.astype('float64').
    """
    highest = max([rank, *[d.rank for d in given]])
    fitting = [d for d in known if d.rank >= highest] or list(given)
    target = _cheapest(tuple(fitting), tuple(given))
    every = "both" if len(given) == 2 else "all"
    kept = "one" if len(given) == 2 else "the others"
    which = "the arrays" if len(given) == 1 else kept if target in given else every
    advice = f"Cast {which}: x.astype('{target}')."
    lossy = [cast_between(d, target) for d in given if not target.holds(d)]
    if not lossy:
        return advice
    for_one = f"No {KINDS[highest]} dtype here holds {given[0]}"
    none = for_one if len(given) == 1 else f"No dtype here holds {every}"
    losses = " and ".join(cast_text(cast) for cast in lossy if cast)
    return f"{none}: {losses}. {advice}"


@functools.lru_cache(maxsize=1 << 14)
def _cheapest(targets: tuple[DType, ...], given: tuple[DType, ...]) -> DType:
    return min(targets, key=lambda target: _cost(target, given))


def _cost(target: DType, given: Sequence[DType]) -> tuple[int, ...]:
    """What a cast to a dtype costs, the worst first: values, range, digits, then casts and bits."""
    inexact = sum(not target.holds(d) for d in given)
    beyond = sum(not target.keeps_range(d) for d in given)
    digits = -target.mantissa_bits if inexact else 0
    return bool(inexact), beyond, digits, inexact, target.rank, target not in given, target.bits


def scalar_out_of_range(scalar: Operand, dtype: DType) -> Refusal:
    """The refusal of a Python number that a dtype does not hold."""
    return Refusal(
        f"{scalar_text(scalar.value)} is out of range for {dtype}",
        f"Use a value from {dtype.min} to {dtype.max}, or cast the array.",
        by_value=True,
    )


def named_out_of_range(number: str, dtype: DType) -> Refusal:
    """The refusal of a number passed by name that a dtype does not hold."""
    fix = f"Use a value from {dtype.min} to {dtype.max}."
    return Refusal(f"{number} is out of range for {dtype}", fix, by_value=True)


def conversion_out_of_range(scalar: Operand, target: DType) -> Refusal:
    """The refusal of a number that is converted to a dtype which does not hold it."""
    return Refusal(
        f"{scalar} is out of range for the conversion to {target}",
        "Make it an array of a dtype that holds it.",
        by_value=True,
    )


# Whether a number lies beyond a dtype.


def is_unconvertible(value: Scalar | None, compute: DType) -> bool:
    """torch's c10::overflows: an unsigned dtype takes negative integers, not floats, down to -max;
    inf and NaN pass."""
    if isinstance(value, complex):
        return any(is_unconvertible(part, compute) for part in (value.real, value.imag))
    assert value is not None
    is_unsigned = compute.kind == "int" and not compute.is_signed
    is_taken = is_unsigned and isinstance(value, int) and -compute.max <= value < 0
    return not is_taken and is_beyond(value, compute)


def is_beyond(value: Scalar | None, dtype: DType) -> bool:
    """Whether a number lies outside the range of a dtype; inf and NaN are in that of any float."""
    if isinstance(value, complex):
        return any(is_beyond(part, dtype) for part in (value.real, value.imag))
    if value is None or dtype.kind == "bool":
        return False
    if dtype.kind == "int":
        return not dtype.min <= value <= dtype.max
    return dtype.max < abs(value) < math.inf


# What a varied dialect refuses in addition to its rules: some kinds of implicit casts.

# The hazards that cost memory or a device, and leave every value as it was.
HARMLESS = frozenset({"widens", "not-on-device"})


def check_guards(decision: Decision) -> None:
    """Raises Refusal where a guard of the dialect forbids what was decided."""
    for guard in decision.question.dialect.joining.guards:
        _GUARDS[guard](decision)


def _no_implicit_cast(decision: Decision) -> None:
    for cast in _casts(decision):
        if cast.source is not None:
            raise Refusal(f"the implicit cast {cast} is not allowed", _advice(decision, cast))


def _no_lossy_cast(decision: Decision) -> None:
    for cast in _casts(decision):
        if not HARMLESS.issuperset(cast.hazards):
            raise Refusal(
                f"{cast_text(cast)}, and no implicit cast may change a value",
                _advice(decision, cast),
                by_value=cast.source is None,
            )


def _no_promotion_to_64_bits(decision: Decision) -> None:
    target = decision.compute
    is_wide = target.bits == (128 if target.kind == "complex" else 64)
    if is_wide and any(decision.casts) and not decision.question.op.accumulates:
        raise Refusal(f"promotion to {target} is not allowed", _way_out(decision))


def _casts(decision: Decision) -> list[Cast]:
    return [cast for cast in (*decision.casts, decision.result_cast) if cast]


def _advice(decision: Decision, cast: Cast) -> str:
    """What to do instead of a cast."""
    if cast is decision.result_cast:
        return f"Cast the result yourself, or write it into {cast.source}."
    return _way_out(decision)


def _way_out(decision: Decision) -> str:
    """What to cast the arrays to: what the op computes in, where it holds them."""
    question, compute = decision.question, decision.compute
    operands = question.operands[question.op.is_condition_first :]
    arrays = list(dict.fromkeys(o.dtype for o in operands if o.dtype))
    numbers = [o.value for o in operands if o.is_scalar]
    if all(compute.holds(d) for d in arrays) and not any(is_beyond(n, compute) for n in numbers):
        return f"If you mean it, cast: x.astype('{compute}')."
    roomy = [d for d in question.dialect.dtypes if not any(is_beyond(n, d) for n in numbers)]
    return way_out(arrays, roomy, compute.rank)


_GUARDS: dict[str, Callable[[Decision], None]] = {
    "no implicit cast": _no_implicit_cast,
    "no lossy cast": _no_lossy_cast,
    "no promotion to 64 bits": _no_promotion_to_64_bits,
}
