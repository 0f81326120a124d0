"""The distances between dialects, which print as a report: `castwise diff --all`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from castwise.compare.distances import DistancesData, count, distances_data
from castwise.report.distances.svg import distances_svg
from castwise.report.distances.text import distances_text
from castwise.report.look.card import card, picture
from castwise.report.terminal.progress import progress
from castwise.rules.catalog import dialects as names_of_all
from castwise.rules.dialect import Dialect
from castwise.showing import counted, line_of, listed


@dataclass(frozen=True, slots=True, repr=False)
class Distances(DistancesData):
    """The distance between each pair of dialects; its text is the report."""

    def __str__(self) -> str:
        return distances_text(self)

    def __repr__(self) -> str:
        pairs = counted(len(self.pairs), "pair")
        return line_of("Distances", f"{pairs} of {listed(self.dialects)}")

    def _repr_html_(self) -> str:
        return card("", picture(distances_svg(self)))


def distances(
    dialects: Iterable[str | Dialect] | None = None,
    on_question: Callable[[object], object] | None = None,
) -> Distances:
    """The distances between all dialects, or between the given ones.

    The operands are the pairs that `diff` asks about, in a few ops that nearly every framework
    has. `on_question` is called with each question; without it, a terminal shows the progress.

    >>> distances(["megengine", "oneflow"]).between("megengine", "oneflow").asked
    10737
    """
    chosen = names_of_all() if dialects is None else list(dialects)
    if on_question:
        made = distances_data(chosen, on_question)
    else:
        with progress(f"Asking {len(chosen)} dialects", count(chosen)) as on_progress:
            made = distances_data(chosen, on_progress)
    return Distances(made.dialects, made.pairs)
