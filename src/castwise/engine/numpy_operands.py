"""NumPy arrays and scalars that stand in another framework's op."""

from __future__ import annotations

import functools
from dataclasses import replace

from castwise.engine.decision import Refusal
from castwise.engine.plan import Plan
from castwise.frameworks.dialect import Dialect
from castwise.vocab.dtypes import dtypes_of
from castwise.vocab.operands import Operand, Role, scalar_operand

_PYTHON = {"int": int, "float": float, "complex": complex}


def taken(plan: Plan, operand: Operand) -> Operand:
    """A NumPy operand as the dialect takes it.

    Raises Refusal where it does not take it.
    """
    if operand.role is Role.NUMPY_SCALAR:
        return _scalar(plan.dialect, operand)
    if plan.numpy in ("native", "as arrays"):
        return replace(operand, role=operand.role.native)
    raise Refusal(
        f"a NumPy array is not an operand of {plan.op.name} here",
        "Make it an array of this framework first.",
    )


def _scalar(dialect: Dialect, operand: Operand) -> Operand:
    """A NumPy scalar: a Python number where the dialect says so, else as it is."""
    kind = _scalar_kinds(dialect.numpy_scalars).get(operand.dtype)
    if kind is None:
        return operand
    value = operand.value if kind == "complex" else (operand.value or 0).real
    return scalar_operand(_PYTHON[kind](value))


@functools.lru_cache(maxsize=64)
def _scalar_kinds(text: str) -> dict[object, str]:
    """The text "bool complex64 -> float; int -> int" as a mapping."""
    kinds: dict[object, str] = {}
    for entry in filter(None, text.split(";")):
        names, _, kind = entry.partition("->")
        kinds.update(dict.fromkeys(dtypes_of(names), kind.strip()))
    return kinds
