"""Which dtype becomes which, with no arrow more than needed: `castwise lattice`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from castwise.engine.plan import reach_of
from castwise.engine.reach import Reach
from castwise.frameworks.catalog import to_dialect
from castwise.frameworks.dialect import Dialect
from castwise.vocab.dtypes import DType, dtypes_of

APART = "Joined with nothing else"


class Edge(NamedTuple):
    """An arrow from a dtype to one it reaches."""

    source: DType
    target: DType
    goes_on: bool  # the source reaches all that the target reaches; else the target alone


@dataclass(frozen=True, slots=True)
class Lattice:
    """A dialect's dtypes and weak nodes, and the arrows between them; its text is the report."""

    dialect: Dialect
    nodes: tuple[DType, ...]  # those an arrow leads from or to, in the dialect's order
    edges: tuple[Edge, ...]
    apart: tuple[DType, ...]  # those that join with nothing else

    @property
    def title(self) -> str:
        return f"What reaches what in {self.dialect.name}"

    @property
    def twins(self) -> tuple[tuple[DType, ...], ...]:
        """The nodes in groups; one group are those with the same arrows, all from or all to it."""
        groups: dict[object, list[DType]] = {}
        for node in self.nodes:
            below = frozenset((e.source, e.goes_on) for e in self.edges if e.target is node)
            above = frozenset((e.target, e.goes_on) for e in self.edges if e.source is node)
            key = node if below and above else (below, above, node.kind)
            groups.setdefault(key, []).append(node)
        return tuple(map(tuple, groups.values()))

    def __str__(self) -> str:
        from castwise.report.lattice_text import lattice_text  # it knows Lattice

        return lattice_text(self)


def lattice(dialect: str | Dialect | None = None) -> Lattice:
    """What each dtype of a dialect reaches.

    >>> [str(edge.target) for edge in lattice("array-api").edges if edge.source.name == "uint8"]
    ['int16', 'uint16']

    Raises UsageError for an unknown name.
    """
    spoken = to_dialect(dialect)
    reach = reach_of(spoken)
    edges = tuple(edge for source in reach.order for edge in _edges(reach, source))
    joined = {end for edge in edges for end in (edge.source, edge.target)}
    nodes = tuple(node for node in reach.order if node in joined)
    apart = tuple(node for node in reach.order if node not in joined)
    return Lattice(spoken, nodes, edges, apart)


def _edges(reach: Reach, source: DType) -> list[Edge]:
    """The arrows from a dtype that no other arrow makes needless."""
    reached = [t for t in reach.order if t is not source and reach.reaches(source, t)]
    whole = [t for t in reached if reach.masks[t] & ~reach.masks[source] == 0]
    return [
        Edge(source, target, target in whole)
        for target in reached
        if not any(reach.reaches(between, target) for between in whole if between is not target)
    ]


def legend(lattice: Lattice, broken: str = "A broken arrow") -> list[str]:
    """What a reader must know, a sentence each; `broken` is how an arrow looks that ends there."""
    if not lattice.edges:
        return ["No dtype becomes another here: only operands of one dtype meet."]
    dialect = lattice.dialect
    lines = ["Operands meet in the first dtype that all of them reach along the arrows."]
    if any(not edge.goes_on for edge in lattice.edges):
        lines.append(f"{broken} reaches that dtype and nothing beyond it.")
    if any(node.is_weak for node in lattice.nodes):
        lines.append("A star marks where weakly typed operands stand, Python numbers among them.")
    foreign = [d.name for d in dtypes_of(dialect.only_absorbed) if d in dialect.dtypes]
    if len(foreign) == len(dialect.dtypes):
        lines.append("Two dtypes join only where one reaches the other.")
    elif foreign:
        lines.append(f"{' and '.join(foreign)} joins only with what it reaches or what reaches it.")
    if dialect.keeps_kind:
        lines.append("The result is never of a higher kind than all operands.")
    if dialect.truncates:
        pairs = dialect.mapping(dialect.truncates).items()
        lines.append(f"Arrays are narrower here: {', '.join(f'{a} is {b}' for a, b in pairs)}.")
    return lines
