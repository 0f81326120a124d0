"""The policy of tiers: arrays, then 0-d arrays, then Python scalars; kinds outrank tiers."""

from __future__ import annotations

from collections.abc import Callable

from castwise.engine.decision import Refusal
from castwise.engine.join import complex_of, join
from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.engine.steps.numbers import own_dtype
from castwise.vocab.dtypes import DType
from castwise.vocab.operands import Operand

_NAMES = ("arrays", "0-d arrays", "Python scalars")


def tiers(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """What all operands reach together: an array's tier decides unless a lower tier has a higher
    kind (torch's ResultTypeState)."""
    groups: tuple[list[DType], list[DType], list[DType]] = ([], [], [])
    for operand in operands:
        groups[tier_of(operand)].append(own_dtype(plan, operand))
    arrays, zero_d, scalars = joined_tiers(plan, groups)
    common = _outranks(plan, arrays, _outranks(plan, zero_d, scalars))
    assert common is not None
    if say:
        tell_tiers(groups, (arrays, zero_d, scalars), common, say)
    return [plan.reach.masks[common]] * len(operands)


def joined_tiers(plan: Plan, groups: tuple[list[DType], ...]) -> list[DType | None]:
    """The common dtype of each tier."""
    return [join(plan, group) if group else None for group in groups]


def last_adapts(plan: Plan, operands: tuple[Operand, ...], say: Say) -> list[int]:
    """As tiers, but a Python scalar at the end takes the others' dtype (torch's lerp weight)."""
    *others, last = operands
    if not last.is_scalar:
        return tiers(plan, operands, say)
    common = join(plan, [own_dtype(plan, o) for o in others])
    if last.kind == "complex" and common.kind != "complex":
        raise Refusal(
            f"{last} cannot be converted to {common}", "Cast the arrays to complex.", by_value=True
        )
    return [plan.reach.masks[common]] * len(operands)


def tier_of(operand: Operand) -> int:
    """0 for an array, 1 for a 0-d one, 2 for a Python scalar."""
    return 2 if operand.is_scalar else int(operand.is_zero_d)


def _outranks(plan: Plan, higher: DType | None, lower: DType | None) -> DType | None:
    """The dtype of two tiers together; the higher one gives way only to a higher kind."""
    if higher is None or lower is None:
        return higher or lower
    if higher.kind == "complex" or (higher.kind == "float" and lower.kind != "complex"):
        return higher
    if lower.kind == "complex":
        # An array of floats keeps its width; integers take the complex dtype unchanged.
        return complex_of(plan, higher) if higher.kind == "float" else lower
    if higher.kind == "bool" or lower.kind == "float":
        return join(plan, (higher, lower))
    return higher


def tell_tiers(
    groups: tuple[list[DType], ...],
    by_tier: tuple[DType | None, ...],
    common: DType,
    say: Callable[[str], None],
) -> None:
    """Says what each tier gives, and which one decides."""
    is_said = False
    for name, group, joined in zip(_NAMES, groups, by_tier, strict=True):
        given = list(dict.fromkeys(d.name for d in group))
        if len(given) > 1:
            say(f"The {name}' {' and '.join(given)} promote to {joined}.")
            is_said = True
    found = [(name, dtype) for name, dtype in zip(_NAMES, by_tier, strict=True) if dtype]
    if len(found) == 1:
        if found[0][0] != _NAMES[0] and not is_said:
            say(f"The {found[0][0]} give {common}.")
        return
    top, highest = found[0][1], max([dtype for _, dtype in found[1:]], key=lambda d: d.rank)
    listed = ", ".join(f"{name} {dtype}" for name, dtype in found)
    if top.rank >= highest.rank:
        why = "No lower tier has a higher kind, so the highest tier decides"
    else:
        why = f"The kind {highest.kind} outranks {top.kind} in any tier"
    say(f"By tier: {listed}. {why}: {common}.")
