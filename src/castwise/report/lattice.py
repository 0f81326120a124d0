"""Which dtype becomes which, with no arrow more than needed: `castwise lattice`."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from castwise.engine.plan import reach_of
from castwise.engine.reach import Reach
from castwise.rules.default import to_dialect
from castwise.rules.dialect import Dialect
from castwise.rules.rule import Rule
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
    truncated: dict[DType, DType]  # those no array has, and what it has instead

    @property
    def title(self) -> str:
        return f"What reaches what in {self.dialect.name}"

    @property
    def twins(self) -> tuple[tuple[DType, ...], ...]:
        """The nodes in groups of one kind and the same arrows, which a picture shows in one box.

        Two that stand side by side in the midst of the picture are no group; more would crowd it.
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
    truncated = spoken.truncations
    nodes = tuple(node for node in reach.order if node in joined)
    apart = tuple(n for n in reach.order if n not in joined and n not in truncated)
    return Lattice(spoken, nodes, edges, apart, truncated)


def _edges(reach: Reach, source: DType) -> list[Edge]:
    """The arrows from a dtype that others do not make needless."""
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
    """All that some masks hold together."""
    return functools.reduce(operator.or_, masks, 0)


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
    foreign = only_absorbed_text(dialect)
    if foreign:
        lines.append(f"{foreign.replace('two dtypes', 'Two dtypes', 1)}.")
    mixes = dialect.ops.get("*", Rule()).joins.mixes
    if mixes:
        lines.append(f"Unequal dtypes meet only where such casts bring them together: {mixes}.")
    if dialect.joining.keeps_kind:
        lines.append("The result is never of a higher kind than all operands.")
    if lattice.truncated:
        pairs = [f"{asked} is {held}" for asked, held in lattice.truncated.items()]
        lines.append(f"Arrays are narrower here: {', '.join(pairs)}.")
    return lines


def only_absorbed_text(dialect: Dialect) -> str:
    """Which dtypes join only where one operand reaches the other, in words; "" where none."""
    foreign = set(dtypes_of(dialect.joining.only_absorbed))
    inside = [d.name for d in dialect.dtypes if d in foreign]
    outside = [d.name for d in dialect.dtypes if d not in foreign]
    if not inside:
        return ""
    if len(inside) == 1:
        return f"{inside[0]} joins only with what it reaches or what reaches it"
    some = " and ".join(inside) if len(inside) <= len(outside) else "two dtypes"
    but = f", save {' and '.join(outside)}" if outside and some == "two dtypes" else ""
    return f"{some} join only where one reaches the other{but}"
