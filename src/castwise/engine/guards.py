"""What a varied dialect refuses beyond its rules: implicit casts of some sort."""

from __future__ import annotations

from collections.abc import Callable

from castwise.engine.decision import Cast, Decision, Refusal, cast_text
from castwise.vocab.dtypes import DType

# The hazards that cost memory or a device, and leave every value as it was.
HARMLESS = frozenset({"widens", "not-on-device"})


def check_guards(decision: Decision) -> None:
    """Raises Refusal where a guard of the dialect forbids what was decided."""
    for guard in decision.question.dialect.guards:
        _GUARDS[guard](decision)


def _no_implicit_cast(decision: Decision) -> None:
    for cast in _casts(decision):
        if cast.source is not None:
            raise Refusal(f"the implicit cast {cast} is not allowed", _advice(cast.target))


def _no_lossy_cast(decision: Decision) -> None:
    for cast in _casts(decision):
        if not HARMLESS.issuperset(cast.hazards):
            raise Refusal(
                f"{cast_text(cast)}, and no implicit cast may change a value",
                _advice(cast.target),
                by_value=cast.source is None,
            )


def _no_promotion_to_64_bits(decision: Decision) -> None:
    target = decision.compute
    is_wide = target.bits == (128 if target.kind == "complex" else 64)
    if is_wide and any(decision.casts) and not decision.question.op.accumulates:
        raise Refusal(f"promotion to {target} is not allowed", _advice(target))


def _casts(decision: Decision) -> list[Cast]:
    return [cast for cast in (*decision.casts, decision.result_cast) if cast]


def _advice(target: DType) -> str:
    return f"If you mean it, cast: x.astype('{target}')."


_GUARDS: dict[str, Callable[[Decision], None]] = {
    "no implicit cast": _no_implicit_cast,
    "no lossy cast": _no_lossy_cast,
    "no promotion to 64 bits": _no_promotion_to_64_bits,
}
