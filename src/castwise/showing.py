"""How results show themselves: in a line, as the command line's text, and as HTML in a notebook.

The reports that write the text and the HTML stand above what they show.
"""

from __future__ import annotations

from collections.abc import Iterable

from castwise import above


class InNotebooks:
    """A result that a notebook shows as HTML, with everything that it needs inside."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return above.report_html(self)


class Shown(InNotebooks):
    """One that also prints as the command line prints it."""

    __slots__ = ()

    def __str__(self) -> str:
        return above.report_text(self)


_LONGEST = 180  # characters of a repr, so that a few results in a list are still readable


def repr_line(kind: str, *parts: str) -> str:
    """A repr: the name of the class, and what matters, cut to a length that can be read.

    >>> repr_line("Decision", "int8[3] + 1 in numpy -> int8", "", "exact")
    'Decision(int8[3] + 1 in numpy -> int8, exact)'
    """
    text = " ".join(", ".join(filter(None, parts)).split())
    if len(text) > _LONGEST:  # the middle is left out
        end = _LONGEST // 3
        text = f"{text[: _LONGEST - end - 1]}…{text[-end:]}"
    return f"{kind}({text})"


def quantity(count: int, noun: str, plural: str = "s") -> str:
    """A count with its noun.

    >>> quantity(1, "cast"), quantity(1200, "cast"), quantity(2, "loss", "es")
    ('1 cast', '1,200 casts', '2 losses')
    """
    return f"{count:,} {noun}{'' if count == 1 else plural}"


def first_few(things: Iterable[object], most: int = 3) -> str:
    """The first few of some things, and how many there are besides.

    >>> first_few(["int8", "int16", "int32", "int64"])
    'int8, int16, int32 and 1 more'
    """
    words = [str(thing) for thing in things]
    left = len(words) - most
    return ", ".join(words[:most]) + (f" and {left} more" if left > 0 else "")
