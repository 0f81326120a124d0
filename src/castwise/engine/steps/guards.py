"""What a varied dialect refuses in addition to its rules: some kinds of implicit casts."""

from __future__ import annotations

from collections.abc import Callable

from castwise.engine.decision import Cast, Decision, Refusal, cast_text
from castwise.engine.refusals import way_out
from castwise.engine.steps.beyond import is_beyond

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
