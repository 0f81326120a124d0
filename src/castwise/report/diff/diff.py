"""The differences between two dialects, which print as a report: `castwise diff`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from castwise.compare.diff import DiffData, diff_data
from castwise.report.diff.text import diff_text
from castwise.rules.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Diff(DiffData):
    """Everything that two dialects answer differently; its text is the report.

    >>> diff("numpy", "numpy@1", op="dot").count
    0
    """

    def __str__(self) -> str:
        return diff_text(self)


def diff(
    first: str | Dialect,
    second: str | Dialect,
    *,
    op: Any = None,
    on_question: Callable[[object], object] | None = None,
) -> Diff:
    """Every question that two dialects answer differently, about one op or all recorded ones.

    Without `op`, asks about the ops that are recorded for both. The operands are arrays and 0-d
    arrays of the dtypes both have, weak ones if both have them, and Python scalars. Augmented
    assignments such as `x += y` count too. `on_question` is called with each question.

    >>> diff("torch", "torch@2.1", op="add").count
    0

    Raises UsageError for an unknown name.
    """
    made = diff_data(first, second, op, on_question)
    return Diff(made.first, made.second, made.ops, made.asked, made.groups)
