"""Counts the implicit casts of a block, by op, dtypes and hazard."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from castwise.arrays.fast_path import watched_by
from castwise.engine.decision import Cast, Decision
from castwise.showing import notebook_html, quantity, repr_line
from castwise.vocab.operands import UNDEFINED


@dataclass(slots=True)
class Counted:
    """The number of casts of one kind, of their elements and of the bytes they wrote."""

    casts: int = 0
    elements: int = 0
    bytes: int = 0

    def add(self, elements: int, itemsize: int) -> None:
        """Adds one cast."""
        self.casts += 1
        self.elements += elements
        self.bytes += elements * itemsize


@dataclass(slots=True, repr=False)
class CastCounts:
    """The implicit casts of a block.

    `by` has an entry for each (op, from, to, hazard); the hazard is "" for a cast without one. A
    cast with two hazards counts in two entries, and once in the total.
    """

    total: Counted = field(default_factory=Counted)
    by: dict[tuple[str, str, str, str], Counted] = field(default_factory=dict)

    def note(self, decision: Decision, operands: Sequence[Any], result: Any) -> None:
        """Counts the casts of one op."""
        sizes = [math.prod(getattr(operand, "shape", ())) for operand in operands]
        name = decision.question.op.name
        asked = decision.question.operands
        casts = [c for c, o in zip(decision.casts, asked, strict=True) if o is not UNDEFINED]
        for cast, size in zip(casts, sizes, strict=True):
            self._add(name, cast, size)
        self._add(name, decision.result_cast, math.prod(result.shape))

    def _add(self, name: str, cast: Cast | None, elements: int) -> None:
        if cast is None:
            return
        source = cast.source.name if cast.source else "Python scalar"
        self.total.add(elements, cast.target.itemsize)
        for hazard in cast.hazards or ("",):
            key = (name, source, cast.target.name, hazard)
            self.by.setdefault(key, Counted()).add(elements, cast.target.itemsize)

    def __repr__(self) -> str:
        total = self.total
        size = f"{quantity(total.elements, 'element')}, {total.bytes:,} bytes"
        return repr_line("CastCounts", quantity(total.casts, "cast"), size if total.casts else "")

    def _repr_html_(self) -> str:
        return notebook_html(self)

    def __str__(self) -> str:
        lines = [
            f"{op}: {source} -> {target}{f' ({hazard})' if hazard else ''}: "
            f"{c.casts} casts, {c.elements} elements, {c.bytes} bytes"
            for (op, source, target, hazard), c in sorted(self.by.items())
        ]
        return "\n".join(lines) or "no implicit casts"


@contextmanager
def count_casts() -> Iterator[CastCounts]:
    """Counts the implicit casts that tensors make in this thread or asyncio task.

    >>> from castwise.arrays.tensor import asarray
    >>> with count_casts() as counts:
    ...     _ = asarray([1, 2, 3], dtype="int32") + asarray([0.5], dtype="float32")
    >>> print(counts)
    add: float32 -> float64 (not-on-device): 1 casts, 1 elements, 8 bytes
    add: float32 -> float64 (widens): 1 casts, 1 elements, 8 bytes
    add: int32 -> float64 (not-on-device): 1 casts, 3 elements, 24 bytes
    add: int32 -> float64 (widens): 1 casts, 3 elements, 24 bytes
    """
    counts = CastCounts()
    with watched_by(counts):
        yield counts
