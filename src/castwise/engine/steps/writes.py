"""Whether a result may be written in place or into out=, by the dialect's named rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from castwise.engine.compiled import WritesPlan
from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.engine.reach import Reach
from castwise.rules.policies import OUTPUTS
from castwise.vocab.dtypes import DType


def takes_any(plan: Plan) -> bool:
    """Whether the destination takes the result's dtype, whatever its own was."""
    return plan.writes.into in ("rebinds", "becomes")


def becomes_result(plan: Plan) -> bool:
    """Whether the array itself becomes the result."""
    return plan.writes.into == "becomes"


def binds_anew(plan: Plan) -> bool:
    """Whether nothing is written, and the name is bound to the result."""
    return plan.writes.into == "rebinds"


def written_dtype(plan: Plan, result: DType, destination: DType) -> DType:
    """The dtype the destination has afterwards.

    Raises Refusal where the dialect does not write the result there.
    """
    if not can_write(plan, result, destination):
        raise Refusal(
            f"the {result} result cannot be written into {destination}"
            f" ({OUTPUTS[plan.writes.into]})",
            f"Cast the result yourself, or write it into {result}.",
        )
    return result if takes_any(plan) else destination


def writing_by(plan: Plan, rule: str, *, is_own: bool) -> WritesPlan:
    """What may be written where casting= names the rule. Pairs that are also allowed, or never
    allowed, count only under the op's own rule."""
    writes = replace(plan.writes, into=rule)
    return writes if is_own else replace(writes, also=frozenset(), never=frozenset())


def can_write(plan: Plan, result: DType, destination: DType, by: str = "") -> bool:
    """Whether an output rule, the dialect's own if none is named, lets a result dtype into a
    destination dtype."""
    pair = (result, destination)
    if result is destination or pair in plan.writes.also:
        return True
    rule = _RULES[by or plan.writes.into]
    return pair not in plan.writes.never and rule(plan.reach, result, destination)


def can_become(reach: Reach, rule: str, source: DType, target: DType) -> bool:
    """Whether a dialect's can_cast, by the name of its rule, lets one dtype become another."""
    return source is target or _RULES[rule](reach, source, target)


def _category(reach: Reach, result: DType, destination: DType) -> bool:
    return result.rank <= destination.rank


def _same_kind(reach: Reach, result: DType, destination: DType) -> bool:
    if destination.kind == "bool":
        return False
    is_narrower = _signed_rank(result) <= _signed_rank(destination)
    return is_narrower or reach.reaches(result, destination)


def _signed_rank(dtype: DType) -> int:
    """NumPy's order of kinds: bool, unsigned, signed, float, complex."""
    return 2 * dtype.rank - (dtype.kind == "int" and not dtype.is_signed)


def _reaches(reach: Reach, result: DType, destination: DType) -> bool:
    return reach.reaches(result, destination)


def _reaches_within_kind(reach: Reach, result: DType, destination: DType) -> bool:
    return result.kind == destination.kind and reach.reaches(result, destination)


def _no_complex_to_real(reach: Reach, result: DType, destination: DType) -> bool:
    return result.kind != "complex" or destination.kind == "complex"


def _never(reach: Reach, result: DType, destination: DType) -> bool:
    return False


def _always(reach: Reach, result: DType, destination: DType) -> bool:
    return True


_RULES: dict[str, Callable[[Reach, DType, DType], bool]] = {
    "category": _category,
    "same kind": _same_kind,
    "same dtype": _never,
    "safe": _reaches,
    "safe within kind": _reaches_within_kind,
    "no complex to real": _no_complex_to_real,
    "any": _always,
    "rebinds": _always,
    "becomes": _always,
}
