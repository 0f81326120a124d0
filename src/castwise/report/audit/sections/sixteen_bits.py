"""What a program keeps and sums in 16 bits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from castwise.auditing.judging.sixteen_bits import NarrowState, NarrowSum, SixteenBits
from castwise.report.amounts import counted, place_text, size_text

_MOST = 8  # listed of each


def sixteen_bits_lines(found: SixteenBits) -> Iterator[str]:
    """The states and the sums, one per line."""
    if found.states:
        yield "Optimizer states in 16 bits: small updates are lost."
        yield from _listed([_state_line(state) for state in found.states])
    if found.sums:
        yield "Sums in 16 bits."
        yield from _listed([_sum_line(narrow) for narrow in found.sums])


def _listed(lines: list[str]) -> Iterator[str]:
    yield from lines[:_MOST]
    if len(lines) > _MOST:
        yield f"   and {len(lines) - _MOST} more: --json FILE lists them all"


def _state_line(state: NarrowState) -> str:
    arrays, size = counted(state.arrays, "array"), size_text(state.bytes)
    what = f"{state.owner}: {state.name} {state.dtype}"
    return f"   {place_text(state.place)}: {what}, {arrays}, {size}"


def _sum_line(narrow: NarrowSum) -> str:
    how = "each partial sum" if narrow.rounds_each else "the result"
    what = f"{narrow.operation}, {narrow.terms:,} terms"
    return f"   {place_text(narrow.place)}: {what}, rounds {how} to {narrow.dtype}"


def sixteen_bits_json(found: SixteenBits) -> dict[str, Any]:
    """The same for programs."""
    return {
        "states": [
            {
                "file": state.place.file,
                "line": state.place.line,
                "optimizer": state.owner,
                "name": state.name,
                "dtype": str(state.dtype),
                "arrays": state.arrays,
                "bytes": state.bytes,
            }
            for state in found.states
        ],
        "sums": [
            {
                "file": narrow.place.file,
                "line": narrow.place.line,
                "operation": narrow.operation,
                "dtype": str(narrow.dtype),
                "terms": narrow.terms,
                "rounds": "each partial sum" if narrow.rounds_each else "the result",
            }
            for narrow in found.sums
        ],
    }
