"""The steps of a decision in words, taken from the decision's own trace."""

from __future__ import annotations

from typing import Any

from castwise.engine.ask import question_in, question_of
from castwise.engine.decide import steps_of
from castwise.engine.decision import Question
from castwise.showing import html_of, line_of


class Explained(str):
    """The text of an explanation, which a notebook shows as HTML."""

    __slots__ = ("question",)

    question: Question

    def __new__(cls, question: Question) -> Explained:
        head = f"{question} in {question.dialect.name}"
        made = super().__new__(cls, "\n  ".join([head, *steps_of(question)]))
        made.question = question
        return made

    def __reduce__(self) -> tuple[type[Explained], tuple[Question]]:
        return Explained, (self.question,)

    def __repr__(self) -> str:
        head, *steps = self.splitlines()
        ending = next((step for step in steps if step.startswith("  Refused: ")), steps[-1])
        return line_of("Explained", f"{head}: {ending.strip()} print() shows the steps")

    def _repr_html_(self) -> str:
        return html_of(self)


def explain(name: str, *operands: Any, **parts: Any) -> Explained:
    """How a decision comes about, step by step; a refusal is explained the same way.

    Takes what resolve takes, or one expression such as "int32[3] + 5". Print the result.

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
    return Explained(question)
