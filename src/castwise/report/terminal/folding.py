"""Lines no wider than the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from castwise.report.terminal.colour import Paint


def folded(text: str, width: int, margin: int = 0, head: str = "") -> str:
    """Text wrapped to a width; all lines except the first have a margin."""
    lines = textwrap.wrap(text, width, initial_indent=head, subsequent_indent=" " * margin,
                          break_long_words=False, break_on_hyphens=False)  # fmt: skip
    return "\n".join(lines)


def filled(
    pieces: Iterable[tuple[str, str | None]], width: int, margin: int, head: str, paint: Paint
) -> str:
    """Pieces of text, each with its style, separated by commas; no piece is broken.

    >>> from castwise.report.terminal.colour import plain
    >>> print(filled([("int8 + int16", None), ("widens", None)], 18, 4, "a   ", plain))
    a   int8 + int16,
        widens
    """
    lines, used = [head], len(head)
    for place, (text, style) in enumerate(pieces):
        if place and used + len(text) + 2 > width:
            lines[-1] += ","
            lines.append(" " * margin)
            used = margin
        elif place:
            lines[-1] += ", "
            used += 2
        lines[-1] += paint(text, style) if style else text
        used += len(text)
    return "\n".join(lines)
