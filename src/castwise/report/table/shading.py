"""The colours of a table's cells."""

from __future__ import annotations

from castwise.compare.outcome import Outcome
from castwise.drawing.shades import REFUSED, shade
from castwise.engine.decision import Decision


def cell_shade(outcome: Outcome) -> str:
    """The background of a cell."""
    return shade(outcome.result) if isinstance(outcome, Decision) else REFUSED
