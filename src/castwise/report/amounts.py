"""Sizes, counts, shares and places in a form that is easy to read."""

from __future__ import annotations

import os

from castwise.auditing.records.places import SourcePlace
from castwise.showing import counted as counted

_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def size_text(size: float) -> str:
    """Bytes with a readable unit.

    >>> size_text(7_680_000)
    '7.7 MB'
    """
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{size:.0f} {unit}" if unit == "bytes" or size >= 99.5 else f"{size:.1f} {unit}"


def percent(share: float) -> str:
    """A share as a whole percentage; "0" means exactly zero.

    >>> percent(0.127), percent(0.001), percent(0.0)
    ('13', '<1', '0')
    """
    return "<1" if 0 < share < 0.005 else f"{100 * share:.0f}"


def place_text(place: SourcePlace) -> str:
    """A place as file:line, relative if the file is below the current directory."""
    near = os.path.relpath(place.file)
    return f"{place.file if near.startswith('..') else near}:{place.line}"
