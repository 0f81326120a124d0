"""Which dtype reaches which, and the first one that all operands reach."""

from __future__ import annotations

from collections.abc import Iterable

from castwise.rules.dialect import Dialect
from castwise.rules.dialect_data import parse_edges
from castwise.vocab.dtypes import DType


class Reach:
    """The closure of a dialect's edges as bit masks over its order.

    With masks the join is one AND per operand; the lowest bit left is the first reachable dtype.
    """

    __slots__ = ("bits", "complex_mask", "masks", "order")

    def __init__(self, dialect: Dialect) -> None:
        self.order = dialect.nodes
        self.bits = {d: 1 << place for place, d in enumerate(self.order)}
        self.masks = dict(self.bits)
        edges = parse_edges(dialect.reaches, self.order)
        _close(self.masks, [(s, t) for s, t, goes_on in edges if goes_on])
        for source, target, goes_on in edges:
            if not goes_on:
                self.masks[source] |= self.bits[target]
        self.complex_mask = self.mask([d for d in dialect.dtypes if d.kind == "complex"])

    def mask(self, dtypes: Iterable[DType]) -> int:
        """The places of some dtypes; those the dialect lacks have none."""
        return sum({self.bits.get(d, 0) for d in dtypes})

    def reaches(self, source: DType, target: DType) -> bool:
        return bool(self.masks.get(source, 0) & self.bits.get(target, 0))

    def common(self, masks: Iterable[int], among: int = -1) -> DType | None:
        """The first dtype of the order that all masks have, among those of another mask.

        First, not least: NumPy's order is no lattice (int16 with uint16 has two minimal bounds).
        """
        for mask in masks:
            among &= mask
        return self.lowest(among) if among else None

    def lowest(self, mask: int) -> DType:
        """The first dtype of the order in a mask."""
        return self.order[(mask & -mask).bit_length() - 1]


def _close(masks: dict[DType, int], edges: list[tuple[DType, DType]]) -> None:
    """Adds to each mask what its targets reach, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for source, target in edges:
            joined = masks[source] | masks[target]
            changed = changed or joined != masks[source]
            masks[source] = joined
