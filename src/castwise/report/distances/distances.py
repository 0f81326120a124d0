"""The distances between dialects, which print as a report: `castwise diff --all`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from castwise.compare.distances import OPS, DistancesData, count, distances_data
from castwise.compare.telling import alike, telling_ops
from castwise.report.distances.html import distances_card
from castwise.report.distances.text import distances_text
from castwise.report.terminal.progress import progress
from castwise.rules.catalog import dialects as names_of_all
from castwise.rules.default import to_dialect
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
        return distances_card(self)


def distances(
    dialects: Iterable[str | Dialect] | None = None,
    on_question: Callable[[object], object] | None = None,
) -> Distances:
    """The distances between all dialects, or between the given ones.

    The operands are the pairs that `diff` asks about, in a few ops that nearly every framework
    has. Dialects that answer all of that alike, such as a framework with and without autocast, are
    then compared on the ops where they differ. `on_question` is called with each question; without
    it, a terminal shows the progress.

    >>> distances(["megengine", "oneflow"]).between("megengine", "oneflow").asked
    10737
    """
    chosen = {d.name: d for d in map(to_dialect, names_of_all() if dialects is None else dialects)}
    found = _asked([*chosen.values()], OPS.split(), on_question)
    closer = []
    for names in alike(found):
        group = [chosen[name] for name in names]
        ops = telling_ops(group)
        if ops:
            closer.append(_asked(group, ops, on_question))
    return Distances(found.ops, found.dialects, found.pairs, tuple(closer))


def _asked(
    dialects: Sequence[Dialect],
    ops: Sequence[str],
    on_question: Callable[[object], object] | None,
) -> DistancesData:
    if on_question:
        return distances_data(dialects, ops, on_question)
    title = f"Asking {len(dialects)} dialects about {len(ops)} ops"
    with progress(title, count(dialects, ops)) as on_progress:
        return distances_data(dialects, ops, on_progress)
