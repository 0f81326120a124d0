"""The steps of a decision in words, taken from the decision's own trace."""

from __future__ import annotations

from typing import Any

from castwise.engine.ask import answer, question_of
from castwise.engine.decide import steps_of
from castwise.engine.decision import Question
from castwise.engine.explaining.parts import Part, Taken, of_question, taken_apart
from castwise.errors import PromotionError
from castwise.rules.catalog import is_dialect_name
from castwise.rules.dialect import Dialect
from castwise.showing import html_of, line_of


class Explained(str):
    """The text of an explanation, which a notebook shows as HTML."""

    __slots__ = ("taken",)

    taken: Taken

    def __new__(cls, taken: Taken) -> Explained:
        made = super().__new__(cls, _text(taken))
        made.taken = taken
        return made

    def __reduce__(self) -> tuple[type[Explained], tuple[Taken]]:
        return Explained, (self.taken,)

    def __repr__(self) -> str:
        head, *steps = [line.strip() for line in self.splitlines()]
        ending = next((step for step in steps if step.startswith("Refused: ")), steps[-1])
        return line_of("Explained", f"{head}: {ending} print() shows the steps")

    def _repr_html_(self) -> str:
        return html_of(self)


def explain(name: Any, *operands: Any, **parts: Any) -> Explained:
    """How a decision comes about, step by step; a refusal is explained the same way.

    Takes what resolve takes, or one expression such as "int32[3] + 5", which may be nested. The
    dialect of an expression may also stand before or after it, without a name. Print the result.

    >>> print(explain("int32[3] / int32[3]", dialect="torch"))
    int32[3] / int32[3] in torch
      int32[3] is an array of int32.
      int32[3] is an array of int32.
      div does not compute in int32, which becomes float32.
      Cast: int32 -> float32 is exact up to 2**24.
      Cast: int32 -> float32 is exact up to 2**24.
      The result is float32.
    """
    if len(operands) == 1 and "dialect" not in parts:
        name, operands, parts = _with_dialect(name, operands[0], parts)
    if operands or not isinstance(name, str):
        return Explained(of_question(question_of(name, *operands, **parts)))
    return Explained(taken_apart(name, **parts))


def _with_dialect(
    name: Any, other: Any, parts: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """The arguments of explain, of which one may be the dialect of an expression."""
    for text, dialect in ((name, other), (other, name)):
        if isinstance(text, str) and (isinstance(dialect, Dialect) or is_dialect_name(dialect)):
            return text, (), {**parts, "dialect": dialect}
    return name, (other,), parts


def headline(taken: Taken) -> str:
    """The whole expression and its dialect; what is promoted and then fails to run says so."""
    asked = f"{taken.text} in {taken.dialect.name}"
    if is_without_kernel(taken.last):
        return f"{asked} fails to run{place_of(taken)}"
    return asked if taken.is_whole else f"{asked} is refused{place_of(taken)}"


def place_of(taken: Taken) -> str:
    """In which part an expression of several fails."""
    return f" in part {len(taken.parts)}" if taken.is_nested else ""


def is_without_kernel(question: Question) -> bool:
    """Whether an op is promoted, and its framework has no kernel to run it."""
    try:
        return not answer(question).has_kernel
    except PromotionError:
        return False


def part_head(number: int, part: Part, dialect: Dialect) -> str:
    """The line above the steps of a part: its number, what it is, and what it gives."""
    elsewhere = part.question and part.question.dialect is not dialect
    where = f" in {part.question.dialect.name}" if part.question and elsewhere else ""
    gives = f" is {part.result}" if part.result else ""
    fails = " fails to run" if part.question and is_without_kernel(part.question) else ""
    return f"Part {number}: {part.text}{where}{fails or gives}"


def part_steps(part: Part) -> list[str]:
    """The steps of a part, one sentence each."""
    if part.question is None:
        return [f"Python computes it, and gets {part.result}."]
    steps = steps_of(part.question)
    if part.result and part.result.value is not None:
        steps.append(f"Its value is not known: it is taken as {part.result}.")
    return steps


def _text(taken: Taken) -> str:
    lines = [headline(taken)]
    if not taken.is_nested:
        return "\n  ".join([*lines, *part_steps(taken.parts[0])])
    for number, part in enumerate(taken.parts, 1):
        lines.append(f"  {part_head(number, part, taken.dialect)}")
        lines += [f"    {step}" for step in part_steps(part)]
    return "\n".join(lines)
