"""How results show themselves: in a line, as the command line's text, and as HTML in a notebook.

The reports that write the text and the HTML stand above what they show. So they are looked up by
name, when something is first shown.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable

_LONGEST = 180  # characters of a line, so that a few results in a list are still readable


class Shown:
    """A result that prints as the command line prints it, and that a notebook shows as HTML."""

    __slots__ = ()

    def __str__(self) -> str:
        return _written("text_of", self)

    def _repr_html_(self) -> str:
        return html_of(self)


def html_of(thing: object) -> str:
    """A result as HTML, with everything that it needs inside."""
    return _written("html_of", thing)


def _written(name: str, thing: object) -> str:
    written: str = getattr(importlib.import_module("castwise.report.showing"), name)(thing)
    return written


def line_of(kind: str, *parts: str) -> str:
    """A repr: the name of the class, and what matters, cut to a length that can be read.

    >>> line_of("Decision", "int8[3] + 1 in numpy -> int8", "", "exact")
    'Decision(int8[3] + 1 in numpy -> int8, exact)'
    """
    text = " ".join(", ".join(filter(None, parts)).split())
    return f"{kind}({shortened(text, _LONGEST)})"


def shortened(text: str, longest: int) -> str:
    """A text without its middle, if it is too long."""
    if len(text) <= longest:
        return text
    end = longest // 3
    return f"{text[: longest - end - 1]}…{text[-end:]}"


def counted(count: int, noun: str, plural: str = "s") -> str:
    """A count with its noun."""
    return f"{count:,} {noun}{'' if count == 1 else plural}"


def listed(things: Iterable[object], most: int = 3) -> str:
    """The first few of some things, and how many there are besides.

    >>> listed(["int8", "int16", "int32", "int64"])
    'int8, int16, int32 and 1 more'
    """
    words = [str(thing) for thing in things]
    left = len(words) - most
    return ", ".join(words[:most]) + (f" and {left} more" if left > 0 else "")
