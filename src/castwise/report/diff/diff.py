"""The differences between two dialects, which print as a report: `castwise diff`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from castwise.compare.diff import DiffData, count, diff_data
from castwise.report.diff.html import diff_card
from castwise.report.diff.text import diff_text
from castwise.report.terminal.progress import progress
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.showing import counted, line_of


@dataclass(frozen=True, slots=True, repr=False)
class Diff(DiffData):
    """Everything that two dialects answer differently; its text is the report.

    >>> diff("numpy", "numpy@1", op="dot").count
    0
    """

    def __str__(self) -> str:
        return diff_text(self)

    def __repr__(self) -> str:
        ops = f" about {self.ops[0]}" if len(self.ops) == 1 else f" about {len(self.ops)} ops"
        differ = f"{self.count:,} of {self.asked:,} questions{ops} differ"
        reasons = f"for {counted(len(self.groups), 'reason')}" if self.groups else ""
        return line_of(
            "Diff", " ".join([f"{self.first.name} vs {self.second.name}:", differ, reasons])
        )

    def _repr_html_(self) -> str:
        return diff_card(self)


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
    assignments such as `x += y` count too. `on_question` is called with each question; without it,
    a terminal shows the progress.

    >>> diff("torch", "torch@2.1", op="add").count
    0

    Raises UsageError for an unknown name.
    """
    a, b = to_dialect(first), to_dialect(second)
    if on_question:
        made = diff_data(a, b, op, on_question)
    else:
        with progress(f"Comparing {a.name} and {b.name}", count(a, b, op)) as on_progress:
            made = diff_data(a, b, op, on_progress)
    return Diff(made.first, made.second, made.ops, made.asked, made.groups)
