"""The steps of a decision in words, taken from the decision's own trace."""

from __future__ import annotations

from typing import Any

from castwise.engine.ask import question_in, question_of
from castwise.engine.decide import steps_of


def explain(name: str, *operands: Any, **parts: Any) -> str:
    """How a decision comes about, step by step; a refusal is explained the same way.

    Takes what resolve takes, or one expression such as "int32[3] + 5".

    >>> print(explain("int32[3] / int32[3]", dialect="torch"))
    int32[3] / int32[3] in torch
      int32[3] is an array of int32.
      int32[3] is an array of int32.
      div does not compute in int32, which becomes float32.
      Cast: int32 -> float32 is exact up to 2**24.
      Cast: int32 -> float32 is exact up to 2**24.
      The result is float32.
    """
    question = question_of(name, *operands, **parts) if operands else question_in(name, **parts)
    return "\n  ".join([f"{question} in {question.dialect.name}", *steps_of(question)])
