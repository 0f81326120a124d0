"""Which dtype becomes which, with only the arrows that are needed."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from castwise.catalog.dialects import to_dialect
from castwise.engine.plan import Reach, dialect_reach
from castwise.rules.dialect import Dialect
from castwise.showing import Shown, quantity, repr_line
from castwise.vocab.dtypes import DType


class Edge(NamedTuple):
    """An arrow from a dtype to one it reaches."""

    source: DType
    target: DType
    goes_on: bool  # the source reaches all that the target reaches; else only the target


@dataclass(frozen=True, slots=True, repr=False)
class Lattice(Shown):
    """A dialect's dtypes and weak nodes, and the arrows between them; its text is the report."""

    dialect: Dialect
    nodes: tuple[DType, ...]  # those an arrow leads from or to, in the dialect's order
    edges: tuple[Edge, ...]
    apart: tuple[DType, ...]  # those that join with nothing else
    truncated: dict[DType, DType]  # those no array has, and what it has instead

    @property
    def title(self) -> str:
        return f"What reaches what in {self.dialect.name}"

    @property
    def twins(self) -> tuple[tuple[DType, ...], ...]:
        """The nodes in groups of one kind and the same arrows, which a picture shows in one box.

        Two side by side in the middle of the picture are not grouped; more would crowd it.
        """
        groups: dict[tuple[object, ...], list[DType]] = {}
        for node in self.nodes:
            below = frozenset((e.source, e.goes_on) for e in self.edges if e.target is node)
            above = frozenset((e.target, e.goes_on) for e in self.edges if e.source is node)
            groups.setdefault((node.kind, below, above), []).append(node)
        found: list[tuple[DType, ...]] = []
        for key, group in groups.items():
            is_pair = len(group) == 2 and all(key)  # with arrows to it and from it
            found += [(node,) for node in group] if is_pair else [tuple(group)]
        return tuple(found)

    def __repr__(self) -> str:
        arrows = quantity(len(self.edges), "arrow")
        apart = f"{len(self.apart)} apart" if self.apart else ""
        nodes = quantity(len(self.nodes), "dtype")
        return repr_line("Lattice", self.dialect.name, f"{nodes} and {arrows}", apart)


def lattice(dialect: str | Dialect | None = None) -> Lattice:
    """What each dtype of a dialect reaches.

    >>> [str(edge.target) for edge in lattice("array-api").edges if edge.source.name == "uint8"]
    ['int16', 'uint16']

    Raises UsageError for an unknown name.
    """
    chosen = to_dialect(dialect)
    reach = dialect_reach(chosen)
    edges = tuple(edge for source in reach.order for edge in _edges(reach, source))
    joined = {end for edge in edges for end in (edge.source, edge.target)}
    truncated = chosen.truncations
    nodes = tuple(node for node in reach.order if node in joined)
    apart = tuple(n for n in reach.order if n not in joined and n not in truncated)
    return Lattice(chosen, nodes, edges, apart, truncated)


def _edges(reach: Reach, source: DType) -> list[Edge]:
    """The arrows from a dtype that do not follow from others."""
    masks = reach.masks
    reached = [t for t in reach.order if t is not source and reach.reaches(source, t)]
    onward = [t for t in reached if masks[t] & ~masks[source] == 0]
    for target in reversed(list(onward)):
        others = _covered(masks[t] for t in onward if t is not target)
        if masks[target] & ~others == 0:
            onward.remove(target)
    covered = _covered(masks[t] for t in onward)
    ending = [t for t in reached if not reach.bits[t] & covered]
    return [Edge(source, t, t in onward) for t in reached if t in onward or t in ending]


def _covered(masks: Iterable[int]) -> int:
    """Everything in any of some masks."""
    return functools.reduce(operator.or_, masks, 0)
