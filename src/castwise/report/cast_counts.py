"""The implicit casts of a block, in a notebook."""

from __future__ import annotations

from html import escape

from castwise.execute.calling.counting import CastCounts
from castwise.report.amounts import counted, size_text
from castwise.report.look.card import card, dtype_html, hazards_html, table_html
from castwise.vocab.dtypes import find_dtype

_NUMBERS = ("casts", "elements", "bytes")
_HEADS = ("op", "from", "to", "hazard", *_NUMBERS)


def counts_card(counts: CastCounts) -> str:
    """How much was cast, and a row for each kind of cast."""
    total = counts.total
    if not total.casts:
        return card("No implicit casts")
    size = f"{counted(total.elements, 'element')}, {size_text(total.bytes)}"
    rows = [
        [escape(op), _named(source), _named(target), hazards_html([hazard] if hazard else []),
         *(f"{amount:,}" for amount in (kind.casts, kind.elements, kind.bytes))]
        for (op, source, target, hazard), kind in sorted(counts.by.items())
    ]  # fmt: skip
    return card(
        f"{counted(total.casts, 'implicit cast')}, {size}", table_html(_HEADS, rows, *_NUMBERS)
    )


def _named(source: str) -> str:
    dtype = find_dtype(source)
    return dtype_html(dtype) if dtype else source
