"""Whether a value may be assigned to elements of an array: x[i] = value."""

from __future__ import annotations

from castwise.engine.decision import cast_between, cast_text
from castwise.engine.guards import HARMLESS
from castwise.engine.output import can_become
from castwise.engine.plan import reach_of
from castwise.errors import PromotionError
from castwise.frameworks.dialect import OUTPUTS, Dialect
from castwise.vocab.dtypes import KINDS, DType
from castwise.vocab.operands import Operand


def check_assignment(value: Operand, target: DType, dialect: Dialect) -> None:
    """Raises PromotionError where the dialect does not cast the value to the array's dtype."""
    why = _objection(value, target, dialect)
    if why:
        fix = "Convert the number" if value.is_scalar else f"Cast the value: x.astype('{target}')"
        raise PromotionError(
            f"{target}[...] = {value} is not defined in {dialect.name}: {why}. {fix}."
        )


def _objection(value: Operand, target: DType, dialect: Dialect) -> str:
    if value.dtype is None and value.kind == "complex" and target.kind != "complex":
        return "a complex number has no place among real ones"
    if value.dtype is None:
        is_lower = KINDS.index(value.kind) > target.rank
        return OUTPUTS[dialect.assigns] if is_lower and dialect.assigns != "any" else ""
    if not can_become(reach_of(dialect), dialect.assigns, value.dtype, target):
        return OUTPUTS[dialect.assigns]
    cast = cast_between(value.dtype, target)
    if cast and "no implicit cast" in dialect.guards:
        return f"the implicit cast {cast} is not allowed"
    if cast and "no lossy cast" in dialect.guards and not HARMLESS.issuperset(cast.hazards):
        return f"{cast_text(cast)}, and no implicit cast may change a value"
    return ""
