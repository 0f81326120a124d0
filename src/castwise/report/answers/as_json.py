"""Decisions and refusals as JSON, the same for every command."""

from __future__ import annotations

from typing import Any

from castwise.engine.decision import Cast, Decision
from castwise.errors import CastwiseError, PromotionError, ScalarRangeError

_REFUSALS = (ScalarRangeError, PromotionError)  # the more specific one first


def decision_json(decision: Decision) -> dict[str, Any]:
    """A decision as a JSON object; `casts` has one entry per operand, null if it is not cast."""
    return {
        "result": decision.result.name,
        "compute": decision.compute.name,
        "weak": decision.is_weak,
        "casts": [cast_json(cast) for cast in decision.casts],
        "hazards": list(decision.hazards),
        "notes": list(decision.notes),
    }


def cast_json(cast: Cast | None) -> dict[str, Any] | None:
    """A cast as a JSON object; `from` is null if a Python scalar is cast."""
    if cast is None:
        return None
    source = cast.source.name if cast.source else None
    return {"from": source, "to": cast.target.name, "hazards": list(cast.hazards)}


def error_json(error: CastwiseError) -> dict[str, Any]:
    """A refusal, or a question that makes no sense, as a JSON object."""
    kind = next((c.__name__ for c in _REFUSALS if isinstance(error, c)), "UsageError")
    return {"error": {"type": kind, "message": str(error)}}
