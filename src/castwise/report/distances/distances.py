"""The distances between dialects, which print as a report: `castwise diff --all`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from castwise.compare.distances import DistancesData, distances_data
from castwise.report.distances.text import distances_text
from castwise.rules.dialect import Dialect


@dataclass(frozen=True, slots=True)
class Distances(DistancesData):
    """The distance between each pair of dialects; its text is the report."""

    def __str__(self) -> str:
        return distances_text(self)


def distances(
    dialects: Iterable[str | Dialect] | None = None,
    on_question: Callable[[object], object] | None = None,
) -> Distances:
    """The distances between all dialects, or between the given ones.

    The operands are the pairs that `diff` asks about, in a few ops that nearly every framework
    has. `on_question` is called with each question.

    >>> distances(["megengine", "oneflow"]).between("megengine", "oneflow").asked
    10737
    """
    made = distances_data(dialects, on_question)
    return Distances(made.dialects, made.pairs)
