"""The condition of `where`: an operand that chooses, and takes no part in promotion."""

from __future__ import annotations

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.engine.saying import Say
from castwise.engine.steps.accepts import check_known
from castwise.engine.steps.numpy_operands import is_native
from castwise.vocab.operands import Operand


def check_condition(plan: Plan, condition: Operand, say: Say) -> str | None:
    """A note where the framework has no kernel for such a condition.

    Raises Refusal for a condition that it does not take.
    """
    accepted = plan.accepts.condition
    is_foreign = condition.is_numpy and not is_native(plan)
    if not is_foreign:
        check_known(plan, condition)
    if condition.is_scalar:
        if condition.kind not in accepted.numbers:
            raise _refusal(plan, f"a Python {condition.kind}", "Make it a bool array.")
    elif is_foreign and condition.dtype not in accepted.numpy:
        raise _refusal(plan, str(condition), "Make it a bool array of the framework.")
    elif not is_foreign and condition.dtype not in accepted.arrays:
        if accepted.is_refusing:
            raise _refusal(plan, str(condition.dtype), "Compare it with zero: x != 0.")
        return f"{plan.op.name} has no CPU kernel for a condition of {condition.dtype}."
    if say and condition.kind != "bool":
        say(f"{condition} is the condition: any value except zero is true.")
    return None


def _refusal(plan: Plan, what: str, fix: str) -> Refusal:
    return Refusal(f"{plan.op.name} does not accept {what} as a condition", fix)
