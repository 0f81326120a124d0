"""A lattice, which prints as a report: `castwise lattice`."""

from __future__ import annotations

from dataclasses import dataclass

from castwise.compare.lattice import LatticeData, lattice_data
from castwise.report.lattice.html import lattice_card
from castwise.report.lattice.text import lattice_text
from castwise.rules.dialect import Dialect
from castwise.showing import counted, line_of


@dataclass(frozen=True, slots=True, repr=False)
class Lattice(LatticeData):
    """A dialect's dtypes and weak nodes, and the arrows between them; its text is the report."""

    def __str__(self) -> str:
        return lattice_text(self)

    def __repr__(self) -> str:
        arrows = counted(len(self.edges), "arrow")
        apart = f"{len(self.apart)} apart" if self.apart else ""
        nodes = counted(len(self.nodes), "dtype")
        return line_of("Lattice", self.dialect.name, f"{nodes} and {arrows}", apart)

    def _repr_html_(self) -> str:
        return lattice_card(self)


def lattice(dialect: str | Dialect | None = None) -> Lattice:
    """What each dtype of a dialect reaches.

    >>> [str(edge.target) for edge in lattice("array-api").edges if edge.source.name == "uint8"]
    ['int16', 'uint16']

    Raises UsageError for an unknown name.
    """
    made = lattice_data(dialect)
    return Lattice(made.dialect, made.nodes, made.edges, made.apart, made.truncated)
