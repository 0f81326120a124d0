"""NumPy arrays and scalars that stand in another framework's op."""

from __future__ import annotations

from dataclasses import replace

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.vocab.operands import Operand, Role, scalar_operand

_PYTHON = {"int": int, "float": float, "complex": complex}


def taken(plan: Plan, operand: Operand) -> Operand:
    """An operand as the dialect takes it, a NumPy one as an array of its own or a Python number.

    Raises Refusal where it does not take it.
    """
    if not operand.is_numpy or operand.dtype is None:
        return operand
    kind = plan.numpy_scalars.get(operand.dtype) if operand.role is Role.NUMPY_SCALAR else None
    if kind is not None:
        value = operand.value if kind == "complex" else (operand.value or 0).real
        return scalar_operand(_PYTHON[kind](value))
    if plan.numpy in ("native", "as arrays"):
        native = operand.role.native
        return operand if native is operand.role else replace(operand, role=native)
    raise Refusal(
        f"{operand} is not an operand of {plan.op.name} here",
        "Make it an array of this framework first.",
    )
